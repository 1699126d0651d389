//! A process of another program: started, waited for, and ended with all its children.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

/// The output of a program, and how long it ran.
pub struct Said {
    pub stdout: String,
    pub stderr: String,
    pub seconds: f64,
}

/// Runs programs one after another, and lets other threads wait for the last and end it.
#[derive(Default)]
pub struct Runner {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// The process to send signals to.
    child: Option<Pid>,
    stopped: bool,
    /// When the measured part was over, since the start; only if something follows.
    measured: Option<Duration>,
    ended: bool,
}

impl Runner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a program to its end. Returns its output, or an error that says why there is none.
    pub fn run(&self, command: &mut Command, input: &str) -> Result<Said, String> {
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let begin = Instant::now();
        let mut child: Child = {
            let mut state = self.state();
            if state.stopped {
                return Err(
                    "it was not started, because the step had already been stopped".to_owned()
                );
            }
            let child = command.spawn().map_err(|error| format!("it cannot be run: {error}"))?;
            state.child = Some(Pid::from_raw(child.id() as i32));
            child
        };
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let ([stdout, stderr], status, seconds) = thread::scope(|scope| {
            // A program that ends without reading it all reports the reason itself.
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
            let (stdout, stderr) = (scope.spawn(|| all(stdout)), scope.spawn(|| all(stderr)));
            let (status, seconds) = self.wait_for(&mut child, begin);
            ([stdout, stderr].map(|pipe| pipe.join().unwrap_or_default()), status, seconds)
        });
        let status = status.map_err(|error| error.to_string())?;
        if !status.success() {
            let told = if stderr.trim().is_empty() { &stdout } else { &stderr };
            return Err(with_output(&format!("it ended with {status}"), told));
        }
        Ok(Said { stdout, stderr, seconds })
    }

    /// Waits until a program has ended, and ends the processes it left running: a process in the
    /// background would disturb the steps that follow, and may hold its output open.
    fn wait_for(
        &self,
        child: &mut Child,
        begin: Instant,
    ) -> (std::io::Result<std::process::ExitStatus>, f64) {
        let pid = Pid::from_raw(child.id() as i32);
        // As long as it has not been waited for, no other group can have its number.
        while waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT)
            == Err(nix::Error::EINTR)
        {}
        let seconds = begin.elapsed().as_secs_f64();
        let _ = killpg(pid, Signal::SIGKILL);
        self.state().child = None;
        (child.wait(), seconds)
    }

    /// Ends the program that runs, and keeps others from starting.
    pub fn end(&self, signal: Signal) {
        let mut state = self.state();
        state.stopped = true;
        if let Some(child) = state.child {
            // It leads its own group, which includes its children; the programs of some tests
            // don't.
            let _ = killpg(child, signal).or_else(|_| kill(child, signal));
        }
    }

    /// Records that the measured part ended `until` after the start, and that something follows.
    pub fn has_measured(&self, until: Duration) {
        self.state().measured = Some(until);
    }

    /// See [`Runner::has_measured`].
    pub fn measured(&self) -> Option<Duration> {
        self.state().measured
    }

    /// Nothing more will run.
    pub fn has_ended(&self) {
        self.state().ended = true;
        self.ended.notify_all();
    }

    /// Waits until nothing more will run; returns true if that happened within `limit`.
    pub fn wait(&self, limit: Duration) -> bool {
        let waited = self.ended.wait_timeout_while(self.state(), limit, |state| !state.ended);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }
}

/// Runs a command that must succeed before a program's step; `stop` tells when to give up.
///
/// # Errors
/// A sentence: why it did not succeed.
pub fn run_before(mut command: Command, stop: &dyn Fn() -> bool) -> Result<(), String> {
    let name = command.get_program().display().to_string();
    let runner = Arc::new(Runner::default());
    let own = Arc::clone(&runner);
    let thread = thread::spawn(move || {
        let said = own.run(&mut command, "");
        own.has_ended();
        said
    });
    while !runner.wait(Duration::from_millis(100)) {
        if stop() {
            runner.end(Signal::SIGKILL);
        }
    }
    let said = thread.join().unwrap_or_else(|_| Err("the thread that ran it panicked".to_owned()));
    said.map(drop).map_err(|error| format!("{name}: {error}"))
}

/// Reads a pipe to its end.
fn all(pipe: Option<impl Read>) -> String {
    let mut text = Vec::new();
    // Text before an error is kept; the reader checks that it is complete.
    let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

/// The problem, and the last lines of what a program printed.
pub fn with_output(problem: &str, text: &str) -> String {
    let stop = if problem.ends_with(['.', '?', '!']) { "" } else { "." };
    let text = text.trim();
    if text.is_empty() {
        return format!("{problem}{stop} It printed nothing");
    }
    let cut = text.len().saturating_sub(600);
    let cut = (cut..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{problem}{stop} It printed: {}", &text[cut..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_comes_before_a_step_has_to_succeed() {
        assert_eq!(run_before(sh("true"), &|| false), Ok(()));
        assert!(run_before(sh("echo why >&2; false"), &|| false).unwrap_err().contains("why"));
        assert!(run_before(sh("exec sleep 3600"), &|| true).unwrap_err().contains("signal: 9"));
    }

    #[test]
    fn what_a_program_leaves_in_the_background_ends_with_it() {
        // The sleep holds the output open.
        let mut command = sh("sleep 3600 & echo $!");
        command.process_group(0);
        let said = Runner::default().run(&mut command, "").unwrap();
        let left = Pid::from_raw(said.stdout.trim().parse().unwrap());
        let begin = Instant::now();
        // It is gone once the process that inherited it has noticed.
        let running = || {
            let stat = std::fs::read_to_string(format!("/proc/{left}/stat")).unwrap_or_default();
            !stat.is_empty() && !stat.contains(") Z ")
        };
        while running() {
            assert!(begin.elapsed() < Duration::from_secs(60), "it goes on");
            thread::sleep(Duration::from_millis(5));
        }
    }
}
