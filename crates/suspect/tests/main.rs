//! Tests of the crate through its public interface: small cases by hand, properties, and searches
//! with known truth.
//!
//! One binary for all, so that it is linked once.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod cases;
mod properties;
mod simulation;

use suspect::{Candidate, Look, Range, Settings};

/// A range with this last candidate, all alike, at a margin of 1%.
fn range(last: usize) -> Range {
    changed(last, |_, _| ())
}

/// The same with some candidates changed.
fn changed(last: usize, change: impl Fn(usize, &mut Candidate)) -> Range {
    let mut candidates = vec![Candidate::default(); last + 1];
    candidates.iter_mut().enumerate().for_each(|(number, candidate)| change(number, candidate));
    Range::new(candidates, Settings::within(judge::Margin::of(0.01))).unwrap()
}

/// A look with an error of 0.1% and many degrees of freedom.
fn look(candidate: usize, log_ratio: f64) -> Look {
    Look { candidate, log_ratio, error: 0.001, freedom: 30.0 }
}
