//! Counting what happens in many experiments, on all processors.

use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::thread;

use crate::Random;

/// A share as a percentage with this many decimals.
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{:.decimals$}%", 100.0 * share)
}

/// A share of experiments, with its Monte-Carlo error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// How often it happened.
    pub hits: usize,
    /// In how many experiments.
    pub tries: usize,
}

impl Rate {
    /// Counts those `true`.
    pub fn of(outcomes: impl IntoIterator<Item = bool>) -> Self {
        let (mut hits, mut tries) = (0, 0);
        for happened in outcomes {
            tries += 1;
            hits += usize::from(happened);
        }
        Self { hits, tries }
    }

    /// The share, 0 to 1; NaN without experiments.
    pub fn share(&self) -> f64 {
        self.hits as f64 / self.tries as f64
    }

    /// True if the rate is within `bounds`, give or take three standard errors, which the number of
    /// experiments explains.
    pub fn within(&self, bounds: &impl RangeBounds<f64>) -> bool {
        let error = |p: f64| 3.0 * (p * (1.0 - p) / self.tries as f64).sqrt();
        let [low, high] = ends(bounds);
        low.is_none_or(|low| self.share() >= low - error(low))
            && high.is_none_or(|high| self.share() <= high + error(high))
    }
}

fn ends(bounds: &impl RangeBounds<f64>) -> [Option<f64>; 2] {
    [bounds.start_bound(), bounds.end_bound()].map(|bound| match bound {
        Bound::Included(at) | Bound::Excluded(at) => Some(*at),
        Bound::Unbounded => None,
    })
}

/// Bounds of a share in words: `≤ 2.5%`, `93% to 97%`.
pub fn bounds_in_words(bounds: &impl RangeBounds<f64>) -> String {
    let [low, high] =
        ends(bounds).map(|end| end.map(|at| format!("{}%", (1e4 * at).round() / 1e2)));
    match (low, high) {
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("≥ {low}"),
        (None, high) => format!("≤ {}", high.unwrap_or_default()),
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&percent(self.share(), 1))
    }
}

/// The results of experiments 0 to `count - 1` of the stream `seed`, in order, computed on all
/// processors.
pub fn simulate<T: Send>(
    seed: u64,
    count: usize,
    experiment: impl Fn(&mut Random) -> T + Sync,
) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(count.max(1));
    let share = count.div_ceil(threads).max(1);
    let numbered = |number: usize| experiment(&mut Random::new(seed, number as u64));
    let numbered = &numbered;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..count)
            .step_by(share)
            .map(|from| {
                let numbers = from..(from + share).min(count);
                scope.spawn(move || numbers.map(numbered).collect::<Vec<T>>())
            })
            .collect();
        let joined = workers.into_iter().flat_map(|worker| match worker.join() {
            Ok(part) => part,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.collect()
    })
}

/// Figures of many experiments; NaN without any.
pub trait Outcomes<T> {
    /// How often something happened.
    fn rate(&self, happened: impl Fn(&T) -> bool) -> Rate;
    /// A figure of each.
    fn each(&self, figure: impl Fn(&T) -> f64) -> Vec<f64>;
    /// The mean of a figure.
    fn mean(&self, figure: impl Fn(&T) -> f64) -> f64 {
        judge::mean(&self.each(figure)).unwrap_or(f64::NAN)
    }
    /// The median of a figure.
    fn median(&self, figure: impl Fn(&T) -> f64) -> f64 {
        judge::median(&self.each(figure)).unwrap_or(f64::NAN)
    }
}

impl<T> Outcomes<T> for [T] {
    fn rate(&self, happened: impl Fn(&T) -> bool) -> Rate {
        Rate::of(self.iter().map(happened))
    }

    fn each(&self, figure: impl Fn(&T) -> f64) -> Vec<f64> {
        self.iter().map(figure).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let found = simulate(3, 1001, Random::bits);
        assert!(found.iter().zip(0..).all(|(bits, n)| *bits == Random::new(3, n).bits()));
        assert_eq!(found.len(), 1001);
        assert!(simulate(3, 0, Random::bits).is_empty());
    }

    #[test]
    fn bounds_allow_for_few_experiments() {
        let rate = Rate::of((0..1000).map(|i| i < 60));
        assert_eq!(rate.to_string(), "6.0%");
        assert!(rate.within(&(..=0.05)) && !rate.within(&(..=0.04)));
        assert!(rate.within(&(0.07..)) && !rate.within(&(0.09..)));
        assert!(rate.within(&(0.05..=0.06)) && !rate.within(&(0.01..=0.04)));
        assert_eq!(bounds_in_words(&(..=0.025)), "≤ 2.5%");
        assert_eq!(bounds_in_words(&(0.93..)), "≥ 93%");
        assert_eq!(bounds_in_words(&(0.79..=0.84)), "79% to 84%");
    }
}
