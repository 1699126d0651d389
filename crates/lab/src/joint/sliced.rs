//! A step that runs on all servers of a block at once, while the load moves between them in slices.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use drive::{ClassOutcome, Freezer, Outcome, Slices};
use judge::{LengthTrial, choose_length};
use metrics::SliceReason;
use plan::Clients;
use store::{Series, StepRecord, StepState, Warning};
use workload::{Phase, Program, Step, stream_seed};

use crate::error::Error;
use crate::event::Event;
use crate::joint::few_cpus::Pin;
use crate::joint::need::Need;
use crate::joint::slicing::{LEAD_IN, OPERATIONS, Slicing, UNTESTED};
use crate::observe::figures::{Locality, expect_declared, free_clients};
use crate::observe::set_aside::{self, Reading, Seen};
use crate::sharing::only_reads;
use crate::trial::answers::{forgives, tell};
use crate::trial::attempt::{Attempt, Trouble, at_once};
use crate::trial::conditions::Conditions;
use crate::trial::program::{command, keep_output};
use crate::trial::records::{new_record, record_failed};
use crate::trial::step::{Fault, Ran, Sharing, after, complete, run};
use crate::trial::timers;

/// Lengths are not compared if one has fewer rounds than this (as in `judge`).
const ROUNDS_OF_A_LENGTH: usize = 12;
/// With fewer rounds of the longest length than this, the step is too short for longer ones: three
/// lengths, whose mean is six times that of those before, have a quarter of the rounds each.
const ROUNDS_TO_GO_ON: usize = 4 * ROUNDS_OF_A_LENGTH;

/// How many times longer slices become if operations don't fit into them.
const LENGTHENING: u32 = 4;
/// Operations don't fit if a larger part of a server's slices than this has no rate.
const MOST_UNMEASURED: f64 = 0.25;
/// A server stood still if an operation took a larger part of all slices than this.
const LONGEST_STALL: f64 = 0.25;
/// Added to the reason why a step is sliced, if it ran again.
const AGAIN: &str = "; run again in longer slices, as operations didn't fit";

/// A step to be sliced.
pub struct SlicedStep<'a> {
    /// The phase it is.
    pub phase: &'a Phase,
    /// The step itself.
    pub step: Arc<Step>,
    /// Its place among the phases.
    pub ordinal: u32,
    /// Lengths of rounds.
    pub lengths: Vec<Duration>,
    /// The length for estimates in ms; `None`: to be chosen.
    pub ms: Option<f64>,
    /// True if all servers are frozen but the one that has the load.
    pub frozen: bool,
    /// Why it is sliced.
    pub why: String,
    /// The findings of earlier blocks.
    pub slicing: &'a Slicing,
}

impl SlicedStep<'_> {
    /// True if the step is run again in longer slices: its typical operation is too long for these,
    /// so many of them have no rate, and the others are not typical. A noisy neighbor can do that
    /// to a step that was measured before. The plan says nothing of lengths, and the step leaves
    /// nothing behind.
    ///
    /// If slices have no rate because a server stood still now and then, the step is not measured
    /// again: that is a result.
    fn is_repeated(&self, ran: &Ran<'_>) -> bool {
        let shortest = self.lengths.iter().min().copied().unwrap_or_default();
        // Of several that are tried, the shorter ones may be too short.
        let counted = match self.ms {
            Some(_) => shortest,
            None => self.lengths.iter().max().copied().unwrap_or_default(),
        };
        let unmeasured = |outcome: &Outcome| {
            let slices = || outcome.slices.iter().filter(|slice| slice.length >= counted);
            let missed = slices().filter(|slice| slice.rate().is_none()).count();
            (outcome.unfit || outcome.fatal.is_none())
                && missed as f64 > MOST_UNMEASURED * slices().count() as f64
        };
        let outcomes = || ran.measured.iter().map(|measured| &measured.outcome);
        let all: f64 = outcomes().map(loaded).sum();
        let class = |outcome| Outcome::class(outcome, &self.step.counted);
        let works = |class: &ClassOutcome| {
            class.statements > 1 && (class.latency.max() as f64) < LONGEST_STALL * all * 1e9
        };
        let is_slow = |class: &ClassOutcome| {
            let typical = class.latency.value_at_quantile(0.5) as f64 / 1e9;
            OPERATIONS * typical > counted.as_secs_f64()
        };
        // One round has to fit.
        let fits = (shortest * LENGTHENING).as_secs_f64() * outcomes().count() as f64 <= all;
        let free = self.slicing.chooses_lengths()
            && matches!(self.phase, Phase::Step(_))
            && self.step.seconds.is_some()
            && only_reads(&self.step);
        fits && free
            && outcomes().any(unmeasured)
            && outcomes().all(|outcome| class(outcome).is_some_and(works))
            && outcomes().filter_map(class).any(is_slow)
    }

    fn lengthen(&mut self) {
        self.lengths.iter_mut().for_each(|length| *length *= LENGTHENING);
        self.ms = self.ms.map(|ms| ms * f64::from(LENGTHENING));
        self.step = self.slicing.lasting(&self.step, &self.lengths);
        if !self.why.ends_with(AGAIN) {
            self.why.push_str(AGAIN);
        }
    }
}

/// The records of one target's slices.
struct Kept {
    rates: Vec<f64>,
    reasons: Vec<SliceReason>,
    readings: Vec<Reading>,
}

/// Runs a sliced step and stores it for every variant.
pub fn sliced(
    conditions: &Conditions<'_>,
    attempts: &mut [Attempt<'_>],
    mut how: SlicedStep<'_>,
) -> Result<(), Error> {
    let (phase, ordinal) = (how.phase, how.ordinal);
    let block = attempts.first().map_or(0, |attempt| attempt.entered.block);
    let clients = Clients::of(how.step.key.dop);
    let clients = attempts.first().map_or(clients, |attempt| attempt.entered.clients);
    conditions.tell(Event::phase_began(phase, clients, attempts.len()));
    let ran = loop {
        match in_slices(conditions, attempts, &how, block) {
            Ok(ran) if how.is_repeated(&ran) => {
                how.lengthen();
                let text = "operations don't fit into slices: again with longer ones";
                conditions.tell(Event::Note(format!("  {}: {text}", how.step.key.name)));
            }
            Ok(ran) => break ran,
            Err(fault) => {
                for attempt in attempts.iter() {
                    record_failed(conditions, attempt.entered, phase, ordinal);
                }
                return Err(told(attempts, &how.step, fault));
            }
        }
    };
    let step = &how.step;
    let (records, fault) = records(conditions, attempts, &how, ran);
    for (attempt, record) in attempts.iter().zip(&records) {
        expect_declared(record);
        conditions.store.record_step(attempt.entered.trial, record)?;
    }
    if let Some(Fault { at, trouble }) = fault {
        let forgiven =
            attempts.get_mut(at).zip(records.get(at)).is_some_and(|(attempt, record)| {
                let forgives = forgives(attempt, step, record, &trouble);
                if forgives {
                    tell(conditions, attempt, step, record);
                }
                forgives
            });
        return if forgiven { Ok(()) } else { Err(told(attempts, step, Fault { at, trouble })) };
    }
    for (attempt, record) in attempts.iter().zip(&records) {
        conditions.tell(Event::step_ended(record, clients, Some(attempt.name())));
    }
    Ok(())
}

/// Runs the step, with servers and clients kept on as many CPUs as it has clients, where every
/// server has a control group to know its processes by.
fn in_slices<'a>(
    conditions: &'a Conditions<'_>,
    attempts: &mut [Attempt<'_>],
    how: &SlicedStep<'_>,
    block: u32,
) -> Result<Ran<'a>, Fault> {
    let (step, key) = (&how.step, &how.step.key);
    let slices = Slices {
        seed: stream_seed(conditions.experiment.seed, &key.name, key.dop, block, "slices"),
        lengths: how.lengths.clone(),
        lead_in: LEAD_IN,
    };
    if let Phase::Program(program) = how.phase {
        return program_in_slices(conditions, attempts, program, slices);
    }
    if how.frozen {
        return in_frozen_slices(conditions, attempts, step, slices);
    }
    let groups: Option<Vec<_>> = attempts.iter().map(|attempt| attempt.cgroup().cloned()).collect();
    // Unless the plan says where they run.
    let groups = groups.filter(|_| step.terms.pinning.is_none());
    let pin = groups.and_then(|groups| Pin::servers(groups, free_clients(step)));
    let cpus = pin.as_ref().map_or_else(Pin::allowed, |pin| pin.cpus().to_vec());
    let sharing = Sharing { slices, cpus, frozen: false };
    let mut ran = run(conditions, attempts, step, Some(sharing), |load| match &pin {
        Some(pin) => pin.beside(|| drive::prepare(load)),
        None => drive::prepare(load),
    })?;
    ran.found.notes.extend(pin.iter().map(Pin::note));
    Ok(ran)
}

/// Runs the step while all servers are frozen but the one that has the load. Nothing is pinned: the
/// work in the background is part of what is measured, and has the CPUs that it would have alone.
fn in_frozen_slices<'a>(
    conditions: &'a Conditions<'_>,
    attempts: &mut [Attempt<'_>],
    step: &Arc<Step>,
    slices: Slices,
) -> Result<Ran<'a>, Fault> {
    // All of a slice counts, and its caches are as they are.
    let slices = Slices { lead_in: 0.0, ..slices };
    let sharing = Sharing { slices, cpus: Pin::allowed(), frozen: true };
    let freezer = |(at, attempt): (usize, &Attempt<'_>)| {
        let freezer = attempt.server.freezer().map(|it| Box::new(Held(it)) as Box<dyn Freezer>);
        freezer.ok_or_else(|| {
            let reason = "frozen slices need servers that steelyard starts";
            Fault { at, trouble: Trouble::unfit(reason) }
        })
    };
    let freezers = attempts.iter().enumerate().map(freezer).collect::<Result<_, Fault>>()?;
    run(conditions, attempts, step, Some(sharing), |load| drive::prepare_frozen(load, freezers))
}

/// Freezes a server for the load engine.
struct Held(Box<dyn dbms::Freeze>);

impl Freezer for Held {
    fn freeze(&mut self) -> Result<(), String> {
        self.0.freeze()
    }

    fn thaw(&mut self) -> Result<(), String> {
        self.0.thaw()
    }
}

/// Runs a program for a slice at a time on each server. Its processes come and go, so nothing is
/// pinned.
fn program_in_slices<'a>(
    conditions: &'a Conditions<'_>,
    attempts: &mut [Attempt<'_>],
    program: &Program,
    slices: Slices,
) -> Result<Ran<'a>, Fault> {
    // In a slice it is told to run for the slice.
    let mut short = program.clone();
    short.step.seconds = program.slice.map(f64::from);
    let command = |(at, attempt): (usize, &mut Attempt<'_>)| {
        command(conditions, attempt, &short, &short.command)
            .map_err(|trouble| Fault { at, trouble })
    };
    let commands = attempts.iter_mut().enumerate().map(command);
    let commands = commands.collect::<Result<Vec<_>, Fault>>()?;
    let step = Arc::new(program.step.clone());
    let sharing = Sharing { slices, cpus: Pin::allowed(), frozen: false };
    run(conditions, attempts, &step, Some(sharing), |load| {
        drive::program_in_slices(load, commands, program)
    })
}

/// One record for each variant, complete.
fn records(
    conditions: &Conditions<'_>,
    attempts: &mut [Attempt<'_>],
    how: &SlicedStep<'_>,
    mut ran: Ran<'_>,
) -> (Vec<StepRecord>, Option<Fault>) {
    let (step, servers) = (&how.step, attempts.len());
    let mut fault = ran.fault;
    let mut records = Vec::new();
    let afters = if fault.is_none() { at_once(attempts.iter_mut(), after) } else { Vec::new() };
    let mut afters = afters.into_iter();
    for (at, (attempt, measured)) in attempts.iter_mut().zip(&ran.measured).enumerate() {
        let mut record = new_record(how.phase, how.ordinal);
        record.started_ms = ran.started_ms;
        let (here, after) = (Locality::Shared, afters.next());
        let done = complete(conditions, attempt, &mut record, step, measured, here, after);
        if let Err(trouble) = done {
            record.state = StepState::Failed;
            fault.get_or_insert(Fault { at, trouble });
        }
        if let Some(reported) = &measured.outcome.reported {
            keep_output(conditions, attempt, &mut record, &reported.printed);
        }
        ran.observers.record(&mut record, step, &measured.outcome);
        if measured.outcome.is_frozen() {
            let config = attempt.subject.config(&attempt.benchmark);
            let own = timers::settings(servers, attempt.subject, &config);
            record.notes.extend(timers::note(&own));
        }
        records.push(record);
    }
    let outcomes: Vec<&Outcome> = ran.measured.iter().map(|m| &m.outcome).collect();
    let seen = ran.found.seen.unwrap_or_default();
    let reads = only_reads(step);
    let kept: Vec<Kept> =
        outcomes.iter().enumerate().map(|(at, outcome)| keep(&seen, at, outcome, reads)).collect();
    let mut length = how.ms.map(|ms| (ms, true));
    let running = Some(step).filter(|_| !how.frozen);
    let needed =
        running.and_then(|step| how.slicing.in_vain(step, records.iter().map(Need::of_record)));
    let slices = if how.frozen { "in frozen slices" } else { "in slices" };
    let mut notes = vec![format!("{slices} with all variants: {}", how.why)];
    notes.extend(ran.found.notes);
    let mut warnings = Vec::new();
    if fault.is_some() {
        // There is nothing to learn from it.
    } else if let Some(needed) = needed {
        length = None;
        let text = format!(
            "a server and its clients needed only {}: the step runs {} in the next block, and these \
             slices don't count",
            needed.text(step),
            how.slicing.otherwise(step)
        );
        warnings.push(Warning::new("not-cpu-bound", text));
    } else if how.ms.is_none() {
        let remedy = conditions.plan().lengthening(&step.key.name);
        let (ms, settled, text) = choose(&trials(&outcomes, &kept), remedy.as_deref());
        length = Some((ms, settled));
        conditions.tell(Event::Note(format!("  {}: {text}", step.key.name)));
        notes.push(text);
    }
    let elapsed: f64 = outcomes.iter().map(|outcome| loaded(outcome)).sum();
    let watching = seen.cost_us as f64 / 1e6 / elapsed;
    for ((record, outcome), kept) in records.iter_mut().zip(&outcomes).zip(&kept) {
        record.notes.extend(notes.iter().chain(&seen.notes).cloned());
        record.warnings.extend(warnings.iter().cloned());
        if let Some(length) = length {
            fill(record, outcome, kept, length, watching);
        }
    }
    (records, fault)
}

/// The error of a step that failed on one of several servers.
fn told(attempts: &mut [Attempt<'_>], step: &Step, fault: Fault) -> Error {
    let (attempt, key) = (attempts.get_mut(fault.at), &step.key);
    let clients = Clients::of(key.dop);
    attempt.map_or(Error::Interrupted, |a| a.error(&key.name, clients, fault.trouble))
}

/// Seconds in which a target had the load.
fn loaded(outcome: &Outcome) -> f64 {
    outcome.slices.iter().map(|slice| slice.length.as_secs_f64()).sum()
}

/// The rates of a target's slices: 0 where it held its clients throughout, NaN where a slice was
/// set aside or its clients never came.
fn keep(seen: &Seen, target: usize, outcome: &Outcome, reads: bool) -> Kept {
    let readings = set_aside::of_target(seen, target, &outcome.slices);
    let reasons = set_aside::reasons(&readings, &outcome.slices, reads);
    let rates = outcome
        .slices
        .iter()
        .zip(&reasons)
        .map(|(slice, reason)| match reason {
            SliceReason::Measured => slice.rate().unwrap_or(f64::NAN),
            _ => f64::NAN,
        })
        .collect();
    Kept { rates, reasons, readings }
}

/// Returns the length to use from now on in ms, whether it is settled, and why. `remedy` is the
/// option that makes the step longer.
fn choose(trials: &[LengthTrial], remedy: Option<&str>) -> (f64, bool, String) {
    let all = || trials.iter().map(|trial| trial.seconds * 1000.0);
    let (shortest, longest) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let choice = choose_length(trials).filter(|choice| {
        choice.lengths.iter().filter(|length| length.rounds >= ROUNDS_OF_A_LENGTH).count() > 1
    });
    let Some(choice) = choice else {
        // Without a single whole round, no lengths were tried.
        let ms = if trials.is_empty() { UNTESTED } else { UNTESTED.min(longest).max(shortest) };
        let text = format!(
            "slices of {ms} ms; the step is too short to compare lengths (each needs at least \
             {ROUNDS_OF_A_LENGTH} rounds); {}",
            remedy.map_or_else(
                || "slice_ms in the plan sets one".to_owned(),
                |option| format!("{option} would make it longer")
            )
        );
        return (ms, true, text);
    };
    // Longer ones would have too few rounds: they are not tried then, and the choice says what it
    // lacks.
    let enough = choice.lengths.last().is_some_and(|length| length.rounds >= ROUNDS_TO_GO_ON);
    (choice.seconds * 1000.0, choice.settled || !enough, choice.to_string())
}

/// The rates of all targets by length.
fn trials(outcomes: &[&Outcome], kept: &[Kept]) -> Vec<LengthTrial> {
    let Some(first) = outcomes.first() else { return Vec::new() };
    let mut lengths: BTreeMap<Duration, LengthTrial> = BTreeMap::new();
    for length in first.slices.iter().map(|slice| slice.length) {
        lengths.entry(length).or_insert_with(|| LengthTrial {
            seconds: length.as_secs_f64(),
            operations: f64::INFINITY,
            rates: Vec::new(),
        });
    }
    for (length, trial) in &mut lengths {
        for (outcome, kept) in outcomes.iter().zip(kept) {
            let of_length = || outcome.slices.iter().filter(|slice| slice.length == *length);
            let operations: Vec<f64> = of_length().map(|slice| slice.operations as f64).collect();
            trial.operations = trial.operations.min(judge::median(&operations).unwrap_or(0.0));
            let rates = outcome
                .slices
                .iter()
                .zip(&kept.rates)
                .map(|(slice, rate)| if slice.length == *length { *rate } else { f64::NAN });
            trial.rates.push(rates.collect());
        }
    }
    lengths.into_values().collect()
}

/// Adds the figures of the slices to a record.
fn fill(
    record: &mut StepRecord,
    outcome: &Outcome,
    kept: &Kept,
    (ms, settled): (f64, bool),
    watching: f64,
) {
    let rounds = outcome.slices.len() as f64;
    let aside =
        |reason: &&SliceReason| !matches!(reason, SliceReason::Measured | SliceReason::NotMeasured);
    let set_aside = kept.reasons.iter().filter(aside).count() as f64;
    record.add(metrics::SLICE_MS.name, ms);
    record.add(metrics::SLICE_SETTLED.name, f64::from(u8::from(settled)));
    record.add(metrics::SLICE_ROUNDS.name, rounds);
    record.add(metrics::SLICE_SET_ASIDE.name, set_aside / rounds.max(1.0));
    match outcome.switch_ms {
        Some(ms) => record.add(metrics::SLICE_SWITCH_MS.name, ms),
        None => record.add(metrics::SLICE_WATCHING.name, watching),
    }
    let rate = format!("{}/s", record.measure.unit);
    let mut add = |name, label, unit, values| {
        record.series.push(Series::new(name, label, unit, metrics::SLICES, values));
    };
    add(metrics::SLICE_RATES, "rate in each slice", &rate, kept.rates.clone());
    let lengths = outcome.slices.iter().map(|slice| slice.length.as_secs_f64() * 1000.0);
    add(metrics::SLICE_LENGTHS, "planned length of each slice", "ms", lengths.collect());
    let reasons = kept.reasons.iter().map(|reason| reason.value());
    add(metrics::SLICE_REASONS, "why a slice has no rate", "", reasons.collect());
    if outcome.is_frozen() {
        return;
    }
    let idle = kept.readings.iter().map(|reading| reading.idle * 100.0);
    add(metrics::SLICE_IDLE, "CPU of the servers without the load", "%", idle.collect());
    let lost = |reading: &Reading| 100.0 * reading.stolen.max(reading.crowded);
    add(metrics::SLICE_LOST, "CPU that others had", "%", kept.readings.iter().map(lost).collect());
    let written = kept.readings.iter().map(|reading| reading.written / 1024.0);
    add(metrics::SLICE_WRITTEN, "KB written to the device", "KB/s", written.collect());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `rounds` rounds of each length, each with the rate of its length and a little noise.
    fn trials(rounds: usize, lengths: &[(f64, f64)]) -> Vec<LengthTrial> {
        let all = rounds * lengths.len();
        let rates =
            |place: usize, rate: f64| -> Vec<f64> {
                let chance = |round: usize| 1.0 + 0.002 * (round as f64 * 2.4).sin();
                (0..all)
                    .map(|round| {
                        if round % lengths.len() == place { rate * chance(round) } else { f64::NAN }
                    })
                    .collect()
            };
        let of = |(place, (seconds, rate)): (usize, &(f64, f64))| LengthTrial {
            seconds: *seconds,
            operations: 100.0,
            rates: vec![rates(place, *rate), rates(place, 0.9 * rate)],
        };
        lengths.iter().enumerate().map(of).collect()
    }

    #[test]
    fn a_step_that_is_too_short_gets_a_usual_length_among_those_tried() {
        let few = |lengths: &[f64]| {
            let lengths: Vec<_> = lengths.iter().map(|seconds| (*seconds, 1000.0)).collect();
            choose(&trials(5, &lengths), Some("--rows 600"))
        };
        let (ms, settled, text) = few(&[0.01, 0.04, 0.16]);
        assert_eq!((ms, settled), (40.0, true));
        assert!(text.contains("too short to compare lengths"), "{text}");
        assert!(text.ends_with("rounds); --rows 600 would make it longer"), "{text}");
        assert!((few(&[0.01, 0.02]).0 - 20.0).abs() < 1e-9);
        assert!((choose(&[], None).0 - UNTESTED).abs() < 1e-9, "not one round");
        assert!((few(&[0.16, 0.32]).0 - 160.0).abs() < 1e-9);
    }

    #[test]
    fn longer_ones_are_tried_only_where_the_step_has_room_for_them() {
        let rising = [(0.01, 1000.0), (0.02, 1100.0), (0.04, 1200.0), (0.08, 1300.0)];
        let (ms, settled, _) = choose(&trials(200, &rising), None);
        assert_eq!((ms, settled), (80.0, false));
        let (ms, settled, text) = choose(&trials(30, &rising), None);
        assert_eq!((ms, settled), (80.0, true));
        assert!(text.contains("may be too short itself"), "{text}");
    }

    #[test]
    fn a_length_that_agrees_with_the_longest_is_settled() {
        let (_, settled, text) =
            choose(&trials(60, &[(0.02, 1000.0), (0.04, 1000.0), (0.08, 1000.0)]), None);
        assert!(settled, "{text}");
    }
}
