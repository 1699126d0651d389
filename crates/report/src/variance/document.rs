//! The output of `variance --format json`; `docs/trials-json.md` documents its shape.

use serde::{Deserialize, Serialize};

use super::options::{Deviation, VarianceOptions};
use super::setups::{Setup, StepValues};
use crate::ReportError;
use crate::load::chosen::Source;
use crate::load::machine::ENOUGH_TRIALS;
use crate::load::pairing::Way;
use crate::load::trials::{Conducted, Trials, Value};
use crate::output::table::{distinct, place_of};

/// Version of the shape; it grows when a key is removed or changes its meaning.
const FORMAT: u32 = 1;

/// Variances between and within trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VarianceDocument {
    /// Version of this shape: 1.
    pub format: u32,
    /// The metric, such as `o/s`.
    pub metric: String,
    /// `population` or `sample`: how every deviation was computed.
    pub deviation: String,
    /// The largest CV of a good setup.
    pub limit: f64,
    /// In the order in which they first ran.
    pub workloads: Vec<WorkloadVariance>,
    /// Setups that are good in all of these workloads.
    pub choose: Vec<ChosenSetup>,
    /// Machines without which the mean of the others would be known better.
    pub leave_out: Vec<NoisyMachine>,
    /// Notes on the figures.
    pub notes: Vec<String>,
}

/// The setups of one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkloadVariance {
    /// Its name in tables.
    pub workload: String,
    /// Number and name of the experiments that the trials come from.
    pub experiments: Vec<String>,
    /// Machine, configuration and number of clients.
    pub setups: Vec<SetupDocument>,
}

/// A setup.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetupDocument {
    /// Its name in tables.
    pub setup: String,
    /// The machine.
    pub machine: String,
    /// The variant.
    pub variant: String,
    /// Number of clients.
    pub dop: u32,
    /// The smallest and the largest number of trials of its steps.
    pub trials: [usize; 2],
    /// Largest CV of its steps; `null` if a step has fewer than two trials.
    pub max: Option<f64>,
    /// Mean CV of its steps; `null` as above.
    pub mean: Option<f64>,
    /// In order of execution.
    pub steps: Vec<SetupStep>,
}

/// A step of a setup.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetupStep {
    /// Name, such as `l.i0`.
    pub name: String,
    /// The metric in each trial.
    pub values: Vec<f64>,
    /// Standard deviation / mean over the trials; `null` for fewer than two.
    pub cv: Option<f64>,
    /// Variation from second to second; `null` if the step has no throughput per second.
    pub within: Option<WithinDocument>,
}

/// Variation of the seconds of a trial: medians over the trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WithinDocument {
    /// Whole seconds.
    pub seconds: f64,
    /// Standard deviation / mean over the seconds.
    pub cv: f64,
    /// Correlation of a second with the next; `null` with fewer than 8 seconds.
    pub autocorrelation: Option<f64>,
    /// The number of independent seconds that would determine the mean equally well; `null` as
    /// above.
    pub worth: Option<f64>,
}

/// A machine to leave out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoisyMachine {
    /// Its name.
    pub machine: String,
    /// Root of the mean squared CV of the steps of its setups.
    pub cv: f64,
}

/// A setup to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenSetup {
    /// Its name in tables.
    pub setup: String,
    /// Numbers of clients with which it is good.
    pub dop: Vec<u32>,
}

/// Computes all figures.
pub(super) fn document(
    sources: &[Source<'_>],
    trials: &Trials,
    setups: &[Setup<'_>],
    options: &VarianceOptions,
) -> Result<VarianceDocument, ReportError> {
    let mut workloads: Vec<WorkloadVariance> = trials
        .workloads
        .iter()
        .enumerate()
        .map(|(place, workload)| WorkloadVariance {
            workload: workload.label.clone(),
            experiments: trials
                .experiments
                .iter()
                .filter(|conducted| conducted.workload == place)
                .map(Conducted::name)
                .collect(),
            setups: Vec::new(),
        })
        .collect();
    let labels = labels(trials, setups);
    for (setup, label) in setups.iter().zip(labels) {
        let steps = setup
            .steps
            .iter()
            .map(|step| setup_step(sources, trials, step, options))
            .collect::<Result<Vec<_>, _>>()?;
        let cvs: Option<Vec<f64>> = steps.iter().map(|step| step.cv).collect();
        let counts = || steps.iter().map(|step| step.values.len());
        let document = SetupDocument {
            setup: label,
            machine: setup.machine.to_owned(),
            variant: setup.system.name.clone(),
            dop: setup.dop,
            trials: [counts().min().unwrap_or(0), counts().max().unwrap_or(0)],
            max: cvs.as_ref().and_then(|cvs| cvs.iter().copied().reduce(f64::max)),
            mean: cvs.as_ref().and_then(|cvs| judge::mean(cvs)),
            steps,
        };
        workloads[setup.workload].setups.push(document);
    }
    workloads.retain(|workload| !workload.setups.is_empty());
    Ok(VarianceDocument {
        format: FORMAT,
        metric: trials.metric.clone(),
        deviation: options.deviation.as_str().to_owned(),
        limit: options.limit,
        choose: choose(&workloads, options.limit),
        leave_out: leave_out(&workloads),
        notes: notes(&workloads),
        workloads,
    })
}

fn setup_step(
    sources: &[Source<'_>],
    trials: &Trials,
    step: &StepValues<'_>,
    options: &VarianceOptions,
) -> Result<SetupStep, ReportError> {
    let values: Vec<f64> = step.values.iter().map(|value| value.value).collect();
    let mut found = Vec::new();
    for value in &step.values {
        found.extend(within(sources, trials, value, options.deviation)?);
    }
    let median = |of: &dyn Fn(&WithinDocument) -> Option<f64>| {
        judge::median(&found.iter().filter_map(of).collect::<Vec<_>>())
    };
    let seconds = median(&|within| Some(within.seconds));
    Ok(SetupStep {
        name: trials.steps[step.step].label(),
        cv: options.deviation.cv(&values),
        values,
        within: seconds.zip(median(&|within| Some(within.cv))).map(|(seconds, cv)| {
            WithinDocument {
                seconds,
                cv,
                autocorrelation: median(&|within| within.autocorrelation),
                worth: median(&|within| within.worth),
            }
        }),
    })
}

/// Names setups by what distinguishes them: `machine`, `variant` or `machine.variant`. If one name
/// stands for two systems, adds the version, or the experiment if that is not enough.
fn labels(trials: &Trials, setups: &[Setup<'_>]) -> Vec<String> {
    let variants = setups.windows(2).any(|pair| pair[0].system.name != pair[1].system.name);
    let plain = |setup: &Setup<'_>| match (trials.has_machines(), variants) {
        (true, true) => format!("{}.{}", setup.machine, setup.system.name),
        (true, false) => setup.machine.to_owned(),
        _ => setup.system.name.clone(),
    };
    setups
        .iter()
        .map(|setup| {
            let label = plain(setup);
            let namesakes: Vec<&Setup<'_>> = setups
                .iter()
                .filter(|other| plain(other) == label && !other.system.is(setup.system))
                .collect();
            if namesakes.is_empty() {
                label
            } else if namesakes.iter().all(|other| other.system.version != setup.system.version) {
                format!("{label} ({})", setup.system.version)
            } else {
                let of = setup.steps.iter().flat_map(|step| &step.values).next();
                let first = of.map(|value| trials.conducted(value).experiment.id.to_string());
                format!("{label} (from experiment {})", first.unwrap_or_default())
            }
        })
        .collect()
}

/// The setups whose largest CV is at most the limit wherever they were measured. The printed value
/// decides: 0.0304 appears as 0.030 in the table and is chosen with a limit of 0.03.
fn choose(workloads: &[WorkloadVariance], limit: f64) -> Vec<ChosenSetup> {
    let good = |setup: &SetupDocument| {
        setup.max.is_some_and(|max| (max * 1000.0).round() / 1000.0 <= limit)
    };
    let mut chosen: Vec<ChosenSetup> = Vec::new();
    let setups = || workloads.iter().flat_map(|workload| &workload.setups);
    let key = |setup: &'_ SetupDocument| (setup.setup.clone(), setup.dop);
    for (setup, dop) in distinct(setups().map(key)) {
        let mut everywhere = setups().filter(|other| other.setup == setup && other.dop == dop);
        if everywhere.all(good) {
            let new = ChosenSetup { setup, dop: Vec::new() };
            let place = place_of(&mut chosen, new, |known, new| known.setup == new.setup);
            chosen[place].dop.push(dop);
        }
    }
    chosen
}

/// The machines whose noise spoils the mean over machines ([`judge::too_noisy`]). The variance of a
/// machine is the mean of the squared CVs of its setups' steps.
fn leave_out(workloads: &[WorkloadVariance]) -> Vec<NoisyMachine> {
    let setups = || workloads.iter().flat_map(|workload| &workload.setups);
    let machines: Vec<&str> = distinct(setups().map(|setup| setup.machine.as_str()));
    let variance = |machine: &&str| {
        let own = setups().filter(|setup| setup.machine == *machine);
        let steps: Vec<&SetupStep> = own.flat_map(|setup| &setup.steps).collect();
        if steps.iter().any(|step| step.values.len() < ENOUGH_TRIALS) {
            return None;
        }
        let squares: Option<Vec<f64>> = steps.iter().map(|step| Some(step.cv?.powi(2))).collect();
        judge::mean(&squares?)
    };
    let Some(variances) = machines.iter().map(variance).collect::<Option<Vec<f64>>>() else {
        return Vec::new();
    };
    let named = judge::too_noisy(&variances).into_iter().map(|place| NoisyMachine {
        machine: machines[place].to_owned(),
        cv: variances[place].sqrt(),
    });
    named.collect()
}

fn notes(workloads: &[WorkloadVariance]) -> Vec<String> {
    let setups = || workloads.iter().flat_map(|workload| &workload.setups);
    let mut notes = Vec::new();
    let lonely: Vec<String> = setups()
        .filter(|setup| setup.trials[0] < 2)
        .map(|setup| format!("{} dop={}", setup.setup, setup.dop))
        .collect();
    if !lonely.is_empty() {
        notes.push(format!(
            "fewer than 2 trials of a step: {}; a deviation needs at least two, so run more blocks",
            lonely.join(", ")
        ));
    }
    let few = setups().map(|setup| setup.trials[0]).filter(|trials| *trials >= 2).min();
    if few.is_some_and(|few| few < 3) {
        notes.push(
            "some CVs come from only 2 trials and say little; the published tables use 3"
                .to_owned(),
        );
    }
    notes
}

/// The variance from second to second of a trial; `None` if the step has no throughput per second
/// or too few whole seconds.
fn within(
    sources: &[Source<'_>],
    trials: &Trials,
    value: &Value,
    deviation: Deviation,
) -> Result<Option<WithinDocument>, ReportError> {
    let step = trials.step(value);
    if step.way != Way::Whole {
        // Its per-second figures belong to all servers together.
        return Ok(None);
    }
    let seconds = trials.seconds(sources, value)?;
    let known: Vec<f64> = seconds.iter().copied().filter(|v| !v.is_nan()).collect();
    Ok(deviation.cv(&known).map(|cv| WithinDocument {
        seconds: known.len() as f64,
        cv,
        autocorrelation: judge::persistence(&seconds),
        worth: judge::effective_sample_size(&seconds),
    }))
}
