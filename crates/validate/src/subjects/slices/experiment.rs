//! How large the experiments are, and how they are judged.

use judge::{CONFIDENCE, Comparison, Margin, RestartRatio, compare_slices};

use crate::Size;

/// Rounds in a restart: 24 s of two variants with slices of 40 ms.
pub const ROUNDS: usize = 300;

/// Experiments for a figure.
pub fn tries(size: Size) -> usize {
    size.pick(100, 10_000)
}

/// The comparison that steelyard makes of these restarts.
pub fn judged(restarts: &[RestartRatio]) -> Comparison {
    compare_slices(restarts, Margin::default(), CONFIDENCE).expect("at least one restart")
}
