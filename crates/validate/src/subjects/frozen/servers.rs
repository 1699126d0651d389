//! Two servers in frozen slices. Only one runs at a time, and each does its work in the background
//! in its own time.

use judge::{
    CONFIDENCE, Comparison, Margin, RestartRatio, Verdict, Warning, compare_frozen, compare_slices,
};

use crate::Random;
use crate::experiment::covers;
use crate::rounds::{MODELS, Rounds, by_lengths, ratio};

/// Differences of slices, and of the machine that both run on.
const SLICES: Rounds = MODELS[1];
/// Seconds of a slice, as runs begin with; one in four is twice as long.
pub(super) const SLICE: f64 = 0.05;
/// Scatter of a server from restart to restart, as a deviation of the log.
pub(super) const BETWEEN: f64 = 0.005;

/// The throughput that a burst leaves.
pub(super) const LEFT: f64 = 0.2;
/// The share of a cycle that a burst takes.
pub(super) const BURST: f64 = 0.1;

/// The reason why the variant is slower.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cause {
    /// All that it does takes longer.
    Everything,
    /// Its bursts are longer.
    Bursts,
}

/// A step of two servers with the same cycle of work in the background.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scene {
    /// Seconds of own time from burst to burst; none if there are no bursts.
    pub(super) cycle: Option<f64>,
    /// Seconds of own time in a restart.
    pub(super) step: f64,
    pub(super) cause: Cause,
    /// Seconds that the variant loses at the beginning of each slice, or gains if negative.
    pub(super) lost: f64,
}

/// The result of a restart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Restart {
    /// By its slices, as where servers are not frozen.
    plain: RestartRatio,
    /// By all operations per second of own time.
    pub(super) frozen: RestartRatio,
}

impl Scene {
    /// Restarts with a variant that truly has `1 + truth` times the throughput of the base.
    pub(super) fn restarts(&self, count: usize, truth: f64, random: &mut Random) -> Vec<Restart> {
        (0..count).map(|_| self.restart(SLICE, truth, random)).collect()
    }

    /// One of them, with slices of so many seconds, of which one in four is twice as long.
    pub(super) fn restart(&self, slice: f64, truth: f64, random: &mut Random) -> Restart {
        let lengths = self.lengths(slice, random);
        let (mut base, mut variant) = SLICES.pair(lengths.len(), random);
        let (factor, burst) = match self.cause {
            Cause::Everything => (1.0 + truth, BURST),
            // The same mean over a whole cycle.
            Cause::Bursts => {
                (1.0, (1.0 - (1.0 + truth) * (1.0 - BURST * (1.0 - LEFT))) / (1.0 - LEFT))
            }
        };
        self.run(&lengths, &mut base, BURST, random);
        self.run(&lengths, &mut variant, burst, random);
        for (rate, length) in variant.iter_mut().zip(&lengths) {
            *rate *= factor * (1.0 - self.lost / length);
        }
        let all = |rates: &[f64]| -> f64 { rates.iter().zip(&lengths).map(|(r, l)| r * l).sum() };
        // All operations count, so a slice counts by its length.
        let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
        let is_long = |round: usize| lengths[round] > 1.5 * slice;
        let by_length = by_lengths(&base, &variant, is_long, slice, 1.0 / mean);
        let plain = ratio(&base, &variant);
        let frozen = RestartRatio {
            mean_log: (all(&variant) / all(&base)).ln(),
            by_length,
            slice_ms: 1000.0 * slice,
            weight: 1.0 / mean,
            ..plain.whole()
        };
        Restart { plain, frozen }
    }

    /// Seconds of the slices of each server.
    fn lengths(&self, slice: f64, random: &mut Random) -> Vec<f64> {
        let mut left = self.step;
        let slices = std::iter::from_fn(|| {
            let length = if random.below(4) == 0 { 2.0 * slice } else { slice };
            (left > 0.5 * slice).then(|| {
                left -= length;
                length
            })
        });
        slices.collect()
    }

    /// Adds to the rates of a server what it does in the background, from a random moment of its
    /// cycle on.
    fn run(&self, lengths: &[f64], rates: &mut [f64], burst: f64, random: &mut Random) {
        let level = (BETWEEN * random.normal()).exp();
        let cycle = self.cycle.unwrap_or(f64::INFINITY);
        let mut now = self.cycle.map_or(0.0, |cycle| cycle * random.uniform());
        for (rate, length) in rates.iter_mut().zip(lengths) {
            let slow = self
                .cycle
                .map_or(0.0, |_| bursts(now + length, cycle, burst) - bursts(now, cycle, burst));
            now += length;
            *rate *= level * (1.0 - (1.0 - LEFT) * slow / length);
        }
    }
}

/// Seconds in bursts up to a moment, if each comes at the beginning of a cycle.
fn bursts(moment: f64, cycle: f64, share: f64) -> f64 {
    let cycles = (moment / cycle).floor();
    cycles * cycle * share + (moment - cycles * cycle).min(cycle * share)
}

impl Restart {
    /// The same with a variant that does everything slower.
    pub(super) fn slower(&self, truth: f64) -> Self {
        let shift = truth.ln_1p();
        Self { plain: self.plain.plus(shift), frozen: self.frozen.plus(shift) }
    }

    /// As frozen slices are judged, but for the second length.
    fn of_one_length(&self) -> RestartRatio {
        RestartRatio { by_length: None, ..self.frozen }
    }

    /// By the typical slice alone.
    fn typical(&self) -> RestartRatio {
        let variance = self.plain.variance;
        let alone = RestartRatio { tails_log: 0.0, tails_variance: 0.0, ..self.plain };
        RestartRatio { total_variance: variance, stalled: None, ..alone }
    }
}

/// The comparison of restarts by one of their figures, as slices without freezing are judged.
fn judged(restarts: &[Restart], by: fn(&Restart) -> RestartRatio) -> Comparison {
    let restarts: Vec<RestartRatio> = restarts.iter().map(by).collect();
    compare_slices(&restarts, Margin::default(), CONFIDENCE).expect("at least one restart")
}

/// The comparison as steelyard makes it.
fn frozen(restarts: &[Restart]) -> Comparison {
    frozen_by(restarts, |restart| restart.frozen)
}

fn frozen_by(restarts: &[Restart], by: fn(&Restart) -> RestartRatio) -> Comparison {
    let restarts: Vec<RestartRatio> = restarts.iter().map(by).collect();
    compare_frozen(&restarts, Margin::default(), CONFIDENCE).expect("at least one restart")
}

/// What the second length changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lengths {
    /// Slices of the two lengths disagree.
    pub(super) disagree: bool,
    /// By both lengths, and by all slices alone.
    pub(super) read: [Told; 2],
}

/// What a comparison says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// The interval holds the truth.
    pub(super) covered: bool,
    pub(super) half: f64,
    pub(super) verdict: Verdict,
}

impl Lengths {
    pub(super) fn of(restarts: &[Restart], truth: f64) -> Self {
        let found = frozen(restarts);
        let alone = frozen_by(restarts, Restart::of_one_length);
        let disagree = |warning: &Warning| matches!(warning, Warning::LengthsDisagree { .. });
        let told = |found: &Comparison| Told {
            covered: covers(found, 1.0 + truth),
            half: found.half_width().unwrap_or(f64::NAN),
            verdict: found.verdict,
        };
        Self { disagree: found.warnings.iter().any(disagree), read: [told(&found), told(&alone)] }
    }
}

/// The results of restarts, as steelyard and others read them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Read {
    /// The interval holds the truth.
    pub(super) covered: bool,
    /// Half the width of the interval.
    pub(super) half: f64,
    /// The variant is confirmed to be slower.
    pub(super) slower: bool,
    pub(super) verdict: Verdict,
    /// `equivalent`, if that took no more restarts than other verdicts.
    pub(super) early: bool,
    /// The interval of the typical slice holds the truth.
    pub(super) typical: bool,
    /// The interval of slices without freezing holds the truth.
    pub(super) plain: bool,
}

impl Read {
    pub(super) fn of(restarts: &[Restart], truth: f64) -> Self {
        let found = frozen(restarts);
        let waits = |warning: &Warning| matches!(warning, Warning::TooFewFrozen { .. });
        Self {
            covered: covers(&found, 1.0 + truth),
            half: found.half_width().unwrap_or(f64::NAN),
            slower: found.high.is_some_and(|high| high < 1.0),
            verdict: found.verdict,
            early: found.verdict == Verdict::Equivalent || found.warnings.iter().any(waits),
            typical: covers(&judged(restarts, Restart::typical), 1.0 + truth),
            plain: covers(&judged(restarts, |restart| restart.plain), 1.0 + truth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_take_their_share_of_any_number_of_cycles() {
        assert!((bursts(0.5, 10.0, 0.1) - 0.5).abs() < 1e-12);
        assert!((bursts(7.0, 10.0, 0.1) - 1.0).abs() < 1e-12);
        assert!((bursts(34.0, 10.0, 0.1) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn the_truth_is_the_ratio_of_long_steps() {
        for cause in [Cause::Everything, Cause::Bursts] {
            let scene = Scene { cycle: Some(1.0), step: 200.0, cause, lost: 0.0 };
            let found = scene.restarts(20, -0.05, &mut Random::new(1, 1));
            let totals: Vec<f64> = found.iter().map(|restart| restart.frozen.mean_log).collect();
            let mean = judge::mean(&totals).unwrap();
            assert!((mean - (-0.05_f64).ln_1p()).abs() < 0.005, "{cause:?}: {mean}");
            let typical: Vec<f64> = found.iter().map(|one| one.typical().mean_log).collect();
            let mean = judge::mean(&typical).unwrap();
            assert_eq!(mean > -0.02, cause == Cause::Bursts, "{cause:?}: {mean}");
        }
    }
}
