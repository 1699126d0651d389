//! The number of blocks and seconds that decide the most steps within a budget, from the variance
//! stored so far.
//!
//! Kalibera and Jones ("Rigorous benchmarking in reasonable time", *ISMM* 2013): measure how much
//! trials differ, how much the seconds within them differ, and what each costs; then repeat at the
//! level that helps most. Only trials count as degrees of freedom.

mod document;
mod evidence;
mod search;
mod slices;
mod tables;

use std::time::Duration;

use plan::Plan;

use crate::ReportError;
use crate::judging::steps::fraction;
use crate::load::chosen::{Chosen, Source};
use crate::output::sheet::Printable;

pub use document::{AdviseDocument, AdvisedStep};

/// Options of `advise`.
#[derive(Debug, Clone)]
pub struct AdviseOptions {
    /// Which experiments may serve as pilots; those with a workload other than the plan's are
    /// always left out.
    pub chosen: Chosen,
    /// How much machine time may be spent.
    pub budget: Duration,
    /// A step is decided when a slowdown by this fraction would be confirmed; `None`: the plan's
    /// margin.
    pub margin: Option<f64>,
    /// Allows more rows for steps that end by work.
    pub scale_rows: bool,
}

/// A plan within a budget, and why, ready to be printed.
pub type Advice = Printable<AdviseDocument>;

/// Advises on a plan.
///
/// # Errors
/// When no stored trial has the plan's workload, the budget is too small for two blocks, the
/// margin is not a fraction, or a store cannot be read.
pub fn advise(
    sources: &[Source<'_>],
    plan: &Plan,
    options: &AdviseOptions,
) -> Result<Advice, ReportError> {
    let margin = options.margin.unwrap_or(plan.margin);
    fraction(margin).map_err(ReportError::BadMargin)?;
    let evidence = evidence::gather(sources, plan, &options.chosen)?;
    let budget = options.budget.as_secs_f64();
    let wanted = search::Wanted { budget, margin, scale_rows: options.scale_rows };
    let found = search::search(plan, &evidence, &wanted)?;
    let advised = changed(plan, &found)?;
    let in_slices = slices::expect(sources, plan, &evidence, budget)?;
    let in_slices = in_slices.as_ref();
    let document = document::document(plan, &advised, &evidence, &found, &wanted, in_slices);
    let sheet = tables::sheet(&document);
    Ok(Advice { document, sheet })
}

/// The advised plan, parsed from its text as `run` will parse it.
fn changed(plan: &Plan, found: &search::Found) -> Result<Plan, ReportError> {
    let mut plan = search::with_blocks(plan, found.blocks);
    plan.workload.set_seconds(found.seconds);
    plan.workload.set_rows(|rows| rows.saturating_mul(u64::from(found.rows)));
    Ok(Plan::parse(&plan.to_toml(), None, "the advised plan")?)
}
