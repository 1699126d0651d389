//! The builds in the race, and the conditions of the machine.

use std::fmt;

use judge::Verdict;

use super::subjects::{INNODB, INSERT, PUTS, READ, Subject, UPDATE};

/// A build of a system that is slower by a known share.
pub struct Build {
    /// Its name among the variants, and its branch if it is built from source.
    pub name: &'static str,
    /// The step in which it races.
    pub subject: &'static Subject,
    /// Rounds of the loop that each of its statements goes around.
    pub rounds: u32,
    /// By how much fewer operations per second it does, in percent.
    pub slower: u32,
}

const fn build(subject: &'static Subject, name: &'static str, rounds: u32, slower: u32) -> Build {
    Build { name, subject, rounds, slower }
}

/// The builds. The same code is built twice, because two builds of it differ in where the kernel
/// puts them in memory. On the machine the race was made for, a round takes 1 to 1.7 ns. A
/// statement of l.i0 takes 532 µs there, in client and server together, an update 240 µs in
/// PostgreSQL and 750 µs in MySQL, much of it to write the log to storage, an IO-bound read 175 µs,
/// and a put 6.5 µs. Shares differ between machines, and from day to day, so tables show the
/// measured ones.
pub static BUILDS: [Build; 17] = [
    build(&INSERT, "same", 0, 0),
    build(&INSERT, "same-again", 0, 0),
    build(&INSERT, "minus-2", 11_200, 2),
    build(&INSERT, "minus-5", 28_900, 5),
    build(&UPDATE, "update-same", 0, 0),
    build(&UPDATE, "update-same-again", 0, 0),
    build(&UPDATE, "update-minus-2", 3_600, 2),
    build(&UPDATE, "update-minus-5", 9_000, 5),
    build(&READ, "read-same", 0, 0),
    build(&READ, "read-same-again", 0, 0),
    build(&READ, "read-minus-5", 6_500, 5),
    build(&INNODB, "innodb-same", 0, 0),
    build(&INNODB, "innodb-same-again", 0, 0),
    build(&INNODB, "innodb-minus-5", 23_000, 5),
    build(&PUTS, "puts-same", 0, 0),
    build(&PUTS, "puts-same-again", 0, 0),
    build(&PUTS, "puts-minus-5", 230, 5),
];

impl Build {
    /// The margin with which the race asks about it: below a small difference, above none.
    pub fn margin(&self) -> f64 {
        if self.slower == 2 { 0.01 } else { 0.02 }
    }

    /// The verdict that is right with that margin.
    pub fn right(&self) -> Verdict {
        if self.slower == 0 { Verdict::Equivalent } else { Verdict::Regression }
    }

    /// All of its subject; the first is the base.
    pub fn all(&self) -> impl Iterator<Item = &'static Build> {
        BUILDS.iter().filter(|build| std::ptr::eq(build.subject, self.subject))
    }

    /// True if the others of its subject run against it.
    pub fn is_base(&self) -> bool {
        self.all().next().is_some_and(|first| std::ptr::eq(first, self))
    }
}

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

/// The place of a build in [`BUILDS`].
pub fn build_named(name: &str) -> Option<usize> {
    BUILDS.iter().position(|build| build.name == name)
}
