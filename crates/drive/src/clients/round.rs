//! Rounds of a stream.

/// The result of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// It succeeded; its results had this many rows.
    Done(u64),
    /// It failed as rounds may: it does not count.
    Failed,
    /// The step ended in the middle of the round.
    Ended,
}
