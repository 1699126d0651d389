//! The system's part in counting the instructions of single requests.

use crate::{Error, Sql};

/// How to make a system do nothing but one request after another, always in the same way, while
/// Callgrind counts ([`crate::ServerSpec::wrapper`]).
#[derive(Debug)]
pub struct CountMethod {
    /// Settings of every server, which override the plan's. Only the process that executes the
    /// request may do anything, and nothing may depend on time.
    pub settings: Vec<(&'static str, &'static str)>,
    /// Maximum number of kinds per server. Starting a server may take as much CPU time as two or
    /// three kinds, so it should count several. But repeating a count also repeats everything
    /// before it on the same server, so there should not be too many.
    pub kinds: usize,
    /// The counted place, in tables: `backend`, `library`.
    pub place: &'static str,
    /// The function at whose entry Callgrind writes its counts. Only the mark calls it.
    pub mark_function: &'static str,
    /// Counts only what happens in these functions (or patterns such as `api_*`), and in what they
    /// call. Empty: everything.
    pub only_in: &'static [&'static str],
    /// What is not counted.
    pub left_out: &'static [LeftOut],
    /// The phases of a request, in order, with groups of functions. The group with the most
    /// instructions counts: one group may be called by another, the compiler may have inlined it
    /// into its caller, and kinds of requests may have groups of their own. The functions of a
    /// group don't call each other; many are names of the same function in different versions.
    pub phases: &'static [(&'static str, &'static [&'static [&'static str]])],
    /// How to count statements. Systems without SQL execute scripts in their own process instead.
    pub sql: Option<SqlCount>,
}

/// The phase inside of which others may happen: an executed statement may plan and execute more of
/// them. What happens there counts for those.
pub const EXECUTE: &str = "execute";

/// A function whose cost is not counted, because it runs by the clock, or does what only counting
/// makes necessary. Its name has no parameters.
#[derive(Debug)]
pub struct LeftOut {
    /// Its name.
    pub function: &'static str,
    /// The phase of a request that calls it, if one does. If others do, too, that phase is as much
    /// too small.
    pub phase: Option<&'static str>,
    /// Functions that it calls, and hardly anybody else. What else it calls is still listed.
    pub with: &'static [&'static str],
}

/// A step that is applied to the database with the given name.
pub type OnDatabase = fn(&mut dyn Sql, &str) -> Result<(), Error>;

/// Everything that counting statements requires.
#[derive(Debug)]
pub struct SqlCount {
    /// SQL after which the loaded tables leave no work for the first reader of a page, and
    /// statistics don't depend on chance.
    pub freeze: Option<&'static str>,
    /// Copies the loaded and frozen data into a new database of this name.
    pub copy: OnDatabase,
    /// SQL that freezes what all databases share, after the last copy.
    pub finish: Option<&'static str>,
    /// The query that gives a session the pid of the process that serves it; `None` if a thread of
    /// the server does. A session's first action changes the cost of its later statements by a
    /// thousandth. It therefore stays the same in all counts, although clients could know the pid
    /// without asking.
    pub own_process: Option<&'static str>,
    /// The query for a row of pids of processes to stop: those that periodically do work that the
    /// session's own process would otherwise do. NULL for one that has not started.
    pub periodic: Option<&'static str>,
    /// A statement for a separate session that starts before the others. It holds back work in the
    /// background while that session is open.
    pub bystander: Option<&'static str>,
    /// Reads all tables and indexes of the database of this name into the server's memory, before
    /// requests that write are counted.
    pub warm: Option<OnDatabase>,
    /// Number of executions after which the cost of a request that writes no longer changes.
    /// Requests that write many rows are executed fewer times, because they would take too long.
    pub warm_up: u32,
    /// A cheap statement that separates stretches to count.
    pub mark: &'static str,
    /// A statement that a session executes before its first mark, so that no periodic work runs for
    /// a while.
    pub before_mark: Option<&'static str>,
}
