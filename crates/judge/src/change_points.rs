//! Change points in a history of trials: E-divisive.
//!
//! A history is a row of runs in order of version, commit or date, each with one trial or several.
//! E-divisive (Matteson and James, *Journal of the American Statistical Association* 109, 2014; for
//! histories of performance: Daly et al., *ICPE* 2020) cuts it where the two sides differ most, and
//! then cuts the pieces in the same way, until a permutation test says that the next cut may be
//! chance. It makes no assumption about the distribution and needs no threshold.
//!
//! It is applied to trials, never to the seconds of one trial.

use std::ops::Range;

use crate::{CONFIDENCE, t_quantile, variance_inflation};

mod cuts;
mod dependence;
mod energy;
mod permutation;

use cuts::Cuts;
use energy::{Cut, Energy};
use permutation::Null;

pub use cuts::MIN_SEGMENT;

/// A history needs this many units to show a change at the 5% level. With 8 values in two groups of
/// 4, 2 of 70 orders give the clearest step possible; with 7 values, 2 of 35.
pub const ENOUGH_UNITS: usize = 8;

/// Intervals are widened by this divided by the number of units. Welch's t ignores that the place
/// was chosen because the difference is largest there, that only clear differences are reported,
/// and that a few runs say little about dependence. In simulations, its intervals cover 82 to 90%
/// where small changes are found in short histories that wander. With 8, they cover 93% and more
/// (VALIDATION.md), but are too wide where nothing wanders.
const CHOSEN: f64 = 8.0;

/// The unit whose order would mean nothing if nothing ever changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchangeable {
    /// Each trial by itself. This is right if the runs were interleaved in one experiment, like
    /// versions in blocks.
    Trial,
    /// A whole run, as the mean of the logarithms of its trials. This is right if each run was made
    /// on another day, with conditions that all its trials share.
    Run,
}

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeSearch {
    /// The unit that the permutation test exchanges.
    pub unit: Exchangeable,
    /// The chance of finding a change where there is none.
    pub significance: f64,
    /// Number of random orders for a segment that has too many orders to try all. With 999, the
    /// error of the p value is at most 0.007.
    pub permutations: u32,
    /// True if a cut must also be clearer than in series without changes that wander (first-order
    /// autoregression) as strongly as this one seems to.
    pub dependent: bool,
    /// Seed of the random orders. The same seed gives the same result.
    pub seed: u64,
}

impl ChangeSearch {
    /// A search at 5% with 999 orders. It checks against wandering noise if runs are the unit; the
    /// trials of one randomized experiment don't need that.
    pub fn by(unit: Exchangeable) -> Self {
        let dependent = unit == Exchangeable::Run;
        Self { unit, significance: 0.05, permutations: 999, dependent, seed: 1 }
    }
}

/// A place where the level changed.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangePoint {
    /// The first run after the change.
    pub run: usize,
    /// The runs before it, back to the previous change point or the beginning.
    pub before: Range<usize>,
    /// The runs after it, up to the next change point or the end.
    pub after: Range<usize>,
    /// Geometric mean after / geometric mean before. On average it is a little too far from 1,
    /// because the best cut was chosen.
    pub ratio: f64,
    /// Lower end of the 95% interval of the ratio, for a change at or near this place.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// p value of the permutation test.
    pub p: f64,
    /// p value against noise that wanders as strongly as this history; `None` if the history
    /// doesn't wander, or if the check wasn't requested.
    pub dependent_p: Option<f64>,
}

/// The changes in a history.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// Change points in order.
    pub points: Vec<ChangePoint>,
    /// Cuts that the permutation test calls changes, but that noise wandering like this history
    /// also produces. They aren't divided further.
    pub doubtful: Vec<ChangePoint>,
    /// Number of units (trials or runs). With fewer than [`ENOUGH_UNITS`], nothing can be found.
    pub units: usize,
    /// Lag-1 autocorrelation of the history after its changes are removed, as estimated where a cut
    /// was tested. It widens the intervals.
    pub persistence: Option<f64>,
}

/// Why a history cannot be searched.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum HistoryError {
    /// A run without a trial.
    #[error(
        "expected a trial in every run, found none in run {run}; leave out runs without results"
    )]
    NoTrial {
        /// Its place, from 0.
        run: usize,
    },
    /// A value without a logarithm.
    #[error("expected positive finite values, found {value} in run {run}; leave out failed steps")]
    NotPositive {
        /// Place of the run, from 0.
        run: usize,
        /// The value.
        value: f64,
    },
}

/// Finds the changes in a history: `runs[i]` are the values of one metric (positive; a throughput,
/// a cost) in the trials of run i. A change lies between two runs, never inside one.
///
/// # Errors
/// When a run has no trial, or a value is not positive and finite.
pub fn change_points(runs: &[Vec<f64>], search: &ChangeSearch) -> Result<Changes, HistoryError> {
    let history = History::new(runs, search.unit)?;
    let mut pieces = Pieces { history: &history, search, known: Vec::new() };
    let (mut found, mut doubtful) = pieces.divide(|_| None);
    let mut persistence = None;
    if search.dependent && !found.is_empty() {
        let most = found.len();
        let mut known: Vec<Option<f64>> = vec![None; most + 1];
        (found, doubtful) = pieces.divide(|accepted| {
            // The changes accepted, the one in question, and two more that it may hide.
            let splits = (accepted + 3).min(most).max(1);
            let rho = *known[splits].get_or_insert_with(|| {
                dependence::persistence(&history.values, &history.cuts, splits, search.seed)
            });
            persistence = Some(rho);
            Some(rho)
        });
    }
    let described = |cut: &Found, others: &[Found]| {
        let mut bounds: Vec<usize> = others.iter().map(|other| other.at).collect();
        bounds.extend([0, cut.at, history.values.len()]);
        bounds.sort_unstable();
        bounds.dedup();
        history.change_point(cut, &bounds, persistence.unwrap_or(0.0))
    };
    let mut points: Vec<ChangePoint> = found.iter().map(|cut| described(cut, &found)).collect();
    let mut doubtful: Vec<ChangePoint> =
        doubtful.iter().map(|cut| described(cut, &found)).collect();
    points.sort_by_key(|point| point.run);
    doubtful.sort_by_key(|point| point.run);
    Ok(Changes { points, doubtful, units: history.values.len(), persistence })
}

/// A cut that the permutation test calls a change.
struct Found {
    at: usize,
    p: f64,
    dependent_p: Option<f64>,
}

/// The segments into which a history was divided so far.
struct Pieces<'a> {
    history: &'a History,
    search: &'a ChangeSearch,
    known: Vec<Segment>,
}

impl Pieces<'_> {
    /// Divides the history for as long as the permutation test allows. Returns the cuts, and those
    /// that wandering noise also produces, which aren't divided further. `persistence` says how
    /// strongly the history wanders, given the number of cuts so far.
    fn divide(
        &mut self,
        mut persistence: impl FnMut(usize) -> Option<f64>,
    ) -> (Vec<Found>, Vec<Found>) {
        let mut open = vec![self.piece(0..self.history.values.len())];
        let (mut found, mut doubtful) = (Vec::new(), Vec::new());
        while let Some((chosen, at, p)) = self.best(&open) {
            let segment = &self.known[open[chosen]];
            let dependent_p = persistence(found.len())
                .filter(|rho| *rho > 0.0)
                .map(|rho| segment.dependent_p(rho, self.search.seed));
            let cut = Found { at, p, dependent_p };
            if dependent_p.is_some_and(|p| p > self.search.significance) {
                doubtful.push(cut);
                open.remove(chosen);
                continue;
            }
            found.push(cut);
            let (from, to) = (segment.range.start, segment.range.end);
            open[chosen] = self.piece(from..at);
            open.push(self.piece(at..to));
        }
        (found, doubtful)
    }

    /// The place of a segment among those known.
    fn piece(&mut self, range: Range<usize>) -> usize {
        let known = self.known.iter().position(|segment| segment.range == range);
        known.unwrap_or_else(|| {
            self.known.push(Segment::new(self.history, range, self.search));
            self.known.len() - 1
        })
    }

    /// The open segment with the best cut, that cut, and the probability that any open segment has
    /// one as good by chance; `None` if that is not significant.
    fn best(&mut self, open: &[usize]) -> Option<(usize, usize, f64)> {
        let cut_of = |segment: &Segment| segment.cut.map(|cut| (segment.range.start, cut));
        let (chosen, (start, cut)) = open
            .iter()
            .enumerate()
            .filter_map(|(place, piece)| Some((place, cut_of(&self.known[*piece])?)))
            .max_by(|(_, (_, a)), (_, (_, b))| a.divergence.total_cmp(&b.divergence))?;
        let limit = self.search.significance;
        let mut p = |piece: usize| {
            self.known[piece].null.as_mut().map_or(0.0, |null| null.p(cut.divergence, limit))
        };
        // It has by far the most orders that reach its own best cut.
        if p(open[chosen]) > limit {
            return None;
        }
        let any = 1.0 - open.iter().map(|piece| 1.0 - p(*piece)).product::<f64>();
        (any <= limit).then_some((chosen, start + cut.at, any))
    }
}

/// The values of a history in order, and where it may be cut.
struct History {
    /// Logarithms, by unit.
    values: Vec<f64>,
    /// The run of each unit.
    runs: Vec<usize>,
    cuts: Cuts,
}

impl History {
    fn new(runs: &[Vec<f64>], unit: Exchangeable) -> Result<Self, HistoryError> {
        let mut history = Self { values: Vec::new(), runs: Vec::new(), cuts: Cuts(Vec::new()) };
        for (run, trials) in runs.iter().enumerate() {
            if trials.is_empty() {
                return Err(HistoryError::NoTrial { run });
            }
            if let Some(value) = trials.iter().find(|v| !(v.is_finite() && **v > 0.0)) {
                return Err(HistoryError::NotPositive { run, value: *value });
            }
            if run > 0 {
                history.cuts.0.push(history.values.len());
            }
            let logs = trials.iter().map(|value| value.ln());
            match unit {
                Exchangeable::Trial => history.values.extend(logs),
                Exchangeable::Run => history.values.push(logs.sum::<f64>() / trials.len() as f64),
            }
            history.runs.resize(history.values.len(), run);
        }
        Ok(history)
    }

    fn change_point(&self, cut: &Found, bounds: &[usize], rho: f64) -> ChangePoint {
        let at = cut.at;
        let place = bounds.partition_point(|bound| *bound < at);
        let (from, to) = (bounds[place - 1], bounds[place + 1]);
        let (ratio, half) = difference(&self.values[from..at], &self.values[at..to], rho);
        let half = half * (1.0 + CHOSEN / self.values.len() as f64);
        let run_of = |unit: usize| self.runs.get(unit).copied();
        let runs = self.runs.last().map_or(0, |run| run + 1);
        let run = self.runs[at];
        ChangePoint {
            run,
            before: self.runs[from]..run,
            after: run..run_of(to).unwrap_or(runs),
            ratio: ratio.exp(),
            low: (ratio - half).exp(),
            high: (ratio + half).exp(),
            p: cut.p,
            dependent_p: cut.dependent_p,
        }
    }
}

/// A piece of the history between two cuts.
struct Segment {
    range: Range<usize>,
    cuts: Vec<usize>,
    cut: Option<Cut>,
    null: Option<Null>,
    mean_distance: f64,
}

impl Segment {
    fn new(history: &History, range: Range<usize>, search: &ChangeSearch) -> Self {
        let values = &history.values[range.clone()];
        let cuts = history.cuts.within(&range);
        let mut energy = Energy::new(values);
        let order: Vec<usize> = (0..values.len()).collect();
        let cut = energy.best_cut(&order, &cuts, MIN_SEGMENT).filter(|_| spread(values));
        let mean_distance = energy.mean_distance();
        // A seed of its own for each place, whatever the order in which segments come up.
        let seed = search.seed ^ ((range.start as u64) << 32 | range.end as u64);
        let null =
            cut.map(|_| Null::new(energy, cuts.clone(), values.len(), (search.permutations, seed)));
        Self { range, cuts, cut, null, mean_distance }
    }

    fn dependent_p(&self, rho: f64, seed: u64) -> f64 {
        let divergence = self.cut.map_or(0.0, |cut| cut.divergence / self.mean_distance);
        dependence::p(self.range.len(), &self.cuts, rho, divergence, seed)
    }
}

/// True if values differ by more than the last bits.
fn spread(values: &[f64]) -> bool {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    high - low > 1e-12
}

/// Mean after minus mean before, and half its 95% interval by Welch's t (*Biometrika* 34, 1947),
/// with the variance of each mean raised, and its degrees of freedom lowered, by the dependence
/// `rho` of the values.
fn difference(before: &[f64], after: &[f64], rho: f64) -> (f64, f64) {
    let side = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let inflation = variance_inflation(rho, n);
        let worth = n / inflation;
        // The spread around the own mean is too small by the mean's own variance (Bayley and
        // Hammersley, *Supplement to the Journal of the Royal Statistical Society* 8, 1946).
        let variance = squares / (n - inflation).max(0.5);
        (mean, variance * inflation / n, (worth - 1.0).max(1.0))
    };
    let (left, left_error, left_freedom) = side(before);
    let (right, right_error, right_freedom) = side(after);
    let error = left_error + right_error;
    if error <= 0.0 {
        return (right - left, 0.0);
    }
    let freedom = error * error
        / (left_error * left_error / left_freedom + right_error * right_error / right_freedom);
    (right - left, t_quantile(0.5 + 0.5 * CONFIDENCE, freedom) * error.sqrt())
}

#[cfg(test)]
mod tests;
