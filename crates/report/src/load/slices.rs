//! The stored slices of one step in one trial.

use metrics::SliceReason;
use store::{StepId, Store};

use crate::ReportError;

/// The slices of one step in one trial, by round; all variants of a block have the same rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Slices {
    /// The chosen length of slices, in milliseconds.
    pub length_ms: f64,
    /// Operations per second; 0 if the server blocked its clients throughout; NaN if the slice was
    /// set aside or never ran.
    pub rates: Vec<f64>,
    /// Planned length in milliseconds.
    pub lengths: Vec<f64>,
    /// Why there is no rate: [`SliceReason`] as stored.
    pub reasons: Vec<f64>,
    /// Servers that shared the step in this block.
    pub servers: usize,
}

impl Slices {
    /// Reads the slices of a step that has some.
    pub(crate) fn read(
        store: &Store,
        step: StepId,
        length_ms: f64,
    ) -> Result<Option<Self>, ReportError> {
        let mut series = store.series_of_group(step, metrics::SLICES)?;
        let mut take = |name: &str| {
            let found = series.iter_mut().find(|series| series.name == name);
            found.map(|series| std::mem::take(&mut series.values))
        };
        let Some(rates) = take(metrics::SLICE_RATES) else { return Ok(None) };
        let lengths = take(metrics::SLICE_LENGTHS).unwrap_or_else(|| vec![length_ms; rates.len()]);
        let reasons = take(metrics::SLICE_REASONS).unwrap_or_else(|| vec![0.0; rates.len()]);
        Ok(Some(Self { length_ms, rates, lengths, reasons, servers: 1 }))
    }

    /// The rates of both by round, as used for comparison.
    ///
    /// A slice that never ran, because another server blocked a client beyond its own slot, takes
    /// the rate of the nearest slice of the same length. Otherwise a stall would remove from the
    /// round the slice it should be compared with, and with it the stall itself from the
    /// comparison. NaN if neither ran, or one was set aside.
    pub fn paired(&self, other: &Self) -> (Vec<f64>, Vec<f64>) {
        let pair = |round: usize| match (self.came(round), other.came(round)) {
            (false, true) => (self.neighbor(round), other.rate(round)),
            (true, false) => (self.rate(round), other.neighbor(round)),
            _ => (self.rate(round), other.rate(round)),
        };
        (0..self.rounds().min(other.rounds())).map(pair).unzip()
    }

    fn rate(&self, round: usize) -> f64 {
        self.rates.get(round).copied().unwrap_or(f64::NAN)
    }

    fn came(&self, round: usize) -> bool {
        self.reasons.get(round).is_some_and(came)
    }

    /// The rate of the nearest slice of the same length that has a rate.
    fn neighbor(&self, round: usize) -> f64 {
        let length = |round: usize| self.lengths.get(round).copied().unwrap_or(f64::NAN);
        let alike = |other: &usize| (length(*other) / length(round) - 1.0).abs() < 1e-6;
        let known = |other: &usize| alike(other) && !self.rate(*other).is_nan();
        let before = (0..round).rev().find(known);
        let after = (round + 1..self.rates.len()).find(known);
        let nearest = before.into_iter().chain(after).min_by_key(|other| other.abs_diff(round));
        nearest.map_or(f64::NAN, |other| self.rate(other))
    }

    /// True if a round's slices are long enough to count: a step that searches for a length also
    /// has shorter ones. Lengths were drawn from exact values but are stored as milliseconds.
    pub(crate) fn counts(length_ms: f64, chosen_ms: f64) -> bool {
        length_ms >= 0.999 * chosen_ms
    }

    /// Number of rounds up to the last that was measured or set aside; the rounds after it never
    /// ran.
    pub(crate) fn rounds(&self) -> usize {
        let rounds = self.reasons.iter().rposition(came).map_or(0, |last| last + 1);
        rounds.min(self.rates.len()).min(self.lengths.len())
    }
}

/// True if a slice ran, even if it was set aside.
fn came(reason: &f64) -> bool {
    (*reason - SliceReason::NotMeasured.value()).abs() > 0.5
}
