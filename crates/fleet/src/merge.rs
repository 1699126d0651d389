//! The parts of a submission as one experiment.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use archive::Archive;
use store::{ExperimentId, ExperimentState, Store, Whole};

use crate::depot::Depot;
use crate::documents::Claim;
use crate::error::Error;
use crate::submission::Work;

/// The experiment that grows while elements get done. Each part is downloaded once.
#[derive(Debug)]
pub struct Growing<'a> {
    depot: &'a Depot,
    work: PathBuf,
    whole: Store,
    into: Option<ExperimentId>,
    merged: BTreeSet<u32>,
    blocks: u32,
    ended_ms: Option<i64>,
}

impl<'a> Growing<'a> {
    /// One without elements, in a new results directory in `work`, an empty directory.
    ///
    /// # Errors
    /// If the directory can't be written.
    pub fn new(depot: &'a Depot, work: &Path) -> Result<Self, Error> {
        let (whole, work) = (Store::open(&work.join("whole"))?, work.to_owned());
        let (into, merged, blocks, ended_ms) = (None, BTreeSet::new(), 0, None);
        Ok(Self { depot, work, whole, into, merged, blocks, ended_ms })
    }

    /// Adds the elements of these claims that were not added before, in their order.
    ///
    /// # Errors
    /// If a part can't be read, was damaged, or has other variants than the others.
    pub fn add(&mut self, claims: &[Claim]) -> Result<(), Error> {
        let is_new = |it: &&Claim| !self.merged.contains(&it.started.start.element);
        let mut new: Vec<&Claim> = claims.iter().filter(is_new).collect();
        new.sort_by_key(|claim| claim.started.start.element);
        for claim in new {
            self.add_one(claim).map_err(|source| {
                let (element, host) = (claim.started.start.element, claim.started.host.clone());
                Error::Part { element, host, source: Box::new(source) }
            })?;
        }
        Ok(())
    }

    fn add_one(&mut self, claim: &Claim) -> Result<(), Error> {
        let element = claim.started.start.element;
        let place = self.work.join(element.to_string());
        let (part, experiment) = self.depot.take(claim, &place)?;
        let facts = part.experiment(experiment)?;
        let blocks = match self.depot.submission().runs_for_a_time()? {
            true => part.trials(experiment)?.iter().map(|trial| trial.block).max().unwrap_or(0),
            false => facts.blocks,
        };
        let ids = match self.into {
            None => part.copy_experiment(experiment, &self.whole, None)?,
            Some(into) => part.append_trials(experiment, &self.whole, into, self.blocks)?,
        };
        // Of files that are made for a whole experiment, that of the first part stays.
        part.copy_artifacts(experiment, &ids, &self.whole)?;
        self.into = Some(ids.experiment.1);
        self.blocks += blocks;
        self.ended_ms = self.ended_ms.max(facts.ended_ms);
        self.merged.insert(element);
        fs::remove_dir_all(&place).map_err(Error::io("remove", &place))
    }

    /// The experiment of what was added so far: finished if no element that counts is missing,
    /// otherwise interrupted.
    ///
    /// # Errors
    /// [`Error::Nothing`] without elements; if the directory can't be written.
    pub fn experiment(&self) -> Result<(&Store, ExperimentId), Error> {
        let submission = self.depot.submission();
        let Some(into) = self.into else { return Err(Error::Nothing(submission.name.clone())) };
        let complete = match self.depot.stop()? {
            Some(stop) => self.merged == stop.elements,
            None => self.merged.len() == submission.elements as usize,
        };
        let plan = submission.whole_plan(self.blocks)?;
        self.whole.become_whole(
            into,
            &Whole {
                name: submission.name.clone(),
                plan: plan.text,
                seed: submission.seed,
                // Of a count, each element has them all.
                blocks: if submission.work == Work::Run { self.blocks } else { plan.blocks },
                created_ms: submission.created_ms,
                ended_ms: self.ended_ms,
                state: match complete {
                    true => ExperimentState::Finished,
                    false => ExperimentState::Interrupted,
                },
            },
        )?;
        Ok((&self.whole, into))
    }
}

/// Makes one experiment of the elements that are done, in a new results directory in `work`, an
/// empty directory. The blocks of element 1 come first, then those of element 2, and so on; a
/// block's number says nothing else.
///
/// The result is a function of the submission and its `claims`: the same content wherever and
/// whenever it is made. It is finished if no element is missing, otherwise interrupted.
///
/// # Errors
/// [`Error::Nothing`] without claims; as [`Growing::add`].
pub fn merge(depot: &Depot, claims: &[Claim], work: &Path) -> Result<(Store, ExperimentId), Error> {
    let mut growing = Growing::new(depot, work)?;
    growing.add(claims)?;
    let (_, experiment) = growing.experiment()?;
    Ok((growing.whole, experiment))
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
    // Every element asks, so this must not read all claims.
    if !depot.is_done()? {
        return Ok(false);
    }
    let (whole, experiment) = merge(depot, &depot.claims()?, work)?;
    archive.push(&whole, experiment, &submission.steelyard)?;
    depot.add_whole(&whole.content_hash(experiment)?, work)?;
    Ok(true)
}
