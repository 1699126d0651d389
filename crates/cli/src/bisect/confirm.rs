//! What was found, measured once more: a change and the one before it beside each other.

use std::time::Duration;

use report::CountDocument;
use store::{ExperimentId, Store};

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

/// Measures each culprit and the one before it again, in one experiment. If they were counted, a
/// count also names the functions, and a run follows if that is asked. A change that does not show
/// again is not found, nor is one that can't be measured again.
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
    let Document { method, margin, ref metric, .. } = *document;
    let metric = metric.clone().unwrap_or_else(|| slicing::METRIC.to_owned());
    let mut reason = None;
    // They share the budget.
    let culprits = u32::try_from(document.culprits.len()).unwrap_or(u32::MAX).max(1);
    how.budget = how.budget.map(|budget| budget.map(|time| time / culprits));
    for culprit in &mut document.culprits {
        let mut found = None;
        if method == Method::Count {
            found = how.count(state, culprit, margin)?;
        }
        if how.budget.is_some() {
            how.run(state, culprit, (&metric, margin))?;
        }
        if method == Method::Run {
            found = missing_in_run(culprit);
            how.forget_undecided(state, culprit)?;
        }
        if let Some((measure, found)) = found {
            let after = state.candidates()[culprit.ends.1].short();
            reason = Some(format!(
                "{measure}: beside the one before it, {after} does not show the change again: \
                 {found}"
            ));
        }
    }
    Ok(reason)
}

/// What moved and does not differ again, in the same direction, in a run; and what it does.
fn missing_in_run(culprit: &Named) -> Option<(String, String)> {
    let steps = culprit.run.as_deref().unwrap_or_default();
    culprit.moved.iter().find_map(|moved| {
        let same = steps.iter().find(|step| step.step == moved.measure);
        let again = |step: &&RunStep| differs(step) && (step.ratio > 1.0) == (moved.ratio > 1.0);
        let found = match same {
            Some(step) if again(&step) => return None,
            Some(step) => format!("{} ({})", step.verdict, change(step.ratio)),
            None => "it was not measured".to_owned(),
        };
        Some((moved.measure.clone(), found))
    })
}

fn differs(step: &RunStep) -> bool {
    ["regression", "improvement"].contains(&&*step.verdict)
}

impl Confirming<'_, '_> {
    /// Counts both, and returns what moved and does not show again.
    fn count(
        &mut self,
        state: &mut State,
        culprit: &mut Named,
        margin: f64,
    ) -> anyhow::Result<Option<(String, String)>> {
        let experiment = self.measured(state, Method::Count, culprit.ends)?;
        let store = self.site.store()?;
        culprit.differences = differences(&store, experiment)?;
        let counted = counting::counts(&store, experiment)?.document;
        culprit.counted = again(&counted, culprit);
        Ok(culprit.moved.iter().find_map(|moved| {
            let same = culprit.counted.iter().find(|it| it.measure == moved.measure);
            if same.is_some_and(|it| shows_again(moved.ratio, it.ratio, margin)) {
                return None;
            }
            let found = same.map_or("it was not counted".to_owned(), |it| {
                format!("it differs by {}", change(it.ratio))
            });
            Some((moved.measure.clone(), found))
        }))
    }

    /// Runs both.
    fn run(
        &mut self,
        state: &mut State,
        culprit: &mut Named,
        (metric, margin): (&str, f64),
    ) -> anyhow::Result<()> {
        let experiment = self.measured(state, Method::Run, culprit.ends)?;
        let store = self.site.store()?;
        culprit.differences = differences(&store, experiment)?;
        let found = slicing::read(&store, experiment, metric, margin)?;
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
        culprit.instructions_only = !steps.iter().any(differs);
        culprit.run = Some(steps);
        Ok(())
    }

    /// The same command measures again what was not decided.
    fn forget_undecided(&mut self, state: &mut State, culprit: &Named) -> anyhow::Result<()> {
        let steps = culprit.run.iter().flatten();
        let moved = |step: &&RunStep| culprit.moved.iter().any(|it| it.measure == step.step);
        if steps.filter(moved).any(|step| step.verdict == "inconclusive") {
            state.pairs.retain(|pair| (pair.before, pair.after) != culprit.ends);
            (self.keep)(state)?;
        }
        Ok(())
    }

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

/// How the variants of an experiment differ besides their version.
fn differences(store: &Store, experiment: ExperimentId) -> anyhow::Result<Vec<String>> {
    let stored = store.warnings(experiment)?.into_iter().map(|stored| stored.warning);
    Ok(stored.filter(|it| it.code.ends_with("-differ")).map(|it| it.text).collect())
}

/// Both counts of what moved.
fn again(counted: &CountDocument, culprit: &Named) -> Vec<CountedAgain> {
    let of = |kind: &report::KindDocument| {
        let measure = kind.measure();
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
    use super::super::document::Moved;
    use super::super::state::tests::state;
    use super::*;

    fn named_for_tests(moved: Moved) -> Named {
        Named {
            suspects: Vec::new(),
            before: state(Method::Run, 1).request.candidates[0].clone(),
            ends: (0, 1),
            diffstat: None,
            moved: vec![moved],
            counted: Vec::new(),
            differences: Vec::new(),
            run: None,
            instructions_only: false,
            command: String::new(),
        }
    }

    #[test]
    fn a_run_confirms_what_differs_again_in_the_same_direction() {
        let found = |moved: f64, step: &str, ratio: f64, verdict: &str| {
            let moved = Moved {
                measure: "l.i0".to_owned(),
                ratio: moved,
                low: moved,
                high: moved,
                probability: 1.0,
            };
            let (low, high) = (None, None);
            let (step, verdict) = (step.to_owned(), verdict.to_owned());
            let step = RunStep { step, ratio, low, high, verdict };
            let mut culprit = named_for_tests(moved);
            culprit.run = Some(vec![step]);
            missing_in_run(&culprit).map(|(_, found)| found)
        };
        assert_eq!(found(0.95, "l.i0", 0.96, "regression"), None);
        assert_eq!(found(1.05, "l.i0", 1.06, "improvement"), None);
        let other = "improvement (+4.00%)";
        assert_eq!(found(0.95, "l.i0", 1.04, "improvement").as_deref(), Some(other));
        let open = "inconclusive (−4.00%)";
        assert_eq!(found(0.95, "l.i0", 0.96, "inconclusive").as_deref(), Some(open));
        let none = "it was not measured";
        assert_eq!(found(0.95, "l.x", 0.96, "regression").as_deref(), Some(none));
    }

    #[test]
    fn a_change_shows_again_on_the_same_side() {
        assert!(shows_again(1.05, 1.05, 0.005) && shows_again(0.9, 0.91, 0.005));
        assert!(!shows_again(1.05, 1.0, 0.005) && !shows_again(1.05, 0.95, 0.005));
        assert!(!shows_again(0.95, 1.05, 0.005));
        assert!(shows_again(1.0051, 1.0049, 0.005), "where it lies on the edge");
    }
}
