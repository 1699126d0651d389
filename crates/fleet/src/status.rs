//! What has become of each element, from what the depot and the scheduler say.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::depot::{Depot, Trace};
use crate::error::Error;
use crate::job::Job;
use crate::scheduler::{Queued, Scheduler, Waits};
use crate::slurm::log;

/// A queue in which nothing has happened for so long, with nothing running, is said to be stuck.
const STUCK_MS: i64 = 5 * 60 * 1000;

/// The state of a submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// All elements, in order.
    pub elements: Vec<Element>,
    /// Element 0, which obtains the systems' programs for the others, if there is one.
    pub programs: Option<Element>,
    /// Since when nothing has happened, milliseconds since 1970 (UTC), if elements wait, none runs,
    /// and that is more than 5 minutes ago.
    pub stuck_since_ms: Option<i64>,
    /// True if the elements that are done decided everything, so that no others are needed.
    pub stopped: bool,
    /// Machines that elements refused, by name.
    pub unfit: BTreeMap<String, Unfit>,
}

/// A machine on which elements don't run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unfit {
    /// Why the last one refused it.
    pub why: String,
    /// How many starts refused it.
    pub starts: usize,
}

/// The state of an element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Element {
    /// Its number, from 1; 0 for the one that obtains programs.
    pub element: u32,
    /// What has become of it.
    pub state: State,
    /// The machine, if it was started: that of its claim once [`Status::name_machines`] was called,
    /// or of its last start.
    pub host: Option<String>,
    /// How often it was started.
    pub starts: usize,
    /// Why its last start failed, or why it waits.
    pub why: Option<String>,
}

/// What has become of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Its results are there.
    Done,
    /// It runs.
    Running,
    /// The scheduler has not started it yet, or will start it again.
    Waiting,
    /// Its last start failed, and the scheduler has it no more.
    Failed,
    /// It is not done, and the scheduler does not have it.
    Lost,
    /// Others decided everything before.
    #[serde(rename = "not needed")]
    Unneeded,
}

impl State {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Done => "done",
            State::Running => "running",
            State::Waiting => "waiting",
            State::Failed => "failed",
            State::Lost => "lost",
            State::Unneeded => "not needed",
        }
    }
}

impl Status {
    /// True if nothing is left to run.
    pub fn is_complete(&self) -> bool {
        self.stopped || self.elements.iter().all(|it| it.state == State::Done)
    }

    /// True if the systems' programs are there, or none are needed.
    pub fn has_programs(&self) -> bool {
        self.programs.as_ref().is_none_or(|it| it.state == State::Done)
    }

    /// The elements in this state.
    pub fn those(&self, state: State) -> impl Iterator<Item = &Element> {
        self.elements.iter().filter(move |element| element.state == state)
    }

    /// Says of elements that are done on which machine. This reads a document for each.
    ///
    /// # Errors
    /// If the depot can't be asked.
    pub fn name_machines(&mut self, depot: &Depot) -> Result<(), Error> {
        let claims = depot.claims()?.into_iter().map(|it| it.started);
        let mut hosts: HashMap<u32, String> =
            claims.map(|it| (it.start.element, it.host)).collect();
        for it in self.elements.iter_mut().filter(|it| it.state == State::Done) {
            it.host = hosts.remove(&it.element);
        }
        Ok(())
    }
}

/// What is known about an element.
#[derive(Debug, Default)]
struct Known<'a> {
    done: bool,
    starts: usize,
    last: Option<&'a Trace>,
    /// The failure of the last start.
    failure: Option<&'a Trace>,
    waits: Vec<&'a Waits>,
}

/// Of two starts of an element, the one with the higher order is the later.
fn order(trace: &Trace) -> (i64, &crate::Start) {
    (trace.at_ms, &trace.start)
}

/// The status of a submission at `now_ms`, milliseconds since 1970 (UTC). What was measured is not
/// read, nor a document for each element that is done or runs: the names of documents say enough,
/// and storage sends 1000 of them at a time.
///
/// # Errors
/// If the depot or the scheduler can't be asked.
pub fn status(depot: &Depot, scheduler: &dyn Scheduler, now_ms: i64) -> Result<Status, Error> {
    // The queue first: what leaves it in the meantime has left its trace in the depot.
    let jobs = depot.jobs()?;
    let queue = scheduler.queue(&jobs)?;
    let (starts, failures, done) = (depot.starts()?, depot.failures()?, depot.done()?);
    let submission = depot.submission();
    let first = if submission.sends_programs { 0 } else { 1 };
    let mut known: BTreeMap<u32, Known<'_>> =
        (first..=submission.elements).map(|element| (element, Known::default())).collect();
    if let Some(it) = known.get_mut(&0) {
        it.done = depot.has_programs()?;
    }
    for element in done.keys() {
        known.entry(*element).and_modify(|it| it.done = true);
    }
    for trace in &starts {
        let Some(it) = known.get_mut(&trace.start.element) else { continue };
        it.starts += 1;
        it.last = it.last.into_iter().chain([trace]).max_by_key(|it| order(it));
    }
    for trace in &failures {
        let Some(it) = known.get_mut(&trace.start.element) else { continue };
        // Of a start that failed before the last one, nobody needs to know why.
        if it.last.is_none_or(|last| last.start == trace.start) {
            it.failure = Some(trace);
        }
    }
    for Queued { element, waits, .. } in &queue {
        known.entry(*element).and_modify(|it| it.waits.push(waits));
    }
    let mut elements: Vec<Element> = known.iter().map(|(element, it)| it.state(*element)).collect();
    let stop = depot.stop()?;
    for it in elements.iter_mut().filter(|it| it.element > 0 && it.state != State::Running) {
        if stop.as_ref().is_some_and(|stop| !stop.elements.contains(&it.element)) {
            it.state = State::Unneeded;
        }
    }
    tell(depot, &mut elements, &known)?;
    explain_lost(depot, &mut elements, &jobs)?;
    let count = |state: State| elements.iter().filter(|it| it.state == state).count();
    let stands = count(State::Running) == 0 && count(State::Waiting) > 0;
    let times = starts.iter().chain(&failures).map(|it| it.at_ms);
    let times = times.chain(done.into_values()).chain(jobs.iter().map(|it| it.at_ms));
    // A clock that is fast must not hide that nothing happens.
    let last = times.filter(|at| *at <= now_ms).max().unwrap_or(submission.created_ms);
    let stuck_since_ms = Some(last).filter(|last| stands && now_ms - last > STUCK_MS);
    let mut unfit: BTreeMap<String, Unfit> = BTreeMap::new();
    let mut refusals = depot.refusals()?;
    refusals.sort_by_key(|it| it.at_ms);
    for crate::Failed { started, why, .. } in refusals {
        let it = unfit.entry(started.host).or_insert(Unfit { why: String::new(), starts: 0 });
        (it.why, it.starts) = (why, it.starts + 1);
    }
    let programs = submission.sends_programs.then(|| elements.remove(0));
    Ok(Status { elements, programs, stuck_since_ms, stopped: stop.is_some(), unfit })
}

impl Known<'_> {
    /// The state, with the machine and the reason as far as the scheduler says them.
    fn state(&self, element: u32) -> Element {
        let made = |state, host: Option<&String>, why: Option<&String>| {
            let (host, why) = (host.cloned(), why.cloned());
            Element { element, state, host, starts: self.starts, why }
        };
        if self.done {
            return made(State::Done, None, None);
        }
        let (mut running, mut waiting) = (None, None);
        for waits in &self.waits {
            match waits {
                Waits::Not(host) => running = running.or(Some(host)),
                Waits::For(reason) => waiting = waiting.or(Some(reason)),
            }
        }
        match (running, waiting) {
            // Of two jobs for one element, the one that runs counts.
            (Some(host), _) => made(State::Running, Some(host), None),
            (None, Some(reason)) => made(State::Waiting, None, Some(reason)),
            (None, None) if self.failure.is_some() => made(State::Failed, None, None),
            (None, None) => made(State::Lost, None, None),
        }
    }
}

/// Adds the machines and reasons of the last starts of elements that are neither done nor running.
fn tell(
    depot: &Depot,
    elements: &mut [Element],
    known: &BTreeMap<u32, Known<'_>>,
) -> Result<(), Error> {
    let open = |it: &Element| !matches!(it.state, State::Done | State::Running | State::Unneeded);
    let those: Vec<&Known<'_>> =
        elements.iter().filter(|it| open(it)).filter_map(|it| known.get(&it.element)).collect();
    let failures: Vec<Trace> = those.iter().filter_map(|it| it.failure.cloned()).collect();
    let mut failed: HashMap<u32, crate::Failed> = depot
        .read_failures(&failures)?
        .into_iter()
        .map(|it| (it.started.start.element, it))
        .collect();
    let others = those.iter().filter(|it| it.failure.is_none());
    let others: Vec<Trace> = others.filter_map(|it| it.last.cloned()).collect();
    let mut started: HashMap<u32, crate::Started> =
        depot.read_starts(&others)?.into_iter().map(|it| (it.start.element, it)).collect();
    for it in elements.iter_mut().filter(|it| open(it)) {
        match (failed.remove(&it.element), it.state) {
            // Where it failed is not where it will run.
            (Some(failed), State::Waiting) => {
                let (waits, host) = (it.why.take().unwrap_or_default(), &failed.started.host);
                it.why = Some(format!("{waits}; before, on {host}: {}", failed.why));
            }
            (None, State::Waiting) => {}
            (Some(failed), _) => (it.host, it.why) = (Some(failed.started.host), Some(failed.why)),
            (None, _) => it.host = started.remove(&it.element).map(|it| it.host),
        }
    }
    Ok(())
}

/// Says of elements that are lost what can be known.
fn explain_lost(depot: &Depot, elements: &mut [Element], jobs: &[Job]) -> Result<(), Error> {
    if elements.iter().all(|it| it.state != State::Lost) {
        return Ok(());
    }
    let submission = depot.submission();
    let canceled = depot.canceled()?;
    let waited = elements.first().is_some_and(|it| it.element == 0 && it.state != State::Done);
    for it in elements.iter_mut().filter(|it| it.state == State::Lost) {
        let job = jobs.iter().rev().find(|job| job.elements.contains(&it.element));
        let log = || log(&submission.name, &submission.wishes, it.element);
        it.why = Some(match (job, &it.host) {
            (None, _) => "it was not submitted".to_owned(),
            (Some(job), _) if canceled.is_some_and(|at| at >= job.at_ms) => "canceled".to_owned(),
            (Some(_), None) if it.element > 0 && waited => {
                "element 0, which it waited for, is not done".to_owned()
            }
            (Some(job), None) => format!(
                "job {} ended before steelyard began; its machine may have {}",
                job.job,
                log()
            ),
            (Some(_), Some(host)) => {
                format!("it ended without a word; {host} may have {}", log())
            }
        });
    }
    Ok(())
}
