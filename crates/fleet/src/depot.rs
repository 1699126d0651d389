//! Where a submission and everything about it is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use archive::{Address, Listed, Requests, Shelf};
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{ExperimentId, Store};

use crate::documents::{Claim, Failed, JSON, Start, Started, Stop};
use crate::error::Error;
use crate::job::Job;
use crate::patience::patiently;
use crate::submission::{Submission, check_name};

const FOLDER: &str = "fleet";
const SUBMISSION: &str = "submission.json";
/// What the first element was run with.
const ALIKE: &str = "alike.json";
const CLAIMS: &str = "claims";
const STARTS: &str = "starts";
const FAILURES: &str = "failures";
const REFUSALS: &str = "refusals";
const LOOKS: &str = "looks";
const STOP: &str = "stop.json";
const CANCELED: &str = "canceled";
const PROGRAMS: &str = "programs.json";
/// A list of the submissions, because the folders of an address are not listed.
const INDEX: &str = "fleet-index";
const NAMES: &str = "names";
/// The names of those whose merged experiment was added, in the same folder.
const MERGED: &str = "merged";

/// The content hash of the merged experiment, once that was added to those of the address.
const WHOLE: &str = "whole";

/// The name of a submission.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    /// The name.
    pub name: String,
    /// True if its elements are all done and are one experiment.
    pub is_whole: bool,
}

/// That a document about a start is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trace {
    /// When it was written, by the clock of the storage, milliseconds since 1970 (UTC).
    pub(crate) at_ms: i64,
    /// Which start it is about.
    pub(crate) start: Start,
    document: Listed,
}

/// The place of one submission at an address.
#[derive(Debug)]
pub struct Depot {
    shelf: Shelf,
    submission: Submission,
}

impl Depot {
    /// Puts a new submission to an address. `work` is a directory for work in progress.
    ///
    /// # Errors
    /// [`Error::Taken`]; if the address can't be written.
    pub fn create(address: &Address, submission: Submission, work: &Path) -> Result<Self, Error> {
        let shelf = Shelf::open(address, &folder(&submission.name), &work.join(FOLDER))?;
        let text = serde_json::to_vec_pretty(&submission).unwrap_or_default();
        if !shelf.claim(SUBMISSION, text.clone())?
            // The answer to a first try may have been lost.
            && shelf.read(SUBMISSION)?.as_ref() != Some(&text)
        {
            let (name, address) = (submission.name, address.to_string());
            return Err(Error::Taken { name, address });
        }
        if shelf.claim(SUBMISSION, text)? {
            return Err(Error::NoConditions(address.to_string()));
        }
        let names = Shelf::open(address, INDEX, work)?;
        names.add(&format!("{NAMES}/{}", submission.name), Vec::new())?;
        Ok(Self { shelf, submission })
    }

    /// Opens the submission of this name.
    ///
    /// # Errors
    /// [`Error::Unknown`]; [`Error::Damaged`]; if the address can't be read.
    pub fn open(address: &Address, name: &str, work: &Path) -> Result<Self, Error> {
        check_name(name)?;
        let shelf = Shelf::open_to_read(address, &folder(name), &work.join(FOLDER))?;
        let Some(content) = shelf.read(SUBMISSION)? else {
            let names: Vec<String> =
                Self::all_named(address, work)?.into_iter().map(|it| it.name).collect();
            let known = match names.join(", ") {
                none if none.is_empty() => "is none".to_owned(),
                names => format!("are {names}"),
            };
            let (name, address) = (name.to_owned(), address.to_string());
            return Err(Error::Unknown { name, address, known });
        };
        let submission = Submission::read(&format!("submission {name} at {address}"), &content)?;
        Ok(Self { shelf, submission })
    }

    /// All submissions at an address, by name.
    ///
    /// # Errors
    /// If the address can't be read.
    pub fn all_named(address: &Address, work: &Path) -> Result<Vec<Named>, Error> {
        let shelf = Shelf::open_to_read(address, INDEX, work)?;
        let names = |place| -> Result<Vec<String>, Error> {
            Ok(shelf.list(place)?.into_iter().map(|it| it.name).collect())
        };
        let merged: BTreeSet<String> = names(MERGED)?.into_iter().collect();
        let named = |name: String| Named { is_whole: merged.contains(&name), name };
        let mut all: Vec<Named> = names(NAMES)?.into_iter().map(named).collect();
        all.sort();
        Ok(all)
    }

    /// What was asked of the address for this submission so far, by this process.
    pub fn requests(&self) -> Requests {
        self.shelf.requests()
    }

    /// The submission.
    pub fn submission(&self) -> &Submission {
        &self.submission
    }

    /// Notes a job that the scheduler has accepted.
    ///
    /// # Errors
    /// If the address can't be written.
    pub fn add_job(&self, job: &Job) -> Result<(), Error> {
        self.add(&format!("jobs/{}.json", job.job), job)
    }

    /// Notes that an element was started.
    ///
    /// # Errors
    /// If the address can't be written.
    pub fn add_start(&self, started: &Started) -> Result<(), Error> {
        self.add(&format!("{STARTS}/{}{JSON}", started.start.name()), started)
    }

    /// Notes that its jobs were canceled.
    ///
    /// # Errors
    /// If the address can't be written.
    pub fn add_cancel(&self, at_ms: i64) -> Result<(), Error> {
        Ok(self.shelf.add(&format!("{CANCELED}/{at_ms}"), Vec::new())?)
    }

    /// When it was last canceled, if it was, milliseconds since 1970 (UTC).
    pub(crate) fn canceled(&self) -> Result<Option<i64>, Error> {
        Ok(self.shelf.list(CANCELED)?.iter().filter_map(|it| it.name.parse().ok()).max())
    }

    /// Takes back a submission of which nobody has a job.
    ///
    /// # Errors
    /// If the address can't be written.
    pub fn discard(self, work: &Path) -> Result<(), Error> {
        let names = Shelf::open(self.shelf.address(), INDEX, work)?;
        names.remove(&format!("{NAMES}/{}", self.submission.name))?;
        Ok(self.shelf.remove(SUBMISSION)?)
    }

    /// Notes where the systems' programs are, as whoever reads that describes it, unless that is
    /// known already.
    ///
    /// # Errors
    /// If the address can't be written.
    pub fn add_programs(&self, programs: &impl Serialize) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(programs).unwrap_or_default();
        match self.shelf.claim(PROGRAMS, text)? || self.has_programs()? {
            true => Ok(()),
            false => Err(Error::Unclaimed(0)),
        }
    }

    /// True once [`Self::add_programs`] was done.
    ///
    /// # Errors
    /// If the address can't be read.
    pub fn has_programs(&self) -> Result<bool, Error> {
        Ok(self.shelf.has(PROGRAMS)?)
    }

    /// What [`Self::add_programs`] has noted; `None` before.
    ///
    /// # Errors
    /// If the address can't be read; [`Error::Damaged`].
    pub fn programs<T: DeserializeOwned>(&self) -> Result<Option<T>, Error> {
        self.shelf.read(PROGRAMS)?.map(|content| self.parsed(PROGRAMS, &content)).transpose()
    }

    /// Notes that a start failed.
    ///
    /// # Errors
    /// If the address can't be written.
    pub fn add_failure(&self, failed: &Failed) -> Result<(), Error> {
        self.add(&format!("{FAILURES}/{}{JSON}", failed.started.start.name()), failed)
    }

    /// Notes that a start failed because its machine is not fit.
    ///
    /// # Errors
    /// If the address can't be written.
    pub fn add_refusal(&self, failed: &Failed) -> Result<(), Error> {
        self.add(&format!("{REFUSALS}/{}{JSON}", failed.started.start.name()), failed)
    }

    /// The starts that failed because their machines are not fit.
    ///
    /// # Errors
    /// If the address can't be read; [`Error::Damaged`].
    pub fn refusals(&self) -> Result<Vec<Failed>, Error> {
        self.all(REFUSALS)
    }

    /// Puts what a start has measured into the depot and claims the element for it. `false` if
    /// another start has done so before; then this part does not count. `steelyard` is the version
    /// that measured; what else all elements must have in common are `conditions`.
    ///
    /// # Errors
    /// [`Error::Differs`] if it was run with other programs than the others; if the results can't
    /// be read or the address can't be written for ten minutes. Then the element is not done.
    pub fn deliver(
        &self,
        started: &Started,
        (store, experiment): (&Store, ExperimentId),
        (steelyard, conditions): (&str, &[String]),
        at_ms: i64,
    ) -> Result<bool, Error> {
        let content = store.content_hash(experiment)?;
        let claim = Claim { started: started.clone(), content, at_ms };
        patiently(Error::is_request, || {
            let mut alike = programs(store, experiment, steelyard)?;
            conditions.iter().for_each(|it| alike.push_str(&format!("; {it}")));
            self.check_alike(&alike)?;
            let mine = self.try_deliver(&claim, (store, experiment), steelyard)?;
            mine.ok_or(Error::Unclaimed(started.start.element))
        })
    }

    /// `None` if neither this nor another claim is there afterwards: a conflict that may pass.
    fn try_deliver(
        &self,
        claim: &Claim,
        (store, experiment): (&Store, ExperimentId),
        steelyard: &str,
    ) -> Result<Option<bool>, Error> {
        self.shelf.put(&part(claim), store, experiment, steelyard)?;
        let element = claim.started.start.element;
        let text = serde_json::to_vec_pretty(claim).unwrap_or_default();
        if self.shelf.claim(&claim_name(element), text)? {
            return Ok(Some(true));
        }
        // The answer to an earlier try may have been lost.
        let same = |there: Claim| {
            there.started.start == claim.started.start && there.content == claim.content
        };
        Ok(self.claim(element)?.map(same))
    }

    /// Checks that this was run with the same programs as the element that came first.
    fn check_alike(&self, found: &str) -> Result<(), Error> {
        if self.shelf.claim(ALIKE, found.as_bytes().to_vec())? {
            return Ok(());
        }
        let Some(there) = self.shelf.read(ALIKE)? else { return Ok(()) };
        match String::from_utf8_lossy(&there) {
            expected if expected == found => Ok(()),
            expected => {
                Err(Error::Differs { expected: expected.into_owned(), found: found.to_owned() })
            }
        }
    }

    /// The claim of an element, if it is done.
    ///
    /// # Errors
    /// If the address can't be read; [`Error::Damaged`].
    pub fn claim(&self, element: u32) -> Result<Option<Claim>, Error> {
        let name = claim_name(element);
        self.shelf.read(&name)?.map(|content| self.parsed(&name, &content)).transpose()
    }

    /// When elements were claimed, by the clock of the storage, milliseconds since 1970 (UTC): one
    /// request for 1000 elements.
    ///
    /// # Errors
    /// If the address can't be read.
    pub fn done(&self) -> Result<BTreeMap<u32, i64>, Error> {
        let of = |it: Listed| Some((it.name.strip_suffix(JSON)?.parse().ok()?, it.at_ms));
        Ok(self.shelf.list(CLAIMS)?.into_iter().filter_map(of).collect())
    }

    /// True if no element is missing.
    ///
    /// # Errors
    /// If the address can't be read.
    pub(crate) fn is_done(&self) -> Result<bool, Error> {
        let all = || Ok(self.done()?.len() >= self.submission.elements as usize);
        self.stop()?.map_or_else(all, |_| Ok(true))
    }

    /// The claims that count, by element: all, or those that decided everything. Each is read once
    /// for the life of this depot.
    ///
    /// # Errors
    /// If the address can't be read; [`Error::Damaged`].
    pub fn claims(&self) -> Result<Vec<Claim>, Error> {
        let mut claims: Vec<Claim> = self.all(CLAIMS)?;
        if let Some(stop) = self.stop()? {
            claims.retain(|claim| stop.elements.contains(&claim.started.start.element));
        }
        claims.sort_by_key(|claim| claim.started.start.element);
        Ok(claims)
    }

    /// The elements that decided everything before all were done, if they have.
    ///
    /// # Errors
    /// If the address can't be read; [`Error::Damaged`].
    pub fn stop(&self) -> Result<Option<Stop>, Error> {
        if !self.submission.stop_early {
            return Ok(None);
        }
        self.shelf.read(STOP)?.map(|content| self.parsed(STOP, &content)).transpose()
    }

    /// Notes that these elements decide everything.
    pub(crate) fn add_stop(&self, stop: &Stop) -> Result<(), Error> {
        self.shelf.claim(STOP, serde_json::to_vec_pretty(stop).unwrap_or_default())?;
        Ok(())
    }

    /// True for the one who takes the look at this number of elements.
    pub(crate) fn claim_look(&self, elements: u32) -> Result<bool, Error> {
        Ok(self.shelf.claim(&format!("{LOOKS}/{elements}"), Vec::new())?)
    }

    /// All jobs, oldest first.
    ///
    /// # Errors
    /// If the address can't be read; [`Error::Damaged`].
    pub fn jobs(&self) -> Result<Vec<Job>, Error> {
        let mut jobs: Vec<Job> = self.all("jobs")?;
        jobs.sort_by_key(|job| (job.at_ms, job.job.clone()));
        Ok(jobs)
    }

    /// The traces of starts.
    pub(crate) fn starts(&self) -> Result<Vec<Trace>, Error> {
        self.traces(STARTS)
    }

    /// The traces of failures.
    pub(crate) fn failures(&self) -> Result<Vec<Trace>, Error> {
        self.traces(FAILURES)
    }

    fn traces(&self, folder: &str) -> Result<Vec<Trace>, Error> {
        let of = |document: Listed| {
            let start = Start::of(&document.name)?;
            Some(Trace { at_ms: document.at_ms, start, document })
        };
        Ok(self.shelf.list(folder)?.into_iter().filter_map(of).collect())
    }

    /// What is said in these traces of starts.
    pub(crate) fn read_starts(&self, those: &[Trace]) -> Result<Vec<Started>, Error> {
        self.read(STARTS, those)
    }

    /// What is said in these traces of failures.
    pub(crate) fn read_failures(&self, those: &[Trace]) -> Result<Vec<Failed>, Error> {
        self.read(FAILURES, those)
    }

    fn read<T: DeserializeOwned>(&self, folder: &str, those: &[Trace]) -> Result<Vec<T>, Error> {
        let those: Vec<Listed> = those.iter().map(|it| it.document.clone()).collect();
        self.documents(folder, &those)
    }

    /// True if the merged experiment was added to those of the address.
    ///
    /// # Errors
    /// If the address can't be read.
    pub fn is_whole(&self) -> Result<bool, Error> {
        Ok(self.shelf.read(WHOLE)?.is_some())
    }

    /// Notes that it was added. `work` is a directory for work in progress.
    pub(crate) fn add_whole(&self, content: &str, work: &Path) -> Result<(), Error> {
        // First the name: whoever finds the other does nothing more.
        let names = Shelf::open(self.shelf.address(), INDEX, work)?;
        names.add(&format!("{MERGED}/{}", self.submission.name), Vec::new())?;
        Ok(self.shelf.add(WHOLE, content.as_bytes().to_vec())?)
    }

    /// Downloads the part that counts into a results directory, which is created.
    ///
    /// # Errors
    /// If it can't be read, or is not what was claimed.
    pub(crate) fn take(
        &self,
        claim: &Claim,
        results: &Path,
    ) -> Result<(Store, ExperimentId), Error> {
        let name = part(claim);
        self.shelf.take(&name, results)?;
        let store = Store::open_read_only(results)?;
        let all = store.all_experiments()?;
        let damaged = |problem: String| Error::Damaged { name: self.full(&name), problem };
        let [experiment] = &all[..] else {
            return Err(damaged(format!("expected one experiment, found {}", all.len())));
        };
        let (found, expected) = (store.content_hash(experiment.id)?, &claim.content);
        match found == *expected {
            true => Ok((store, experiment.id)),
            false => Err(damaged(format!("expected the content {expected}, found {found}"))),
        }
    }

    fn add(&self, name: &str, document: &impl Serialize) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(document).unwrap_or_default();
        Ok(self.shelf.add(name, text)?)
    }

    fn all<T: DeserializeOwned>(&self, folder: &str) -> Result<Vec<T>, Error> {
        self.documents(folder, &self.shelf.list(folder)?)
    }

    fn documents<T: DeserializeOwned>(
        &self,
        folder: &str,
        those: &[Listed],
    ) -> Result<Vec<T>, Error> {
        let contents = self.shelf.contents(folder, those)?;
        let parsed = |(it, content): (&Listed, &Vec<u8>)| {
            self.parsed(&format!("{folder}/{}", it.name), content)
        };
        those.iter().zip(&contents).map(parsed).collect()
    }

    fn parsed<T: DeserializeOwned>(&self, name: &str, content: &[u8]) -> Result<T, Error> {
        serde_json::from_slice(content)
            .map_err(|error| Error::Damaged { name: self.full(name), problem: error.to_string() })
    }

    fn full(&self, name: &str) -> String {
        format!("{}/{FOLDER}/{}/{name}", self.shelf.address(), self.submission.name)
    }
}

fn folder(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

/// By content too, because numbers of jobs may be used again.
fn part(claim: &Claim) -> String {
    format!("parts/{}-{}.steelyard", claim.started.start.name(), claim.content)
}

/// The programs with which an experiment was run, for people: versions and builds, wherever their
/// files came from.
fn programs(store: &Store, experiment: ExperimentId, steelyard: &str) -> Result<String, Error> {
    let mut said = vec![format!("steelyard {steelyard}")];
    for variant in store.variants(experiment)? {
        let mut build = variant.build;
        build.remove("obtained from");
        let build: Vec<String> = build.iter().map(|(name, it)| format!("{name} {it}")).collect();
        said.push(format!("{}: {} ({})", variant.name, variant.version, build.join(", ")));
    }
    Ok(said.join("; "))
}

fn claim_name(element: u32) -> String {
    format!("{CLAIMS}/{element}{JSON}")
}
