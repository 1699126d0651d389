//! The builds of PostgreSQL in the race, and the conditions of the machine.

use std::fmt;

use judge::Verdict;

/// A build of PostgreSQL that is slower by a known share.
pub struct Build {
    /// Its branch, and its name among the variants.
    pub name: &'static str,
    /// Rounds of the loop that each of its statements goes around.
    pub rounds: u32,
    /// By how much fewer rows per second it inserts, in percent.
    pub slower: u32,
    /// The margin with which the race asks about it.
    pub margin: f64,
    /// The verdict that is right with that margin.
    pub right: Verdict,
}

/// The builds. On the machine the race was made for, a round takes 0.97 ns and a statement of l.i0
/// [`STATEMENT_US`], in client and server together. So 28,900 rounds, 28.0 µs, make a statement
/// take 560 µs, 1/0.95 times as long; 11,200 are 10.9 µs (1/0.98). On other machines the shares
/// differ, so the tables show the measured ones.
pub const BUILDS: [Build; 3] = [
    Build { name: "same", rounds: 0, slower: 0, margin: 0.02, right: Verdict::Equivalent },
    Build { name: "minus-2", rounds: 11_200, slower: 2, margin: 0.01, right: Verdict::Regression },
    Build { name: "minus-5", rounds: 28_900, slower: 5, margin: 0.02, right: Verdict::Regression },
];

/// The base once more, under a second name.
pub const AGAIN: &str = "same-again";

/// The other load on the machine at that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    Quiet,
    Loaded,
}

impl Condition {
    pub const ALL: [Self; 2] = [Self::Quiet, Self::Loaded];

    pub fn of(loaded: bool) -> Self {
        if loaded { Self::Loaded } else { Self::Quiet }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Quiet { "quiet" } else { "loaded" })
    }
}

/// The name under which a build runs against the base.
pub fn variant_of(build: &Build) -> &'static str {
    if build.slower == 0 { AGAIN } else { build.name }
}

/// The place of a build in [`BUILDS`].
pub fn build_named(name: &str) -> Option<usize> {
    BUILDS.iter().position(|build| build.name == name)
}

/// The time of a statement of l.i0, which inserts [`STATEMENT_ROWS`], without a loop.
pub const STATEMENT_US: f64 = 532.0;
/// The rows of such a statement.
pub const STATEMENT_ROWS: u64 = 100;
