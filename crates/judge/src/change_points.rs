//! Change points in a history of trials: E-divisive.
//!
//! A history is a row of runs in order of version, commit or date, each with one trial or several.
//! E-divisive (Matteson and James, *Journal of the American Statistical Association* 109, 2014; for
//! histories of performance: Daly et al., *ICPE* 2020) cuts it where the two sides differ most, and
//! continues inside the pieces until a permutation test says that such a cut may be chance. It
//! assumes no shape of the distribution and needs no threshold.
//!
//! Only over trials, never over the seconds of one.

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

/// From this many units on a history can show a change at the 5% level: of 8 values in two groups
/// of 4 the clearest step is reached by 2 of 70 orders, of 7 by 2 of 35.
pub const ENOUGH_UNITS: usize = 8;

/// Intervals are wider by this over the number of units. Welch's t does not know that the place was
/// chosen where the difference looks largest, and that only clear differences are told, nor how
/// badly dependence is known from a few runs: by simulation it covers 82 to 90% where small changes
/// are found in short histories that wander. 8 makes that 93% and more (VALIDATION.md), at the
/// price of too wide intervals where nothing wanders.
const CHOSEN: f64 = 8.0;

/// Data that could as well have come in another order if nothing ever changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchangeable {
    /// Every trial by itself: right where the runs were interleaved in one experiment, as versions
    /// in blocks are.
    Trial,
    /// A run as a whole, by the mean of the logarithms of its trials: right where each run has a
    /// day of its own, whose conditions all its trials share.
    Run,
}

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeSearch {
    /// The unit that the permutation test exchanges.
    pub unit: Exchangeable,
    /// The chance of finding a change where there is none.
    pub significance: f64,
    /// Random orders for a segment that has too many to try all. The p value has an error of at
    /// most 0.007 with 999.
    pub permutations: u32,
    /// True if a cut must also hold against series that only wander (first-order autoregression),
    /// as strongly as this one seems to.
    pub dependent: bool,
    /// Where the random orders start. The same seed gives the same result.
    pub seed: u64,
}

impl ChangeSearch {
    /// At 5%, 999 orders. With the check against wandering noise where runs have days of their own;
    /// trials of one randomised experiment need none.
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
    /// The runs before it, back to the change point before or the beginning.
    pub before: Range<usize>,
    /// The runs after it, up to the next change point or the end.
    pub after: Range<usize>,
    /// Geometric mean after / geometric mean before. A little too far from 1 on average, for the
    /// best cut was chosen.
    pub ratio: f64,
    /// Lower end of the 95% interval of the ratio, for a change at or near this place.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// p value of the permutation test.
    pub p: f64,
    /// p value against noise that wanders as strongly as this history does; `None` where it does
    /// not, or it was not asked for.
    pub dependent_p: Option<f64>,
}

/// The changes in a history.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// Change points in order.
    pub points: Vec<ChangePoint>,
    /// Cuts that the permutation test calls changes, though noise which wanders like this does as
    /// much. Not looked behind.
    pub doubtful: Vec<ChangePoint>,
    /// Number of units (trials or runs): under [`ENOUGH_UNITS`] nothing can be found.
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
    let (mut found, mut doubtful) = divide(&history, search, |_| None);
    let mut persistence = None;
    if search.dependent && !found.is_empty() {
        let most = found.len();
        let mut known: Vec<Option<f64>> = vec![None; most + 1];
        (found, doubtful) = divide(&history, search, |accepted| {
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

/// Divides a history as long as the permutation test allows it: the cuts, and those that noise
/// which wanders does as well. `persistence` tells how strongly it wanders, given the number of
/// cuts so far.
fn divide(
    history: &History,
    search: &ChangeSearch,
    mut persistence: impl FnMut(usize) -> Option<f64>,
) -> (Vec<Found>, Vec<Found>) {
    let mut segments = vec![Segment::new(history, 0..history.values.len(), search)];
    let (mut found, mut doubtful) = (Vec::new(), Vec::new());
    while let Some((chosen, at, p)) = best(&segments).filter(|(_, _, p)| *p <= search.significance)
    {
        let segment = &segments[chosen];
        let dependent_p = persistence(found.len())
            .filter(|rho| *rho > 0.0)
            .map(|rho| segment.dependent_p(rho, search.seed));
        let cut = Found { at, p, dependent_p };
        if dependent_p.is_some_and(|p| p > search.significance) {
            doubtful.push(cut);
            segments[chosen].closed = true;
            continue;
        }
        found.push(cut);
        let (from, to) = (segment.range.start, segment.range.end);
        segments[chosen] = Segment::new(history, from..at, search);
        segments.push(Segment::new(history, at..to, search));
    }
    (found, doubtful)
}

/// The open segment with the best cut, that cut, and the chance that any of the open segments has
/// one as good.
fn best(segments: &[Segment]) -> Option<(usize, usize, f64)> {
    let open = || segments.iter().enumerate().filter(|(_, segment)| !segment.closed);
    let (chosen, cut) = open()
        .filter_map(|(place, segment)| Some((place, segment.cut?)))
        .max_by(|a, b| a.1.divergence.total_cmp(&b.1.divergence))?;
    let none_as_good: f64 = open()
        .map(|(_, segment)| 1.0 - segment.null.as_ref().map_or(0.0, |n| n.p(cut.divergence)))
        .product();
    Some((chosen, segments[chosen].range.start + cut.at, 1.0 - none_as_good))
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
    closed: bool,
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
            cut.map(|_| Null::new(&mut energy, &cuts, values.len(), (search.permutations, seed)));
        Self { range, cuts, cut, null, mean_distance, closed: false }
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
/// the variance of each mean raised and its degrees of freedom lowered by the dependence `rho` of
/// the values.
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
