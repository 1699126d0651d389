//! A server that somebody else runs: steelyard may only attach to it.

use std::fs;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dbms::{Cache, Reference, ServerUser};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use postgres::{Client, NoTls};

/// The password of its role `owner`.
pub const PASSWORD: &str = "sEcr3t-of-the-0wner";

/// Listens on a unix socket (trusting) and on TCP at loopback (password). Ended when dropped.
pub struct OwnServer {
    child: Child,
    directory: tempfile::TempDir,
    pub port: u16,
}

impl OwnServer {
    pub fn start() -> Self {
        Self::with("")
    }

    /// With more lines in its configuration.
    pub fn with(more: &str) -> Self {
        let reference: Reference = "postgres@14.3".parse().unwrap();
        let cache = Cache::open_default().unwrap();
        let installation = dbms::obtain(&reference, &cache, &|_| ()).unwrap();
        let programs = installation.bin_dir.unwrap();
        let user = ServerUser::choose(None).unwrap();
        let directory = testing::directory();
        let home = directory.path().join("home");
        let password = directory.path().join("password");
        fs::create_dir(&home).unwrap();
        fs::write(&password, PASSWORD).unwrap();
        for path in [&home, &password] {
            std::os::unix::fs::chown(path, Some(user.uid), Some(user.gid)).unwrap();
        }
        let data = home.join("data");
        let command = |program: &str| {
            let mut command = Command::new(programs.join(program));
            command.current_dir("/").arg("-D").arg(&data).stdin(Stdio::null());
            command.stdout(Stdio::null()).stderr(Stdio::null());
            if nix::unistd::geteuid().is_root() {
                command.uid(user.uid).gid(user.gid);
            }
            command
        };
        let made = command("initdb")
            .args([
                "-N",
                "-U",
                "owner",
                "--auth-local=trust",
                "--auth-host=scram-sha-256",
                "--locale=C",
            ])
            .arg(format!("--pwfile={}", password.display()))
            .status()
            .unwrap();
        assert!(made.success());
        // Free a moment ago; other programs are unlikely to take it.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings = format!(
            "listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = '{}'\n\
             fsync = off\nshared_buffers = 16MB\n{more}",
            home.display()
        );
        let conf = data.join("postgresql.conf");
        let text = fs::read_to_string(&conf).unwrap() + &settings;
        fs::write(&conf, text).unwrap();
        let child = command("postgres").spawn().unwrap();
        let server = Self { child, directory, port };
        let begin = Instant::now();
        while server.try_connect().is_err() {
            assert!(begin.elapsed() < Duration::from_secs(120), "the server does not come up");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn sockets(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// The URL of its socket, without a password.
    pub fn socket_url(&self) -> String {
        format!("postgres://owner@/postgres?host={}&port={}", self.sockets().display(), self.port)
    }

    /// Over TCP, with the password.
    pub fn tcp_url(&self, password: &str) -> String {
        format!("postgres://owner:{password}@127.0.0.1:{}/postgres", self.port)
    }

    fn try_connect(&self) -> Result<Client, postgres::Error> {
        let mut config = postgres::Config::new();
        config.host_path(self.sockets()).port(self.port).user("owner").dbname("postgres");
        config.connect(NoTls)
    }

    pub fn client(&self) -> Client {
        self.try_connect().unwrap()
    }

    /// Names of the tables that are there.
    pub fn tables(&self) -> Vec<String> {
        let sql = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace \
                   AND relkind IN ('r', 'p') ORDER BY 1";
        self.client().query(sql, &[]).unwrap().iter().map(|row| row.get(0)).collect()
    }

    /// It runs, and is the same as at the start.
    pub fn assert_running(&mut self) {
        assert!(self.child.try_wait().unwrap().is_none(), "the server was ended");
        assert!(Path::new(&format!("/proc/{}", self.pid())).exists());
        self.client();
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        let _ = kill(Pid::from_raw(self.child.id() as i32), Signal::SIGINT);
        let begin = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if begin.elapsed() > Duration::from_secs(120) {
                let _ = self.child.kill();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
