//! What the looks prove.

use judge::CONFIDENCE;

use crate::levels::{sums, within};
use crate::posterior::{Posterior, Stretch};

/// What is found, and what is known of the rest of the range.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The changes found, in order of the range.
    pub culprits: Vec<Culprit>,
    /// The other changes.
    pub rest: Rest,
}

/// A change that moved the level by more than the margin.
#[derive(Debug, Clone, PartialEq)]
pub struct Culprit {
    /// The changes it can be, by the number of the candidate that they lead to: one, or several if
    /// the candidates between them fail, so that no look can tell them apart.
    pub suspects: Vec<usize>,
    /// Probability that it is one of them.
    pub probability: f64,
    /// The ratio of the level after it to that before.
    pub ratio: f64,
    /// The lower end of the 95% interval of the ratio.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Culprit {
    /// The change, if there is only one suspect.
    pub fn at(&self) -> Option<usize> {
        match self.suspects[..] {
            [at] => Some(at),
            _ => None,
        }
    }
}

/// What is known of the changes that are not culprits.
#[derive(Debug, Clone, PartialEq)]
pub enum Rest {
    /// Between no two neighbors among the candidates that were looked at did the level move by
    /// more than the margin. Without culprits: nothing changed.
    Nothing {
        /// Probability that this is so.
        probability: f64,
    },
    /// Not known yet.
    Undecided(Reason),
}

/// Why the rest is undecided.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// These candidates must be looked at first: the end, and those between the ends.
    Unlooked(Vec<usize>),
    /// It is not known whether anything moved by more than the margin.
    Whether {
        /// Probability that something did.
        moved: f64,
    },
    /// Something moved, but it is not known which of these changes did.
    Where {
        /// The changes up to this candidate are not suspect.
        from: usize,
        /// The changes after this candidate are not.
        to: usize,
    },
    /// The ends differ by more than the margin, but no single change does: it is the sum of small
    /// ones.
    Gradual,
}

impl Posterior<'_> {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        let found = self.stretches().iter().zip(&self.sides).filter(|(stretch, _)| stretch.found);
        let culprits = found.map(|(stretch, sides)| self.culprit(stretch, sides)).collect();
        let verdict = |rest| Verdict { culprits, rest };
        let (confidence, nothing) = (self.range.settings().confidence, self.nothing_else);
        if nothing >= confidence {
            let missing = self.range.missing(&self.looked);
            return verdict(match missing[..] {
                [] if self.is_gradual() => Rest::Undecided(Reason::Gradual),
                [] => Rest::Nothing { probability: nothing },
                _ => Rest::Undecided(Reason::Unlooked(missing)),
            });
        }
        let moved = 1.0 - nothing;
        if moved < confidence {
            return verdict(Rest::Undecided(Reason::Whether { moved }));
        }
        let (from, to) = self.central(confidence);
        verdict(Rest::Undecided(Reason::Where { from, to }))
    }

    fn is_gradual(&self) -> bool {
        let found = self.stretches().iter().any(|stretch| stretch.found);
        !found && self.ends_differ >= self.range.settings().confidence
    }

    /// The candidates between which the first change that has not been found yet lies.
    fn central(&self, confidence: f64) -> (usize, usize) {
        let tail = 0.5 * (1.0 - confidence);
        let mut passed = 0.0;
        let (mut from, mut to) = (0, self.range.last());
        for stretch in self.stretches() {
            passed += stretch.open;
            if passed <= tail {
                from = stretch.to;
            } else if passed >= 1.0 - self.nothing_else - tail {
                to = stretch.to;
                break;
            }
        }
        (from, to)
    }

    fn culprit(&self, stretch: &Stretch, [before, after]: &[Vec<f64>; 2]) -> Culprit {
        let point = |share: f64| self.quantile(before, after, share).exp();
        let tail = 0.5 * (1.0 - CONFIDENCE);
        Culprit {
            suspects: self.range.suspects(stretch.from, stretch.to).collect(),
            probability: stretch.moved,
            ratio: point(0.5),
            low: point(tail),
            high: point(1.0 - tail),
        }
    }

    /// A quantile of the change at a stretch, in logarithms. If the level changed, those before and
    /// after are independent.
    fn quantile(&self, before: &[f64], after: &[f64], share: f64) -> f64 {
        let at = &self.levels.at;
        let after = sums(after);
        let wanted = share * before.iter().sum::<f64>() * after[after.len() - 1];
        let spread = at[at.len() - 1] - at[0];
        let (mut low, mut high) = (-spread, spread);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            let below = |(level, weight): (&f64, &f64)| {
                let end = at.partition_point(|other| *other <= level + middle);
                weight * within(&after, &(0..end))
            };
            let sum: f64 = at.iter().zip(before).map(below).sum();
            if sum < wanted { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }
}
