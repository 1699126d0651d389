//! The part of the page that explains why a step costs what it costs.

use serde::Serialize;

use crate::ReportError;
use crate::explain::{ExplainOptions, Explainer, document, tables};
use crate::load::model::{Results, VariantStep};
use crate::load::plans::ExplainedPlan;
use crate::output::table::Table;
use crate::profiles::{StepProfiles, facts};

/// Figures that differ, in each table of the page.
const ON_PAGE: usize = 8;

/// Facts that may explain a step's differences, apart from profiles.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageWhy {
    /// A summary for each variant except the base.
    pub(crate) conclusions: Vec<String>,
    /// The state in which the step began, and the DBMS's counters, where they differ.
    pub(crate) tables: Vec<Table>,
    pub(crate) plans: Vec<PagePlan>,
}

/// A statement that a variant executes by another plan than the base.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PagePlan {
    pub(crate) variant: usize,
    /// With `$1`, `$2`, … for its values.
    pub(crate) statement: String,
    /// The plans that the base chose, in any block.
    pub(crate) base: Vec<String>,
    /// Those that the variant chose.
    pub(crate) own: Vec<String>,
}

/// The explanation of a step for the page, apart from its profiles; `None` without trials to
/// compare.
pub(crate) fn why(
    explainer: &Explainer<'_>,
    number: usize,
) -> Result<Option<PageWhy>, ReportError> {
    let (results, base) = (explainer.results, explainer.throughput.base);
    let none = StepProfiles::none(number, results.variants.len());
    let step = document::step(results, &none, base, &ExplainOptions::default());
    let Some(mut step) = step.filter(|_| comparable(results, base, number)) else {
        return Ok(None);
    };
    explainer.explain(&mut step, number)?;
    let mut shown = tables::why(&step, ON_PAGE);
    shown.retain(|table| !table.rows.is_empty());
    let plans = step.in_order(&step.plans).flat_map(|(name, plans)| {
        let variant = results.variant_named(name);
        plans.iter().filter_map(move |it| {
            let ExplainedPlan { statement, base, plans } = it.clone();
            Some(PagePlan { variant: variant?, statement, base, own: plans })
        })
    });
    Ok(Some(PageWhy {
        plans: plans.collect(),
        tables: shown,
        conclusions: step.in_order(&step.conclusion).map(|(_, said)| said.clone()).collect(),
    }))
}

/// True if the base and another variant have trials of a step.
fn comparable(results: &Results, base: usize, number: usize) -> bool {
    let Some(step) = results.steps.get(number) else { return false };
    let with = |variant: &&VariantStep| !variant.samples.is_empty();
    let aside = step.warm_up || step.prepares;
    !aside
        && step.variant(base).as_ref().is_some_and(with)
        && step.variants.iter().filter(with).count() > 1
}

/// The tables of one step for the page: callees of a backend's function, phases, functions that
/// moved.
pub(crate) fn step_tables(results: &Results, profiles: &StepProfiles, base: usize) -> Vec<Table> {
    let options = ExplainOptions::default();
    let parent = document::parent(results, base, &options);
    document::step(results, profiles, base, &options)
        .map(|step| tables::of_step(&step, &parent, facts(results, base)))
        .unwrap_or_default()
}
