//! Jobs of a scheduler, and what they ask of it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A job of a scheduler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its number.
    pub job: String,
    /// The elements that it runs.
    pub elements: Vec<u32>,
    /// When it was submitted, milliseconds since 1970 (UTC).
    pub at_ms: i64,
}

/// What a job asks of Slurm.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wishes {
    /// The partition; the cluster's default if `None`.
    pub partition: Option<String>,
    /// Features that the machines must have.
    pub constraint: Option<String>,
    /// Machines to leave out.
    pub exclude: Option<String>,
    /// How long an element may take, as Slurm reads it; the partition's limit if `None`.
    pub time: Option<String>,
    /// At most so many elements at a time; all if `None`.
    pub at_once: Option<u32>,
    /// How the paths of the elements' logs begin; the submission and the element follow.
    #[serde(default)]
    pub logs: Option<String>,
}

impl Wishes {
    /// Refuses values that can't stand in a line of a script.
    ///
    /// # Errors
    /// [`Error::Wish`].
    pub fn check(&self) -> Result<(), Error> {
        let all = [&self.partition, &self.constraint, &self.exclude, &self.time, &self.logs];
        let bad = |value: &&String| value.contains(|c: char| c.is_control() || c == '"');
        match all.into_iter().flatten().find(bad) {
            Some(bad) => Err(Error::Wish(bad.clone())),
            None => Ok(()),
        }
    }

    /// These, and those of `others` where these have none.
    #[must_use]
    pub fn or(self, others: &Wishes) -> Wishes {
        Wishes {
            partition: self.partition.or_else(|| others.partition.clone()),
            constraint: self.constraint.or_else(|| others.constraint.clone()),
            exclude: self.exclude.or_else(|| others.exclude.clone()),
            time: self.time.or_else(|| others.time.clone()),
            at_once: self.at_once.or(others.at_once),
            logs: self.logs.or_else(|| others.logs.clone()),
        }
    }

    /// These, without these machines, too.
    #[must_use]
    pub fn without<'a>(&'a self, hosts: impl Iterator<Item = &'a str>) -> Wishes {
        let known = self.exclude.as_deref().into_iter();
        let all: BTreeSet<&str> = known.chain(hosts).filter(|it| !it.is_empty()).collect();
        let exclude = all.into_iter().collect::<Vec<_>>().join(",");
        Wishes { exclude: Some(exclude).filter(|it| !it.is_empty()), ..self.clone() }
    }
}
