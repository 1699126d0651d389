//! The cost of a function.

/// The cost of a function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cost {
    /// The path of the program or library that contains it; `???` for code without a file. If
    /// several contain a function of this name, the one where it cost most.
    pub object: String,
    /// Events (such as instructions) of the function itself.
    pub own: u64,
    /// Events of the function and everything it called, each counted once however often the
    /// function calls itself. 0 where calls are not known.
    pub inclusive: u64,
    /// Number of calls, by others and by itself, without those that began in an earlier stretch.
    /// Callgrind takes a jump to a function's first instruction for a call, so a loop that begins
    /// there counts every iteration.
    pub calls: u64,
}
