//! How much repeated trials of the same system differ: per step, per setup, and from second to
//! second.

mod document;
mod tables;

use crate::ReportError;
use crate::judged::fraction;
use crate::sheet::Printable;
use crate::table::place_of;
use crate::trials::{Chosen, Source, System, Trials, Value};

pub use document::{
    ChosenSetup, SetupDocument, SetupStep, VarianceDocument, WithinDocument, WorkloadVariance,
};

/// What the author of the published table calls good: a maximum CV of 3%.
pub const DEFAULT_LIMIT: f64 = 0.03;

/// The divisor of a standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Deviation {
    /// The number of trials, as in the published tables (over 3 runs).
    #[default]
    Population,
    /// The number of trials minus one: the estimate for future trials.
    Sample,
}

/// What to show.
#[derive(Debug, Clone)]
pub struct VarianceOptions {
    /// Which experiments.
    pub chosen: Chosen,
    /// The metric, such as `o/s`.
    pub metric: String,
    /// Only these steps, by name; empty: all. A setup's maximum and mean are over them.
    pub steps: Vec<String>,
    /// How the deviation is computed.
    pub deviation: Deviation,
    /// Setups whose maximum CV is at most this are chosen; a fraction.
    pub limit: f64,
}

/// Variances, ready to be printed.
pub type Variance = Printable<VarianceDocument>;

impl Deviation {
    /// Its name in options and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Population => "population",
            Self::Sample => "sample",
        }
    }

    /// Standard deviation / mean; `None` for fewer than two values.
    fn cv(self, values: &[f64]) -> Option<f64> {
        if values.len() < 2 {
            return None;
        }
        match self {
            Self::Population => judge::cv_population(values),
            Self::Sample => judge::cv_sample(values),
        }
    }
}

/// Computes the variance between and within the finished trials of the chosen experiments.
///
/// A setup is a machine, a configuration (variant) and a number of clients; twins count as the
/// variant they are twins of. Trials of the same setup in several experiments are combined.
///
/// # Errors
/// When there are no trials (of the requested steps), a store cannot be read, or the limit is not a
/// fraction.
pub fn variance(
    sources: &[Source<'_>],
    options: &VarianceOptions,
) -> Result<Variance, ReportError> {
    fraction(options.limit).map_err(ReportError::BadLimit)?;
    let mut trials = Trials::read(sources, &options.chosen, &options.metric)?;
    trials.only(&options.steps)?;
    let setups = setups(&trials);
    if setups.iter().flat_map(|setup| &setup.steps).all(|step| step.values.len() < 2) {
        return Err(ReportError::TooFewTrials);
    }
    let document = document::document(sources, &trials, &setups, options)?;
    let sheet = tables::sheet(&document);
    Ok(Variance { document, sheet })
}

/// Machine, configuration and number of clients, with the trials of each step.
struct Setup<'a> {
    workload: usize,
    machine: &'a str,
    system: &'a System,
    dop: u32,
    /// In the order of steps.
    steps: Vec<StepValues<'a>>,
}

struct StepValues<'a> {
    /// Place in [`Trials::steps`].
    step: usize,
    values: Vec<&'a Value>,
}

/// Setups in the order of workloads, then in order of appearance.
fn setups(trials: &Trials) -> Vec<Setup<'_>> {
    let mut setups: Vec<Setup<'_>> = Vec::new();
    for value in &trials.values {
        let (conducted, system) = (trials.conducted(value), trials.system(value));
        let (dop, machine) = (trials.step(value).dop, trials.machine(value));
        let new = Setup { workload: conducted.workload, machine, system, dop, steps: Vec::new() };
        let place = place_of(&mut setups, new, |known, new| {
            known.workload == new.workload
                && known.machine == new.machine
                && known.dop == new.dop
                && known.system.is(new.system)
        });
        let (steps, new) =
            (&mut setups[place].steps, StepValues { step: value.step, values: Vec::new() });
        let place = place_of(steps, new, |known, new| known.step == new.step);
        steps[place].values.push(value);
    }
    for setup in &mut setups {
        setup.steps.sort_by_key(|step| step.step);
    }
    // Blocks are in random order; rows are in the order of the plan.
    let place = |setup: &Setup<'_>| {
        setup.steps.iter().flat_map(|step| &step.values).map(|value| value.experiment).min()
    };
    setups.sort_by_key(|setup| {
        let experiment = place(setup);
        let variant = experiment.and_then(|place| {
            trials.experiments[place].systems.iter().position(|system| system.is(setup.system))
        });
        // Setups of one machine stand together.
        let machine = trials.machines.iter().position(|name| name == setup.machine);
        (setup.workload, machine, experiment, variant, setup.dop)
    });
    setups
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
    if step.sliced {
        // Its seconds are those of all servers together.
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
