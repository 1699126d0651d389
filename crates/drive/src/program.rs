//! Another program as the load: run once, from the step's start to its own end.

use std::io::Read;
use std::ops::Range;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::resource::UsageWho;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use workload::Figures;

use crate::client::ThreadCost;
use crate::load::{Ready, Running};
use crate::outcome::Outcome;

/// Prepares a program as the load of a step on `target`. `read` finds its figures in its output.
pub fn program(
    target: &str,
    command: Command,
    read: fn(&str) -> Option<Figures>,
) -> Box<dyn Ready> {
    let program = command.get_program().display().to_string();
    let state = Arc::default();
    let (target, command) = (target.to_owned(), Some(command));
    Box::new(Program { target, program, command, read, state, thread: None })
}

struct Program {
    target: String,
    program: String,
    command: Option<Command>,
    read: fn(&str) -> Option<Figures>,
    state: Arc<(Mutex<State>, Condvar)>,
    thread: Option<JoinHandle<(Result<String, String>, ThreadCost)>>,
}

#[derive(Default)]
struct State {
    /// To send it signals.
    child: Option<Pid>,
    stopped: bool,
    ended: bool,
}

impl Ready for Program {
    fn go(mut self: Box<Self>, start: Instant) -> Box<dyn Running> {
        let (state, command) = (Arc::clone(&self.state), self.command.take());
        // The thread that starts the program lives as long as the program, because the kernel
        // considers it the parent (prctl(2), PR_SET_PDEATHSIG).
        self.thread = Some(thread::spawn(move || {
            thread::sleep(start.saturating_duration_since(Instant::now()));
            let mut cost = ThreadCost::default();
            // The cost of children that were waited for: this one, and hardly any other at the same
            // time.
            let before = ThreadCost::of(UsageWho::RUSAGE_CHILDREN);
            let said = run(command, &state.0);
            cost.add(before, ThreadCost::of(UsageWho::RUSAGE_CHILDREN));
            let mut known = state.0.lock().unwrap_or_else(PoisonError::into_inner);
            (known.child, known.ended) = (None, true);
            state.1.notify_all();
            (said, cost)
        }));
        self
    }
}

/// Runs it to its end. Returns its output, or why there is none.
fn run(command: Option<Command>, state: &Mutex<State>) -> Result<String, String> {
    let mut command = command.ok_or("it was started before")?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child: Child = {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.stopped {
            return Err("it was not started, because the step had already been stopped".to_owned());
        }
        let child = command.spawn().map_err(|error| format!("it cannot be run: {error}"))?;
        state.child = Some(Pid::from_raw(child.id() as i32));
        child
    };
    let mut stderr = child.stderr.take();
    let errors = thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stderr.as_mut().map(|stderr| stderr.read_to_end(&mut text));
        String::from_utf8_lossy(&text).into_owned()
    });
    let mut text = Vec::new();
    let _ = child.stdout.take().map(|mut stdout| stdout.read_to_end(&mut text));
    let status = child.wait().map_err(|error| error.to_string())?;
    let errors = errors.join().unwrap_or_default();
    if !status.success() {
        return Err(format!("it ended with {status}: {}", errors.trim()));
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

impl Program {
    fn signal(&self, signal: Signal) {
        let mut state = self.state.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.stopped = true;
        if let Some(child) = state.child {
            let _ = kill(child, signal);
        }
    }
}

impl Running for Program {
    fn wait(&self, limit: Duration) -> bool {
        let (state, changed) = &*self.state;
        let state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(state, limit, |state| !state.ended);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }

    fn operations(&self) -> Vec<u64> {
        vec![0]
    }

    fn measured_until(&self) -> Option<Duration> {
        None
    }

    fn leave_out(&self, _seconds: Range<u64>) {}

    fn stop(&self) {
        self.signal(Signal::SIGTERM);
    }

    fn break_off(&self) {
        self.signal(Signal::SIGKILL);
    }

    fn join(mut self: Box<Self>) -> Vec<Outcome> {
        let said = self.thread.take().and_then(|thread| thread.join().ok());
        let panicked = || Err("the thread that ran it panicked".to_owned());
        let (said, cost) = said.unwrap_or_else(|| (panicked(), ThreadCost::default()));
        let figures = said.and_then(|text| {
            let end: String =
                text.chars().rev().take(200).collect::<Vec<_>>().iter().rev().collect();
            (self.read)(&text).ok_or_else(|| format!("its figures are not in its output: {end}"))
        });
        let mut outcome = Outcome {
            client_user_us: cost.user_us,
            client_system_us: cost.system_us,
            client_switches: cost.switches,
            ..Outcome::empty(&self.target)
        };
        match figures {
            Ok(Figures { operations, seconds }) if seconds > 0.0 && seconds.is_finite() => {
                (outcome.operations, outcome.seconds, outcome.fatal) = (operations, seconds, None);
            }
            Ok(_) => outcome.fatal = Some(format!("{}: it took no time", self.program)),
            Err(error) => outcome.fatal = Some(format!("{}: {error}", self.program)),
        }
        vec![outcome]
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(script: &str) -> Box<dyn Running> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let read = |text: &str| {
            let (operations, seconds) = text.trim().strip_prefix("did ")?.split_once(" in ")?;
            Some(Figures { operations: operations.parse().ok()?, seconds: seconds.parse().ok()? })
        };
        program("a", command, read).go(Instant::now() + Duration::from_millis(2))
    }

    fn outcome(script: &str) -> Outcome {
        let running = start(script);
        assert!(running.wait(Duration::from_secs(60)), "it hangs");
        running.join().remove(0)
    }

    #[test]
    fn a_programs_output_gives_its_figures() {
        let done = outcome("echo did 500 in 0.25");
        assert_eq!((done.operations, done.fatal.as_deref()), (500, None));
        assert!((done.rate() - 2000.0).abs() < 1e-9);
    }

    #[test]
    fn a_failing_or_silent_program_gives_no_result() {
        for (script, reason) in [
            ("echo no disk >&2; exit 3", "no disk"),
            ("echo hello", "figures are not in its output: hello"),
            ("echo did 5 in 0", "took no time"),
            ("kill -9 $$", "signal: 9"),
        ] {
            let fatal = outcome(script).fatal.unwrap();
            assert!(fatal.starts_with("sh: ") && fatal.contains(reason), "{fatal}");
        }
        let nothing = program("a", Command::new("/no/such/program"), |_| None);
        let running = nothing.go(Instant::now());
        assert!(running.wait(Duration::from_secs(60)));
        assert!(running.join()[0].fatal.as_ref().unwrap().contains("cannot be run"));
    }

    #[test]
    fn a_program_can_be_ended() {
        for end in [
            |running: &dyn Running| running.stop(),
            |running: &dyn Running| {
                running.break_off();
            },
        ] {
            let running = start("exec sleep 3600");
            thread::sleep(Duration::from_millis(50));
            end(&*running);
            assert!(running.wait(Duration::from_secs(60)));
            assert!(running.join()[0].fatal.is_some());
        }
        drop(start("exec sleep 3600"));
    }
}
