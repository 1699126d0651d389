//! A service, and how soon it answers.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::measure::peak_memory;
use crate::steelyard::bound;

/// `steelyard serve`, ended on drop.
pub struct Service {
    child: Child,
    address: String,
    /// The service may say more.
    _said: Lines<BufReader<ChildStderr>>,
    /// Seconds until it took requests.
    pub start: f64,
}

impl Service {
    /// Starts one, which keeps what it knows in this cache.
    pub fn start(program: &Path, results: &Path, cache: &Path) -> Result<Service> {
        let begin = Instant::now();
        let mut command = Command::new(program);
        command.args(["serve", "--listen", "127.0.0.1:0", "--results"]).arg(results);
        command.env("STEELYARD_CACHE", cache).stderr(Stdio::piped());
        let mut child = bound(&mut command, Signal::SIGTERM).spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("no output")?).lines();
        let told = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, rest) = line.split_once("http://")?;
            Some(rest.split_once('/')?.0.to_owned())
        });
        let address = told.context("the service did not say where it listens")?;
        Ok(Service { child, address, _said: lines, start: begin.elapsed().as_secs_f64() })
    }

    /// Milliseconds until a document was there, its bytes as they came, and its text.
    pub fn get(&self, path: &str) -> Result<(f64, usize, Vec<u8>)> {
        let begin = Instant::now();
        let mut stream = TcpStream::connect(&self.address)?;
        let head = format!(
            "GET /{path} HTTP/1.1\r\nHost: {}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n",
            self.address
        );
        stream.write_all(head.as_bytes())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let took = begin.elapsed().as_secs_f64() * 1e3;
        let end = answer.windows(4).position(|it| it == b"\r\n\r\n").context("no head")?;
        let (head, body) = (String::from_utf8_lossy(&answer[..end]), &answer[end + 4..]);
        ensure!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
        let mut text = Vec::new();
        if head.contains("content-encoding: gzip") {
            flate2::read::GzDecoder::new(body).read_to_end(&mut text)?;
        } else {
            text = body.to_vec();
        }
        Ok((took, body.len(), text))
    }

    /// The most memory that it had, in MiB.
    pub fn memory(&self) -> Result<f64> {
        peak_memory(&self.child.id().to_string())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGTERM);
        let _ = self.child.wait();
    }
}
