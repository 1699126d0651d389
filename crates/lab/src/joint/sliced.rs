//! A step that runs on all servers of a block at once, while the load moves between them in slices.

use std::sync::Arc;
use std::time::Duration;

use drive::{Freezer, Outcome, Slices};
use metrics::SliceReason;
use plan::Clients;
use store::{Series, StepRecord, StepState, Warning};
use workload::{Phase, Program, Step, stream_seed};

use crate::error::Error;
use crate::event::Event;
use crate::joint::few_cpus::Pin;
use crate::joint::fit::{self, loaded};
use crate::joint::length::{choose, trials};
use crate::joint::need::Need;
use crate::joint::slicing::{LEAD_IN, LENGTHENING, Slicing};
use crate::observe::figures::{Locality, expect_declared, free_clients};
use crate::observe::set_aside::{self, Reading, Seen};
use crate::sharing::only_reads;
use crate::trial::answers::{forgives, tell};
use crate::trial::attempt::{Attempt, Trouble, at_once};
use crate::trial::conditions::Conditions;
use crate::trial::program::{command, keep_output};
use crate::trial::records::{new_record, record_failed};
use crate::trial::step::{Fault, Measured, Ran, Sharing, after, complete, run};
use crate::trial::timers;

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
    /// True if its slices are too short for its operations.
    fn is_too_short(&self, outcomes: &[&Outcome]) -> bool {
        // Of several that are tried, the shorter ones may be too short.
        let counted = match self.ms {
            Some(_) => self.lengths.iter().min(),
            None => self.lengths.iter().max(),
        };
        let length = counted.copied().unwrap_or_default();
        fit::are_too_short(length, outcomes, &self.step.counted)
    }

    /// True if the step is run again in longer slices, since these are too short: a noisy neighbor
    /// can make them so. The plan says nothing of lengths, one round fits into the step, and the
    /// step leaves nothing behind.
    fn is_repeated(&self, ran: &Ran<'_>) -> bool {
        let outcomes = outcomes(&ran.measured);
        let shortest = self.lengths.iter().min().copied().unwrap_or_default();
        let round = (shortest * LENGTHENING).as_secs_f64() * outcomes.len() as f64;
        round <= outcomes.iter().map(|outcome| loaded(outcome)).sum()
            && self.slicing.chooses_lengths()
            && matches!(self.phase, Phase::Step(_))
            && self.step.seconds.is_some()
            && only_reads(&self.step)
            && self.is_too_short(&outcomes)
    }

    /// The warning that it has no rate, and what to do.
    fn warning_of_short_slices(&self) -> Warning {
        let remedy = match self.slicing.chooses_lengths() {
            true => "further blocks use longer ones",
            false => "set a larger slice_ms in the plan",
        };
        let text = format!(
            "operations are too long for the slices: those in which a rate could be measured are no \
             fair sample, so the step has none; {remedy}"
        );
        Warning::new("slices-too-short", text)
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

/// Runs the step while all servers are frozen but the one that has the load. The work in the
/// background is part of what is measured, and has the CPUs that it would have alone.
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
    let too_short = !how.frozen && fault.is_none() && how.is_too_short(&outcomes(&ran.measured));
    if too_short && how.slicing.chooses_lengths() {
        // It is no failure: further blocks use longer ones.
        let unfit = ran.measured.iter_mut().filter(|measured| measured.outcome.unfit);
        unfit.for_each(|measured| measured.outcome.fatal = None);
    }
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
    let outcomes = outcomes(&ran.measured);
    let seen = ran.found.seen.unwrap_or_default();
    let reads = only_reads(step);
    let kept: Vec<Kept> =
        outcomes.iter().enumerate().map(|(at, outcome)| keep(&seen, at, outcome, reads)).collect();
    let slices = if how.frozen { "in frozen slices" } else { "in slices" };
    let mut notes = vec![format!("{slices} with all variants: {}", how.why)];
    notes.extend(ran.found.notes);
    let found = match fault {
        // There is nothing to learn from it.
        Some(_) => Length { settled: how.ms.map(|ms| (ms, true)), ..Length::default() },
        None => length(conditions, how, too_short, &records, (&outcomes, &kept)),
    };
    notes.extend(found.note);
    let elapsed: f64 = outcomes.iter().map(|outcome| loaded(outcome)).sum();
    let watching = seen.cost_us as f64 / 1e6 / elapsed;
    for ((record, outcome), kept) in records.iter_mut().zip(&outcomes).zip(&kept) {
        record.notes.extend(notes.iter().chain(&seen.notes).cloned());
        record.warnings.extend(found.warning.clone());
        if let Some((ms, settled)) = found.settled {
            record.add(metrics::SLICE_MS.name, ms);
            record.add(metrics::SLICE_SETTLED.name, f64::from(u8::from(settled)));
            if !too_short {
                fill(record, outcome, kept, watching);
            }
        }
        if too_short {
            let rates = [metrics::OPS.name, metrics::MEGABYTES.name];
            record.metrics.retain(|(name, _)| !rates.contains(&name.as_str()));
        }
    }
    (records, fault)
}

/// What a block found out about the length of slices.
#[derive(Default)]
struct Length {
    /// The length in ms, and whether later blocks use it; `None` if these slices are in vain.
    settled: Option<(f64, bool)>,
    note: Option<String>,
    warning: Option<Warning>,
}

fn length(
    conditions: &Conditions<'_>,
    how: &SlicedStep<'_>,
    too_short: bool,
    records: &[StepRecord],
    (outcomes, kept): (&[&Outcome], &[Kept]),
) -> Length {
    let step = &how.step;
    if !how.frozen
        && let Some(needed) = how.slicing.in_vain(step, records.iter().map(Need::of_record))
    {
        let text = format!(
            "a server and its clients needed only {}: the step runs {} in the next block, and these \
             slices don't count",
            needed.text(step),
            how.slicing.otherwise(step)
        );
        let warning = Some(Warning::new("not-cpu-bound", text));
        return Length { warning, ..Length::default() };
    }
    if too_short {
        let longest = how.lengths.iter().max().copied().unwrap_or_default();
        let ms = how.ms.unwrap_or(longest.as_secs_f64() * 1000.0);
        let warning = Some(how.warning_of_short_slices());
        return Length { settled: Some((ms, false)), warning, note: None };
    }
    if let Some(ms) = how.ms {
        return Length { settled: Some((ms, true)), ..Length::default() };
    }
    let rates: Vec<&[f64]> = kept.iter().map(|kept| &*kept.rates).collect();
    let remedy = conditions.plan().lengthening(&step.key.name);
    let (ms, settled, text) = choose(&trials(outcomes, &rates), remedy.as_deref());
    conditions.tell(Event::Note(format!("  {}: {text}", step.key.name)));
    Length { settled: Some((ms, settled)), note: Some(text), warning: None }
}

/// The error of a step that failed on one of several servers.
fn told(attempts: &mut [Attempt<'_>], step: &Step, fault: Fault) -> Error {
    let (attempt, key) = (attempts.get_mut(fault.at), &step.key);
    let clients = Clients::of(key.dop);
    attempt.map_or(Error::Interrupted, |a| a.error(&key.name, clients, fault.trouble))
}

/// The outcomes on all servers.
fn outcomes(measured: &[Measured]) -> Vec<&Outcome> {
    measured.iter().map(|measured| &measured.outcome).collect()
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

/// Adds the figures of the slices to a record.
fn fill(record: &mut StepRecord, outcome: &Outcome, kept: &Kept, watching: f64) {
    let rounds = outcome.slices.len() as f64;
    let aside =
        |reason: &&SliceReason| !matches!(reason, SliceReason::Measured | SliceReason::NotMeasured);
    let set_aside = kept.reasons.iter().filter(aside).count() as f64;
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
