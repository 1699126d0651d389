//! What a count has found, measured once more: a change and the one before it beside each other.

use std::time::Duration;

use report::CountDocument;
use store::ExperimentId;

use super::document::{CountedAgain, Document, Named, RunStep};
use super::site::{Outcome, Site};
use super::state::{Method, Pair, State};
use super::{counting, slicing};

/// Where and for how long.
pub struct Confirming<'a, 'b> {
    pub site: &'a mut Site<'b>,
    /// Stores the state.
    pub keep: &'a mut dyn FnMut(&State) -> anyhow::Result<()>,
    /// The budget of runs; `None` if there are to be none.
    pub budget: Option<Option<Duration>>,
}

/// Counts each culprit and the one before it again, in one experiment, which also names the
/// functions, and runs both if that is asked. A change that does not show again is not found.
pub fn confirm(
    document: &mut Document,
    state: &mut State,
    mut how: Confirming<'_, '_>,
) -> anyhow::Result<()> {
    let margin = document.margin;
    let mut confirmed = true;
    for culprit in &mut document.culprits {
        let experiment = how.measured(state, Method::Count, culprit.ends)?;
        let counted = counting::read(&how.site.store()?, experiment)?;
        culprit.counted = again(&counted, culprit);
        let shows = |moved: &super::document::Moved| {
            let same = culprit.counted.iter().find(|it| it.measure == moved.measure);
            same.is_some_and(|it| shows_again(moved.ratio, it.ratio, margin))
        };
        confirmed &= culprit.moved.iter().all(shows);
        if how.budget.is_some() {
            let experiment = how.measured(state, Method::Run, culprit.ends)?;
            let found = slicing::read(&how.site.store()?, experiment, slicing::METRIC, margin)?;
            let steps = slicing::compared(&found).into_iter().map(|(step, comparison)| RunStep {
                step,
                ratio: comparison.ratio,
                low: comparison.low,
                high: comparison.high,
                verdict: comparison.verdict.as_str().to_owned(),
            });
            let steps: Vec<RunStep> = steps.collect();
            let differs = |step: &RunStep| ["regression", "improvement"].contains(&&*step.verdict);
            culprit.instructions_only = !steps.iter().any(differs);
            culprit.run = Some(steps);
        }
    }
    if !confirmed && document.answer == "found" {
        document.answer = "unconfirmed";
    }
    Ok(())
}

impl Confirming<'_, '_> {
    /// The experiment with these two, from the store if there is one.
    fn measured(
        &mut self,
        state: &mut State,
        method: Method,
        (before, after): (usize, usize),
    ) -> anyhow::Result<ExperimentId> {
        let same = |pair: &&Pair| (pair.method, pair.before, pair.after) == (method, before, after);
        if let Some(known) = state.pairs.iter().find(same) {
            return Ok(ExperimentId(known.experiment));
        }
        let [one, other] =
            [before, after].map(|place| state.candidates()[place].short().to_owned());
        let verb = if method == Method::Count { "counting" } else { "running" };
        let text = format!("{verb} {other} beside {one}, the one before it");
        self.site.progress.tell(lab::Event::Note(text));
        let measured: Outcome<ExperimentId> = match method {
            Method::Count => counting::pair(self.site, before, after),
            Method::Run => slicing::pair(self.site, before, after, self.budget.flatten()),
        };
        let experiment = measured?
            .map_err(|reason| anyhow::anyhow!("{other} and {one} can't be compared: {reason}"))?;
        state.pairs.push(Pair { method, before, after, experiment: experiment.0 });
        (self.keep)(state)?;
        Ok(experiment)
    }
}

/// Both counts of what moved.
fn again(counted: &CountDocument, culprit: &Named) -> Vec<CountedAgain> {
    let of = |kind: &report::KindDocument| {
        let measure = counting::measure(kind);
        culprit.moved.iter().find(|moved| moved.measure == measure)?;
        let [before, after] = &kind.variants[..] else { return None };
        Some(CountedAgain {
            measure,
            before: before.per_statement,
            after: after.per_statement,
            ratio: after.relative?,
            functions: after.functions.clone(),
        })
    };
    counted.counts.iter().filter_map(of).collect()
}

/// True if a ratio is outside the margin on the same side as that of the search. Counts differ by
/// less than a tenth of the margin without a reason.
fn shows_again(found: f64, again: f64, margin: f64) -> bool {
    let edge = 0.9 * margin.ln_1p();
    again.ln() * found.ln().signum() > edge
}

#[cfg(test)]
mod tests {
    use super::shows_again;

    #[test]
    fn a_change_shows_again_on_the_same_side() {
        assert!(shows_again(1.05, 1.05, 0.005) && shows_again(0.9, 0.91, 0.005));
        assert!(!shows_again(1.05, 1.0, 0.005) && !shows_again(1.05, 0.95, 0.005));
        assert!(!shows_again(0.95, 1.05, 0.005));
        assert!(shows_again(1.0051, 1.0049, 0.005), "where it lies on the edge");
    }
}
