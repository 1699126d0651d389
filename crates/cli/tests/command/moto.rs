//! A server that speaks like Amazon S3, for one test: moto, installed by `scripts/setup.sh test`.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the server may take to start on a busy machine.
const LIMIT: Duration = Duration::from_secs(300);

/// The secret that tests look for in the output.
pub const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

/// A server on loopback, ended when dropped.
pub struct Moto {
    child: Child,
    folder: tempfile::TempDir,
    address: String,
}

fn installed(what: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target").join(what).join("bin")
}

/// A program of what is installed; `None`, and the test is skipped, if it is not.
pub fn program(what: &str, name: &str) -> Option<PathBuf> {
    let program = installed(what).join(name);
    if !program.exists() {
        testing::skip(format!("{what} is not installed; scripts/setup.sh test installs it"));
        return None;
    }
    Some(program)
}

impl Moto {
    /// Starts one, with a bucket called `bucket`; `None` if moto is not installed. If `free` is
    /// given, credentials are checked after this number of requests.
    pub fn start(free: Option<u32>) -> Option<Self> {
        let program = program("moto", "moto_server")?;
        let folder = tempfile::tempdir().unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new("setpriv");
        // It ends with this process, however that ends.
        command.args(["--pdeathsig", "KILL", "--"]).arg(program);
        command.args(["-H", "127.0.0.1", "-p", "0"]).current_dir(folder.path());
        command.env("HOME", folder.path()).env("PYTHONUNBUFFERED", "1");
        if let Some(free) = free {
            command.env("INITIAL_NO_AUTH_ACTION_COUNT", free.to_string());
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let mut moto = Self { child: command.spawn().unwrap(), folder, address: String::new() };
        let begin = Instant::now();
        while moto.address.is_empty() {
            assert!(begin.elapsed() < LIMIT, "moto does not start:\n{}", moto.log());
            std::thread::sleep(Duration::from_millis(50));
            let log = moto.log();
            let running = log.lines().find_map(|line| line.split("Running on http://").nth(1));
            moto.address = running.unwrap_or_default().trim().to_owned();
        }
        if free.is_none() {
            assert_eq!(moto.http("PUT", "/bucket", b"").0, 200);
        }
        Some(moto)
    }

    /// Its log, with a line for each request.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// The requests since the log was `since` bytes long, such as `HEAD /bucket/x HTTP/1.1" 404`.
    pub fn requests(&self, since: usize) -> Vec<String> {
        let log = self.log();
        let requests = log[since..].lines().filter_map(|line| line.split("] \"").nth(1));
        requests.map(str::to_owned).collect()
    }

    /// Sends a request with credentials that are not checked; status and content of the answer.
    pub fn http(&self, method: &str, path: &str, content: &[u8]) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = content.len();
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nHost: {}\r\nAuthorization: AWS x:y\r\nContent-Length: {length}\r\n\r\n",
            self.address
        )
        .unwrap();
        stream.write_all(content).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
        let status = String::from_utf8_lossy(&answer[9..12]).parse().unwrap();
        (status, answer.split_off(head + 4))
    }

    /// Gives a command this server, and credentials.
    pub fn with<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("AWS_ENDPOINT_URL", format!("http://{}", self.address))
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
            .env("AWS_SECRET_ACCESS_KEY", SECRET)
    }

    /// Runs a Python program that has `client(service)` of boto3; its output.
    pub fn python(&self, program: &str) -> String {
        let begin = format!(
            "import boto3\ndef client(s):\n    return boto3.client(s, endpoint_url='http://{}', region_name='us-east-1', aws_access_key_id='x', aws_secret_access_key='x')\n",
            self.address
        );
        let mut command = Command::new(installed("moto").join("python"));
        let output = command.arg("-c").arg(begin + program).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
