//! Counting what happens in many experiments, on all processors.

use std::fmt;
use std::thread;

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

    /// Standard error of a share that is truly `p`, in as many experiments.
    pub fn error_at(&self, p: f64) -> f64 {
        (p * (1.0 - p) / self.tries as f64).sqrt()
    }

    /// Not over `bound`, but for what the number of experiments explains: three standard errors.
    pub fn at_most(&self, bound: f64) -> bool {
        self.share() <= bound + 3.0 * self.error_at(bound)
    }

    /// Not under `bound`, but for what the number of experiments explains: three standard errors.
    pub fn at_least(&self, bound: f64) -> bool {
        self.share() >= bound - 3.0 * self.error_at(bound)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.1}%", 100.0 * self.share()))
    }
}

/// The results of experiments 0 to `count - 1`, in order, computed on all processors. An experiment
/// must depend on nothing but its number.
pub fn in_parallel<T: Send>(count: usize, experiment: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(count.max(1));
    let share = count.div_ceil(threads).max(1);
    let experiment = &experiment;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..count)
            .step_by(share)
            .map(|from| {
                let numbers = from..(from + share).min(count);
                scope.spawn(move || numbers.map(|n| experiment(n as u64)).collect::<Vec<T>>())
            })
            .collect();
        let mut results = Vec::with_capacity(count);
        for worker in workers {
            match worker.join() {
                Ok(part) => results.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let found = in_parallel(1001, |n| n * n);
        assert!(found.iter().enumerate().all(|(i, square)| *square == (i * i) as u64));
        assert_eq!(found.len(), 1001);
        assert!(in_parallel(0, |n| n).is_empty());
    }

    #[test]
    fn bounds_allow_for_few_experiments() {
        let rate = Rate::of((0..1000).map(|i| i < 60));
        assert_eq!(rate.to_string(), "6.0%");
        assert!(rate.at_most(0.05) && !rate.at_most(0.04));
        assert!(rate.at_least(0.07) && !rate.at_least(0.09));
    }
}
