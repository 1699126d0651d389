//! What has become of each element, from what the depot and the scheduler say.

use serde::Serialize;

use crate::depot::{Claim, Failed, Started};
use crate::job::Job;
use crate::scheduler::{Queued, Waits};
use crate::submission::Submission;

/// A queue in which nothing has happened for so long, with nothing running, is said to be stuck.
const STUCK_MS: i64 = 5 * 60 * 1000;

/// The state of a submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// All elements, in order.
    pub elements: Vec<Element>,
    /// Since when nothing has happened, milliseconds since 1970 (UTC), if elements wait, none runs,
    /// and that is more than 5 minutes ago.
    pub stuck_since_ms: Option<i64>,
}

/// The state of an element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Element {
    /// Its number, from 1.
    pub element: u32,
    /// What has become of it.
    pub state: State,
    /// The machine, if it was started: that of its claim, or of its last start.
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
        }
    }
}

impl Status {
    /// The elements in this state.
    pub fn those(&self, state: State) -> impl Iterator<Item = &Element> {
        self.elements.iter().filter(move |element| element.state == state)
    }

    /// True if no element will be done without help.
    pub fn needs_help(&self) -> bool {
        let bad = |it: &Element| matches!(it.state, State::Failed | State::Lost);
        self.stuck_since_ms.is_some() || self.elements.iter().any(bad)
    }
}

/// What is known about a submission, apart from the queue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) claims: Vec<Claim>,
    pub(crate) starts: Vec<Started>,
    pub(crate) failures: Vec<Failed>,
    pub(crate) jobs: Vec<Job>,
}

/// The status of a submission at `now_ms`, milliseconds since 1970 (UTC).
pub(crate) fn status_of(
    submission: &Submission,
    known: &Known,
    queue: &[Queued],
    now_ms: i64,
) -> Status {
    let elements: Vec<Element> =
        (1..=submission.elements).map(|element| element_of(element, known, queue)).collect();
    let count = |state: State| elements.iter().filter(|it| it.state == state).count();
    let stands = count(State::Running) == 0 && count(State::Waiting) > 0;
    let times = known.claims.iter().map(|it| it.at_ms);
    let times = times.chain(known.starts.iter().map(|it| it.at_ms));
    let times = times.chain(known.failures.iter().map(|it| it.at_ms));
    let times = times.chain(known.jobs.iter().map(|it| it.at_ms));
    // A clock that is fast must not hide that nothing happens.
    let last = times.filter(|at| *at <= now_ms).max().unwrap_or(submission.created_ms);
    let stuck_since_ms = Some(last).filter(|last| stands && now_ms - last > STUCK_MS);
    Status { elements, stuck_since_ms }
}

fn element_of(element: u32, known: &Known, queue: &[Queued]) -> Element {
    let of = |started: &&Started| started.start.element == element;
    let starts: Vec<&Started> = known.starts.iter().filter(of).collect();
    let order = |started: &Started| (started.at_ms, started.start.clone());
    let last = starts.iter().max_by_key(|started| order(started));
    let host = last.map(|started| started.host.clone());
    let made = |state, host, why| Element { element, state, host, starts: starts.len(), why };
    if let Some(claim) = known.claims.iter().find(|it| it.started.start.element == element) {
        return made(State::Done, Some(claim.started.host.clone()), None);
    }
    // Of a start that failed before the last one, nobody needs to know why.
    let failed = known.failures.iter().filter(|it| it.started.start.element == element);
    let failed = failed.filter(|it| last.is_none_or(|last| it.started.start == last.start));
    let why = failed.map(|it| it.why.clone()).next();
    let mut queued = queue.iter().filter(|it| it.element == element);
    // Of two jobs for one element, the one that runs counts.
    let running = queued.clone().find_map(|it| match &it.waits {
        Waits::Not(host) => Some(host.clone()),
        Waits::For(_) => None,
    });
    if let Some(running) = running {
        return made(State::Running, Some(running), None);
    }
    if let Some(Queued { waits: Waits::For(reason), .. }) = queued.next() {
        return made(State::Waiting, host, Some(why.unwrap_or_else(|| reason.clone())));
    }
    match why {
        Some(why) => made(State::Failed, host, Some(why)),
        None => made(State::Lost, host, None),
    }
}

/// The status of a submission now.
///
/// # Errors
/// If the depot or the scheduler can't be asked.
pub fn status(
    depot: &crate::Depot,
    scheduler: &dyn crate::Scheduler,
    now_ms: i64,
) -> Result<Status, crate::Error> {
    // The queue first: what leaves it in the meantime has left its trace in the depot.
    let jobs = depot.jobs()?;
    let queue = scheduler.queue(&jobs)?;
    let known = Known {
        jobs,
        starts: depot.starts()?,
        failures: depot.failures()?,
        claims: depot.claims()?,
    };
    Ok(status_of(depot.submission(), &known, &queue, now_ms))
}
