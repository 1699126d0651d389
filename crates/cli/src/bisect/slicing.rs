//! Looks by runs: each measures a candidate beside the good end.

use std::collections::BTreeMap;
use std::time::Duration;

use judge::Comparison;
use report::{Judged, Outcome as Judgment, Results, Which};
use store::{ExperimentId, Store};

use super::search::{Bench, TooShort};
use super::site::{Outcome, Site};
use super::state::{Built, Figure, Look};

/// The metric of runs, if not told otherwise.
pub const METRIC: &str = metrics::OPS.name;

/// Runs candidates beside the good end.
pub struct Slicing<'a, 'b> {
    pub site: &'a mut Site<'b>,
    /// The metric of the verdicts.
    pub metric: &'a str,
    pub margin: f64,
}

impl Bench for Slicing<'_, '_> {
    fn build(&mut self, candidate: usize) -> Outcome<Built> {
        self.site.build(candidate)
    }

    fn look(&mut self, candidate: usize, time: Option<Duration>) -> Outcome<Look> {
        // A budget is given in whole seconds.
        let time = time.map(|time| Duration::from_secs(time.as_secs().max(1)));
        let plan = self.site.plan(&[0, candidate], time)?;
        let experiment = match self.site.run(plan)? {
            Ok(experiment) => experiment,
            Err(reason) => return Ok(Err(reason)),
        };
        let found = read(&self.site.store()?, experiment, self.metric, self.margin)?;
        if let Some(reason) = unjudged(&found) {
            return Ok(Err(reason));
        }
        let figures = figures(&found);
        // A step without a figure would not be in the answer.
        let without = compared(&found).into_iter().find(|(step, _)| !figures.contains_key(step));
        if figures.is_empty() || without.is_some() {
            let which = without
                .map_or("no step has a".to_owned(), |(step, _)| format!("the step {step} has no"));
            let told = format!(
                "experiment {experiment}: {which} comparison by {} with an error, which takes \
                 several blocks; give it a larger --budget, more --blocks or another --metric",
                self.metric
            );
            return Err(TooShort(told).into());
        }
        Ok(Ok(Look { candidate, experiment: experiment.0, seconds: 0.0, figures }))
    }

    fn tell(&mut self, line: String) {
        self.site.progress.tell(lab::Event::Note(line));
    }
}

/// Runs two candidates beside each other.
pub fn pair(
    site: &mut Site<'_>,
    before: usize,
    after: usize,
    budget: Option<Duration>,
) -> Outcome<ExperimentId> {
    let plan = site.plan(&[before, after], budget)?;
    site.run(plan)
}

/// An experiment of two variants, judged.
pub fn read(
    store: &Store,
    experiment: ExperimentId,
    metric: &str,
    margin: f64,
) -> anyhow::Result<(Results, Judged)> {
    let results = report::load(store, Which::Id(experiment))?;
    let judged = report::judge_metric(&results, metric, None, Some(margin))?;
    Ok((results, judged))
}

/// Why a step that should be judged can't be: one of the two did nothing, its query failed, or its
/// results differ.
pub fn unjudged((results, judged): &(Results, Judged)) -> Option<String> {
    let outcomes = judged.steps.iter().enumerate();
    let mut found =
        outcomes.flat_map(|(place, outcomes)| outcomes.iter().map(move |it| (place, it)));
    found.find_map(|(place, outcome)| match outcome {
        Judgment::Unjudged(it) if it.verdict.is_some() => {
            let step = results.step_label(&results.steps[place]);
            Some(format!("the step {step} can't be judged: {}", it.reason))
        }
        _ => None,
    })
}

/// The comparisons of the second variant with the first, by step.
pub fn compared((results, judged): &(Results, Judged)) -> Vec<(String, &Comparison)> {
    let steps = results.steps.iter().enumerate();
    let found = steps.filter_map(|(place, step)| {
        let variant = (0..results.variants.len()).find(|variant| *variant != judged.base)?;
        Some((results.step_label(step), judged.of(place, variant)?))
    });
    found.collect()
}

fn figures(found: &(Results, Judged)) -> BTreeMap<String, Figure> {
    let all = compared(found).into_iter();
    all.filter_map(|(step, comparison)| {
        let suspect::Look { log_ratio, error, freedom, .. } =
            suspect::Look::measured(1, comparison)?;
        let by_cpu = |it: &judge::Warning| matches!(it, judge::Warning::ByCpu { .. });
        let by_cpu = comparison.warnings.iter().any(by_cpu);
        Some((step, Figure { log: log_ratio, error, freedom, by_cpu }))
    })
    .collect()
}
