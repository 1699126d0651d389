//! Usual practice: its calls on experiments cut from recorded trials. And the scoring of calls.

use judge::{Comparison, Margin, Verdict, compare};

use super::builds::Build;
use super::recording::{Recording, Trials};

/// A way to find differences without this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Practice {
    /// Its name in the table.
    pub name: &'static str,
    /// How many trials of each an experiment has.
    pub trials: usize,
    /// True if the trials are blocks with an interval of 95%; otherwise the ratio of means decides.
    interval: bool,
}

/// A contender's call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Call {
    pub verdict: Verdict,
    pub ratio: f64,
    /// True if it says for sure that there is a difference, however small.
    pub confirmed: bool,
    /// Seconds of the machine that it took.
    pub seconds: f64,
}

impl Call {
    /// The call of a comparison that took this many seconds.
    pub fn of(comparison: &Comparison, seconds: f64) -> Self {
        let Comparison { verdict, ratio, .. } = *comparison;
        Self { verdict, ratio, confirmed: comparison.confirmed(), seconds }
    }
}

/// The correctness of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Score {
    Right,
    Wrong,
    Undecided,
}

impl Practice {
    pub const ALL: [Self; 3] = [
        Self { name: "six trials each, 95% interval", trials: 6, interval: true },
        Self { name: "three runs each, ratio of means", trials: 3, interval: false },
        Self { name: "one run each", trials: 1, interval: false },
    ];

    /// Seconds of load that a trial has, if all trials and the time they need in addition to their
    /// load fit into `budget` seconds.
    pub fn seconds(self, recording: &Recording, budget: f64) -> usize {
        (budget / (2 * self.trials) as f64 - recording.fixed).floor().max(0.0) as usize
    }

    /// Its calls on a build within this many seconds, one for each experiment that the recording
    /// holds: no trial is in two of them. Empty if no trial was recorded for that long.
    pub fn calls(
        self,
        recording: &Recording,
        place: usize,
        build: &Build,
        budget: f64,
    ) -> Vec<Call> {
        let seconds = self.seconds(recording, budget);
        if !(1..=recording.seconds).contains(&seconds) {
            return Vec::new();
        }
        let experiments = recording.pairs[place].chunks_exact(self.trials);
        experiments.map(|trials| self.call(trials, build, seconds, budget)).collect()
    }

    fn call(self, trials: &[Trials], build: &Build, seconds: usize, budget: f64) -> Call {
        let side = |of: fn(&Trials) -> &[f64]| -> Vec<f64> {
            let mean = |rates: &[f64]| judge::mean(&rates[..seconds]).unwrap_or(f64::NAN);
            trials.iter().map(|trials| mean(of(trials))).collect()
        };
        let (base, variant) = (side(|trials| &trials.base), side(|trials| &trials.variant));
        let ratio = variant.iter().sum::<f64>() / base.iter().sum::<f64>();
        let verdict = match self.interval {
            true => Verdict::Inconclusive,
            false => by_threshold(ratio, build.margin),
        };
        let judged = compare(&base, &variant, Margin::of(build.margin)).ok();
        judged
            .filter(|_| self.interval)
            .map_or(Call { verdict, ratio, confirmed: false, seconds: budget }, |found| {
                Call::of(&found, budget)
            })
    }
}

/// Usual practice: a ratio that is off by more than the threshold is a change.
fn by_threshold(ratio: f64, threshold: f64) -> Verdict {
    if ratio < 1.0 - threshold {
        Verdict::Regression
    } else if ratio > 1.0 + threshold {
        Verdict::Improvement
    } else {
        Verdict::Equivalent
    }
}

/// Decides if a call is right about a build.
pub fn score(build: &Build, call: &Call) -> Score {
    let sure = call.confirmed && (build.slower == 0 || call.ratio > 1.0);
    match call.verdict {
        _ if sure => Score::Wrong,
        verdict if verdict == build.right => Score::Right,
        Verdict::Inconclusive => Score::Undecided,
        _ => Score::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::super::builds::{BUILDS, Condition};
    use super::*;

    /// A recording of this many blocks of trials with this deviation, around the planted
    /// difference.
    fn recording(count: usize, deviation: f64) -> Recording {
        let mut bits = Xoshiro256PlusPlus::seed_from_u64(7);
        // Nearly normal: twelve uniform numbers.
        let mut noise = || {
            let uniform = |_| bits.next_u64() as f64 / u64::MAX as f64;
            deviation * ((0..12).map(uniform).sum::<f64>() - 6.0)
        };
        let mut pair = |truth: f64| {
            let mut trial = |rate: f64| vec![rate * noise().exp(); 30];
            let trials =
                (0..count).map(|_| Trials { base: trial(1e5), variant: trial(1e5 * truth) });
            trials.collect()
        };
        let truth = |build: &Build| 1.0 - f64::from(build.slower) / 100.0;
        let pairs = BUILDS.iter().map(|build| pair(truth(build))).collect();
        Recording { condition: Condition::Quiet, pairs, fixed: 1.0, seconds: 30 }
    }

    fn shares(practice: Practice, from: &Recording, build: usize) -> [f64; 3] {
        let calls = practice.calls(from, build, &BUILDS[build], 60.0);
        [Score::Right, Score::Wrong, Score::Undecided].map(|wanted| {
            let found = calls.iter().filter(|call| score(&BUILDS[build], call) == wanted);
            found.count() as f64 / calls.len() as f64
        })
    }

    #[test]
    fn what_is_precise_is_right() {
        let from = recording(60, 0.002);
        for practice in Practice::ALL {
            assert!(shares(practice, &from, 2)[0] > 0.9, "{practice:?}");
        }
    }

    #[test]
    fn noise_leaves_intervals_undecided_and_thresholds_wrong() {
        let from = recording(600, 0.03);
        let [blocks, three, one] = Practice::ALL;
        let [_, wrong, undecided] = shares(blocks, &from, 0);
        assert!(wrong < 0.1 && undecided > 0.5, "{wrong} {undecided}");
        for practice in [three, one] {
            let [_, wrong, undecided] = shares(practice, &from, 0);
            assert!(wrong > 0.2 && undecided == 0.0, "{practice:?}: {wrong}");
        }
    }

    #[test]
    fn no_trial_is_in_two_experiments_and_all_get_the_same_time() {
        let from = recording(20, 0.01);
        let count = |practice: Practice, budget| practice.calls(&from, 0, &BUILDS[0], budget).len();
        assert_eq!(Practice::ALL.map(|practice| count(practice, 60.0)), [3, 6, 20]);
        assert_eq!(Practice::ALL.map(|practice| practice.seconds(&from, 60.0)), [4, 9, 29]);
        assert_eq!(count(Practice::ALL[2], 70.0), 0, "no trial was recorded for 34 s");
        assert_eq!(count(Practice::ALL[0], 12.0), 0, "nothing is left for the load");
    }

    #[test]
    fn calls_and_their_scores() {
        let call = |verdict, ratio, confirmed| Call { verdict, ratio, confirmed, seconds: 1.0 };
        let of = |build: usize, call: Call| score(&BUILDS[build], &call);
        use Verdict::{Equivalent, Improvement, Inconclusive, Regression};
        assert_eq!(of(0, call(Equivalent, 1.0, false)), Score::Right);
        assert_eq!(of(0, call(Equivalent, 0.995, true)), Score::Wrong, "there is no difference");
        assert_eq!(of(0, call(Inconclusive, 1.0, false)), Score::Undecided);
        assert_eq!(of(1, call(Equivalent, 0.995, true)), Score::Wrong);
        assert_eq!(of(1, call(Inconclusive, 1.01, true)), Score::Wrong, "the wrong direction");
        assert_eq!(of(2, call(Inconclusive, 0.97, true)), Score::Undecided);
        assert_eq!(of(2, call(Improvement, 1.03, false)), Score::Wrong);
        assert_eq!(by_threshold(0.985, 0.01), Regression);
        assert_eq!(by_threshold(0.985, 0.02), Equivalent);
    }
}
