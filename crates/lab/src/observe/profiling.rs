//! The profiling of a step: when `perf` runs, and which part of the step is excluded from its
//! result.
//!
//! A timed step is measured for its time. Then its sampler stops, its load continues, and `perf`
//! counts events for a while and takes samples for the rest. Neither happens in the measured time:
//! each switch between a client and its server would also switch the event counters, which cost 6%
//! of the throughput of point queries in a test (pgbench, prepared, one client, 2 cores, counting
//! on and off in turns of 3 s).
//!
//! In slices, the load goes on in slices, and all servers are profiled at the same time. Each has
//! the load in its own slices only; its work in the background counts whenever it runs.
//!
//! A step that ends by work has a window of whole seconds around its middle, chosen after two
//! seconds by its speed so far. Clients exclude operations that end in it
//! ([`drive::Running::leave_out`]); the sampler stops at its start, and another one starts at its
//! end. So the result is that of the step without the window. The window is at most a third of the
//! expected time and at least two seconds; shorter steps are not profiled. Neither are steps that
//! count as a single operation, such as the creation of indexes, because no part of them can be
//! left out.

use std::collections::VecDeque;
use std::fmt::Display;
use std::time::{Duration, Instant};

use drive::{Load, Outcome, Running};
use probe::perf::{Counting, Recorded, Recorder};
use store::{StepRecord, StepState, TrialId};
use workload::Step;

use crate::event::planned;
use crate::observe::attach::attach;
use crate::observe::observer::{Found, Observer, Scene, Server, done};
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

/// How often to check whether samples are taken, and how often to begin that at most.
const AGAIN: Duration = Duration::from_millis(200);
const TRIES: u32 = 5;

/// How often to check whether a program has ended.
const SOON: Duration = Duration::from_millis(5);

/// Prepares to profile a step on its servers, in the blocks in which that is done.
pub fn observe<'a>(scene: &mut Scene<'a, '_>, found: &mut Found) -> Option<Box<dyn Observer + 'a>> {
    let (profiler, load) = (scene.profiler?, scene.load);
    if !scene.servers.iter().all(|server| in_block(server.block)) {
        return None;
    }
    let alone = scene.scheduler.filter(|_| scene.servers.len() == 1);
    let after = alone.map_or(Duration::ZERO, |it| it.overtime(&load.step));
    let when = when(load, after, profiler.window())
        .map_err(|why| found.notes.push(format!("no profile: {why}")))
        .ok()?;
    let attached = |server: &Server<'_>| {
        let root_pid = server.group?.root_pid();
        let path = format!("{}-t{}-perf", std::process::id(), server.trial);
        let scratch = Scratch::make(scene.ledger, scene.data_dir.join(path), &profiler.perf)
            .map_err(|error| found.notes.push(format!("no profile: {error}")))
            .ok()?;
        Some(Attached {
            variant: server.name.to_owned(),
            block: server.block,
            trial: server.trial,
            counting: None,
            recorder: None,
            recorded: None,
            scratch,
            root_pid,
            operations: 0,
            tries: 0,
            profiled: Profiled::default(),
        })
    };
    let servers = scene.servers.iter().map(attached).collect::<Option<_>>()?;
    let (stage, start) = (Stage::Before, Instant::now());
    Some(Box::new(Profiling { profiler, servers, when, stage, start, counted: start }))
}

/// When a step is profiled: a timed one for `long` per server, beginning `after` the end of its
/// time. Otherwise, why no part of it can be left out.
fn when(load: &Load, after: Duration, long: Duration) -> Result<When, &'static str> {
    let (step, servers) = (&load.step, load.targets.len());
    let length = long * servers as u32;
    match (load.limit(), planned(step)) {
        _ if step.runs_in_order() => Err("no part of this step can be left out"),
        _ if load.frozen => Err("steps in frozen slices are not profiled"),
        (Some(begin), _) if step.streams.is_empty() && servers == 1 => {
            Ok(When::Then { begin, length })
        }
        (Some(time), _) if !step.streams.is_empty() => {
            Ok(When::At { begin: time + after, length, again: false })
        }
        (None, Some(operations)) if servers == 1 => Ok(When::ToBeSeen(operations)),
        _ if servers > 1 => {
            Err("of what runs in slices, only steps of a given time are profiled, and no programs")
        }
        _ => Err("no part of this step can be left out"),
    }
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
    /// Events are being counted.
    Counting,
    Sampling,
    Over,
}

/// A step being profiled.
struct Profiling<'a> {
    profiler: &'a Profiler,
    /// In the order of their records.
    servers: VecDeque<Attached>,
    when: When,
    stage: Stage,
    start: Instant,
    /// When events have been counted for long enough.
    counted: Instant,
}

/// A server that is profiled.
struct Attached {
    variant: String,
    block: u32,
    trial: TrialId,
    // These before the directory in which they write, so that they end before it is removed.
    counting: Option<Counting>,
    recorder: Option<Recorder>,
    recorded: Option<Recorded>,
    scratch: Scratch,
    root_pid: u32,
    /// Its operations when counting began; in the end, those since then.
    operations: u64,
    /// How often taking samples was begun.
    tries: u32,
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
        if self.stage == Stage::Before && Instant::now() >= begin {
            sampling.stop();
            self.count(running);
            // On a busy machine, it takes long until perf counts.
            self.counted = (Instant::now() + length.mul_f64(COUNTED)).min(end - TO_WRITE);
        }
        if self.stage == Stage::Counting && Instant::now() >= self.counted {
            self.counted(running);
            self.stage = Stage::Sampling;
        }
        let over = Instant::now() + TO_WRITE >= end;
        if self.stage == Stage::Sampling && !over {
            self.sample();
        }
        if self.stage == Stage::Sampling && over {
            self.stage = Stage::Over;
            self.stop_recording();
            if again {
                sampling.begin(end);
            }
        }
        match self.stage {
            Stage::Before => Some(begin),
            Stage::Counting => Some(self.counted),
            Stage::Sampling => Some((Instant::now() + AGAIN).min(end - TO_WRITE)),
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
        let missed = match self.when {
            When::ToBeSeen(_) => Some(too_short("under 2 s")),
            When::At { .. } | When::Then { .. } if self.stage == Stage::Before => {
                Some("no profile: the step ended before its window".to_owned())
            }
            _ => None,
        };
        for server in &mut self.servers {
            server.profiled.notes.extend(missed.clone());
            if self.stage == Stage::Over && server.tries == 0 {
                let note = "no profile: counting events took all the time for it";
                server.profiled.notes.push(note.to_owned());
            }
            if let Some(recorded) = server.recorded.take() {
                let folded = self.profiler.fold(recorded);
                server.profiled.folded = server.known("no profile", folded);
            }
            server.counting = None;
            server.scratch.remove();
        }
    }

    fn record(&mut self, record: &mut StepRecord, _: &Step, _: &Outcome) {
        let Some(server) = self.servers.pop_front() else { return };
        if record.state == StepState::Finished {
            let Attached { variant, block, trial, profiled, .. } = server;
            self.profiler.keep(record, profiled, &variant, block, trial);
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
            let note = too_short(&format!("about {expected:.0} s"));
            self.servers.iter_mut().for_each(|server| server.profiled.notes.push(note.clone()));
            self.when = When::Never;
            return None;
        };
        running.leave_out(begin..begin + length);
        let begin = Duration::from_secs(begin);
        self.when = When::At { begin, length: Duration::from_secs(length), again: true };
        Some(self.start + begin)
    }

    /// Starts to count events, for all servers at once.
    fn count(&mut self, running: &dyn Running) {
        let perf = &self.profiler.perf;
        for server in &mut self.servers {
            let counting = attach(server.root_pid, |pids| perf.count(pids, &server.scratch.path));
            server.counting = server.known(NOT_COUNTED, counting);
        }
        for (at, server) in self.servers.iter_mut().enumerate() {
            if let Some(mut counting) = server.counting.take() {
                let resumed = counting.resume().map(|()| counting);
                server.counting = server.known(NOT_COUNTED, resumed);
            }
            server.operations = done_on(running, at);
        }
        self.stage = Stage::Counting;
    }

    /// Records the events since then as those of the operations since then.
    fn counted(&mut self, running: &dyn Running) {
        // None counts while another one is read.
        for (at, server) in self.servers.iter_mut().enumerate() {
            if let Some(mut counting) = server.counting.take() {
                let paused = counting.pause().map(|()| counting);
                server.counting = server.known(NOT_COUNTED, paused);
            }
            server.operations = done_on(running, at).saturating_sub(server.operations);
        }
        for server in &mut self.servers {
            let Some(counting) = server.counting.take() else { continue };
            let operations = server.operations as f64;
            let Some(counts) = server.known(NOT_COUNTED, counting.finish()) else { continue };
            if operations > 0.0 {
                let per_operation = |(event, count)| (event, count / operations);
                server.profiled.events = counts.into_iter().map(per_operation).collect();
            } else {
                let text = format!("{NOT_COUNTED}: no operation ended in that time");
                server.profiled.notes.push(text);
            }
        }
    }

    /// Starts to take samples of the servers that have none taken.
    fn sample(&mut self) {
        for server in &mut self.servers {
            // It ends by itself if a process that it is about to attach to has ended.
            let ended = server.recorder.as_mut().is_none_or(|recorder| !recorder.runs());
            if !ended || server.tries == TRIES {
                continue;
            }
            let call_graph = self.profiler.call_graph(server.root_pid);
            let perf = &self.profiler.perf;
            let recorder =
                attach(server.root_pid, |pids| perf.record(pids, call_graph, &server.scratch.path));
            server.recorder = server.known("no profile", recorder);
            server.tries = if server.recorder.is_some() { server.tries + 1 } else { TRIES };
        }
    }

    fn stop_recording(&mut self) {
        for server in &mut self.servers {
            if let Some(recorder) = server.recorder.take() {
                server.recorded = server.known("no profile", recorder.stop());
            }
        }
    }
}

/// Operations on a target so far, measured or not.
fn done_on(running: &dyn Running, target: usize) -> u64 {
    running.operations().get(target).copied().unwrap_or(0)
}

/// Begins a note of why events were not counted.
const NOT_COUNTED: &str = "events were not counted";

impl Attached {
    /// What was found, or a note of why it is missing.
    fn known<T>(&mut self, missing: &str, found: Result<T, impl Display>) -> Option<T> {
        found.map_err(|error| self.profiled.notes.push(format!("{missing}: {error}"))).ok()
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
