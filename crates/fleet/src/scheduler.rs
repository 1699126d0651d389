//! What a scheduler must be able to do.

use crate::error::Error;
use crate::job::Job;

/// Runs elements on machines of which each has one at a time.
pub trait Scheduler {
    /// Starts this script once for each of the elements, and returns the job's number.
    ///
    /// # Errors
    /// [`Error::Scheduler`].
    fn submit(&self, script: &str) -> Result<String, Error>;

    /// The elements of these jobs that wait or run.
    ///
    /// # Errors
    /// [`Error::Scheduler`].
    fn queue(&self, jobs: &[Job]) -> Result<Vec<Queued>, Error>;

    /// Ends all that waits or runs of these jobs.
    ///
    /// # Errors
    /// [`Error::Scheduler`].
    fn cancel(&self, jobs: &[Job]) -> Result<(), Error>;
}

/// An element that a scheduler has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    /// The element.
    pub element: u32,
    /// The job that it belongs to.
    pub job: String,
    /// Where it is.
    pub waits: Waits,
}

/// Whether an element waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waits {
    /// It waits, for this reason.
    For(String),
    /// It runs on this machine.
    Not(String),
}
