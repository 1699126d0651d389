//! Exact counts of instructions and other events: the cost of a statement in each variant, by
//! phase, and the functions that moved.

mod brief;
mod chart;
pub(crate) mod counted;
mod document;
mod events;
mod functions;
mod namesakes;
mod options;
mod spread;
mod tables;
pub(crate) mod words;

use store::{ExperimentId, Store};

use crate::ReportError;
use crate::output::sheet::Printable;

use counted::Counted;
pub use counted::{CountVerdict, CountedIn};
pub use document::{CountDocument, CountedVariant, KindDocument, PhaseDocument};
pub use functions::{FunctionDocument, WorkDocument};
pub use options::CountOptions;
pub use spread::{LEAST as LEAST_DIFFERENCE, Spread, least as least_difference};
pub use words::SentenceDocument;

/// Counts, ready to be printed.
pub type CountReport = Printable<CountDocument>;

impl CountReport {
    /// The reasons why a gate fails: kinds that take more, an unfinished count, a variant without
    /// any, kinds that a variant lacks; with `strict`, also kinds that are inconclusive.
    pub fn gate(&self, strict: bool) -> Vec<String> {
        let mut reasons = self.regressions();
        reasons.extend(self.document.missing());
        reasons.extend(self.document.unjudged());
        for kind in self.document.counts.iter().filter(|_| strict) {
            let open =
                kind.variants.iter().filter(|it| it.verdict.as_deref() == Some("inconclusive"));
            reasons
                .extend(open.map(|it| format!("{}: {} is inconclusive", kind.measure(), it.name)));
        }
        reasons
    }

    /// A sentence for every kind of statement that certainly takes more than in the base, by more
    /// than the margin.
    pub fn regressions(&self) -> Vec<String> {
        let mut found = Vec::new();
        for kind in &self.document.counts {
            for variant in &kind.variants {
                if variant.verdict.as_deref() == Some("regression") {
                    // Without a ratio, the base has none of them.
                    found.push(format!(
                        "{}: {} {} {} {} than {}",
                        kind.measure(),
                        variant.name,
                        words::verb(&kind.event),
                        variant.relative.map_or("more".to_owned(), words::more),
                        kind.event,
                        self.document.base
                    ));
                }
            }
        }
        found
    }
}

/// Reads the counts of an experiment and lays them out.
///
/// # Errors
/// When the store cannot be read or has no counts of this experiment or this event, the base has
/// none, or the margin is not between 0 and 1.
pub fn count(
    store: &Store,
    id: ExperimentId,
    options: &CountOptions,
) -> Result<CountReport, ReportError> {
    let (base, event) = (options.base.as_deref(), options.event.as_deref());
    Ok(laid_out(&Counted::read(store, id, base, options.margin, event)?, options))
}

/// The same of two variants that were counted in different experiments, the first as the base.
/// Whether they were counted alike is left to the caller.
///
/// # Errors
/// As [`count()`]; or if one is not a variant of its experiment.
pub fn count_between(
    ends: [CountedIn<'_>; 2],
    options: &CountOptions,
) -> Result<CountReport, ReportError> {
    let counted = Counted::between(ends, options.margin, options.event.as_deref())?;
    Ok(laid_out(&counted, options))
}

fn laid_out(counted: &Counted, options: &CountOptions) -> CountReport {
    let document = document::document(counted, options.functions);
    let sheet = match options.brief {
        Some(width) => brief::sheet(&document, width),
        None => {
            let most = counted.moved_most(None).map(|(place, _)| place);
            tables::sheet(&document, most, options)
        }
    };
    CountReport { document, sheet }
}
