//! The documents about a submission.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// How their names end.
pub(crate) const JSON: &str = ".json";

/// A start of an element.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Start {
    /// The element, from 1.
    pub element: u32,
    /// The scheduler's number of the job, or what tells this start from others.
    pub job: String,
    /// How often the scheduler has started it again.
    pub restart: u32,
}

impl Start {
    /// The name of what belongs to this start.
    pub(crate) fn name(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let job: String = self.job.chars().map(plain).collect();
        format!("{}-{job}-{}", self.element, self.restart)
    }

    /// The start of a document's name; its job as it is there.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let (element, rest) = name.strip_suffix(JSON)?.split_once('-')?;
        let (job, restart) = rest.rsplit_once('-')?;
        let (element, restart) = (element.parse().ok()?, restart.parse().ok()?);
        Some(Self { element, job: job.to_owned(), restart })
    }
}

/// That an element was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// Which start it is.
    pub start: Start,
    /// The machine's name.
    pub host: String,
    /// When, by that machine's clock, milliseconds since 1970 (UTC).
    pub at_ms: i64,
}

/// That a start failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// Which start it was.
    pub started: Started,
    /// Why.
    pub why: String,
    /// When, by that machine's clock, milliseconds since 1970 (UTC).
    pub at_ms: i64,
}

/// That an element is done: this start's part counts, and no other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Which start it was.
    pub started: Started,
    /// The content hash of its experiment.
    pub content: String,
    /// When it was done, by that machine's clock, milliseconds since 1970 (UTC).
    pub at_ms: i64,
}

/// That these elements decide everything: no others count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The elements, by number.
    pub elements: BTreeSet<u32>,
    /// When that was found, by the clock of the machine that looked, milliseconds since 1970 (UTC).
    pub at_ms: i64,
}
