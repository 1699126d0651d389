//! How many restarts to run, and how long each step should be, to decide the most in the remaining
//! time.
//!
//! The log ratio of a step has a part that differs between restarts and a part within them that a
//! longer step averages out: after R restarts its variance is `(between + within / seconds) / R`. A
//! restart costs its own seconds and those of all steps. Long steps waste time where restarts
//! differ, short ones where restarts are expensive; the best length balances the two (T. Kalibera
//! and R. Jones, *Rigorous Benchmarking in Reasonable Time*, ISMM 2013, §5.2). Here several steps
//! share the restarts, and each has its own target.

use crate::{ENOUGH_BLOCKS, t_quantile};

/// No timed step is shorter than this on each server, in seconds: a dozen slices.
pub const SHORTEST: f64 = 0.5;
/// No timed step is longer than this, in seconds: another restart would tell more.
pub const LONGEST: f64 = 30.0;

/// The spread of a step's log ratio, and its target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepNoise {
    /// Variance of the log ratio between restarts, in addition to the variance within them.
    pub between: f64,
    /// Variance of the log ratio of a restart in which the step runs for one second.
    pub within: f64,
    /// How long the step may run in a restart, in seconds: from, to. Both are the same if the step
    /// ends by work.
    pub seconds: (f64, f64),
    /// Target half width of its interval, as a log ratio; `None` if the step needs nothing more.
    pub wanted: Option<f64>,
    /// Further restarts that its verdict needs, however narrow its interval is by then.
    pub fewest: u32,
}

/// Assumed deviation of a step's log ratio in slices between restarts, before anything is known:
/// about what Postgres has (VALIDATION.md, "On real servers").
pub const USUAL_BETWEEN: f64 = 0.006;

impl StepNoise {
    /// A step that ends by time, on servers that share it: `within` is the variance of its log
    /// ratio for one second of load on each of them.
    pub fn timed(between: f64, within: f64, servers: f64) -> Self {
        let seconds = (SHORTEST * servers, LONGEST * servers);
        Self { between, within: within * servers, seconds, wanted: None, fewest: 0 }
    }

    /// A step that ends by its work: its time is part of the cost of a restart.
    pub fn by_work(variance: f64) -> Self {
        let seconds = (f64::MIN_POSITIVE, f64::MIN_POSITIVE);
        Self { between: variance, within: 0.0, seconds, wanted: None, fewest: 0 }
    }

    /// Variance of the log ratio of one restart in which the step runs this long.
    pub fn variance(&self, seconds: f64) -> f64 {
        self.between + self.within / seconds
    }

    /// The length, within the bounds, at which the mean of this many restarts has this variance.
    fn seconds_for(&self, variance: f64, restarts: f64) -> f64 {
        let left = variance * restarts - self.between;
        let (from, to) = self.seconds;
        if left > 0.0 { (self.within / left).clamp(from, to) } else { to }
    }
}

/// A plan for the remaining time.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// Further restarts.
    pub restarts: u32,
    /// How long each step runs in each of them, in seconds.
    pub seconds: Vec<f64>,
    /// Standard error of each step's log ratio at the end.
    pub errors: Vec<f64>,
}

/// Designs have at least this many restarts, and as many as a verdict needs in all, unless there is
/// no time for them.
const FEWEST_RESTARTS: u32 = 4;
/// More restarts than this are not considered.
const MOST_RESTARTS: u32 = 2000;

/// Chooses restarts and lengths so that the step furthest from its target gets as close as
/// possible.
///
/// `done` restarts are already finished; each further one costs `restart` seconds plus those of the
/// steps, and all of them together at most `time` seconds. Intervals have this confidence. `None`
/// if there is no time for another restart.
pub fn design(
    steps: &[StepNoise],
    done: u32,
    restart: f64,
    time: f64,
    confidence: f64,
) -> Option<Design> {
    let shortest: f64 = steps.iter().map(|step| step.seconds.0).sum();
    let most = ((time / (restart + shortest)) as u32).min(MOST_RESTARTS);
    let mut best: Option<(f64, Design)> = None;
    // With many restarts, one more or less makes no different design. With few, one that does not
    // fit in the end would leave much of the time unused.
    let next = |restarts: &u32| Some((restarts + 1).max(restarts + restarts / 12));
    let of_steps = steps.iter().map(|step| step.fewest).max().unwrap_or(0);
    let fewest = FEWEST_RESTARTS.max((ENOUGH_BLOCKS as u32).saturating_sub(done)).max(of_steps);
    let numbers = std::iter::successors(Some(most.min(fewest)), next)
        .take_while(|restarts| (1..=most).contains(restarts));
    for restarts in numbers {
        let all = f64::from(done + restarts);
        let left = time / f64::from(restarts) - restart;
        let quantile = t_quantile(0.5 + 0.5 * confidence, (all - 1.0).max(1.0));
        // The lengths with which every interval is `times` as wide as wanted.
        let lengths = |times: f64| -> Vec<f64> {
            let length = |step: &StepNoise| match step.wanted {
                Some(wanted) => step.seconds_for((times * wanted / quantile).powi(2), all),
                None => step.seconds.0,
            };
            steps.iter().map(length).collect()
        };
        let fits = |times: f64| lengths(times).iter().sum::<f64>() <= left;
        let seconds = lengths(narrowest(fits));
        let error = |(step, seconds): (&StepNoise, &f64)| (step.variance(*seconds) / all).sqrt();
        let errors: Vec<f64> = steps.iter().zip(&seconds).map(error).collect();
        let worst = steps
            .iter()
            .zip(&errors)
            .filter_map(|(step, error)| Some(quantile * error / step.wanted?))
            .fold(0.0, f64::max);
        if best.as_ref().is_none_or(|(known, _)| worst < *known) {
            best = Some((worst, Design { restarts, seconds, errors }));
        }
    }
    best.map(|(_, design)| design)
}

/// The smallest factor that fits, given that all larger ones then fit, too.
fn narrowest(fits: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (1e-3_f64, 1e4_f64);
    // To a hundredth of a percent.
    for _ in 0..18 {
        let middle = (low * high).sqrt();
        if fits(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(between: f64, within: f64, wanted: Option<f64>) -> StepNoise {
        StepNoise {
            between: between * between,
            within: within * within,
            seconds: (0.5, 60.0),
            wanted,
            fewest: 0,
        }
    }

    /// With one step the optimum is `√(cost of a restart · within / between)`.
    #[test]
    fn one_step_gets_the_length_of_kalibera_and_jones() {
        let noise = step(0.01, 0.02, Some(0.001));
        let design = design(&[noise], 3, 6.0, 3600.0, 0.975).unwrap();
        let best = (6.0_f64 * noise.within / noise.between).sqrt();
        assert!((design.seconds[0] / best - 1.0).abs() < 0.1, "{design:?}, {best}");
        let all = f64::from(design.restarts) * (6.0 + design.seconds[0]);
        assert!(all <= 3600.0 && all > 3550.0, "{all}");
    }

    #[test]
    fn time_goes_where_it_is_needed() {
        let steps =
            [step(0.005, 0.03, Some(0.01)), step(0.005, 0.01, Some(0.01)), step(0.1, 0.1, None)];
        let design = design(&steps, 3, 5.0, 300.0, 0.975).unwrap();
        assert!(design.seconds[0] > 4.0 * design.seconds[1], "{design:?}");
        assert!((design.seconds[2] - 0.5).abs() < 1e-12, "{design:?}");
        let [one, two, _] = design.errors[..] else { panic!("{design:?}") };
        assert!((one / two - 1.0).abs() < 0.2, "{design:?}");
    }

    #[test]
    fn a_step_that_ends_by_its_work_keeps_its_length() {
        let fixed = StepNoise { seconds: (2.5, 2.5), ..step(0.01, 0.01, Some(0.01)) };
        let design = design(&[fixed], 0, 2.0, 45.0, 0.95).unwrap();
        assert_eq!((design.restarts, design.seconds), (10, vec![2.5]));
        assert_eq!(super::design(&[fixed], 9, 2.0, 4.0, 0.95), None);
    }

    /// Restarts are expensive here, so four with long steps would give the narrowest interval. But
    /// fewer than six give no verdict.
    #[test]
    fn there_are_as_many_restarts_as_a_verdict_needs() {
        let steps = [step(0.0001, 0.03, Some(0.01))];
        let found = |done| design(&steps, done, 20.0, 150.0, 0.975).unwrap().restarts;
        assert!(found(0) >= 6 && found(1) >= 5, "{} {}", found(0), found(1));
        assert_eq!(design(&steps, 0, 20.0, 65.0, 0.975).unwrap().restarts, 3, "no time for more");
        let frozen = [StepNoise { fewest: 7, ..steps[0] }];
        assert_eq!(design(&frozen, 5, 20.0, 150.0, 0.975).unwrap().restarts, 7);
    }
}
