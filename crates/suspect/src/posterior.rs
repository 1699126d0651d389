//! The posterior over the stretches in which changes are.
//!
//! The model, in logarithms relative to the base: candidate 0 has the level 0. Change i moves the
//! level with probability `1 - nothing^(share of its weight)`, and the new level is then drawn from
//! the prior, independently of the old one (a product partition model: D. Barry and J. A. Hartigan,
//! *J. Amer. Statist. Assoc.* 88, 1993). A look sees the level with the tails of Student's t.
//! Several changes between two neighbors that were looked at count as one, their sum.
//!
//! Sums over all levels of all candidates are taken by the forward and backward recursions of
//! hidden Markov models (L. R. Rabiner, *Proc. IEEE* 77, 1989), so they are exact but for the grid.

use crate::levels::{Levels, Looked, sums, within};
use crate::range::{Look, Range, RangeError};

/// The changes between two neighbors among the candidates that were looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// The last candidate before the changes.
    pub from: usize,
    /// The candidate after them.
    pub to: usize,
    /// Probability that they moved the level by more than the margin, together.
    pub moved: f64,
    /// Probability that they did, and none before them.
    pub first: f64,
    /// Expected log ratio of the two levels, if they moved it at all.
    pub log_ratio: f64,
    /// True if it is sure that they moved the level, and no look can tell more about the stretch.
    pub found: bool,
    /// Probability that they are the first of those not found yet.
    pub(crate) open: f64,
    /// The level of `from` if they did, and if they did not.
    pub(crate) before: Contrast,
    /// The level of `to` if one of the stretches up to it, not found yet, did, and if none did.
    pub(crate) after: Contrast,
}

/// How a level differs between two cases: a look at it tells them apart that well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Contrast {
    /// Difference of its expectations.
    pub(crate) size: f64,
    /// Mean of its variances.
    pub(crate) variance: f64,
}

/// All that the looks say.
#[derive(Debug, Clone)]
pub struct Posterior<'a> {
    pub(crate) range: &'a Range,
    pub(crate) looked: Vec<usize>,
    pub(crate) levels: Levels,
    stretches: Vec<Stretch>,
    nothing: f64,
    /// Probability that nothing else moved by more than the margin than what is found.
    pub(crate) nothing_else: f64,
    /// By stretch: probabilities of the levels before it by the looks up to there, and weights of
    /// the levels after it by those from there on if the level changed.
    pub(crate) sides: Vec<[Vec<f64>; 2]>,
    /// Probability that the ends differ by more than the margin.
    pub(crate) ends_differ: f64,
}

impl<'a> Posterior<'a> {
    /// The posterior after these looks, in any order.
    ///
    /// # Errors
    /// When a look is at no candidate after the base, or has numbers out of their range.
    pub fn new(range: &'a Range, looks: &[Look]) -> Result<Self, RangeError> {
        let last = range.last();
        let fits = |look: &&Look| {
            (1..=last).contains(&look.candidate)
                && look.log_ratio.is_finite()
                && look.error >= 0.0
                && look.error.is_finite()
                && look.freedom > 0.0
        };
        if let Some(look) = looks.iter().find(|look| !fits(look)) {
            return Err(RangeError::Look { last, look: *look });
        }
        let settings = range.settings();
        let looked = Looked::all(looks, settings);
        let levels = Levels::new(&looked, settings);
        let mut stops: Vec<usize> = looked.iter().map(|looked| looked.candidate).collect();
        let likely = |looked: &Looked| looked.likelihood(&levels.at);
        let mut likelihoods: Vec<Vec<f64>> = looked.iter().map(likely).collect();
        let looked = stops.clone();
        if stops.last() != Some(&last) {
            stops.push(last);
            likelihoods.push(vec![1.0; levels.at.len()]);
        }
        let chain = Chain::new(range, &levels, stops, likelihoods);
        let moves: Vec<(f64, Contrast)> =
            (0..chain.changes.len()).map(|at| chain.moves(at)).collect();
        let plain = chain.unmoved(&vec![false; moves.len()]);
        let found = |(number, (moved, _)): (usize, &(f64, Contrast))| {
            let (from, to) = chain.ends(number);
            *moved >= settings.confidence && range.is_narrow(from, to)
        };
        let found: Vec<bool> = moves.iter().enumerate().map(found).collect();
        let others = found.contains(&true).then(|| chain.unmoved(&found));
        let (open, after) = others.as_ref().unwrap_or(&plain);
        let stretch = |number: usize| {
            let (from, to) = chain.ends(number);
            Stretch {
                from,
                to,
                moved: moves[number].0,
                first: plain.0[number] - plain.0[number + 1],
                log_ratio: mean(&chain.anew[number], &levels.at).0
                    - mean(&chain.before[number], &levels.at).0,
                found: found[number],
                open: open[number] - open[number + 1],
                before: moves[number].1,
                after: after[number],
            }
        };
        let stretches = (0..moves.len()).map(stretch).collect();
        let (nothing, nothing_else) = (plain.0[moves.len()], open[moves.len()]);
        let ends_differ = chain.ends_differ();
        let sides = chain.before.into_iter().zip(chain.anew).map(|(a, b)| [a, b]).collect();
        Ok(Self { range, looked, levels, stretches, nothing, nothing_else, sides, ends_differ })
    }

    /// The stretches, in order: all changes, divided by the candidates that were looked at.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// Probability that no stretch moved by more than the margin. With the `first` of all it sums
    /// to 1.
    pub fn nothing(&self) -> f64 {
        self.nothing
    }

    /// For each change, from 1, the probability that the first stretch that moved is its own and
    /// that it is the change that did; the first entry is [`Posterior::nothing`]. They sum to 1.
    pub fn probabilities(&self) -> Vec<f64> {
        let mut all = vec![self.nothing];
        for stretch in &self.stretches {
            let whole = self.range.share(stretch.from, stretch.to);
            let change = |change: usize| match whole {
                0.0 => 0.0,
                _ => stretch.first * self.range.share(change - 1, change) / whole,
            };
            all.extend((stretch.from + 1..=stretch.to).map(change));
        }
        all
    }
}

/// The recursions. A stop is the base, a candidate that was looked at, or the last one; a stretch
/// lies between two of them.
struct Chain<'a> {
    levels: &'a Levels,
    /// The candidates.
    stops: Vec<usize>,
    /// By stretch: likelihood of the levels of the stop after it.
    likelihoods: Vec<Vec<f64>>,
    /// By stretch: prior probability that the level changes.
    changes: Vec<f64>,
    /// By stop and level: probability by the looks up to there.
    before: Vec<Vec<f64>>,
    /// By stop and level: likelihood of the looks after it, up to a factor.
    later: Vec<Vec<f64>>,
    /// By stretch and level: likelihood of the looks after it, up to the same factor.
    after: Vec<Vec<f64>>,
    /// The same times the prior of a level that changed.
    anew: Vec<Vec<f64>>,
    /// By stretch: the factor that made the probabilities of the stop after it sum to 1.
    scales: Vec<f64>,
}

impl<'a> Chain<'a> {
    /// `looked` are the stops after the base.
    fn new(
        range: &'a Range,
        levels: &'a Levels,
        looked: Vec<usize>,
        likelihoods: Vec<Vec<f64>>,
    ) -> Self {
        let stretches = looked.len();
        let never = range.settings().nothing.ln();
        let stops: Vec<usize> = [0].into_iter().chain(looked).collect();
        let change = |ends: &[usize]| -(never * range.share(ends[0], ends[1])).exp_m1();
        let mut chain = Self {
            levels,
            changes: stops.windows(2).map(change).collect(),
            stops,
            likelihoods,
            before: vec![vec![0.0; levels.at.len()]],
            later: vec![vec![1.0; levels.at.len()]],
            after: Vec::new(),
            anew: Vec::new(),
            scales: Vec::new(),
        };
        chain.before[0][levels.base] = 1.0;
        for number in 0..stretches {
            let all: f64 = chain.before[number].iter().sum();
            let mut next = chain.step(number, &chain.before[number], |_| all);
            let scale = next.iter().sum::<f64>().max(f64::MIN_POSITIVE).recip();
            next.iter_mut().for_each(|share| *share *= scale);
            chain.before.push(next);
            chain.scales.push(scale);
        }
        // From the last to the first, turned round in the end.
        for number in (0..stretches).rev() {
            let after = product(&chain.later[stretches - 1 - number], &chain.likelihoods[number]);
            let anew = product(&after, &levels.prior);
            let (change, all) = (chain.changes[number], anew.iter().sum::<f64>());
            let mut later: Vec<f64> =
                after.iter().map(|after| (1.0 - change) * after + change * all).collect();
            let scale = later.iter().copied().fold(f64::MIN_POSITIVE, f64::max).recip();
            later.iter_mut().for_each(|later| *later *= scale);
            chain.later.push(later);
            chain.after.push(after);
            chain.anew.push(anew);
        }
        chain.later.reverse();
        chain.after.reverse();
        chain.anew.reverse();
        chain
    }

    /// The candidates around a stretch.
    fn ends(&self, number: usize) -> (usize, usize) {
        (self.stops[number], self.stops[number + 1])
    }

    /// Weights of the levels after a stretch, from those before it. `arriving` is the weight of the
    /// levels from which a change leads to a level.
    fn step(&self, number: usize, now: &[f64], arriving: impl Fn(usize) -> f64) -> Vec<f64> {
        let (change, prior) = (self.changes[number], &self.levels.prior);
        let weight = |(level, likelihood): (usize, &f64)| {
            let stays = (1.0 - change) * now[level];
            likelihood * (stays + change * prior[level] * arriving(level))
        };
        self.likelihoods[number].iter().enumerate().map(weight).collect()
    }

    /// The probability that a stretch moved by more than the margin, and what this says of the
    /// level before it.
    fn moves(&self, number: usize) -> (f64, Contrast) {
        let (after, change) = (&self.after[number], self.changes[number]);
        let sums = sums(&self.anew[number]);
        let all = sums[sums.len() - 1];
        let (mut stays, mut moves) = (Vec::new(), Vec::new());
        for (level, before) in self.before[number].iter().enumerate() {
            let small = within(&sums, &self.levels.onward[level]);
            stays.push(before * ((1.0 - change) * after[level] + change * small));
            moves.push(before * change * (all - small).max(0.0));
        }
        let [stayed, moved] = [&stays, &moves].map(|weights| weights.iter().sum::<f64>());
        let moved = moved / (stayed + moved).max(f64::MIN_POSITIVE);
        (moved, Contrast::new(&stays, &moves, &self.levels.at))
    }

    /// For each stop, the probability that no stretch up to there moved by more than the margin,
    /// apart from those passed over; and, after the base, what that says of its level.
    fn unmoved(&self, passed: &[bool]) -> (Vec<f64>, Vec<Contrast>) {
        let mut now = self.before[0].clone();
        let (mut shares, mut contrasts) = (vec![1.0], Vec::new());
        for (number, passed) in passed.iter().enumerate() {
            let sums = sums(&now);
            let arriving = |level: usize| match passed {
                true => sums[sums.len() - 1],
                false => within(&sums, &self.levels.backward[level]),
            };
            now = self.step(number, &now, arriving);
            now.iter_mut().for_each(|weight| *weight *= self.scales[number]);
            let later = &self.later[number + 1];
            let unmoved = product(&now, later);
            let all = product(&self.before[number + 1], later);
            let moved: Vec<f64> = all.iter().zip(&unmoved).map(|(a, b)| (a - b).max(0.0)).collect();
            let [part, whole] = [&unmoved, &all].map(|weights| weights.iter().sum::<f64>());
            shares.push((part / whole.max(f64::MIN_POSITIVE)).min(shares[number]));
            contrasts.push(Contrast::new(&unmoved, &moved, &self.levels.at));
        }
        (shares, contrasts)
    }

    /// Probability that the last level is farther from the base's than the margin.
    fn ends_differ(&self) -> f64 {
        let sums = sums(&self.before[self.stops.len() - 1]);
        1.0 - within(&sums, &self.levels.onward[self.levels.base])
    }
}

impl Contrast {
    fn new(one: &[f64], other: &[f64], at: &[f64]) -> Self {
        let [one, other] = [one, other].map(|weights| mean(weights, at));
        Self { size: (one.0 - other.0).abs(), variance: 0.5 * (one.1 + other.1) }
    }
}

fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

/// Mean and variance of levels with these weights.
fn mean(weights: &[f64], at: &[f64]) -> (f64, f64) {
    let (mut sum, mut first, mut second) = (f64::MIN_POSITIVE, 0.0, 0.0);
    for (weight, at) in weights.iter().zip(at) {
        sum += weight;
        first += weight * at;
        second += weight * at * at;
    }
    let mean = first / sum;
    (mean, (second / sum - mean * mean).max(0.0))
}
