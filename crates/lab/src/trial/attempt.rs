//! A running trial: a variant's server, started for it, with what its steps need.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use dbms::{Diagnosis, Snapshot, System};
use drive::ErrorKind;
use plan::{Clients, SequenceKey};
use probe::{Cgroup, Device, Group};
use store::{StepRecord, TrialId};
use workload::Benchmark;

use crate::error::{Error, ServerLog};
use crate::observe::fitness::Fitness;
use crate::subject::Subject;

/// Log lines that an error shows, and the most characters of each.
const LOG_LINES: usize = 12;
const LOG_WIDTH: usize = 200;

/// A trial as it was entered in the store.
#[derive(Debug, Clone, Copy)]
pub struct Entered {
    pub trial: TrialId,
    /// Place of its variant in the plan.
    pub variant: usize,
    pub block: u32,
    /// The key of the sequence of steps that it goes through.
    pub sequence: SequenceKey,
    /// The clients of that sequence's steps.
    pub clients: Clients,
    /// How many of the workload's steps it goes through, from the first.
    pub steps: usize,
    /// True to abort and repeat it if it is polluted.
    pub again: bool,
}

/// What a server answered before a step.
#[derive(Debug, Default)]
pub struct Asked {
    /// What identifies each answer.
    pub answers: Vec<metrics::Answer>,
    /// How long a query takes on average, in seconds.
    pub time: f64,
}

/// Why a step has no result.
#[derive(Debug)]
pub enum Trouble {
    /// The user ended the run.
    Interrupted,
    /// Something failed.
    Failed {
        /// The failure, in words.
        reason: String,
        /// The cause, if known.
        diagnosis: Option<Diagnosis>,
        /// True if the plan asks for what can't be measured.
        unfit: bool,
    },
}

impl Trouble {
    pub fn failed(reason: impl ToString) -> Trouble {
        Trouble::Failed { reason: reason.to_string(), diagnosis: None, unfit: false }
    }

    /// The plan asks for what can't be measured.
    pub fn unfit(reason: impl ToString) -> Trouble {
        Trouble::Failed { reason: reason.to_string(), diagnosis: None, unfit: true }
    }

    /// The trouble that a client met.
    pub fn met(reason: String, kind: ErrorKind) -> Trouble {
        Trouble::Failed { reason, diagnosis: diagnosis(kind), unfit: false }
    }
}

impl From<dbms::Error> for Trouble {
    fn from(error: dbms::Error) -> Trouble {
        let (reason, diagnosis) = (error.to_string(), error.diagnosis());
        Trouble::Failed { reason, diagnosis, unfit: false }
    }
}

/// The cause of a client's error, if known.
fn diagnosis(kind: ErrorKind) -> Option<Diagnosis> {
    match kind {
        ErrorKind::DiskFull => Some(Diagnosis::DiskFull),
        ErrorKind::Invalid => Some(Diagnosis::Invalid),
        ErrorKind::Disconnected => Some(Diagnosis::Interrupted),
        ErrorKind::Retryable | ErrorKind::Duplicate | ErrorKind::Other => None,
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        match error {
            Error::Interrupted => Trouble::Interrupted,
            Error::Dbms(error) => Trouble::from(*error),
            error => Trouble::failed(error),
        }
    }
}

/// A running trial. [`stop`](crate::trial::server::stop) stops its server and returns whether that
/// succeeded; dropping it stops the server too.
pub struct Attempt<'a> {
    /// Which trial it is.
    pub entered: Entered,
    /// Its variant.
    pub subject: &'a Subject,
    /// The benchmark it goes through.
    pub benchmark: Arc<Benchmark>,
    /// The server.
    pub server: Box<dyn System>,
    /// How the kernel knows the server; `None` where it is not on this machine.
    pub group: Option<Group>,
    /// The device that holds its data.
    pub device: Option<Device>,
    /// The server's counters as the step before left them; `None` if something else came between.
    /// Reading them may take half a second, in which the server's last numbers arrive.
    pub counted: Option<Snapshot>,
    /// How its next step runs among those of other trials under way, for people; `None` where it is
    /// the only one.
    pub among: Option<String>,
    /// How many phases of the benchmark a copy of the load has done already; the trial goes through
    /// the others.
    pub first: usize,
    /// The record of making that copy; `None` if the server began empty.
    pub restored: Option<StepRecord>,
    /// What the server answered to the step that is to run.
    pub asked: Option<Asked>,
    /// Its worth, judged by its steps so far.
    pub fitness: Fitness,
}

impl Attempt<'_> {
    /// The variant's name.
    pub fn name(&self) -> &str {
        &self.subject.variant.name
    }

    /// The server's control group, where there is one.
    pub fn cgroup(&self) -> Option<&Arc<Cgroup>> {
        match self.group.as_ref()? {
            Group::Cgroup { cgroup, .. } => Some(cgroup),
            Group::Tree(_) => None,
        }
    }

    /// Starts its server anew.
    pub fn restart(&mut self) -> Result<(), dbms::Error> {
        self.counted = None;
        self.server.restart()?;
        if let (Some(Group::Cgroup { root_pid, .. } | Group::Tree(root_pid)), Some(pid)) =
            (&mut self.group, self.server.root_pid())
        {
            *root_pid = pid;
        }
        Ok(())
    }

    /// True if it is to be aborted, because it is polluted and will be repeated.
    pub fn in_vain(&self) -> bool {
        self.entered.again && self.fitness.is_polluted()
    }

    /// The error for a step that has no result, with the end of the server's log.
    pub fn error(&mut self, step: &str, clients: Clients, trouble: Trouble) -> Error {
        let Trouble::Failed { mut reason, diagnosis, unfit } = trouble else {
            return Error::Interrupted;
        };
        let last_lines = last_lines(self.server.as_ref());
        let log = Box::new(ServerLog { last_lines, file: None });
        if diagnosis == Some(Diagnosis::DiskFull)
            || self.server.diagnose() == Some(Diagnosis::DiskFull)
        {
            reason.push_str(
                ". The disk with the data directory is full: free space there, or choose another \
                 place with --data-dir",
            );
        }
        let (variant, block, step) = (self.name().to_owned(), self.entered.block, step.to_owned());
        let died = !self.server.alive();
        // Who runs a server of their own may give it by hand what was missing.
        let ours = self.subject.installation.is_ours();
        let lasting = ours && !died && diagnosis == Some(Diagnosis::Invalid);
        let unfit = unfit && !died;
        Error::Step { variant, block, clients, step, reason, log, died, lasting, unfit }
    }
}

/// Does the same with several things at the same time, each on a thread of this one's
/// name; the results in order.
pub fn at_once<I: Send, T: Send>(
    items: impl IntoIterator<Item = I>,
    task: impl Fn(I) -> T + Sync,
) -> Vec<T> {
    let (task, name) = (&task, thread::current().name().unwrap_or_default().to_owned());
    thread::scope(|scope| {
        let begin = |item| {
            let thread = thread::Builder::new().name(name.clone());
            // As `Scope::spawn` does where the system has no further thread.
            thread.spawn_scoped(scope, move || task(item)).expect("a further thread")
        };
        let threads: Vec<_> = items.into_iter().map(begin).collect();
        let results = threads.into_iter().map(|thread| thread.join());
        results.map(|result| result.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// The end of a server's log, with a heading.
pub fn last_lines(server: &dyn System) -> String {
    let log = server.log_tail(LOG_LINES);
    let lines: Vec<String> = log.trim_end().lines().map(shortened).collect();
    match &lines[..] {
        [] => String::new(),
        lines => format!("last lines of the server's log:\n{}", lines.join("\n")),
    }
}

/// A line without its end, if it is long: it may repeat a statement of many rows.
fn shortened(line: &str) -> String {
    match line.char_indices().nth(LOG_WIDTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
