//! Looks by count: exact numbers of instructions.

use std::collections::BTreeMap;
use std::time::Duration;

use report::{CountOptions, CountReport, CountedVariant, KindDocument};
use store::{ExperimentId, Store};

use super::search::Bench;
use super::site::{Outcome, Site};
use super::state::{Built, Figure, Look};

/// Functions of a pair of counts to keep.
const FUNCTIONS: usize = 10;

/// A 95% interval is so many standard errors wide to either side.
const NORMAL: f64 = 1.96;

/// Counts candidates.
pub struct Counting<'a, 'b>(pub &'a mut Site<'b>);

impl Bench for Counting<'_, '_> {
    fn build(&mut self, candidate: usize) -> Outcome<Built> {
        self.0.build(candidate)
    }

    fn look(&mut self, candidate: usize, _: Option<Duration>) -> Outcome<Look> {
        let plan = self.0.plan(&[candidate], None)?;
        let experiment = match self.0.count(plan)? {
            Ok(experiment) => experiment,
            Err(reason) => return Ok(Err(reason)),
        };
        let counted = counts(&self.0.store()?, experiment)?.document;
        let of = |kind: &KindDocument| {
            let [variant] = &kind.variants[..] else { return None };
            Some((kind.measure(), figure(variant)))
        };
        let figures: BTreeMap<String, Figure> = counted.counts.iter().filter_map(of).collect();
        anyhow::ensure!(!figures.is_empty(), "nothing was counted of {}", counted.base);
        Ok(Ok(Look { candidate, experiment: experiment.0, seconds: 0.0, figures }))
    }

    fn tell(&mut self, line: String) {
        self.0.progress.tell(lab::Event::Note(line));
    }
}

/// Counts two candidates beside each other.
pub fn pair(site: &mut Site<'_>, before: usize, after: usize) -> Outcome<ExperimentId> {
    let plan = site.plan(&[before, after], None)?;
    site.count(plan)
}

/// The counts of an experiment.
pub fn counts(store: &Store, experiment: ExperimentId) -> anyhow::Result<CountReport> {
    Ok(report::count(store, experiment, &options())?)
}

/// How counts are laid out.
pub fn options() -> CountOptions {
    CountOptions {
        base: None,
        margin: None,
        event: None,
        functions: FUNCTIONS,
        every_kind: true,
        brief: None,
    }
}

/// The level of a count. Its error is that of its repeats; of few of them, one that is larger, and
/// never less than two loads of the same data differ.
fn figure(variant: &CountedVariant) -> Figure {
    let spread = variant.repeatability.unwrap_or(variant.spread);
    let error = spread.max(report::LEAST_DIFFERENCE) / NORMAL;
    // Those of an exact count: it may still have counted what does not belong to it.
    let freedom = suspect::Look::counted(1, 1.0).freedom;
    Figure { log: variant.per_statement.ln(), error, freedom, by_cpu: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_count_is_that_of_its_repeats() {
        let counted = |spread: f64, repeatability: Option<f64>| {
            let per_statement = 1000.0;
            let variant =
                CountedVariant { per_statement, spread, repeatability, ..Default::default() };
            figure(&variant)
        };
        let exact = counted(0.0, Some(0.0));
        assert!((exact.log.exp() - 1000.0).abs() < 1e-9);
        assert!((exact.error - 1e-4 / NORMAL).abs() < 1e-12 && exact.freedom > 1.0);
        let rough = counted(1e-4, Some(6e-4));
        assert!((rough.error - 6e-4 / NORMAL).abs() < 1e-12);
    }
}
