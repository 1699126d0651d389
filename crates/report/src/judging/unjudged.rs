//! Why a variant can't be judged in a step, and what follows.

use std::collections::BTreeMap;

use judge::{ENOUGH_BLOCKS, Side, Verdict, t_quantile};
use metrics::{Better, Metric};

use super::figures::Pairs;
use super::sentence::trials;
use crate::load::model::{Results, StepResults};
use crate::load::wrong;
use crate::output::table::{one_line, place_of};

/// A variant that can't be judged: shown with the reason, and no gate ignores it.
#[derive(Debug, Clone, PartialEq)]
pub struct Unjudged {
    /// The verdict that is certain anyway: [`Verdict::Regression`] for a variant that did nothing
    /// while the base worked, otherwise [`Verdict::Inconclusive`]. `None` if there is nothing to
    /// compare because both sides are exactly 0.
    pub verdict: Option<Verdict>,
    /// Why, in plain words.
    pub reason: String,
}

impl Unjudged {
    /// Undecided for this reason.
    pub(crate) fn open(reason: String) -> Self {
        Self { verdict: Some(Verdict::Inconclusive), reason }
    }

    /// A side's server refused the step's query, or the two sides give different results.
    pub(crate) fn by_answers(
        results: &Results,
        step: &StepResults,
        base: usize,
        place: usize,
    ) -> Option<Self> {
        let refused = wrong::refused(results, step, [base, place]);
        refused.or_else(|| wrong::wrong(results, step, base, place)).map(Self::open)
    }

    /// A side was measured in another experiment.
    pub(crate) fn across(
        results: &Results,
        step: &StepResults,
        base: usize,
        place: usize,
    ) -> Option<Self> {
        let both = || [place, base].into_iter().filter_map(|it| Some((it, step.variant(it)?)));
        let elsewhere = both().find_map(|(_, it)| it.elsewhere.as_ref())?;
        let lacking = both().find(|(_, it)| it.samples.is_empty());
        if let Some((lacking, _)) = lacking {
            return Some(Self::open(format!("{} has no result", results.variant_name(lacking))));
        }
        if let Some(why) = both().find_map(|(_, it)| it.elsewhere.as_ref()?.apart.as_ref()) {
            return Some(Self::open(format!("not compared: {why}")));
        }
        let [base, name] = [base, place].map(|it| results.variant_name(it));
        let experiment = elsewhere.experiment;
        Some(Self::open(format!(
            "{name} and {base} were not interleaved (experiments {experiment} and {})",
            results.experiment.id
        )))
    }

    /// A side has no finished trial with the step.
    pub(crate) fn without_results(
        results: &Results,
        step: &StepResults,
        base: usize,
        place: usize,
    ) -> Option<Self> {
        let lacks = |place: &usize| step.variant(*place).is_none_or(|v| v.samples.is_empty());
        let lacking: Vec<usize> = [base, place].into_iter().filter(lacks).collect();
        let mut said: Vec<(String, Vec<&str>)> = Vec::new();
        for place in lacking {
            let (why, name) = (why_missing(results, step, place), results.variant_name(place));
            let place = place_of(&mut said, (why, Vec::new()), |known, new| known.0 == new.0);
            said[place].1.push(name);
        }
        let said = said.into_iter().map(|(why, names)| {
            let have = if names.len() == 1 { "has" } else { "have" };
            format!("{} {have} no result: {why}", names.join(" and "))
        });
        let said: Vec<String> = said.collect();
        (!said.is_empty()).then(|| Self::open(said.join("; ")))
    }

    /// No block has the metric on both sides.
    pub(crate) fn without_pairs(
        results: &Results,
        step: &StepResults,
        metric: &Metric,
        base: usize,
        place: usize,
    ) -> Self {
        let unknown = |place: &usize| {
            step.variant(*place).is_none_or(|variant| variant.values(metric.name).is_empty())
        };
        let names: Vec<&str> = [base, place]
            .into_iter()
            .filter(unknown)
            .map(|place| results.variant_name(place))
            .collect();
        Self::open(if names.is_empty() {
            let (base, variant) = (results.variant_name(base), results.variant_name(place));
            format!("{base} and {variant} have no block in common")
        } else {
            format!("{} was not measured for {}", metric.name, names.join(" and "))
        })
    }

    /// A value that is not a positive number; `None` if all are. Zero on both sides in all blocks
    /// means no difference for a cost, and nothing to compare for throughput.
    ///
    /// A variant that did nothing in some blocks gets the verdict that the interval approaches
    /// when its rate in these blocks goes to 0 ([`certainly_less`]). A base that did nothing is
    /// nothing to compare with. For a cost, a block with 0 says little, because a single read more
    /// would make it a ratio, so there is no verdict.
    pub(crate) fn by_values(
        names: (&str, &str),
        metric: &Metric,
        pairs: &Pairs,
        confidence: f64,
    ) -> Option<Self> {
        let (base, variant) = names;
        let name = metric.name;
        let all = || pairs.base.iter().chain(&pairs.variant);
        if let Some(value) = all().find(|value| !(**value >= 0.0 && value.is_finite())) {
            return Some(Self::open(format!(
                "{name} is {value} in a block, which is not a valid value"
            )));
        }
        let zeros = |values: &[f64]| -> Vec<u32> {
            let blocks = pairs.blocks.iter().zip(values);
            blocks.filter(|(_, value)| **value == 0.0).map(|(block, _)| *block).collect()
        };
        let (of_base, of_variant) = (zeros(&pairs.base), zeros(&pairs.variant));
        let count = pairs.blocks.len();
        let said = |what: &str, and: &str| {
            let sides = [(base, &of_base), (variant, &of_variant)];
            let sides = sides.into_iter().filter(|(_, blocks)| !blocks.is_empty());
            let said = sides.map(|(who, zeros)| format!("{who} {what}{}", in_blocks(zeros, count)));
            said.collect::<Vec<_>>().join(and)
        };
        if metric.better == Better::Less {
            return match (of_base.len(), of_variant.len()) {
                (0, 0) => None,
                (b, v) if b == count && v == count => Some(Self {
                    verdict: None,
                    reason: format!("{name} is 0 for both: nothing to compare"),
                }),
                _ => {
                    Some(Self::open(format!("no ratio: {name} is 0 for {}", said("", " and for "))))
                }
            };
        }
        if !of_base.is_empty() {
            return Some(Self::open(said("did nothing ", " and ")));
        }
        if of_variant.is_empty() {
            return None;
        }
        let sure = certainly_less(of_variant.len(), count, confidence);
        Some(Self {
            verdict: Some(if sure { Verdict::Regression } else { Verdict::Inconclusive }),
            reason: format!(
                "{variant} did nothing {}, but {base} did",
                in_blocks(&of_variant, count)
            ),
        })
    }

    /// One block, or one restart: the spread is unknown.
    pub(crate) fn too_few(name: &str, base: &str, comparison: &judge::Comparison) -> Self {
        let few = trials(comparison, comparison.blocks, "");
        Self::open(format!("{few}: too few to compare {name} with {base}"))
    }

    /// Slices that can't be compared.
    pub(crate) fn by_slices(names: (&str, &str), block: u32, error: judge::JudgeError) -> Self {
        Self::open(match error {
            judge::JudgeError::Idle { side } => {
                let who = if side == Side::Base { names.0 } else { names.1 };
                format!("{who} did nothing in any slice that counts in block {block}")
            }
            judge::JudgeError::BothIdle { busy: 0, .. } => {
                format!("{} and {} did nothing in any round of block {block}", names.0, names.1)
            }
            judge::JudgeError::BothIdle { busy, .. } => format!(
                "{} and {} did nothing in all but {busy} rounds of block {block}",
                names.0, names.1
            ),
            other => format!("the slices of block {block} can't be compared: {other}"),
        })
    }
}

/// True if the interval of the mean log ratio over `blocks` lies below any margin when the ratios
/// of `zeros` of them go to zero. With these at −M and the others at 0, the mean is −M·j/k and the
/// standard error is M·√(j(k−j)/(k−1))/k, so for large M the upper end is below any margin exactly
/// if √(j(k−1)/(k−j)) exceeds Student's t. Fewer than [`ENOUGH_BLOCKS`] decide nothing.
fn certainly_less(zeros: usize, blocks: usize, confidence: f64) -> bool {
    if blocks < ENOUGH_BLOCKS || zeros == 0 {
        return false;
    }
    let (j, k) = (zeros as f64, blocks as f64);
    zeros == blocks
        || (j * (k - 1.0) / (k - j)).sqrt() > t_quantile(0.5 + 0.5 * confidence, k - 1.0)
}

/// `in all 6 blocks`, `in 1 of 6 blocks (3)`.
fn in_blocks(blocks: &[u32], count: usize) -> String {
    let numbers: Vec<String> = blocks.iter().map(u32::to_string).collect();
    match blocks.len() {
        1 if count == 1 => "in its only block".to_owned(),
        all if all == count => format!("in all {count} blocks"),
        some => format!("in {some} of {count} blocks ({})", numbers.join(", ")),
    }
}

/// Why a variant has no result in a step.
fn why_missing(results: &Results, step: &StepResults, place: usize) -> String {
    let failed: Vec<_> = results
        .failed
        .iter()
        .filter(|trial| trial.variant == place && Some(trial.sequence) == step.sequence)
        .collect();
    let finished = results
        .steps
        .iter()
        .filter(|other| other.sequence == step.sequence)
        .filter_map(|other| other.variant(place))
        .any(|variant| !variant.samples.is_empty());
    if finished {
        return "no finished trial has this step".to_owned();
    }
    let Some(last) = failed.last() else { return "never run".to_owned() };
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    for trial in &failed {
        *states.entry(trial.state).or_default() += 1;
    }
    let counts: Vec<String> =
        states.into_iter().map(|(state, count)| format!("{count} {state}")).collect();
    let error = one_line(&last.error);
    let error = if error.is_empty() { error } else { format!(", the last because: {error}") };
    format!("no trial finished ({}{error})", counts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use metrics::find;

    /// The rule is the limit of the comparison itself.
    #[test]
    fn nothing_done_is_the_limit_of_ever_less() {
        for blocks in 2..=12_usize {
            for zeros in 1..=blocks {
                let base: Vec<f64> =
                    (0..blocks).map(|block| 1000.0 + (block * 7 % 5) as f64).collect();
                let variant: Vec<f64> = (0..blocks)
                    .map(|block| if block < zeros { 1e-290 } else { 1000.0 + (block % 3) as f64 })
                    .collect();
                let found = judge::compare(&base, &variant, judge::Margin::default()).unwrap();
                assert_ne!(found.verdict, Verdict::Improvement);
                assert_eq!(
                    found.verdict == Verdict::Regression,
                    certainly_less(zeros, blocks, judge::CONFIDENCE),
                    "{zeros} of {blocks}: {found:?}"
                );
            }
        }
        assert!(!certainly_less(5, 5, 0.95), "five blocks decide nothing");
        assert!(
            certainly_less(6, 6, 0.95) && certainly_less(4, 6, 0.95) && !certainly_less(3, 6, 0.95)
        );
    }

    fn by(metric: &str, base: &[f64], variant: &[f64]) -> Option<(Option<Verdict>, String)> {
        let pairs = Pairs {
            blocks: (1..=base.len() as u32).collect(),
            base: base.to_vec(),
            variant: variant.to_vec(),
        };
        let found = Unjudged::by_values(("a", "b"), find(metric).unwrap(), &pairs, 0.95)?;
        Some((found.verdict, found.reason))
    }

    #[test]
    fn idle_slices_in_words() {
        let rates = |busy: usize| [vec![5.0; busy], vec![0.0; 40 - busy]].concat();
        let said = |base: usize, variant: usize| {
            let error = judge::restart_ratio(&rates(base), &rates(variant)).unwrap_err();
            Unjudged::by_slices(("a", "b"), 3, error)
        };
        let words = |base, variant| said(base, variant).reason;
        assert_eq!(words(40, 0), "b did nothing in any slice that counts in block 3");
        assert_eq!(words(0, 40), "a did nothing in any slice that counts in block 3");
        assert_eq!(words(0, 0), "a and b did nothing in any round of block 3");
        assert_eq!(words(2, 2), "a and b did nothing in all but 2 rounds of block 3");
        assert_eq!(said(40, 0).verdict, Some(Verdict::Inconclusive));
        // More than a quarter does not prevent a comparison: the total of the operations decides.
        assert!(judge::restart_ratio(&rates(40), &rates(25)).is_ok());
    }

    #[test]
    fn zeros_in_words() {
        let inconclusive = Some(Verdict::Inconclusive);
        let said = |text: &str| text.to_owned();
        assert_eq!(by("o/s", &[1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(
            by("o/s", &[1.0; 3], &[1.0, 0.0, 1.0]),
            Some((inconclusive, said("b did nothing in 1 of 3 blocks (2), but a did")))
        );
        assert_eq!(
            by("o/s", &[1.0; 3], &[0.0; 3]),
            Some((inconclusive, said("b did nothing in all 3 blocks, but a did")))
        );
        assert_eq!(
            by("o/s", &[1.0; 6], &[0.0; 6]),
            Some((Some(Verdict::Regression), said("b did nothing in all 6 blocks, but a did")))
        );
        assert_eq!(
            by("o/s", &[1.0], &[0.0]),
            Some((inconclusive, said("b did nothing in its only block, but a did")))
        );
        assert_eq!(
            by("o/s", &[0.0; 2], &[1.0; 2]),
            Some((inconclusive, said("a did nothing in all 2 blocks")))
        );
        assert_eq!(by("o/s", &[0.0; 2], &[0.0; 2]).unwrap().0, inconclusive);
        assert_eq!(by("o/s", &[1.0], &[f64::INFINITY]).unwrap().0, inconclusive);
        assert_eq!(
            by("r/o", &[0.0; 2], &[0.0; 2]),
            Some((None, said("r/o is 0 for both: nothing to compare")))
        );
        assert_eq!(
            by("r/o", &[0.0; 2], &[0.1, 0.0]),
            Some((
                inconclusive,
                said("no ratio: r/o is 0 for a in all 2 blocks and for b in 1 of 2 blocks (2)")
            ))
        );
        assert_eq!(by("r/o", &[1.0; 2], &[0.0; 2]).unwrap().0, inconclusive);
    }
}
