//! What a run says of a planted difference, and whether that is right.

use judge::{Comparison, Verdict};

use super::builds::Build;

/// The answer of a run.
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

/// Decides if a call is right about a build.
pub fn score(build: &Build, call: &Call) -> Score {
    let sure = call.confirmed && (build.slower == 0 || call.ratio > 1.0);
    match call.verdict {
        _ if sure => Score::Wrong,
        verdict if verdict == build.right() => Score::Right,
        Verdict::Inconclusive => Score::Undecided,
        _ => Score::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::super::builds::BUILDS;
    use super::*;

    #[test]
    fn calls_and_their_scores() {
        let call = |verdict, ratio, confirmed| Call { verdict, ratio, confirmed, seconds: 1.0 };
        let of = |build: usize, call: Call| score(&BUILDS[build], &call);
        use Verdict::{Equivalent, Improvement, Inconclusive};
        assert_eq!(of(0, call(Equivalent, 1.0, false)), Score::Right);
        assert_eq!(of(0, call(Equivalent, 0.995, true)), Score::Wrong, "there is no difference");
        assert_eq!(of(0, call(Inconclusive, 1.0, false)), Score::Undecided);
        assert_eq!(of(2, call(Equivalent, 0.995, true)), Score::Wrong);
        assert_eq!(of(2, call(Inconclusive, 1.01, true)), Score::Wrong, "the wrong direction");
        assert_eq!(of(3, call(Inconclusive, 0.97, true)), Score::Undecided);
        assert_eq!(of(3, call(Improvement, 1.03, false)), Score::Wrong);
    }
}
