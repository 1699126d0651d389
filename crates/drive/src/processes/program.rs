//! Another program as the load: run once, from the step's start to its own end, or for a slice at a
//! time on each of several targets.

use std::mem::take;
use std::ops::Range;
use std::process::Command;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::resource::UsageWho;
use nix::sys::signal::Signal;
use workload::{Figures, Program};

use super::process::{Runner, Said, with_output};
use crate::error::Error;
use crate::slices::slice::Slice;
use crate::slices::timetable::{Slot, Timetable};
use crate::step::cost::ThreadCost;
use crate::step::load::{Load, Ready, Running, check};
use crate::step::outcome::{ClassOutcome, Outcome, Reported};

/// Prepares a program as the load of a step on `target`; `command` is its command, filled in.
/// `then` runs after it, uncounted, so that observing the target under this load may cost
/// something.
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

/// A program that runs once or several times.
struct Turns {
    targets: Vec<String>,
    program: Program,
    /// The commands, by target; taken when it starts.
    commands: Vec<Command>,
    /// The targets in order, each with its slot if there are several.
    turns: Vec<(usize, Option<Slot>)>,
    /// The command that runs after them, uncounted.
    then: Option<Command>,
    runner: Arc<Runner>,
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

impl Turns {
    fn new(
        targets: Vec<(String, Command)>,
        program: &Program,
        turns: Vec<(usize, Option<Slot>)>,
    ) -> Turns {
        let (targets, commands) = targets.into_iter().unzip();
        let (program, runner) = (program.clone(), Arc::default());
        Turns { targets, program, commands, turns, then: None, runner, thread: None }
    }
}

impl Ready for Turns {
    fn go(mut self: Box<Self>, start: Instant) -> Box<dyn Running> {
        let (runner, input) = (Arc::clone(&self.runner), self.program.input.clone());
        let (mut commands, turns) = (take(&mut self.commands), take(&mut self.turns));
        let mut then = self.then.take();
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
                    Some(command) => runner.run(command, &input),
                    None => Err("it has no command".to_owned()),
                };
                cost.add(before, ThreadCost::of(UsageWho::RUSAGE_CHILDREN));
                let failed = said.is_err();
                ended.push(Ended { target, slot, said, cost });
                if failed {
                    then = None;
                    break;
                }
            }
            if let Some(mut then) = then {
                runner.has_measured(start.elapsed());
                // Lets the code that watches the measured part see its end first.
                thread::sleep(PAUSE);
                let _ = runner.run(&mut then, &input);
            }
            runner.has_ended();
            ended
        }));
        self
    }
}

impl Turns {
    /// The figures in its output.
    fn figures(&self, said: Said) -> Result<(Figures, String), String> {
        let Said { stdout, stderr, seconds } = said;
        let read = self.program.output.read(&self.program.step, &stdout, &stderr, seconds);
        let figures = read.map_err(|problem| with_output(&problem, &stdout))?;
        let real = |value: f64| value > 0.0 && value.is_finite();
        if !(real(figures.seconds) && real(figures.value)) {
            let Figures { seconds, value, .. } = figures;
            return Err(format!(
                "expected a figure and a time above 0, found {value} and {seconds} s; correct its \
                 command"
            ));
        }
        Ok((figures, format!("{stdout}{stderr}")))
    }

    /// Fills in the outcome on one target.
    fn fill(&self, outcome: &mut Outcome, ended: Vec<Ended>) -> Result<(), String> {
        let mut reported = Reported::default();
        let mut pieces = Vec::new();
        for Ended { slot, said, cost, .. } in ended {
            outcome.client_user_us += cost.user_us;
            outcome.client_system_us += cost.system_us;
            outcome.client_switches += cost.switches;
            let read = self.figures(said?);
            outcome.unfit = read.is_err();
            let (figures, printed) = read?;
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

/// The figures of a slot, as a slice.
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
        self.runner.wait(limit)
    }

    fn operations(&self) -> Vec<u64> {
        vec![0; self.targets.len()]
    }

    fn measured_until(&self) -> Option<Duration> {
        self.runner.measured()
    }

    fn leave_out(&self, _seconds: Range<u64>) {}

    fn stop(&self) {
        self.runner.end(Signal::SIGTERM);
    }

    fn break_off(&self) {
        self.runner.end(Signal::SIGKILL);
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
        self.runner.end(Signal::SIGKILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slices::timetable::Slices;
    use crate::step::target::{Reach, Target};
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
        let step = Arc::new(reads.step.clone());
        let load = Load::new(step, vec![target("a"), target("b")], 1);
        let load = Load { slices: Some(slices), ..load };
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
        // If one piece fails, there is no result for the whole.
        let failed = run(["echo did 500", "exit 1"]);
        assert!(failed.iter().any(|outcome| outcome.fatal.is_some()));
    }

    #[test]
    fn a_failing_or_silent_program_gives_no_result() {
        for (script, unfit, reason) in [
            ("echo no disk >&2; exit 3", false, "no disk"),
            ("echo no disk; exit 3", false, "no disk"),
            ("echo hello", true, "It printed: hello"),
            ("true", true, "found nothing; is this the output of regex? It printed nothing"),
            ("exit 3", false, "exit status: 3. It printed nothing"),
            ("kill -9 $$", false, "signal: 9"),
        ] {
            let done = outcome(start(script));
            let fatal = done.fatal.unwrap();
            assert!(fatal.starts_with("sh: ") && fatal.contains(reason), "{fatal}");
            assert_eq!(done.unfit, unfit, "{fatal}");
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
}
