//! An estimated log ratio, and the comparison that follows from it.

use crate::{Comparison, ENOUGH_BLOCKS, Margin, Method, Verdict, Warning, t_cdf, t_quantile};

/// An estimated log ratio, from which everything else follows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Estimate {
    pub(crate) method: Method,
    /// Blocks, or restarts.
    pub(crate) blocks: usize,
    pub(crate) mean_log: f64,
    /// Spread of single blocks, where there is more than one.
    pub(crate) sd_log: Option<f64>,
    /// Standard error of `mean_log` and its degrees of freedom, where known.
    pub(crate) error: Option<(f64, f64)>,
}

impl Estimate {
    /// Interval, p values, verdict and detectable effect. The sign-flip test and warnings about the
    /// number of blocks are the caller's.
    pub(crate) fn judge(self, margin: Margin, confidence: f64) -> Comparison {
        let mut warnings = Vec::new();
        if margin.is_below_noise() {
            let Margin { asked, noise_floor } = margin;
            warnings.push(Warning::BelowNoise { asked, noise_floor });
        }
        let mut outcome = Comparison {
            method: self.method,
            blocks: self.blocks,
            ratio: self.mean_log.exp(),
            confidence,
            low: None,
            high: None,
            sign_flip_p: None,
            difference_p: None,
            adjusted_p: None,
            margin_p: None,
            verdict: Verdict::Inconclusive,
            further_blocks: None,
            detectable: None,
            margin,
            mean_log: self.mean_log,
            sd_log: self.sd_log,
            error_log: self.error.map(|(error, _)| error),
            freedom: self.error.map_or(0.0, |(_, freedom)| freedom),
            warnings,
        };
        let Some((error, freedom)) = self.error else {
            return outcome;
        };
        let upper = upper_point(confidence);
        let half = t_quantile(upper, freedom) * error;
        let (low, high) = (self.mean_log - half, self.mean_log + half);
        outcome.low = Some(low.exp());
        outcome.high = Some(high.exp());
        let missing = ENOUGH_BLOCKS.saturating_sub(self.blocks) as u32;
        if missing == 0 {
            outcome.verdict = margin.verdict(low, high);
        }
        let sd = error * (self.blocks as f64).sqrt();
        outcome.further_blocks = match outcome.verdict {
            Verdict::Inconclusive => margin
                .further_blocks(self.mean_log, sd, self.blocks, upper)
                .map(|further| further.max(missing)),
            _ => Some(0),
        };
        outcome.detect_among(1);
        let (below, above) = margin.outer_log_edges();
        let outside = (below - self.mean_log).max(self.mean_log - above);
        outcome.margin_p = Some(two_sided_p(outside, error, freedom));
        outcome.difference_p = Some(two_sided_p(self.mean_log.abs(), error, freedom));
        outcome
    }
}

/// The upper tail point of a two-sided confidence: 0.975 for 0.95.
pub(crate) fn upper_point(confidence: f64) -> f64 {
    0.5 + 0.5 * confidence
}

/// Twice the probability of a t variable beyond `distance / error`.
pub(crate) fn two_sided_p(distance: f64, error: f64, freedom: f64) -> f64 {
    if error == 0.0 {
        return if distance > 0.0 { 0.0 } else { 1.0 };
    }
    (2.0 * t_cdf(-distance / error, freedom)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CONFIDENCE;

    #[test]
    fn fewer_than_five_blocks_detect_nothing_that_could_be_told() {
        let of = |blocks: usize, freedom: f64| {
            let error = Some((0.002, freedom));
            Estimate { method: Method::Slices, blocks, mean_log: 0.0, sd_log: Some(0.004), error }
                .judge(Margin::default(), CONFIDENCE)
                .detectable
        };
        assert_eq!((of(4, 3.0), of(2, 38.0)), (None, None));
        assert!(of(5, 4.0) > of(6, 5.0) && of(6, 5.0) > of(6, 100.0));
    }

    #[test]
    fn fewer_than_six_blocks_have_an_interval_and_no_verdict() {
        for mean_log in [-0.1, 0.0, 0.1] {
            let of = |blocks: usize| {
                let error = Some((1e-5, blocks as f64 - 1.0));
                Estimate { method: Method::Blocks, blocks, mean_log, sd_log: Some(1e-5), error }
                    .judge(Margin::default(), CONFIDENCE)
            };
            for blocks in 2..ENOUGH_BLOCKS {
                let few = of(blocks);
                assert_eq!(few.verdict, Verdict::Inconclusive, "{few:?}");
                assert!(few.low.is_some() && few.margin_p.is_some());
                assert_eq!(few.further_blocks, Some((ENOUGH_BLOCKS - blocks) as u32));
            }
            let enough = of(ENOUGH_BLOCKS);
            assert_ne!(enough.verdict, Verdict::Inconclusive, "{enough:?}");
            assert_eq!(enough.further_blocks, Some(0));
        }
    }

    #[test]
    fn a_confirmed_difference_may_be_small_and_must_stand_among_many() {
        let of = |mean_log: f64| {
            Estimate {
                method: Method::Blocks,
                blocks: 8,
                mean_log,
                sd_log: Some(0.004),
                error: Some((0.004 / 8.0_f64.sqrt(), 7.0)),
            }
            .judge(Margin::default(), CONFIDENCE)
        };
        let mut small = of(-0.01);
        assert_eq!(small.verdict, Verdict::Equivalent);
        assert!(small.excludes_one() && small.confirmed());
        assert!(small.difference_p.unwrap() < 0.05);
        assert!(!of(0.0001).confirmed());
        small.adjusted_p = Some(0.06);
        assert!(small.excludes_one() && !small.confirmed());
    }
}
