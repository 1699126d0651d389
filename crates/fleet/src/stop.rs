//! The end of a submission before all elements are done.

use std::path::Path;

use store::{ExperimentId, Store};

use crate::depot::Depot;
use crate::documents::Stop;
use crate::error::Error;
use crate::merge::merge;

/// Looks at the elements that are done, if a look is due that nobody has taken, and notes that no
/// more are needed if they decide everything: what `decides` says of the experiment that they make.
/// Every element that gets done asks this. `work` is an empty directory.
///
/// Exactly as many elements are looked at as were planned ([`crate::Submission::looks`]), those
/// that were done first by the clock of the storage. A look that is missed, because whoever took it
/// was killed, is not taken again: its part of the error rate stays unused.
///
/// # Errors
/// As for [`merge`]; what `decides` fails with; if the address can't be written.
pub fn stop_if_decided<E: From<Error>>(
    depot: &Depot,
    work: &Path,
    decides: impl FnOnce(&Store, ExperimentId) -> Result<bool, E>,
    now_ms: i64,
) -> Result<Option<Stop>, E> {
    let submission = depot.submission();
    let known = depot.stop()?;
    if known.is_some() || !submission.stop_early {
        return Ok(known);
    }
    let mut done: Vec<(i64, u32)> = depot.done()?.into_iter().map(|(it, at)| (at, it)).collect();
    let looks = submission.looks()?;
    let due = looks.into_iter().rfind(|look| *look as usize <= done.len());
    // All are no reason to stop.
    let Some(due) = due.filter(|due| *due < submission.elements) else { return Ok(None) };
    if !depot.claim_look(due)? {
        return Ok(None);
    }
    done.sort_unstable();
    let elements = done.into_iter().take(due as usize).map(|(_, element)| element).collect();
    let stop = Stop { elements, at_ms: now_ms };
    let mut claims = depot.claims()?;
    claims.retain(|claim| stop.elements.contains(&claim.started.start.element));
    let (whole, experiment) = merge(depot, &claims, work)?;
    if !decides(&whole, experiment)? {
        return Ok(None);
    }
    depot.add_stop(&stop)?;
    Ok(depot.stop()?)
}
