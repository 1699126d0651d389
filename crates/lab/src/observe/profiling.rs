//! The profiling of one step: when `perf` runs, and which part of the step is excluded from its
//! result.
//!
//! A timed step is measured for its time. Then its sampler stops, its load continues, and `perf`
//! counts events for a while and takes samples for the rest. Neither happens in the measured time:
//! each switch between a client and its server would also switch the event counters, which cost 6%
//! of the throughput of point queries in a test (pgbench, prepared, one client, 2 cores, counting
//! on and off in turns of 3 s).
//!
//! A step that ends by work has a window of whole seconds around its middle, chosen after two
//! seconds by its speed so far. Clients exclude operations that end in it
//! ([`drive::Running::leave_out`]); the sampler stops at its start, and another one starts at its
//! end. So the result is that of the step without the window. The window is at most a third of the
//! expected time and at least two seconds; shorter steps are not profiled. Neither are steps that
//! count as a single operation, such as the creation of indexes, because no part of them can be
//! left out.

use std::time::{Duration, Instant};

use drive::{Outcome, Running};
use probe::perf::{Counting, Recorded, Recorder};
use store::{StepRecord, StepState, TrialId};
use workload::Step;

use crate::event::planned;
use crate::observe::observer::{Found, Observer, Scene, done};
use crate::observe::profile::{Profiled, Profiler, Scratch, in_block};
use crate::observe::sampling::Sampling;

/// How long a step that ends by its work runs before its length is estimated.
const WATCHED: Duration = Duration::from_secs(2);
/// A window takes at most this part of the expected time.
const PART: f64 = 1.0 / 3.0;
/// The shortest window, in seconds: half of it is for `perf` to begin and end.
const SHORTEST: u64 = 2;
/// The part of a window in which events are counted.
const COUNTED: f64 = 0.25;
/// Before a window ends `perf` is told to write what it has; that must not reach into what is
/// measured.
const TO_WRITE: Duration = Duration::from_millis(500);
/// The clients have to know of a window before it begins.
const TO_TELL: Duration = Duration::from_millis(200);

/// How often to check whether a program has ended.
const SOON: Duration = Duration::from_millis(5);

/// Prepares to profile a step on one server, in the blocks in which that is done.
pub fn observe<'a>(scene: &mut Scene<'a, '_>, found: &mut Found) -> Option<Box<dyn Observer + 'a>> {
    let (profiler, step) = (scene.profiler?, &scene.load.step);
    let [server] = &scene.servers[..] else {
        found.notes.push("no profile: steps in slices are not profiled".to_owned());
        return None;
    };
    let root_pid = server.group?.root_pid();
    if !in_block(server.block) {
        return None;
    }
    let after = scene.scheduler.map_or(Duration::ZERO, |it| it.overtime(step));
    let Some(when) = when(step, after, profiler.window()) else {
        found.notes.push("no profile: no part of this step can be left out".to_owned());
        return None;
    };
    let path = scene.data_dir.join(format!("{}-t{}-perf", std::process::id(), server.trial));
    let scratch = Scratch::make(scene.ledger, path, &profiler.perf)
        .map_err(|error| found.notes.push(format!("no profile: {error}")))
        .ok()?;
    Some(Box::new(Profiling {
        profiler,
        variant: server.name.to_owned(),
        block: server.block,
        trial: server.trial,
        counting: None,
        recorder: None,
        recorded: None,
        scratch,
        root_pid,
        when,
        stage: Stage::Before,
        start: Instant::now(),
        profiled: Profiled::default(),
    }))
}

/// When a step is profiled: a timed one for `long`, beginning `after` the end of its time. `None`
/// if no part of it can be left out.
fn when(step: &Step, after: Duration, long: Duration) -> Option<When> {
    if step.runs_in_order() {
        return None;
    }
    Some(match (step.seconds.map(Duration::from_secs_f64), planned(step)) {
        (Some(begin), _) if step.streams.is_empty() => When::Then { begin, length: long },
        (Some(time), _) => When::At { begin: time + after, length: long, again: false },
        (None, Some(operations)) => When::ToBeSeen(operations),
        (None, None) => return None,
    })
}

/// When a step is profiled.
#[derive(Debug, Clone, Copy, PartialEq)]
enum When {
    /// Chosen later, by the speed of the step; the number is that of all its operations.
    ToBeSeen(u64),
    /// This long after the start, for this long; `again` if it is measured again afterwards.
    At { begin: Duration, length: Duration, again: bool },
    /// Once the measured part is over, which is not before `begin`, for this long: another program
    /// takes a little longer than it is told, and then runs again.
    Then { begin: Duration, length: Duration },
    /// Not at all.
    Never,
}

/// The progress of profiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Before,
    /// Events are being counted, beginning at this number of operations.
    Counting(u64),
    Sampling,
    Over,
}

/// A step being profiled.
struct Profiling<'a> {
    profiler: &'a Profiler,
    variant: String,
    block: u32,
    trial: TrialId,
    // These before the directory in which they write, so that they end before it is removed.
    counting: Option<Counting>,
    recorder: Option<Recorder>,
    recorded: Option<Recorded>,
    scratch: Scratch,
    root_pid: u32,
    when: When,
    stage: Stage,
    start: Instant,
    profiled: Profiled,
}

impl Observer for Profiling<'_> {
    fn begin(&mut self, start: Instant) {
        self.start = start;
    }

    fn look(&mut self, running: &dyn Running, sampling: &mut Sampling) -> Option<Instant> {
        if let When::ToBeSeen(operations) = self.when {
            return self.decide(running, operations);
        }
        if let When::Then { begin, length } = self.when {
            let due = self.start + begin;
            let Some(begin) = running.measured_until() else {
                return Some(due.max(Instant::now() + SOON));
            };
            self.when = When::At { begin, length, again: false };
        }
        let When::At { begin, length, again } = self.when else { return None };
        let (begin, end) = (self.start + begin, self.start + begin + length);
        let counted = begin + length.mul_f64(COUNTED);
        if self.stage == Stage::Before && Instant::now() >= begin {
            sampling.stop();
            self.count(running);
        }
        if let Stage::Counting(since) = self.stage
            && Instant::now() >= counted
        {
            self.counted(running, since);
            self.sample();
        }
        if self.stage == Stage::Sampling && Instant::now() + TO_WRITE >= end {
            self.stage = Stage::Over;
            self.stop_recording();
            if again {
                sampling.begin(end);
            }
        }
        match self.stage {
            Stage::Before => Some(begin),
            Stage::Counting(_) => Some(counted),
            Stage::Sampling => Some(end - TO_WRITE),
            Stage::Over => None,
        }
    }

    fn end(&mut self, sampling: &mut Sampling, _: &mut Found) {
        sampling.stop();
    }

    /// Unwinds the stacks.
    fn finish(&mut self) {
        // The step ended before its window did; the samples so far still make a profile.
        self.stop_recording();
        match self.when {
            When::ToBeSeen(_) => self.profiled.notes.push(too_short("under 2 s")),
            When::At { .. } | When::Then { .. } if self.stage == Stage::Before => {
                self.profiled.notes.push("no profile: the step ended before its window".to_owned());
            }
            _ => {}
        }
        if let Some(recorded) = self.recorded.take() {
            match self.profiler.fold(recorded) {
                Ok(folded) => self.profiled.folded = Some(folded),
                Err(error) => self.profiled.notes.push(format!("no profile: {error}")),
            }
        }
        self.counting = None;
        self.scratch.remove();
    }

    fn record(&mut self, record: &mut StepRecord, _: &Step, _: &Outcome) {
        if record.state == StepState::Finished {
            let profiled = std::mem::take(&mut self.profiled);
            self.profiler.keep(record, profiled, &self.variant, self.block, self.trial);
        }
    }
}

impl Profiling<'_> {
    /// Chooses the window of a step that ends by its work.
    fn decide(&mut self, running: &dyn Running, operations: u64) -> Option<Instant> {
        let elapsed = Instant::now().saturating_duration_since(self.start);
        if elapsed < WATCHED {
            return Some(self.start + WATCHED);
        }
        let done = done(running);
        let expected = elapsed.as_secs_f64() * operations as f64 / done.max(1) as f64;
        let wanted = self.profiler.window().as_secs();
        let Some((begin, length)) = window(elapsed, expected, wanted) else {
            self.profiled.notes.push(too_short(&format!("about {expected:.0} s")));
            self.when = When::Never;
            return None;
        };
        running.leave_out(begin..begin + length);
        let begin = Duration::from_secs(begin);
        self.when = When::At { begin, length: Duration::from_secs(length), again: true };
        Some(self.start + begin)
    }

    /// Starts to count events.
    fn count(&mut self, running: &dyn Running) {
        let perf = &self.profiler.perf;
        let counting =
            probe::members(self.root_pid).map_err(|error| error.to_string()).and_then(|pids| {
                let mut counting =
                    perf.count(&pids, &self.scratch.path).map_err(|error| error.to_string())?;
                counting.resume().map_err(|error| error.to_string())?;
                Ok(counting)
            });
        match counting {
            Ok(counting) => self.counting = Some(counting),
            Err(error) => self.not_counted(&error),
        }
        self.stage = Stage::Counting(done(running));
    }

    /// Records the events since then as those of this many operations.
    fn counted(&mut self, running: &dyn Running, since: u64) {
        let Some(mut counting) = self.counting.take() else { return };
        let operations = done(running).saturating_sub(since) as f64;
        match counting.pause().and_then(|()| counting.finish()) {
            Ok(counts) if operations > 0.0 => {
                let per_operation = |(event, count)| (event, count / operations);
                self.profiled.events = counts.into_iter().map(per_operation).collect();
            }
            Ok(_) => self.not_counted("no operation ended in that time"),
            Err(error) => self.not_counted(&error.to_string()),
        }
    }

    /// Starts to take samples.
    fn sample(&mut self) {
        self.stage = Stage::Sampling;
        let call_graph = self.profiler.call_graph(self.root_pid);
        let recorder =
            probe::members(self.root_pid).map_err(|error| error.to_string()).and_then(|pids| {
                let recorder = self.profiler.perf.record(&pids, call_graph, &self.scratch.path);
                recorder.map_err(|error| error.to_string())
            });
        match recorder {
            Ok(recorder) => self.recorder = Some(recorder),
            Err(error) => self.profiled.notes.push(format!("no profile: {error}")),
        }
    }

    fn stop_recording(&mut self) {
        let Some(recorder) = self.recorder.take() else { return };
        match recorder.stop() {
            Ok(recorded) => self.recorded = Some(recorded),
            Err(error) => self.profiled.notes.push(format!("no profile: {error}")),
        }
    }

    fn not_counted(&mut self, why: &str) {
        self.profiled.notes.push(format!("events were not counted: {why}"));
    }
}

fn too_short(time: &str) -> String {
    format!(
        "no profile: the step takes {time}, and a step that ends by its work is profiled from {:.0} s on",
        SHORTEST as f64 / PART
    )
}

/// First second and number of seconds of the window of a step that has run for `elapsed` and is
/// expected to take `expected` seconds in all; `wanted` seconds or as many as it can have.
fn window(elapsed: Duration, expected: f64, wanted: u64) -> Option<(u64, u64)> {
    let length = wanted.min((expected * PART) as u64);
    if length < SHORTEST {
        return None;
    }
    let middle = ((expected - length as f64) / 2.0) as u64;
    let earliest = (elapsed + TO_TELL).as_secs() + 1;
    Some((middle.max(earliest), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_in_the_middle_and_a_third_at_most() {
        let after = Duration::from_millis(2100);
        assert_eq!(window(after, 100.0, 6), Some((47, 6)));
        assert_eq!(window(after, 12.0, 6), Some((4, 4)));
        assert_eq!(window(after, 6.0, 6), Some((3, 2)), "clients must know before");
        assert_eq!(window(after, 5.9, 6), None);
        assert_eq!(window(after, f64::MAX, 6).map(|(_, length)| length), Some(6));
        assert_eq!(window(Duration::from_millis(2850), 6.5, 6), Some((4, 2)));
    }
}
