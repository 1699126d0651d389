//! Where to look next.

use judge::normal_cdf;

use crate::posterior::{Contrast, Posterior};

/// How exact looks are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Standard error that a look of one unit, such as six restarts, probably has, in logarithms.
    /// A look of r units has it divided by √r.
    pub error: f64,
    /// Most units of a look.
    pub most: u32,
}

/// A proposed look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Next {
    /// The candidate.
    pub candidate: usize,
    /// For how many units.
    pub units: u32,
    /// Information about the place of the next change that it probably gives, in bits. 0 for a
    /// look that only has to be taken (see [`crate::Settings::inner`]).
    pub bits: f64,
    /// Cost of building and looking, in the caller's unit.
    pub cost: f64,
}

/// Information in bits, `1 - H(p)`, of an answer that is wrong with probability `p`: the capacity
/// of the binary symmetric channel (C. E. Shannon, *Bell Syst. Tech. J.* 27, 1948).
pub fn information(wrong: f64) -> f64 {
    1.0 - entropy(wrong)
}

/// The number of looks that a search with yes or no answers, each wrong with probability `wrong`,
/// needs on average at most to name the place among `places` with probability `confidence`:
/// `(log₂ n + log₂ 1/δ + 3) / I(p)` (D. Dereniowski, A. Łukasiewicz and P. Uznański, *Noisy
/// (Binary) Searching: Simple, Fast and Correct*, arXiv 2107.05753). No search needs fewer than
/// about `log₂ n / I(p)`.
pub fn looks_bound(places: usize, confidence: f64, wrong: f64) -> f64 {
    ((places as f64).log2() - (1.0 - confidence).log2() + 3.0) / information(wrong)
}

/// `H(p)` in bits.
fn entropy(p: f64) -> f64 {
    let part = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
    part(p) + part(1.0 - p)
}

/// A question with two answers that a look is to tell apart.
#[derive(Debug, Clone, Copy)]
struct Question {
    /// Probability that it arises.
    likely: f64,
    /// Probability of one answer.
    share: f64,
    /// The levels that either answer lets expect.
    contrast: Contrast,
}

impl Question {
    /// Information, if the answer is read from the side of the middle between the two levels on
    /// which the estimate is.
    fn bits(&self, error: f64, units: u32) -> f64 {
        let Contrast { size, variance } = self.contrast;
        let error = (error.powi(2) / f64::from(units) + variance).sqrt();
        let wrong = normal_cdf(-0.5 * size / error);
        let heard = self.share * (1.0 - wrong) + (1.0 - self.share) * wrong;
        self.likely * (entropy(heard) - entropy(wrong))
    }
}

/// A gain below this, in bits, is rounding.
const LEAST_BITS: f64 = 1e-12;

/// Rates that differ by less than this part are equal, and the first candidate is taken, so that
/// the last digits of a logarithm decide nothing.
const TIE: f64 = 1e-9;

impl Posterior<'_> {
    /// The look that gives the most information per cost; `None` if nothing is left to learn: the
    /// verdict is complete, or everything that could be looked at fails. Where a change is about as
    /// large as the margin, that may take very long, so the caller should have a budget.
    ///
    /// A look answers on which side of it the first change lies that has not been found yet. If
    /// all costs are equal, it is taken where both sides are equally likely: the rule of
    /// Horstein (*IEEE Trans. Inform. Theory* 9, 1963), which Burnashev and Zigangirov (*Probl.
    /// Inform. Transm.* 10, 1974) analyzed, and which is optimal for the entropy (B. Jedynak, P.
    /// Frazier and R. Sznitman, *J. Appl. Prob.* 49, 2012). The first look is therefore at the end.
    pub fn next(&self, effort: Effort) -> Option<Next> {
        self.next_many(effort, 1).into_iter().next()
    }

    /// Up to `count` different looks to take at once, the most useful first. Each takes the answers
    /// of those before it as known.
    pub fn next_many(&self, effort: Effort, count: usize) -> Vec<Next> {
        if self.nothing_else >= self.range.settings().confidence {
            let missing = self.range.missing(&self.looked);
            return missing.into_iter().take(count).map(|number| self.due(number)).collect();
        }
        let passed = self.passed();
        let chances = self.build_chances();
        let (size, variance) = (self.typical_change(), self.range.settings().repeatability.powi(2));
        let mut chosen: Vec<Next> = Vec::new();
        // Probabilities passed at those chosen.
        let mut known = vec![0.0, 1.0];
        while chosen.len() < count {
            let mut best: Option<(f64, Next)> = None;
            for (number, candidate) in self.range.candidates().iter().enumerate().skip(1) {
                if candidate.fails || chosen.iter().any(|next| next.candidate == number) {
                    continue;
                }
                let above = known.partition_point(|at| *at <= passed[number]);
                let above = above.clamp(1, known.len() - 1);
                let (low, high) = (known[above - 1], known[above]);
                let side = Question {
                    likely: chances[number] * (high - low),
                    share: (passed[number] - low) / (high - low).max(f64::MIN_POSITIVE),
                    contrast: Contrast { size, variance },
                };
                for question in self.questions(number, side).into_iter().flatten() {
                    // No look tells more than a perfect one does.
                    let most = question.likely * entropy(question.share);
                    let rate = best.map_or(0.0, |(rate, _)| rate);
                    if most / (candidate.build + candidate.look) <= rate {
                        continue;
                    }
                    for units in (0..32).map(|power| 1_u32 << power) {
                        let bits = question.bits(effort.error, units);
                        let cost = candidate.build + f64::from(units) * candidate.look;
                        let rate = best.map_or(0.0, |(rate, _)| rate);
                        if bits > LEAST_BITS && bits / cost > rate * (1.0 + TIE) {
                            best =
                                Some((bits / cost, Next { candidate: number, units, bits, cost }));
                        }
                        if units > effort.most / 2 {
                            break;
                        }
                    }
                }
            }
            let Some((_, next)) = best else { break };
            known.push(passed[next.candidate]);
            known.sort_by(f64::total_cmp);
            chosen.push(next);
        }
        chosen
    }

    /// What a look at a candidate can answer. At one that was looked at before: on which side of it
    /// the first change is, and whether there is one right after it. How well it does depends on
    /// how its level, as far as it is known, would differ.
    fn questions(&self, number: usize, side: Question) -> [Option<Question>; 2] {
        let Ok(at) = self.looked.binary_search(&number) else { return [Some(side), None] };
        let contrast = self.stretches()[at].after;
        let next = self.stretches().get(at + 1).filter(|stretch| !stretch.found);
        let right_after = next.map(|stretch| Question {
            likely: 1.0,
            share: stretch.open,
            contrast: stretch.before,
        });
        [Some(Question { contrast, ..side }), right_after]
    }

    fn due(&self, number: usize) -> Next {
        let candidate = self.range.candidates()[number];
        let cost = candidate.build + candidate.look;
        Next { candidate: number, units: 1, bits: 0.0, cost }
    }

    /// For each candidate, the probability that the first change not found yet is at it or before.
    fn passed(&self) -> Vec<f64> {
        let mut passed = vec![0.0];
        for stretch in self.stretches() {
            let begin = passed[stretch.from];
            let whole = self.range.share(stretch.from, stretch.to).max(f64::MIN_POSITIVE);
            let at = |number: usize| {
                begin + stretch.open * self.range.share(stretch.from, number) / whole
            };
            passed.extend((stretch.from + 1..=stretch.to).map(at));
        }
        passed
    }

    /// Expected size of the first change not found yet, at least the margin.
    fn typical_change(&self) -> f64 {
        let (below, above) = self.range.settings().edges();
        let edge = above.min(-below);
        let (mut sum, mut weight) = (f64::MIN_POSITIVE, f64::MIN_POSITIVE);
        for stretch in self.stretches() {
            sum += stretch.open * stretch.log_ratio.abs();
            weight += stretch.open;
        }
        (sum / weight).max(edge)
    }

    /// For each candidate, the chance that it can be looked at. A run of candidates that fail has,
    /// seen from outside, lasted for some time, and probably goes on for about as long (J. R. Gott,
    /// *Nature* 363, 1993): at a distance d from a run of length L it is d / (d + L). So attempts
    /// leave a long run in steps that grow, instead of one by one.
    fn build_chances(&self) -> Vec<f64> {
        let candidates = self.range.candidates();
        let mut chances = vec![1.0_f64; candidates.len()];
        let mut pass = |order: &mut dyn Iterator<Item = usize>| {
            let mut run: Option<(usize, usize)> = None;
            for number in order {
                if candidates[number].fails {
                    run = Some((run.map_or(number, |(first, _)| first), number));
                } else if candidates[number].build == 0.0
                    || self.looked.binary_search(&number).is_ok()
                {
                    run = None;
                } else if let Some((first, last)) = run {
                    let distance = number.abs_diff(last) as f64;
                    let length = (last.abs_diff(first) + 1) as f64;
                    chances[number] = chances[number].min(distance / (distance + length));
                }
            }
        };
        pass(&mut (0..candidates.len()));
        pass(&mut (0..candidates.len()).rev());
        chances
    }
}
