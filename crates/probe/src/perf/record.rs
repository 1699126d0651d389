//! Samples with call stacks.

use std::fs;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use inferno::collapse::Collapse;
use inferno::collapse::perf::{Folder, Options};

use super::control::Running;
use super::program::failed;
use super::{CallGraph, Perf, PerfError};

/// Samples per second of CPU time. It is not round, because samples would otherwise hit work at
/// round intervals always or never.
pub const FREQUENCY: u32 = 499;

/// How long `perf record` may take to write its data: with copies of stacks, about 10 MB per
/// second.
const WRITE_LIMIT: Duration = Duration::from_secs(20);

/// Kilobytes of memory per CPU between the kernel and `perf`, for root; other users have the small
/// default. Copies of stacks arrive at 8 MB a second.
const BUFFER: &str = "16M";

/// A recording in progress. Dropping it ends it without a result.
#[derive(Debug)]
pub struct Recorder {
    running: Running,
    data: PathBuf,
}

impl Perf {
    /// Samples processes and whatever they start, until [`Recorder::stop`].
    ///
    /// # Errors
    /// If `perf` cannot be started.
    pub fn record(
        &self,
        pids: &[u32],
        call_graph: CallGraph,
        directory: &Path,
    ) -> Result<Recorder, PerfError> {
        let data = directory.join("perf.data");
        let mut command = self.command("record");
        command.args(["--quiet", "--no-buildid", "--no-buildid-cache"]);
        command.arg("--output").arg(&data);
        command.args(["--freq", &FREQUENCY.to_string()]);
        command.args(["--event", &self.event_name(self.event)]);
        command.args(["--call-graph", &call_graph.argument()]);
        if nix::unistd::geteuid().is_root() {
            command.args(["--mmap-pages", BUFFER]);
        }
        command.args(["--pid", &listed(pids)]);
        Ok(Recorder { running: Running::start(command, "record", directory)?, data })
    }
}

impl Recorder {
    /// False once it has ended by itself, as it does if a process ends before it is attached.
    pub fn runs(&mut self) -> bool {
        self.running.runs()
    }

    /// Ends the sampling; all samples are written when this returns.
    ///
    /// # Errors
    /// If `perf` ended before, does not end, or has written nothing.
    pub fn stop(mut self) -> Result<Recorded, PerfError> {
        let went_on = self.running.runs();
        self.running.interrupt();
        self.running.end(WRITE_LIMIT)?;
        let size = fs::metadata(&self.data).map_or(0, |metadata| metadata.len());
        if !went_on || size == 0 {
            return Err(self.running.failed("samples until it is stopped"));
        }
        Ok(Recorded { data: self.data })
    }
}

/// Samples in a file.
#[derive(Debug)]
pub struct Recorded {
    data: PathBuf,
}

impl Recorded {
    /// Folded stacks: `postgres;main;PostgresMain;… 17`, one line for each stack, sorted; kernel
    /// functions end in `_[k]`; functions without a symbol have their program's name in brackets.
    /// The file of samples is removed.
    ///
    /// # Errors
    /// If `perf script` fails or takes longer than `limit`, or there are no samples.
    pub fn fold(self, perf: &Perf, limit: Duration) -> Result<String, PerfError> {
        let folded = script(perf, &self.data, limit);
        let _ = fs::remove_file(&self.data);
        folded
    }
}

/// Runs `perf script` to print the samples, and folds them as they arrive.
fn script(perf: &Perf, data: &Path, limit: Duration) -> Result<String, PerfError> {
    let mut command = perf.command("script");
    // Inlined functions would be looked up with addr2line, for minutes.
    command.args(["--no-inline", "--force", "--fields", "comm,pid,tid,time,event,ip,sym,dso"]);
    command.arg("--input").arg(data);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(PerfError::io("run", &perf.path))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let folding = std::thread::spawn(move || {
        let mut folded = Vec::new();
        match stdout {
            Some(stdout) => fold(BufReader::new(stdout), &mut folded).map(|()| folded),
            None => Ok(folded),
        }
    });
    let messages = std::thread::spawn(move || {
        let mut text = String::new();
        if let Some(mut stderr) = stderr {
            let _ = stderr.read_to_string(&mut text);
        }
        text
    });
    let until = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(PerfError::io("wait for", &perf.path))? {
            break status;
        }
        if Instant::now() >= until {
            let _ = child.kill();
            let _ = child.wait();
            let (_, _) = (folding.join(), messages.join());
            return Err(PerfError::too_slow("perf script", "print the samples", limit));
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let folded = folding.join();
    let said = messages.join().unwrap_or_default();
    let failed = |said: &str| failed("perf script", "the samples with their stacks", said);
    if !status.success() {
        return Err(failed(&said));
    }
    match folded {
        Ok(Ok(folded)) if folded.is_empty() => Err(PerfError::NoSamples),
        Ok(Ok(folded)) => Ok(String::from_utf8_lossy(&folded).into_owned()),
        Ok(Err(error)) => Err(failed(&error.to_string())),
        Err(_) => Err(failed("its stacks could not be folded")),
    }
}

/// Folds the output of `perf script`.
fn fold(script: impl std::io::BufRead, folded: &mut Vec<u8>) -> std::io::Result<()> {
    let mut options = Options::default();
    options.annotate_kernel = true;
    options.nthreads = 1;
    Folder::from(options).collapse(script, folded)
}

/// Pids in the form `perf` accepts.
pub(super) fn listed(pids: &[u32]) -> String {
    pids.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}
