//! CountMethod the instructions of single statements: what of it depends on the system.

/// How a system is brought to do nothing but one statement after another, always in the same way,
/// while Callgrind counts ([`crate::ServerSpec::wrapper`]).
#[derive(Debug)]
pub struct CountMethod {
    /// Settings of every server, over those of the plan: nothing but the process that executes the
    /// statement is to do anything, and nothing is to depend on time.
    pub settings: Vec<(&'static str, &'static str)>,
    /// Leaves nothing in the loaded tables to be done later by whoever reads a page first, and
    /// statistics that don't depend on chance.
    pub freeze: &'static str,
    /// Copies what is loaded and frozen into a new database of this name.
    pub copy: fn(&str) -> String,
    /// Freezes what all databases share, after the last copy.
    pub finish: &'static str,
    /// The query that gives a session the pid of the process that serves it. What a session does
    /// first moves what its later statements cost by a thousandth, so it stays the same from count
    /// to count, although clients could tell the pid without asking.
    pub own_process: &'static str,
    /// The query that gives a session a row of the pids of processes that periodically do work that
    /// its own would otherwise do; they are to be held still. NULL as long as one has not begun.
    pub periodic: Option<&'static str>,
    /// A cheap statement that divides stretches that are counted apart.
    pub mark: &'static str,
    /// The function at whose entry Callgrind writes what it has counted: the mark calls it, and
    /// nothing else does.
    pub mark_function: &'static str,
    /// What a session executes before its first mark, so that it does nothing by the clock for a
    /// while.
    pub before_mark: Option<&'static str>,
    /// Functions that do something by the clock and not for a statement; what they cost is not
    /// counted.
    pub by_the_clock: &'static [&'static str],
    /// The phases of a statement, in the order in which it goes through them, with the functions
    /// that do them. The first group of which one was called counts: each is called by the one
    /// before, which the compiler may have put into its caller. A group is names of one thing in
    /// different versions.
    pub phases: &'static [(&'static str, &'static [&'static [&'static str]])],
}
