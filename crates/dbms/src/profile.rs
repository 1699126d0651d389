//! How call stacks of a system's server are read.

use crate::{Reference, postgres};

/// Which functions of a server stand for what in its profiles.
#[derive(Debug, Clone, Copy)]
pub struct ProfileFacts {
    /// The function in which the server does what clients ask for.
    pub worker: &'static str,
    /// What it calls to have a message of a client dispatched. They do little themselves, and many
    /// builds have them inlined or without a name; what they call counts as called by the worker.
    pub dispatchers: &'static [&'static str],
    /// The phases of a statement in the order of published tables, with how the functions that the
    /// worker calls for them begin.
    pub phases: &'static [(&'static str, &'static [&'static str])],
    /// The functions of the phases as a legend names them.
    pub named: &'static str,
}

/// What is known of the system that `reference` names; `None` where it can't be told.
pub fn profile_facts(reference: &str) -> Option<&'static ProfileFacts> {
    match reference.parse().ok()? {
        Reference::Postgres(_) => Some(&postgres::PROFILE),
    }
}
