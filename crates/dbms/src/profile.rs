//! How call stacks of a system's server are read.

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
