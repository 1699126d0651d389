//! Why a step costs what it costs: its costs per operation, its initial state, the counters, events
//! and functions behind them, and what moved.

mod conclusion;
pub(crate) mod document;
mod options;
mod shifts;
pub(crate) mod tables;

pub use document::{ExplainDocument, ExplainedChild, ExplainedStep, ExplainedVariant};
pub use options::ExplainOptions;
pub use shifts::ExplainedShift;

use std::collections::HashMap;

use metrics::{DBMS_CPU, Metric};
use store::{Scope, StepId, Store};

use crate::ReportError;
use crate::compare::{CompareOptions, compare};
use crate::judging::judged::{Finding, Judged};
use crate::judging::steps::{judge_metric, judge_results};
use crate::load::model::{Results, StepResults};
use crate::load::plans;
use crate::output::sheet::Printable;
use crate::output::table::Section;
use crate::profiles::{self, StepProfiles, facts};
use conclusion::{Pace, differs};
use shifts::Counted;

/// The advantage of counts of instructions over measured times.
const COUNTS: &str = "exact counts of instructions settle what noise leaves open, and name the \
                      functions that changed";

/// An explanation, ready to be printed.
pub type Explanation = Printable<ExplainDocument>;

/// Explains the steps of an experiment that were profiled, or one of them.
///
/// # Errors
/// When the step or base does not exist, nothing was profiled, or a profile can't be read.
pub fn explain(
    store: &Store,
    results: &Results,
    options: &ExplainOptions,
) -> Result<Explanation, ReportError> {
    let profiles = chosen(profiles::read(store, results)?, results, options)?;
    if let Some(asked) = options.base.as_ref().filter(|it| results.variant_named(it).is_none()) {
        let known = results.variants.iter().map(|v| v.variant.name.clone()).collect();
        return Err(ReportError::UnknownBase { asked: asked.clone(), known });
    }
    let costs = compare(
        results,
        &CompareOptions {
            base: options.base.clone(),
            sections: Some(vec![Section::Hardware]),
            ..CompareOptions::default()
        },
    )?;
    let base = results.variant_named(&costs.document.base).unwrap_or(0);
    let mut document = document::document(results, &profiles, base, options);
    let throughput = judge_results(results, Some(results.variant_name(base)), None)?;
    let explainer = Explainer::new(store, results, &throughput)?;
    for (explained, profiles) in document.steps.iter_mut().zip(&profiles) {
        explainer.explain(explained, profiles.step)?;
    }
    let mut sheet =
        tables::sheet(&document, facts(results, base), &costs.shown(), options.functions);
    let unprofiled = |profiles: &&StepProfiles| profiles.trials.iter().all(|trials| *trials == 0);
    let unprofiled = profiles.iter().filter(unprofiled);
    let steps: Vec<_> = unprofiled.filter_map(|it| results.steps.get(it.step).cloned()).collect();
    sheet.notes(why_not(&steps));
    let mut shown = profiles.iter().map(|profiles| profiles.step);
    let counting = options.counting.iter().filter(|_| shown.any(|it| explainer.is_for_counts(it)));
    sheet.notes(counting.map(|command| format!("{COUNTS}: {command}")).collect());
    Ok(Explanation { document, sheet })
}

/// All steps, judged by throughput and by the metrics that may explain it.
pub(crate) struct Explainer<'a> {
    store: &'a Store,
    pub(crate) results: &'a Results,
    pub(crate) throughput: &'a Judged,
    costs: Vec<(&'static Metric, Judged)>,
    /// How many each step did.
    operations: HashMap<StepId, u64>,
}

impl<'a> Explainer<'a> {
    /// Uses the same base as `throughput`.
    pub(crate) fn new(
        store: &'a Store,
        results: &'a Results,
        throughput: &'a Judged,
    ) -> Result<Self, ReportError> {
        let name = Some(results.variant_name(throughput.base));
        let judged =
            |metric: &'static Metric| Ok((metric, judge_metric(results, metric.name, name, None)?));
        let costs = conclusion::COSTS.into_iter().map(judged);
        let steps = store.steps(results.experiment.id, Scope::Results)?;
        Ok(Self {
            store,
            results,
            throughput,
            costs: costs.collect::<Result<_, ReportError>>()?,
            operations: steps.into_iter().map(|step| (step.id, step.operations)).collect(),
        })
    }

    /// Adds to a step its initial state, the counters, and the conclusion from all of it.
    pub(crate) fn explain(
        &self,
        explained: &mut ExplainedStep,
        number: usize,
    ) -> Result<(), ReportError> {
        let (results, base) = (self.results, self.throughput.base);
        let Some(step) = results.steps.get(number) else { return Ok(()) };
        let counted = Counted::read(self.store, &self.operations, step)?;
        let compared = |place: &usize| *place != base && results.twin_of(*place).is_none();
        for place in (0..step.variants.len()).filter(compared) {
            let name = results.variant_name(place);
            let start = shifts::start(step, base, place);
            let counters = counted.shifts(base, place);
            let costs = self.costs.iter();
            let costs = costs.filter_map(|(metric, all)| Some((*metric, all.of(number, place)?)));
            let costs: Vec<_> = costs.filter(|(_, found)| found.low.is_some()).collect();
            let finding = self.throughput.finding(results, number, place);
            let throughput = match &finding {
                Some(found) => {
                    found.comparison.ok_or(found.reason.as_deref().unwrap_or("no reason is known"))
                }
                None => Err("this step is not judged"),
            };
            let said = conclusion::conclusion(
                [results.variant_name(base), name],
                throughput,
                &costs,
                &start,
                &counters,
                &Pace::of(step, &self.throughput.not_held(step, place)),
                self.throughput.margin,
            );
            explained.conclusion.insert(name.to_owned(), said);
            // Without results of both, that nothing differs would say something.
            if [base, place].iter().any(|it| step.variants[*it].samples.is_empty()) {
                continue;
            }
            explained.start.insert(name.to_owned(), start);
            explained.counters.insert(name.to_owned(), counters);
            explained.plans.insert(name.to_owned(), plans::differing(results, step, base, place));
        }
        Ok(())
    }

    /// True if counts of instructions would tell more about a step: where throughput is not certain
    /// to differ, noise doesn't hide from them what the code costs; where CPU differs, they name
    /// the functions.
    fn is_for_counts(&self, number: usize) -> bool {
        let variants = 0..self.results.variants.len();
        let judged = variants.filter_map(|place| {
            Some((place, self.throughput.finding(self.results, number, place)?))
        });
        let mut cpu = self.costs.iter().filter(|(metric, _)| metric.name == DBMS_CPU.name);
        let cpu = cpu.next().map(|(_, judged)| judged);
        let moved = |place| cpu.and_then(|cpu| cpu.of(number, place)).is_some_and(differs);
        let open = |finding: Finding<'_>| finding.comparison.is_none_or(|it| !it.confirmed());
        judged.into_iter().any(|(place, finding)| open(finding) || moved(place))
    }
}

fn chosen(
    profiles: Vec<StepProfiles>,
    results: &Results,
    options: &ExplainOptions,
) -> Result<Vec<StepProfiles>, ReportError> {
    let Some(asked) = &options.step else {
        if profiles.is_empty() {
            let asked = format!("experiment {}", results.experiment.name);
            return Err(ReportError::NoProfiles { asked, notes: why_not(&results.steps) });
        }
        return Ok(profiles);
    };
    let names = |step: &StepResults| step.key.name == *asked || results.step_label(step) == *asked;
    if !results.steps.iter().any(names) {
        let mut known: Vec<String> =
            results.steps.iter().map(|step| results.step_label(step)).collect();
        known.dedup();
        return Err(ReportError::UnknownStep { asked: asked.clone(), known });
    }
    let variants = results.variants.len();
    let profiled = |number: usize| profiles.iter().find(|one| one.step == number).cloned();
    let found = (0..results.steps.len()).filter(|number| names(&results.steps[*number]));
    let wanted =
        found.map(|number| profiled(number).unwrap_or(StepProfiles::none(number, variants)));
    Ok(wanted.collect())
}

/// The notes about profiles that could not be taken, each once.
fn why_not(steps: &[StepResults]) -> Vec<String> {
    let notes = steps.iter().flat_map(|step| &step.variants).flat_map(|variant| &variant.notes);
    let mut notes: Vec<String> = notes.filter(|note| note.contains("profile")).cloned().collect();
    notes.sort_unstable();
    notes.dedup();
    notes
}
