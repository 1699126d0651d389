//! What Callgrind counts.

/// Something that Callgrind counts, or a weighted sum of such things.
///
/// Caches and branches are simulated ([`Valgrind::command_line`](super::Valgrind::command_line)
/// says which): the program's own accesses on one core, without prefetching, without the kernel,
/// and without what other programs do to the caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// Instructions executed.
    Instructions,
    /// Estimated cycles: one per instruction, and 10 more per miss in a first-level cache, 100 per
    /// miss in the last one, and 10 per mispredicted branch. This is the "cycle estimation" of
    /// KCachegrind, without its bus events.
    Cycles,
    /// Reads and writes of data.
    DataAccesses,
    /// Instructions, reads and writes that missed the first-level cache.
    L1Misses,
    /// Of these, those that missed the last-level cache, too.
    LlMisses,
    /// Conditional and indirect branches that were predicted wrongly.
    Mispredictions,
    /// System calls.
    SystemCalls,
}

impl Event {
    /// Instructions come first.
    pub const ALL: [Self; 7] = [
        Self::Instructions,
        Self::Cycles,
        Self::DataAccesses,
        Self::L1Misses,
        Self::LlMisses,
        Self::Mispredictions,
        Self::SystemCalls,
    ];

    /// Its name, in the plural.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Cycles => "estimated cycles",
            Self::DataAccesses => "data accesses",
            Self::L1Misses => "L1 misses",
            Self::LlMisses => "LL misses",
            Self::Mispredictions => "mispredicted branches",
            Self::SystemCalls => "system calls",
        }
    }

    /// The columns of Callgrind's files that make it up, and how much each counts.
    pub(super) fn columns(self) -> &'static [(&'static str, u64)] {
        match self {
            Self::Instructions => &[("Ir", 1)],
            Self::Cycles => &[
                ("Ir", 1),
                ("I1mr", 10),
                ("D1mr", 10),
                ("D1mw", 10),
                ("ILmr", 100),
                ("DLmr", 100),
                ("DLmw", 100),
                ("Bcm", 10),
                ("Bim", 10),
            ],
            Self::DataAccesses => &[("Dr", 1), ("Dw", 1)],
            Self::L1Misses => &[("I1mr", 1), ("D1mr", 1), ("D1mw", 1)],
            Self::LlMisses => &[("ILmr", 1), ("DLmr", 1), ("DLmw", 1)],
            Self::Mispredictions => &[("Bcm", 1), ("Bim", 1)],
            Self::SystemCalls => &[("sysCount", 1)],
        }
    }
}
