//! What a count has found, measured once more: a change and the one before it beside each other.

use std::time::Duration;

use report::CountDocument;
use store::ExperimentId;

use super::document::{CountedAgain, Document, Named, RunStep};
use super::site::{Outcome, Site};
use super::state::{Method, Pair, State};
use super::text::change;
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
/// functions, and runs both if that is asked. A change that does not show again is not found, nor
/// is one that can't be measured again.
pub fn confirm(
    document: &mut Document,
    state: &mut State,
    how: Confirming<'_, '_>,
) -> anyhow::Result<()> {
    document.unconfirmed = match unconfirmed(document, state, how) {
        Err(error) if is_interrupted(&error) => return Err(error),
        Err(error) => Some(format!("{error:#}")),
        Ok(reason) => reason,
    };
    if document.unconfirmed.is_some() && document.answer == "found" {
        document.answer = "unconfirmed";
    }
    Ok(())
}

/// True if the user ended it.
pub fn is_interrupted(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(lab::Error::Interrupted))
}

/// Why a change does not show again, if one doesn't.
fn unconfirmed(
    document: &mut Document,
    state: &mut State,
    mut how: Confirming<'_, '_>,
) -> anyhow::Result<Option<String>> {
    let margin = document.margin;
    let mut reason = None;
    // They share the budget.
    let culprits = u32::try_from(document.culprits.len()).unwrap_or(u32::MAX).max(1);
    how.budget = how.budget.map(|budget| budget.map(|time| time / culprits));
    for culprit in &mut document.culprits {
        let experiment = how.measured(state, Method::Count, culprit.ends)?;
        let counted = counting::read(&how.site.store()?, experiment)?;
        culprit.counted = again(&counted, culprit);
        for moved in &culprit.moved {
            let same = culprit.counted.iter().find(|it| it.measure == moved.measure);
            if same.is_some_and(|it| shows_again(moved.ratio, it.ratio, margin)) {
                continue;
            }
            let found = same.map_or("it was not counted".to_owned(), |it| {
                format!("it differs by {}", change(it.ratio))
            });
            let after = state.candidates()[culprit.ends.1].short();
            reason = Some(format!(
                "{}: beside the one before it, {after} does not show the change again: {found}",
                moved.measure
            ));
        }
        if how.budget.is_some() {
            let experiment = how.measured(state, Method::Run, culprit.ends)?;
            let found = slicing::read(&how.site.store()?, experiment, slicing::METRIC, margin)?;
            if let Some(reason) = slicing::unjudged(&found) {
                anyhow::bail!(reason);
            }
            let steps = slicing::compared(&found).into_iter().map(|(step, comparison)| RunStep {
                step,
                ratio: comparison.ratio,
                low: comparison.low,
                high: comparison.high,
                verdict: comparison.verdict.as_str().to_owned(),
            });
            let steps: Vec<RunStep> = steps.collect();
            anyhow::ensure!(!steps.is_empty(), "experiment {experiment} has no step to compare");
            let differs = |step: &RunStep| ["regression", "improvement"].contains(&&*step.verdict);
            culprit.instructions_only = !steps.iter().any(differs);
            culprit.run = Some(steps);
        }
    }
    Ok(reason)
}

impl Confirming<'_, '_> {
    /// The experiment with these two, from the store if it is still there.
    fn measured(
        &mut self,
        state: &mut State,
        method: Method,
        (before, after): (usize, usize),
    ) -> anyhow::Result<ExperimentId> {
        let same = |pair: &&Pair| (pair.method, pair.before, pair.after) == (method, before, after);
        if let Some(known) = state.pairs.iter().find(same) {
            let experiment = ExperimentId(known.experiment);
            let names = [before, after].map(|place| &state.candidates()[place].name);
            let variants = self.site.store()?.variants(experiment)?;
            if variants.iter().map(|variant| &variant.name).eq(names) {
                return Ok(experiment);
            }
            state.pairs.retain(|pair| pair.experiment != experiment.0);
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
