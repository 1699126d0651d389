//! Who races, what each would have said of an experiment drawn from a recording, and whether that
//! is right.

use judge::{Comparison, Looks, Margin, Verdict, compare, compare_slices, decided};

use super::recording::{Pair, Recording, Trials};
use super::{BUILDS, Build};

/// Who races.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contender {
    /// A run that designs itself.
    Steelyard,
    /// Trials in blocks and their interval of 95%.
    Blocks,
    /// Three runs each, and the ratio of means.
    Three,
    /// One run each, and the ratio.
    One,
}

/// What a contender says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Call {
    pub verdict: Verdict,
    pub ratio: f64,
    /// Whether it says for sure that there is a difference, however small.
    pub confirmed: bool,
    /// Seconds of the machine that it took.
    pub seconds: f64,
}

impl Call {
    /// Of what can't be compared.
    const NOTHING: Self =
        Self { verdict: Verdict::Inconclusive, ratio: f64::NAN, confirmed: false, seconds: 0.0 };

    /// What a comparison says that took so many seconds.
    pub fn of(comparison: &Comparison, seconds: f64) -> Self {
        let Comparison { verdict, ratio, .. } = *comparison;
        Self { verdict, ratio, confirmed: comparison.confirmed(), seconds }
    }
}

/// Whether that is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Score {
    Right,
    Wrong,
    Undecided,
}

/// Most blocks of the contender that has them, and the shortest load it gives a trial, in seconds:
/// with less time it has fewer blocks.
const BLOCKS: usize = 6;
const SHORTEST: f64 = 2.0;

impl Contender {
    pub const ALL: [Self; 4] = [Self::Steelyard, Self::Blocks, Self::Three, Self::One];

    pub fn name(self) -> &'static str {
        match self {
            Self::Steelyard => "steelyard",
            Self::Blocks => "blocks",
            Self::Three => "three runs each",
            Self::One => "one run each",
        }
    }

    /// What it says of a build within so many seconds, once for each place of the recording that
    /// an experiment can begin at.
    pub fn calls(self, recording: &Recording, build: usize, budget: f64) -> Vec<Call> {
        let of = |pair: &Pair| -> Vec<Call> {
            let places = match self {
                Self::Steelyard => pair.restarts.len(),
                _ => pair.trials.len(),
            };
            (0..places)
                .map(|begin| self.call(recording, pair, &BUILDS[build], begin, budget))
                .collect()
        };
        recording.pairs[build].iter().flat_map(of).collect()
    }

    fn call(self, from: &Recording, pair: &Pair, build: &Build, begin: usize, budget: f64) -> Call {
        if self == Self::Steelyard {
            return designed(from, pair, build.margin, begin, budget);
        }
        let length = |blocks: usize| budget / (2 * blocks) as f64 - from.fixed;
        let count = match self {
            Self::One => 1,
            Self::Three => 3,
            _ => (2..BLOCKS)
                .rev()
                .fold(BLOCKS, |count, fewer| if length(count) < SHORTEST { fewer } else { count }),
        };
        let seconds = (length(count).floor().max(1.0) as usize).min(from.seconds);
        let blocks = stretch(&pair.trials, begin, count);
        let mean = |rates: &[f64]| judge::mean(&rates[..seconds]).unwrap_or(f64::NAN);
        let side = |of: fn(&Trials) -> &[f64]| -> Vec<f64> {
            blocks.iter().map(|trials| mean(of(trials))).collect()
        };
        let (base, variant) = (side(|trials| &trials.base), side(|trials| &trials.variant));
        if self == Self::Blocks {
            let judged = compare(&base, &variant, Margin::of(build.margin));
            return judged.map_or(Call::NOTHING, |comparison| Call::of(&comparison, budget));
        }
        let ratio = variant.iter().sum::<f64>() / base.iter().sum::<f64>();
        let verdict = by_threshold(ratio, build.margin);
        Call { verdict, ratio, confirmed: false, seconds: budget }
    }
}

/// Usual practice: what is off by more than the threshold has changed.
fn by_threshold(ratio: f64, threshold: f64) -> Verdict {
    if ratio < 1.0 - threshold {
        Verdict::Regression
    } else if ratio > 1.0 + threshold {
        Verdict::Improvement
    } else {
        Verdict::Equivalent
    }
}

/// A run that designs itself: it looks when parts of its budget are used, and stops when it is
/// decided. A step that ends by its work leaves it nothing to choose but the number of restarts.
fn designed(from: &Recording, pair: &Pair, margin: f64, begin: usize, budget: f64) -> Call {
    let most = ((budget / from.restart).floor() as usize).clamp(1, pair.restarts.len());
    let restarts = stretch(&pair.restarts, begin, most);
    let used: Vec<f64> = (1..=most).map(|count| count as f64 * from.restart).collect();
    let mut call = Call::NOTHING;
    let looks = Looks::within(budget, &used);
    for count in (1..=most).filter(|count| *count == most || looks.is_due(*count as u32)) {
        let confidence = looks.confidence_at(count as u32);
        let found = compare_slices(&restarts[..count], Margin::of(margin), confidence);
        let Ok(found) = found else { continue };
        call = Call::of(&found, used[count - 1]);
        if decided(&found, None) {
            break;
        }
    }
    call
}

/// So many of `all` from `begin` on, beginning again after the last.
fn stretch<T: Clone>(all: &[T], begin: usize, count: usize) -> Vec<T> {
    all.iter().cycle().skip(begin).take(count.min(all.len())).cloned().collect()
}

/// Whether a call is right about a build.
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
    use judge::RestartRatio;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::super::Condition;
    use super::*;

    /// A recording of so many restarts and trials with these deviations, around what was planted.
    fn recording(count: usize, [of_restarts, of_trials]: [f64; 2]) -> Recording {
        let mut bits = Xoshiro256PlusPlus::seed_from_u64(7);
        // Nearly normal: twelve uniform numbers.
        let mut noise = |deviation: f64| {
            let uniform = |_| bits.next_u64() as f64 / u64::MAX as f64;
            deviation * ((0..12).map(uniform).sum::<f64>() - 6.0)
        };
        let mut pair = |truth: f64| {
            let restart = |noise: f64| RestartRatio::even(truth.ln() + noise, 1e-6, 11);
            let mut trial = |rate: f64| vec![rate * noise(of_trials).exp(); 30];
            let trials = (0..count)
                .map(|_| Trials { base: trial(1e5), variant: trial(1e5 * truth) })
                .collect();
            let restarts = (0..count).map(|_| restart(noise(of_restarts))).collect();
            Pair { restarts, trials }
        };
        let truth = |build: &Build| 1.0 - f64::from(build.slower) / 100.0;
        let pairs = BUILDS.iter().map(|build| [pair(truth(build)), pair(truth(build))]).collect();
        Recording { condition: Condition::Quiet, pairs, restart: 4.0, fixed: 2.0, seconds: 30 }
    }

    fn shares(contender: Contender, from: &Recording, build: usize, budget: f64) -> [f64; 3] {
        let calls = contender.calls(from, build, budget);
        [Score::Right, Score::Wrong, Score::Undecided].map(|wanted| {
            let found = calls.iter().filter(|call| score(&BUILDS[build], call) == wanted);
            found.count() as f64 / calls.len() as f64
        })
    }

    #[test]
    fn what_is_precise_is_right_and_soon() {
        let from = recording(100, [0.004, 0.004]);
        for (build, contender) in (0..4).zip([Contender::Steelyard; 4]) {
            let [right, wrong, _] = shares(contender, &from, build, 600.0);
            assert!(right > 0.9 && wrong <= 0.05, "{}: {right} {wrong}", BUILDS[build].name);
        }
        let five = Contender::Steelyard.calls(&from, 3, 600.0);
        assert!(five.iter().all(|call| call.seconds < 200.0), "stops when it is decided");
        assert!(shares(Contender::Blocks, &from, 3, 60.0)[0] > 0.9);
        assert!(shares(Contender::One, &from, 3, 60.0)[0] > 0.9);
    }

    #[test]
    fn noise_leaves_intervals_undecided_and_thresholds_wrong() {
        let from = recording(200, [0.03, 0.03]);
        for contender in [Contender::Steelyard, Contender::Blocks] {
            let [_, wrong, undecided] = shares(contender, &from, 0, 60.0);
            assert!(wrong < 0.1 && undecided > 0.5, "{contender:?}: {wrong} {undecided}");
        }
        for contender in [Contender::Three, Contender::One] {
            let [_, wrong, undecided] = shares(contender, &from, 0, 60.0);
            assert!(wrong > 0.2 && undecided == 0.0, "{contender:?}: {wrong}");
        }
    }

    #[test]
    fn experiments_are_stretches_and_no_longer_than_the_recording() {
        assert_eq!(stretch(&[1, 2, 3, 4], 2, 3), [3, 4, 1]);
        assert_eq!(stretch(&[1, 2], 1, 9), [2, 1]);
        let from = recording(10, [0.5, 0.5]);
        let calls = Contender::Steelyard.calls(&from, 0, 1200.0);
        assert_eq!(calls.len(), 20, "each place, beside either base");
        assert!(calls.iter().all(|call| call.seconds <= 40.0));
        // Two seconds of six trials each take more than half a minute with their servers.
        assert_eq!(Contender::Blocks.calls(&from, 0, 20.0).len(), 20);
    }

    #[test]
    fn calls_and_their_scores() {
        let call = |verdict, ratio, confirmed| Call { verdict, ratio, confirmed, seconds: 1.0 };
        let of = |build: usize, call: Call| score(&BUILDS[build], &call);
        use Verdict::{Equivalent, Improvement, Inconclusive, Regression};
        assert_eq!(of(0, call(Equivalent, 1.0, false)), Score::Right);
        assert_eq!(of(0, call(Equivalent, 0.995, true)), Score::Wrong, "there is no difference");
        assert_eq!(of(0, call(Inconclusive, 1.0, false)), Score::Undecided);
        assert_eq!(of(1, call(Equivalent, 0.99, true)), Score::Right);
        assert_eq!(of(1, call(Regression, 0.97, true)), Score::Wrong);
        assert_eq!(of(1, call(Inconclusive, 1.01, true)), Score::Wrong, "the wrong direction");
        assert_eq!(of(2, call(Equivalent, 0.995, true)), Score::Wrong);
        assert_eq!(of(3, call(Inconclusive, 0.97, true)), Score::Undecided);
        assert_eq!(of(3, call(Improvement, 1.03, false)), Score::Wrong);
        assert_eq!(by_threshold(0.985, 0.01), Regression);
        assert_eq!(by_threshold(0.985, 0.02), Equivalent);
    }
}
