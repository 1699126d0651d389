//! Another program as the load: run once, from the step's start to its own end, or for a slice at a
//! time on each of several targets.

use std::io::{Read, Write};
use std::mem::take;
use std::ops::Range;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::resource::UsageWho;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use workload::{Figures, Program};

use crate::client::ThreadCost;
use crate::error::Error;
use crate::load::{Load, Ready, Running, check};
use crate::outcome::{ClassOutcome, Outcome, Reported};
use crate::slice::Slice;
use crate::timetable::{Slot, Timetable};

/// Prepares a program as the load of a step on `target`; `command` is its command, filled in.
/// `then` runs after it, uncounted, to observe the target under this load at any cost.
pub fn program(
    target: &str,
    command: Command,
    program: &Program,
    then: Option<Command>,
) -> Box<dyn Ready> {
    let targets = vec![(target.to_owned(), command)];
    let mut turns = Turns::new(targets, program, vec![(0, None)]);
    turns.then = then;
    Box::new(turns)
}

/// Prepares a program that runs for a slice at a time on each of several targets, in the order of
/// the load's timetable; `commands` are its commands for them, filled in.
///
/// # Errors
/// [`Error::Load`] without slices, or if the step does not end by time.
pub fn program_in_slices(
    load: &Load,
    commands: Vec<Command>,
    program: &Program,
) -> Result<Box<dyn Ready>, Error> {
    check(load)?;
    let (Some(slices), Some(limit)) = (&load.slices, load.limit()) else {
        return Err(Error::Load("a program in slices needs slices and a step that ends by time"));
    };
    let slots = Timetable::new(slices, load.targets.len()).take_while(|slot| slot.end() <= limit);
    let turns = slots.map(|slot| (slot.target, Some(slot))).collect();
    let names = load.targets.iter().map(|target| target.name.clone());
    Ok(Box::new(Turns::new(names.zip(commands).collect(), program, turns)))
}

/// Runs what has to succeed before a program's step; `stop` tells when to give up.
///
/// # Errors
/// A sentence: why it did not succeed.
pub fn prepare(command: Command, stop: &dyn Fn() -> bool) -> Result<(), String> {
    let name = command.get_program().display().to_string();
    let state = Arc::new((Mutex::new(State::default()), Condvar::new()));
    let watched = Arc::clone(&state);
    let thread = thread::spawn(move || {
        let mut command = command;
        let said = run(&mut command, "", &watched.0);
        end(&watched);
        said
    });
    while !wait(&state, Duration::from_millis(100)) {
        if stop() {
            signal(&state, Signal::SIGKILL);
        }
    }
    let said = thread.join().unwrap_or_else(|_| Err("the thread that ran it panicked".to_owned()));
    said.map(drop).map_err(|error| format!("{name}: {error}"))
}

/// A program that runs once or several times.
struct Turns {
    targets: Vec<String>,
    program: Program,
    /// The commands, by target; taken when it starts.
    commands: Vec<Command>,
    /// The targets in order, with the slot of each where there are several.
    turns: Vec<(usize, Option<Slot>)>,
    /// What runs after them, uncounted.
    then: Option<Command>,
    state: Arc<Watched>,
    thread: Option<JoinHandle<Vec<Ended>>>,
}

/// A turn that has ended.
struct Ended {
    target: usize,
    slot: Option<Slot>,
    said: Result<Said, String>,
    cost: ThreadCost,
}

/// Between a program and its second, uncounted run.
const PAUSE: Duration = Duration::from_millis(30);

type Watched = (Mutex<State>, Condvar);

/// What a program printed, and how long it took.
struct Said {
    stdout: String,
    stderr: String,
    seconds: f64,
}

#[derive(Default)]
struct State {
    /// To send it signals.
    child: Option<Pid>,
    stopped: bool,
    /// When what counts was over, since the start; only if something follows.
    measured: Option<Duration>,
    ended: bool,
}

impl Turns {
    fn new(
        targets: Vec<(String, Command)>,
        program: &Program,
        turns: Vec<(usize, Option<Slot>)>,
    ) -> Turns {
        let (targets, commands) = targets.into_iter().unzip();
        let (program, state) = (program.clone(), Arc::default());
        Turns { targets, program, commands, turns, then: None, state, thread: None }
    }
}

impl Ready for Turns {
    fn go(mut self: Box<Self>, start: Instant) -> Box<dyn Running> {
        let (state, input) = (Arc::clone(&self.state), self.program.input.clone());
        let (mut commands, turns) = (take(&mut self.commands), take(&mut self.turns));
        let then = self.then.take();
        // The thread that starts the program lives as long as the program, because the kernel
        // considers it the parent (prctl(2), PR_SET_PDEATHSIG).
        self.thread = Some(thread::spawn(move || {
            thread::sleep(start.saturating_duration_since(Instant::now()));
            let mut ended = Vec::new();
            for (target, slot) in turns {
                let mut cost = ThreadCost::default();
                // The cost of children that were waited for: this one, and hardly any other at the
                // same time.
                let before = ThreadCost::of(UsageWho::RUSAGE_CHILDREN);
                let said = match commands.get_mut(target) {
                    Some(command) => run(command, &input, &state.0),
                    None => Err("it has no command".to_owned()),
                };
                cost.add(before, ThreadCost::of(UsageWho::RUSAGE_CHILDREN));
                let failed = said.is_err();
                ended.push(Ended { target, slot, said, cost });
                if failed {
                    break;
                }
            }
            if let (Some(mut then), false) =
                (then, ended.iter().any(|turn: &Ended| turn.said.is_err()))
            {
                let mut known = state.0.lock().unwrap_or_else(PoisonError::into_inner);
                known.measured = Some(start.elapsed());
                drop(known);
                // So that what watches the measured part sees its end first.
                thread::sleep(PAUSE);
                let _ = run(&mut then, &input, &state.0);
            }
            end(&state);
            ended
        }));
        self
    }
}

/// Runs it to its end. Returns its output, or why there is none.
fn run(command: &mut Command, input: &str, state: &Mutex<State>) -> Result<Said, String> {
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begin = Instant::now();
    let mut child: Child = {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.stopped {
            return Err("it was not started, because the step had already been stopped".to_owned());
        }
        let child = command.spawn().map_err(|error| format!("it cannot be run: {error}"))?;
        state.child = Some(Pid::from_raw(child.id() as i32));
        child
    };
    let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
    let errors = thread::spawn(move || all(stderr));
    let stdout = thread::scope(|scope| {
        // A program that ends without reading it all says itself why.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
        all(child.stdout.take())
    });
    let status = child.wait().map_err(|error| error.to_string());
    // Its pid may soon be another's.
    state.lock().unwrap_or_else(PoisonError::into_inner).child = None;
    let (status, seconds) = (status?, begin.elapsed().as_secs_f64());
    let stderr = errors.join().unwrap_or_default();
    if !status.success() {
        let told = if stderr.trim().is_empty() { &stdout } else { &stderr };
        return Err(format!("it ended with {status}: {}", end_of(told)));
    }
    Ok(Said { stdout, stderr, seconds })
}

/// All that comes from a pipe.
fn all(pipe: Option<impl Read>) -> String {
    let mut text = Vec::new();
    // What came before an error is kept; whether it is complete, its reader sees.
    let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

/// The last lines of a long text.
fn end_of(text: &str) -> &str {
    let text = text.trim();
    let cut = text.len().saturating_sub(600);
    let cut = (cut..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[cut..]
}

fn signal(watched: &Watched, signal: Signal) {
    let mut state = watched.0.lock().unwrap_or_else(PoisonError::into_inner);
    state.stopped = true;
    if let Some(child) = state.child {
        // It leads a group of its own, in which its children are, too; some tests' don't.
        let _ = killpg(child, signal).or_else(|_| kill(child, signal));
    }
}

/// Tells that the program has ended.
fn end(watched: &Watched) {
    let mut known = watched.0.lock().unwrap_or_else(PoisonError::into_inner);
    (known.child, known.ended) = (None, true);
    watched.1.notify_all();
}

/// Waits for its end; tells whether it came.
fn wait((state, changed): &Watched, limit: Duration) -> bool {
    let state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = changed.wait_timeout_while(state, limit, |state| !state.ended);
    waited.unwrap_or_else(PoisonError::into_inner).0.ended
}

impl Turns {
    /// The figures in what it said.
    fn figures(&self, said: Result<Said, String>) -> Result<(Figures, String), String> {
        let Said { stdout, stderr, seconds } = said?;
        let read = self.program.output.read(&self.program.step, &stdout, &stderr, seconds);
        let figures = read.map_err(|e| format!("{e}. It printed: {}", end_of(&stdout)))?;
        let real = |value: f64| value > 0.0 && value.is_finite();
        match real(figures.seconds) && real(figures.value) {
            true => Ok((figures, format!("{stdout}{stderr}"))),
            false => Err("it took no time".to_owned()),
        }
    }

    /// What came of it on one target.
    fn fill(&self, outcome: &mut Outcome, ended: Vec<Ended>) -> Result<(), String> {
        let mut reported = Reported::default();
        let mut pieces = Vec::new();
        for Ended { slot, said, cost, .. } in ended {
            outcome.client_user_us += cost.user_us;
            outcome.client_system_us += cost.system_us;
            outcome.client_switches += cost.switches;
            let (figures, printed) = self.figures(said)?;
            outcome.operations += figures.operations;
            outcome.seconds += figures.seconds;
            outcome.slices.extend(slot.map(|slot| slice(slot, &figures)));
            reported.printed.push_str(&printed);
            pieces.push(figures);
        }
        let Some(first) = pieces.first() else { return Err("it did not run".to_owned()) };
        reported.value = if outcome.slices.is_empty() { first.value } else { outcome.rate() };
        for (name, _, unit) in &first.metrics {
            let of =
                |figures: &Figures| figures.metrics.iter().find(|it| it.0 == *name).map(|it| it.1);
            let mut values: Vec<f64> = pieces.iter().filter_map(of).collect();
            values.sort_by(f64::total_cmp);
            let median = values[values.len() / 2];
            reported.metrics.push((name.clone(), median, unit.clone()));
        }
        let seconds = &first.per_second;
        // A gap is not a second in which nothing was done.
        if pieces.len() == 1 && !seconds.is_empty() && seconds.iter().all(|rate| rate.is_finite()) {
            let counts = seconds.iter().map(|rate| rate.round() as u64).collect();
            let class = &self.program.step.counted;
            outcome.classes = vec![ClassOutcome::of_seconds(class, outcome.operations, counts)];
        }
        outcome.reported = Some(reported);
        Ok(())
    }
}

/// What a slot has measured.
fn slice(slot: Slot, figures: &Figures) -> Slice {
    Slice {
        round: slot.round,
        begin: slot.begin,
        length: slot.length,
        operations: (figures.value * figures.seconds).round() as u64,
        seconds: figures.seconds,
        held: 0.0,
    }
}

impl Running for Turns {
    fn wait(&self, limit: Duration) -> bool {
        wait(&self.state, limit)
    }

    fn operations(&self) -> Vec<u64> {
        vec![0; self.targets.len()]
    }

    fn measured_until(&self) -> Option<Duration> {
        self.state.0.lock().unwrap_or_else(PoisonError::into_inner).measured
    }

    fn leave_out(&self, _seconds: Range<u64>) {}

    fn stop(&self) {
        signal(&self.state, Signal::SIGTERM);
    }

    fn break_off(&self) {
        signal(&self.state, Signal::SIGKILL);
    }

    fn join(mut self: Box<Self>) -> Vec<Outcome> {
        let ended = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let mut of_targets: Vec<Vec<Ended>> = self.targets.iter().map(|_| Vec::new()).collect();
        for turn in ended {
            of_targets[turn.target].push(turn);
        }
        let outcome = |(target, ended): (&String, Vec<Ended>)| {
            let mut outcome = Outcome::empty(target);
            if let Err(error) = self.fill(&mut outcome, ended) {
                let program = self.program.command.first().map_or("the program", String::as_str);
                outcome.fatal = Some(format!("{program}: {error}"));
            }
            outcome
        };
        self.targets.iter().zip(of_targets).map(outcome).collect()
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        signal(&self.state, Signal::SIGKILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Reach, Target};
    use crate::timetable::Slices;
    use workload::{Class, Output, Step};

    fn of(parse: &str) -> Program {
        let step = Step::new("test", 1, Class::QUERY, Vec::new());
        let output = Output { parse: Some(parse.to_owned()), test: None };
        Program { output, ..Program::new(step, vec!["sh".to_owned()]) }
    }

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn start(script: &str) -> Box<dyn Running> {
        let ready = program("a", sh(script), &of("regex:did ([0-9]+)"), None);
        ready.go(Instant::now() + Duration::from_millis(2))
    }

    fn outcome(running: Box<dyn Running>) -> Outcome {
        assert!(running.wait(Duration::from_secs(60)), "it hangs");
        running.join().remove(0)
    }

    #[test]
    fn a_programs_output_gives_its_figures() {
        let done = outcome(start("echo did 500"));
        assert!(done.fatal.is_none() && (done.value() - 500.0).abs() < 1e-9, "{done:?}");
        assert!(done.seconds > 0.0 && done.operations >= 1);
    }

    #[test]
    fn progress_on_standard_error_gives_the_seconds() {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../foreign/tests/fixtures");
        let file = format!("{fixtures}/pgbench-15-select-progress.txt");
        let script = format!("grep -v ^progress {file}; grep ^progress {file} >&2");
        let done = outcome(program("a", sh(&script), &of("pgbench"), None).go(Instant::now()));
        assert_eq!(done.fatal, None);
        assert!(done.classes[0].per_second.len() >= 2, "{:?}", done.classes);
        assert!(done.reported.unwrap().metrics.iter().any(|(name, ..)| name == "mean"));
    }

    #[test]
    fn a_program_without_a_format_gives_its_time() {
        let mut timed = of("");
        (timed.output, timed.step.less_is_better) = (Output::default(), true);
        timed.input = "some input".to_owned();
        let script = "test \"$(cat)\" = 'some input'";
        let done = outcome(program("a", sh(script), &timed, None).go(Instant::now()));
        assert_eq!((done.operations, done.fatal.as_deref()), (1, None));
        assert!((done.value() - done.seconds).abs() < 1e-12);
    }

    #[test]
    fn a_program_in_slices_goes_from_target_to_target() {
        let slices = Slices { seed: 3, lengths: vec![Duration::from_secs(1)], lead_in: 0.0 };
        let mut reads = of("regex:did ([0-9]+)");
        reads.step.seconds = Some(3.0);
        let target =
            |name: &str| Target { name: name.to_owned(), reach: Reach::Process("/".into()) };
        let load = Load {
            step: Arc::new(reads.step.clone()),
            targets: vec![target("a"), target("b")],
            seed: 1,
            slices: Some(slices),
            overtime: Duration::ZERO,
        };
        let run = |scripts: [&str; 2]| {
            let ready = program_in_slices(&load, scripts.map(sh).into(), &reads).unwrap();
            let running = ready.go(Instant::now());
            assert!(running.wait(Duration::from_secs(60)), "it hangs");
            running.join()
        };
        let [a, b] = &run(["echo did 500", "echo did 600"])[..] else { panic!("two targets") };
        assert_eq!((a.fatal.as_deref(), a.slices.len(), b.slices.len()), (None, 3, 3));
        for (one, value) in [(a, 500.0), (b, 600.0)] {
            // A whole number of operations.
            let near = |it: &Slice| (it.operations as f64 - value * it.seconds).abs() <= 0.5;
            assert!(one.slices.iter().all(near), "{one:?}");
        }
        assert_eq!(a.slices.iter().map(|slice| slice.round).collect::<Vec<_>>(), [0, 1, 2]);
        // What fails in one piece is no result of the whole.
        let failed = run(["echo did 500", "exit 1"]);
        assert!(failed.iter().any(|outcome| outcome.fatal.is_some()));
    }

    #[test]
    fn a_failing_or_silent_program_gives_no_result() {
        for (script, reason) in [
            ("echo no disk >&2; exit 3", "no disk"),
            ("echo no disk; exit 3", "no disk"),
            ("echo hello", "It printed: hello"),
            ("kill -9 $$", "signal: 9"),
        ] {
            let fatal = outcome(start(script)).fatal.unwrap();
            assert!(fatal.starts_with("sh: ") && fatal.contains(reason), "{fatal}");
        }
        let nothing = program("a", Command::new("/no/such/program"), &of("pgbench"), None);
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

    #[test]
    fn what_follows_a_program_is_not_counted() {
        let ready =
            program("a", sh("echo did 500"), &of("regex:did ([0-9]+)"), Some(sh("sleep 1")));
        let running = ready.go(Instant::now());
        assert!(running.wait(Duration::from_secs(60)), "it hangs");
        let measured = running.measured_until().unwrap();
        let done = running.join().remove(0);
        assert!(done.fatal.is_none() && done.seconds <= measured.as_secs_f64(), "{done:?}");
        assert!((done.value() - 500.0).abs() < 1e-9);
    }

    #[test]
    fn what_comes_before_a_step_has_to_succeed() {
        assert_eq!(prepare(sh("true"), &|| false), Ok(()));
        assert!(prepare(sh("echo why >&2; false"), &|| false).unwrap_err().contains("why"));
        assert!(prepare(sh("exec sleep 3600"), &|| true).unwrap_err().contains("signal: 9"));
    }
}
