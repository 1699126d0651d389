//! A running `perf`, controlled through a pair of FIFOs and ended with `SIGINT`.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};

use super::PerfError;
use super::program::failed;

/// How often to check for an answer.
const LOOK: Duration = Duration::from_millis(2);
/// How long to wait for the end of a `perf` whose result nobody wants.
const PATIENCE: Duration = Duration::from_secs(2);

/// A running `perf`, ended on drop.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    /// The command, shortened for messages.
    pub(super) what: String,
    /// The file with its error messages.
    messages: PathBuf,
}

impl Running {
    /// Starts a command that works in `directory` and ends with this process.
    pub(super) fn start(
        mut command: Command,
        what: &str,
        directory: &Path,
    ) -> Result<Running, PerfError> {
        let messages = directory.join(format!("{what}.messages"));
        let file = File::create(&messages).map_err(PerfError::io("write", &messages))?;
        command.current_dir(directory).stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        // Its own group, so Ctrl-C in a terminal doesn't reach it.
        command.process_group(0);
        let child = command.spawn().map_err(PerfError::io("run", command.get_program()))?;
        Ok(Running { child, what: format!("perf {what}"), messages })
    }

    /// True while it is running.
    pub(super) fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Asks it to write what it has.
    pub(super) fn interrupt(&self) {
        // It was not waited for, so the pid is still its own.
        let pid = Pid::from_raw(self.child.id().cast_signed());
        let _ = kill(pid, Signal::SIGINT);
    }

    /// Waits for its end, at most `limit`.
    pub(super) fn end(&mut self, limit: Duration) -> Result<(), PerfError> {
        let until = Instant::now() + limit;
        while self.runs() {
            if Instant::now() >= until {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return Err(PerfError::too_slow(&self.what, "end", limit));
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// The error for one that did not do what was expected, with its messages.
    pub(super) fn failed(&self, expected: &'static str) -> PerfError {
        let said = std::fs::read_to_string(&self.messages).unwrap_or_default();
        failed(&self.what, expected, &said)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.runs() {
            self.interrupt();
            let _ = self.end(PATIENCE);
        }
    }
}

/// The two FIFOs through which `perf` takes commands and acknowledges them (perf-stat(1),
/// `--control`).
#[derive(Debug)]
pub(super) struct Control {
    commands: File,
    answers: File,
    paths: Box<[PathBuf; 2]>,
    /// The argument for `perf`.
    pub(super) argument: String,
}

impl Control {
    pub(super) fn make(directory: &Path) -> Result<Control, PerfError> {
        let open = |path: &Path| {
            let made = mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR).map_err(io::Error::from);
            // For both, so that neither side ever waits for the other to open its end.
            let opened = made.and_then(|()| {
                OpenOptions::new()
                    .read(true)
                    .write(true)
                    .custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits())
                    .open(path)
            });
            opened.map_err(PerfError::io("make", path))
        };
        let paths = ["control", "answers"].map(|name| directory.join(name));
        let (commands, answers) = (open(&paths[0])?, open(&paths[1])?);
        let argument = format!("fifo:{},{}", paths[0].display(), paths[1].display());
        Ok(Control { commands, answers, paths: paths.into(), argument })
    }

    /// Sends a command and waits until it is done.
    pub(super) fn tell(
        &mut self,
        command: &str,
        running: &mut Running,
        limit: Duration,
    ) -> Result<(), PerfError> {
        let path = Path::new("control");
        self.commands
            .write_all(format!("{command}\n").as_bytes())
            .map_err(PerfError::io("write to", path))?;
        let until = Instant::now() + limit;
        let mut answer = Vec::new();
        let mut buffer = [0; 64];
        loop {
            match self.answers.read(&mut buffer) {
                Ok(read) => answer.extend_from_slice(buffer.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(PerfError::io("read from", "answers")(error)),
            }
            if answer.contains(&b'\n') {
                return Ok(());
            }
            if !running.runs() {
                return Err(running.failed("that it runs until it is stopped"));
            }
            if Instant::now() >= until {
                return Err(PerfError::too_slow(&running.what, "acknowledge a command", limit));
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        for path in self.paths.iter() {
            let _ = std::fs::remove_file(path);
        }
    }
}
