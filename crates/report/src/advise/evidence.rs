//! Evidence from stored trials about a plan: how much each step varies, and how long it takes.

use std::collections::BTreeMap;

use judge::{LevelsError, StepVariance, TrialSeconds};
use plan::{Plan, Sequence, SequenceKey, StepKey, WorkloadPlan};

use crate::ReportError;
use crate::load::chosen::{Chosen, Shape, Source};
use crate::load::pairing::Way;
use crate::load::trials::{Conducted, System, Trials, Value, named};
use crate::output::table::{distinct, place_of};

/// With fewer trials than this, a deviation may well be off by a third: with 10 degrees of freedom
/// its 95% interval reaches from 0.70 to 1.75 times the estimate (chi-squared distribution).
const FEW_TRIALS: usize = 12;

/// Everything known about the plan's steps.
#[derive(Default)]
pub(super) struct Evidence {
    /// Number and name of the experiments that it comes from.
    pub(super) experiments: Vec<String>,
    /// In the plan's order, one sequence after the other.
    pub(super) steps: Vec<KnownStep>,
    /// By key of the sequence: seconds of a trial outside its measured steps (restart, restore,
    /// settling); `None` without a trial.
    pub(super) overhead: BTreeMap<SequenceKey, f64>,
    /// Notes about it.
    pub(super) notes: Vec<String>,
}

/// A step of the plan.
pub(super) struct KnownStep {
    /// Key of its sequence.
    pub(super) sequence: SequenceKey,
    pub(super) key: StepKey,
    /// True if the plan sets its seconds; otherwise it ends by work.
    pub(super) timed: bool,
    /// True if it runs once per variant, before trials begin (`restore_after`).
    pub(super) load: bool,
    pub(super) trials: usize,
    /// Its duration with the plan's rows and seconds.
    pub(super) seconds: Option<f64>,
    /// Its measured duration.
    pub(super) measured: Option<f64>,
    pub(super) variance: Option<StepVariance>,
    /// True if the variance between its seconds could be separated from that between its trials.
    pub(super) apart: bool,
}

/// Reads the trials of the plan's workload and splits their variance.
pub(super) fn gather(
    sources: &[Source<'_>],
    plan: &Plan,
    chosen: &Chosen,
) -> Result<Evidence, ReportError> {
    let sequences = plan.workload.sequences();
    let planned = || sequences.iter().flat_map(|sequence| &sequence.steps);
    let pilot = |found: String| ReportError::NoPilot {
        plan: plan.name.clone(),
        steps: planned().map(|step| titled(&step.key)).collect(),
        found,
    };
    let trials = match Trials::read(sources, chosen, metrics::OPS.name) {
        Err(ReportError::NoExperiment | ReportError::NoTrials) => {
            return Err(pilot("no finished trial".to_owned()));
        }
        read => read?,
    };
    let kin = kin(plan, &trials);
    let mut evidence = Evidence::default();
    let used: Vec<&Value> = trials
        .values
        .iter()
        .filter(|value| {
            let step = trials.step(value);
            kin.contains(&step.workload)
                && step.way == Way::Whole
                && sequences.iter().any(|sequence| sequence.place(&step.key).is_some())
        })
        .collect();
    if used.is_empty() {
        return Err(pilot(others(&trials, &kin)));
    }
    for (place, conducted) in trials.experiments.iter().enumerate() {
        if used.iter().any(|value| value.experiment == place) {
            evidence.experiments.push(conducted.name());
        }
    }
    let rows = plan.workload.rows();
    if used.iter().any(|value| ran(&trials, value).is_some_and(|ran| ran.rows() != rows)) {
        evidence.notes.push(
            "the stored trials have a different number of rows than the plan: durations are scaled in proportion, variance is used \
             as is"
                .to_owned(),
        );
    }
    let systems = systems(&trials);
    for sequence in &sequences {
        if let Some(overhead) = overhead(&trials, &used, sequence) {
            evidence.overhead.insert(sequence.key, overhead);
        }
        for (place, planned) in sequence.steps.iter().enumerate() {
            let values: Vec<&Value> = used
                .iter()
                .copied()
                .filter(|value| sequence.place(&trials.step(value).key) == Some(place))
                .collect();
            let mut step = KnownStep {
                sequence: sequence.key,
                key: planned.key.clone(),
                timed: planned.timed,
                load: place < plan.loaded_steps(sequence),
                trials: values.len(),
                seconds: match planned.timed {
                    true => plan.workload.seconds().map(f64::from),
                    false => seconds(plan, &trials, &values, &planned.key.name),
                },
                measured: judge::median(&values.iter().map(|v| v.seconds).collect::<Vec<_>>()),
                variance: None,
                apart: true,
            };
            if !plan.only_prepares(sequence, place) {
                variance(sources, &trials, &systems, &values, &mut step)?;
            }
            evidence.steps.push(step);
        }
    }
    if evidence.steps.iter().all(|step| step.load || step.variance.is_none()) {
        let from = named(&evidence.experiments);
        return Err(pilot(format!("no two trials of one variant in {from}")));
    }
    evidence.say_what_is_missing();
    Ok(evidence)
}

/// The stored trials, none of which fits the plan.
fn others(trials: &Trials, kin: &[usize]) -> String {
    let of_kin = |value: &&Value| kin.contains(&trials.step(value).workload);
    let related: Vec<&Value> = trials.values.iter().filter(of_kin).collect();
    if related.is_empty() {
        let names: Vec<String> = trials.experiments.iter().map(Conducted::name).collect();
        return format!("{}, with other workloads or other settings of it", named(&names));
    }
    let steps = distinct(related.iter().map(|value| titled(&trials.step(value).key)));
    let sliced = related.iter().all(|value| trials.step(value).way != Way::Whole);
    format!("only {}{}", steps.join(", "), if sliced { " in slices" } else { "" })
}

/// A step in a sentence: `qr100 dop=4`.
pub(super) fn titled(key: &StepKey) -> String {
    match key.labels.is_empty() {
        true => format!("{} dop={}", key.name, key.dop),
        false => key.label(true),
    }
}

impl Evidence {
    fn say_what_is_missing(&mut self) {
        let listed = |wanted: &dyn Fn(&KnownStep) -> bool| -> Vec<String> {
            let found = self.steps.iter().filter(|step| !step.load && wanted(step));
            found.map(|step| titled(&step.key)).collect()
        };
        let unknown = listed(&|step| step.variance.is_none());
        let together = listed(&|step| step.variance.is_some() && !step.apart);
        if !unknown.is_empty() {
            self.notes.push(format!(
                "no variant has two stored trials of {}; run a pilot of 3 blocks",
                unknown.join(", ")
            ));
        }
        let judged = self.steps.iter().filter(|step| step.variance.is_some() && !step.load);
        if let Some(few) = judged.map(|step| step.trials).min().filter(|few| *few < FEW_TRIALS) {
            self.notes.push(format!(
                "the variance comes from {few} trials and is itself uncertain; advice from {FEW_TRIALS} or more is more reliable"
            ));
        }
        if !together.is_empty() {
            self.notes.push(format!(
                "trials with less than 8 seconds of throughput can't show whether longer steps would help: {}; all of their variance \
                 counts as variance between trials",
                together.join(", ")
            ));
        }
    }
}

/// Workloads that differ from the plan's only in numbers of rows and seconds; if some have the same
/// number of rows, only those.
fn kin(plan: &Plan, trials: &Trials) -> Vec<usize> {
    let bare = |workload: &WorkloadPlan| {
        let mut bare = workload.without_steps();
        bare.set_rows(|_| 0);
        bare.set_seconds(0);
        bare
    };
    let like = |alike: &dyn Fn(&WorkloadPlan) -> bool| -> Vec<usize> {
        let alike = |shape: &Shape| matches!(shape, Shape::Plan(workload) if alike(workload));
        let places = 0..trials.workloads.len();
        places.filter(|place| alike(&trials.workloads[*place].shape)).collect()
    };
    let (wanted, rows) = (bare(&plan.workload), plan.workload.rows());
    let exact = like(&|workload| bare(workload) == wanted && workload.rows() == rows);
    if exact.is_empty() { like(&|workload| bare(workload) == wanted) } else { exact }
}

/// The workload of a value, if its plan can be read.
fn ran<'t>(trials: &'t Trials, value: &Value) -> Option<&'t WorkloadPlan> {
    match &trials.workloads[trials.step(value).workload].shape {
        Shape::Plan(workload) => Some(workload),
        Shape::Unread(_) => None,
    }
}

fn systems(trials: &Trials) -> Vec<&System> {
    let mut systems: Vec<&System> = Vec::new();
    for system in trials.experiments.iter().flat_map(|conducted| &conducted.systems) {
        place_of(&mut systems, system, |known, new| known.is(new));
    }
    systems
}

/// Median over the trials of the time they took outside their measured steps.
fn overhead(trials: &Trials, used: &[&Value], sequence: &Sequence) -> Option<f64> {
    let mut measured: BTreeMap<(usize, i64), f64> = BTreeMap::new();
    // All steps of a trial count here, including those not in the plan.
    let trials_used: Vec<(usize, i64)> = used
        .iter()
        .filter(|value| sequence.place(&trials.step(value).key).is_some())
        .map(|value| (value.experiment, value.trial.0))
        .collect();
    for value in &trials.values {
        let key = (value.experiment, value.trial.0);
        if trials_used.contains(&key) {
            *measured.entry(key).or_default() += value.seconds;
        }
    }
    let beside: Vec<f64> = measured
        .into_iter()
        .filter_map(|((experiment, trial), seconds)| {
            let durations = &trials.experiments[experiment].durations;
            let (begin, end) = durations.get(&store::TrialId(trial))?;
            Some(((end - begin) as f64 / 1000.0 - seconds).max(0.0))
        })
        .collect();
    judge::median(&beside)
}

/// Duration of a step that ends by work, with the plan's rows.
fn seconds(plan: &Plan, trials: &Trials, values: &[&Value], name: &str) -> Option<f64> {
    let wanted = plan.workload.rows_of(name) as f64;
    let taken = values.iter().map(|value| {
        let rows = ran(trials, value).map(|ran| ran.rows_of(name)).filter(|rows| *rows > 0);
        value.seconds * rows.map_or(1.0, |rows| wanted / rows as f64)
    });
    judge::median(&taken.collect::<Vec<_>>())
}

/// Splits the variance of a step; with too few seconds, all of it counts as between trials.
fn variance(
    sources: &[Source<'_>],
    trials: &Trials,
    systems: &[&System],
    values: &[&Value],
    step: &mut KnownStep,
) -> Result<(), ReportError> {
    let mut seconds = Vec::new();
    for value in values {
        seconds.push(trials.seconds(sources, value)?);
    }
    let of = |value: &Value, seconds| {
        let system = trials.system(value);
        TrialSeconds {
            line: systems.iter().position(|known| known.is(system)).unwrap_or(systems.len()),
            block: value.experiment * 100_000 + value.block as usize,
            seconds,
        }
    };
    let measured: Vec<TrialSeconds<'_>> =
        values.iter().zip(&seconds).map(|(value, seconds)| of(value, seconds)).collect();
    step.variance = match StepVariance::estimate(&measured) {
        Ok(variance) => Some(variance),
        Err(LevelsError::TooFewTrials { .. } | LevelsError::TooFewSeconds { .. }) => {
            // As if every second were like the trial's mean.
            let flat: Vec<[f64; judge::SHORTEST_TRIAL]> =
                values.iter().map(|value| [value.value; judge::SHORTEST_TRIAL]).collect();
            let flat: Vec<TrialSeconds<'_>> =
                values.iter().zip(&flat).map(|(value, seconds)| of(value, seconds)).collect();
            step.apart = false;
            StepVariance::estimate(&flat).ok()
        }
    };
    Ok(())
}
