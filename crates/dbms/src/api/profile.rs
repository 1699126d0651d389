//! How to read call stacks of a system's server.

/// The meaning of a server's functions in its profiles.
#[derive(Debug, Clone, Copy)]
pub struct ProfileFacts {
    /// The function in which the server handles clients' requests.
    pub worker: &'static str,
    /// Functions it calls to dispatch a client's message. They do little themselves, and many
    /// builds inline them or strip their names. The functions that they call count as called by the
    /// worker.
    pub dispatchers: &'static [&'static str],
    /// The phases of a statement in the order of published tables, with prefixes of the functions
    /// that the worker calls for them.
    pub phases: &'static [(&'static str, &'static [&'static str])],
    /// The functions of the phases, as named in legends.
    pub named: &'static str,
    /// Functions that have another name in newer versions but do the same: older name, newer name.
    pub renamed: &'static [(&'static str, &'static str)],
}
