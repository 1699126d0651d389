//! How much repeated trials of the same system differ: per step, per setup, and from second to
//! second.

mod document;
mod options;
mod setups;
mod tables;

use crate::ReportError;
use crate::judging::steps::fraction;
use crate::load::chosen::Source;
use crate::load::trials::Trials;
use crate::output::sheet::Printable;
use setups::setups;

pub use document::{
    ChosenSetup, NoisyMachine, SetupDocument, SetupStep, VarianceDocument, WithinDocument,
    WorkloadVariance,
};
pub use options::{Deviation, VarianceOptions};

/// The limit that the author of the published table calls good: a maximum CV of 3%.
pub const DEFAULT_LIMIT: f64 = 0.03;

/// Variances, ready to be printed.
pub type Variance = Printable<VarianceDocument>;

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
