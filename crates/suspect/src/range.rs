//! The range that is searched, and the looks taken in it.

use judge::Comparison;

use crate::settings::Settings;

/// One commit or release of the range. Candidate 0 is the base, the last one is the other end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Prior weight of the change from the candidate before to this one, in any unit, such as the
    /// lines of the diff. 0: the code is the same, so nothing can have changed. Ignored for the
    /// base.
    pub weight: f64,
    /// Cost of building it, in any unit, such as seconds; 0 if it is built.
    pub build: f64,
    /// Cost of one unit of looking at it, in the same unit, above 0.
    pub look: f64,
    /// True if it is known that it can't be looked at: it doesn't build, or doesn't start.
    pub fails: bool,
}

impl Default for Candidate {
    /// A candidate like all others, already built.
    fn default() -> Self {
        Self { weight: 1.0, build: 0.0, look: 1.0, fails: false }
    }
}

/// An estimate of the logarithm of a candidate's performance relative to the base.
///
/// The errors of all looks are taken as independent, so the base has to be measured anew in every
/// look, in pairs with the candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// The candidate, from 1.
    pub candidate: usize,
    /// `ln(value of the candidate / value of the base)`.
    pub log_ratio: f64,
    /// Its standard error; 0 for an exact count.
    pub error: f64,
    /// Degrees of freedom of that error: one less than the restarts or blocks. With 1 or less, the
    /// look says nothing.
    pub freedom: f64,
}

/// Degrees of freedom of counts. With a normal distribution, one count that includes something
/// else would already be proof.
const COUNT_FREEDOM: f64 = 6.0;

impl Look {
    /// A look from blocks or slices over restarts; `None` if the comparison has no standard error,
    /// or its slices disagree about the ratio.
    pub fn measured(candidate: usize, comparison: &Comparison) -> Option<Self> {
        let Comparison { mean_log, freedom, .. } = *comparison;
        let error = comparison.error_log.filter(|_| comparison.disagreement().is_none())?;
        Some(Self { candidate, log_ratio: mean_log, error, freedom })
    }

    /// A ratio of counts that are exact, apart from [`Settings::repeatability`].
    pub fn counted(candidate: usize, ratio: f64) -> Self {
        Self { candidate, log_ratio: ratio.ln(), error: 0.0, freedom: COUNT_FREEDOM }
    }
}

/// Why something cannot be searched.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum RangeError {
    /// Fewer than two candidates.
    #[error("expected the two ends of a range at least, found {found} candidates")]
    TooShort {
        /// Number of candidates.
        found: usize,
    },
    /// The other end can't be looked at.
    #[error("expected an end that can be looked at, found that it fails; choose another end")]
    EndFails,
    /// A weight or a cost.
    #[error(
        "expected weights and costs of builds of 0 or more, and of looks above 0, found {value} for \
         candidate {candidate}"
    )]
    Candidate {
        /// Its number.
        candidate: usize,
        /// What it has.
        value: f64,
    },
    /// No candidate has a weight.
    #[error("expected a change that can have moved something, found only weights of 0")]
    NoWeight,
    /// A setting out of its range.
    #[error("expected {expected}, found {value}")]
    Setting {
        /// The setting and its range.
        expected: &'static str,
        /// What it is.
        value: f64,
    },
    /// A look that says nothing.
    #[error(
        "expected a look at a candidate from 1 to {last}, a finite log ratio, an error of 0 or more \
         and degrees of freedom above 0, found {look:?}"
    )]
    Look {
        /// The last candidate.
        last: usize,
        /// The look.
        look: Look,
    },
}

/// The candidates and the settings of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    candidates: Vec<Candidate>,
    settings: Settings,
    /// Weight of all changes up to each candidate, as a share of the whole.
    shares: Vec<f64>,
}

impl Range {
    /// Checks and takes them. `candidates` are in order, the base first.
    ///
    /// # Errors
    /// When there is nothing to search, or a number is out of its range.
    pub fn new(candidates: Vec<Candidate>, settings: Settings) -> Result<Self, RangeError> {
        let found = candidates.len();
        if found < 2 {
            return Err(RangeError::TooShort { found });
        }
        if candidates[found - 1].fails {
            return Err(RangeError::EndFails);
        }
        for (number, candidate) in candidates.iter().enumerate() {
            let Candidate { weight, build, look, .. } = *candidate;
            let bad = [(weight, weight >= 0.0), (build, build >= 0.0), (look, look > 0.0)];
            let bad = bad.into_iter().find(|(value, fits)| !fits || !value.is_finite());
            if let Some((value, _)) = bad {
                return Err(RangeError::Candidate { candidate: number, value });
            }
        }
        let Settings { confidence, nothing, typical, repeatability, .. } = settings;
        for (expected, value, fits) in [
            ("a confidence from 0.5 to below 1", confidence, (0.5..1.0).contains(&confidence)),
            ("a prior of nothing between 0 and 1", nothing, nothing > 0.0 && nothing < 1.0),
            ("a typical log ratio above 0", typical, typical > 0.0 && typical.is_finite()),
            ("a repeatability above 0", repeatability, repeatability > 0.0 && repeatability < 1.0),
        ] {
            if !fits {
                return Err(RangeError::Setting { expected, value });
            }
        }
        let mut sum = 0.0;
        let sums = candidates.iter().enumerate().map(|(number, candidate)| {
            sum += if number == 0 { 0.0 } else { candidate.weight };
            sum
        });
        let mut shares: Vec<f64> = sums.collect();
        if sum <= 0.0 {
            return Err(RangeError::NoWeight);
        }
        shares.iter_mut().for_each(|share| *share /= sum);
        Ok(Self { candidates, settings, shares })
    }

    /// The candidates, the base first.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// Marks a candidate that turned out to fail.
    pub fn fails(&mut self, candidate: usize) {
        if let Some(candidate) = self.candidates.get_mut(candidate) {
            candidate.fails = true;
        }
    }

    /// Marks a candidate that was built, so that another look at it is cheaper.
    pub fn built(&mut self, candidate: usize) {
        if let Some(candidate) = self.candidates.get_mut(candidate) {
            candidate.build = 0.0;
        }
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Number of the last candidate.
    pub fn last(&self) -> usize {
        self.candidates.len() - 1
    }

    /// Prior share of the changes after `from` up to `to`.
    pub(crate) fn share(&self, from: usize, to: usize) -> f64 {
        self.shares[to] - self.shares[from]
    }

    /// The changes after `from` up to `to` that can have moved something.
    pub(crate) fn suspects(&self, from: usize, to: usize) -> impl Iterator<Item = usize> + '_ {
        (from + 1..=to).filter(|change| self.candidates[*change].weight > 0.0)
    }

    /// True if no look between the two could tell their changes apart.
    pub(crate) fn is_narrow(&self, from: usize, to: usize) -> bool {
        let (mut suspects, last) =
            (self.suspects(from, to), self.suspects(from, to).last().unwrap_or(from));
        let first = suspects.next().unwrap_or(last);
        (first..last).all(|candidate| self.candidates[candidate].fails)
    }

    /// Candidates to look at, in any case, before nothing is said to have changed: the end, and the
    /// nearest to each of the inner places without a look nearby.
    pub(crate) fn missing(&self, looked: &[usize]) -> Vec<usize> {
        let last = self.last();
        let parts = self.settings.inner + 1;
        let mut missing: Vec<usize> = (1..parts)
            .filter_map(|part| {
                // The middle of the places that are nearer to this one than to others.
                let near = |number: &usize| {
                    let doubled = 2 * number * parts;
                    doubled > (2 * part - 1) * last && doubled <= (2 * part + 1) * last
                };
                let place = last * part / parts;
                let inside = (1..last).filter(near);
                let seen = looked.iter().any(near);
                inside
                    .filter(|number| !seen && !self.candidates[*number].fails)
                    .min_by_key(|number| number.abs_diff(place))
            })
            .collect();
        missing.extend((!looked.contains(&last)).then_some(last));
        missing
    }
}
