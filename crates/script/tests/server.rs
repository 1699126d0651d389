//! An empty PostgreSQL server, and the pgbench of the same installation.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// The first version whose `permute` gives today's numbers.
const OLDEST: u32 = 15;

const START_LIMIT: Duration = Duration::from_secs(60);

/// A running server; ended and removed when dropped.
pub struct Server {
    directory: tempfile::TempDir,
    programs: PathBuf,
    user: (u32, u32),
    postgres: Option<Child>,
}

/// The standard error of a program, and whether it succeeded.
pub struct Printed {
    pub text: String,
    pub success: bool,
}

impl Server {
    /// `Err` says why none can be started here.
    pub fn start() -> Result<Server, String> {
        let programs = programs().ok_or("no PostgreSQL 15 or later in /usr/lib/postgresql")?;
        let directory = tempfile::Builder::new().prefix("script-test-").tempdir().unwrap();
        let own = fs::metadata(directory.path()).unwrap();
        let user = match own.uid() {
            0 => unprivileged().ok_or("no user postgres or nobody to run a server as")?,
            uid => (uid, own.gid()),
        };
        chown(directory.path(), Some(user.0), Some(user.1)).unwrap();
        let mut server = Server { directory, programs, user, postgres: None };
        let data = server.data();
        let mut initdb = server.command("initdb");
        initdb.args(["--auth=trust", "--username=bench", "--no-sync", "--locale=C", "-D"]);
        let made = initdb.arg(&data).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let mut postgres = server.command("postgres");
        postgres.arg("-D").arg(&data).arg("-k").arg(server.directory.path());
        postgres.args(["-c", "listen_addresses=", "-c", "fsync=off"]);
        postgres.stdout(Stdio::null()).stderr(Stdio::null());
        server.postgres = Some(postgres.spawn().unwrap());
        let start = Instant::now();
        while !server.is_ready() {
            assert!(start.elapsed() < START_LIMIT, "the server does not start");
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// One of PostgreSQL's programs, as the user that owns the server.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.env_clear().current_dir(self.directory.path()).uid(self.user.0).gid(self.user.1);
        command
    }

    fn is_ready(&self) -> bool {
        let mut ready = self.command("pg_isready");
        ready.arg("-h").arg(self.directory.path()).stdout(Stdio::null());
        ready.status().unwrap().success()
    }

    /// Runs a script once, or as the options say.
    pub fn pgbench(&self, script: &str, options: &[&str]) -> Printed {
        let path = self.directory.path().join("script.sql");
        fs::write(&path, script).unwrap();
        let mut pgbench = self.command("pgbench");
        pgbench.arg("-h").arg(self.directory.path()).args(["-U", "bench", "-n", "-f"]).arg(&path);
        let output = pgbench.args(options).arg("postgres").output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        Printed { text, success: output.status.success() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stop = self.command("pg_ctl");
        let _ = stop.arg("-D").arg(self.data()).args(["-m", "immediate", "-s", "stop"]).status();
        if let Some(mut postgres) = self.postgres.take() {
            let _ = postgres.kill();
            let _ = postgres.wait();
        }
    }
}

/// The folder with the programs of the newest installed version.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let newest = versions
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|version| *version >= OLDEST)
        .max()?;
    let programs = Path::new("/usr/lib/postgresql").join(newest.to_string()).join("bin");
    ["initdb", "postgres", "pgbench"]
        .iter()
        .all(|name| programs.join(name).exists())
        .then_some(programs)
}

/// User and group that a server may run as.
fn unprivileged() -> Option<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let user = |name| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let number = |field| line.split(':').nth(field)?.parse().ok();
        Some((number(2)?, number(3)?))
    };
    user("postgres").or_else(|| user("nobody"))
}
