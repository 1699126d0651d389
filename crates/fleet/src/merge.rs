//! The parts of a submission as one experiment.

use std::fs;
use std::path::Path;

use archive::Archive;
use store::{ExperimentId, ExperimentState, Store, Whole};

use crate::depot::{Claim, Depot};
use crate::error::Error;

/// Makes one experiment of the elements that are done, in a new results directory in `work`, an
/// empty directory. The blocks of element 1 come first, then those of element 2, and so on; a
/// block's number says nothing else.
///
/// The result is a function of the submission and its `claims`: the same content wherever and
/// whenever it is made. It is finished if no element is missing, otherwise interrupted.
///
/// # Errors
/// [`Error::Nothing`] without claims; if a part can't be read, was damaged, or has other variants
/// than the others.
pub fn merge(depot: &Depot, claims: &[Claim], work: &Path) -> Result<(Store, ExperimentId), Error> {
    let submission = depot.submission();
    let mut claims: Vec<&Claim> = claims.iter().collect();
    claims.sort_by_key(|claim| claim.started.start.element);
    let whole = Store::open(&work.join("whole"))?;
    let (mut into, mut blocks, mut ended_ms) = (None, 0, None);
    for claim in &claims {
        let element = claim.started.start.element;
        let of_part = |source: Error| {
            let (host, source) = (claim.started.host.clone(), Box::new(source));
            Error::Part { element, host, source }
        };
        let place = work.join(element.to_string());
        let (part, experiment) = depot.take(claim, &place).map_err(of_part)?;
        let facts = part.experiment(experiment)?;
        let ids = match into {
            None => part.copy_experiment(experiment, &whole, None),
            Some(into) => part.append_trials(experiment, &whole, into, blocks),
        };
        let ids = ids.map_err(|error| of_part(error.into()))?;
        // Of files that are made for a whole experiment, that of the first part stays.
        part.copy_artifacts(experiment, &ids, &whole)?;
        into = Some(ids.experiment.1);
        blocks += facts.blocks;
        ended_ms = ended_ms.max(facts.ended_ms);
        fs::remove_dir_all(&place).map_err(Error::io("remove", &place))?;
    }
    let Some(into) = into else { return Err(Error::Nothing(submission.name.clone())) };
    let complete = claims.len() == submission.elements as usize;
    let plan = submission.whole_plan(blocks)?;
    whole.become_whole(
        into,
        &Whole {
            name: plan.name.clone(),
            plan: plan.text,
            seed: submission.seed,
            blocks,
            created_ms: submission.created_ms,
            ended_ms,
            state: match complete {
                true => ExperimentState::Finished,
                false => ExperimentState::Interrupted,
            },
        },
    )?;
    Ok((whole, into))
}

/// Makes the experiment of a submission whose elements are all done and adds it to the others at
/// the address, once. Whoever finds the last element done does that; if several do, they add the
/// same. `false` if an element is missing.
///
/// # Errors
/// As for [`merge`]; if the address can't be written.
pub fn conclude(depot: &Depot, archive: &Archive, work: &Path) -> Result<bool, Error> {
    let submission = depot.submission();
    if depot.is_whole()? {
        return Ok(true);
    }
    let claims = depot.claims()?;
    if claims.len() < submission.elements as usize {
        return Ok(false);
    }
    let (whole, experiment) = merge(depot, &claims, work)?;
    archive.push(&whole, experiment, &submission.steelyard)?;
    depot.add_whole(&whole.content_hash(experiment)?)?;
    Ok(true)
}
