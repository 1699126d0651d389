//! The data of the page as a document of its own, for a page that reads it from a file beside it.

use store::{ExperimentId, Store};

use super::content::page;
use super::counts;
use super::data::Page;
use crate::ReportError;
use crate::load::experiment::{Which, load};

/// The JSON of the page of a run, or of a count. It depends on nothing but the experiment: it has
/// neither the time at which it was made nor counts of others.
///
/// # Errors
/// When there is no such experiment, or it cannot be read or judged.
pub fn document(store: &Store, experiment: ExperimentId) -> Result<String, ReportError> {
    let results = load(store, Which::RunOrCount(experiment))?;
    let counts = counts::of(store, &results.experiment)?;
    let page = Page { counts, ..page(store, &results)? };
    Ok(serde_json::to_string(&page)?)
}
