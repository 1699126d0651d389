//! Every step of every variant, judged against the base.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use judge::{Margin, Verdict};
use metrics::{DBMS_CPU, Metric, OPS, OPS_AS_COST, in_step};

use super::figures::{Ratio, paired, ratio, ratio_across};
use super::sentence::{sentence, too_few};
use super::sliced;
use super::unjudged::Unjudged;
use crate::load::model::{Results, StepResults, VariantStep};
use crate::output::table::place_of;

/// The base that stands for the variant before each one, in the order of the plan, unless a variant
/// has this name.
pub const PREVIOUS: &str = "previous";

/// The comparisons of an experiment by one metric.
#[derive(Debug, Clone)]
pub struct Judged {
    /// Name of the requested metric: `o/s`, `dbms.cpu/o`, or `p99` for that of the class each step
    /// counts.
    pub metric: String,
    /// Index of the base in [`Results::variants`]; of the first base if variants have different
    /// ones.
    pub base: usize,
    /// The variant that each is compared with: the base, or with [`PREVIOUS`] the one before it.
    pub bases: Vec<usize>,
    /// The requested δ.
    pub margin: f64,
    /// Per step, per variant.
    pub steps: Vec<Vec<Outcome>>,
    /// Every twin compared with the variant it duplicates.
    pub twins: Vec<Twin>,
    /// Per step the noise floor that its twins show, as a fraction; `None` without twins.
    pub noise_floors: Vec<Option<f64>>,
    /// Comparisons with missing blocks.
    pub gaps: Vec<Gap>,
    /// The comparisons of experiments that ran on several machines, by step and variant.
    pub over_machines: BTreeMap<(usize, usize), judge::OverMachines>,
}

/// The outcome for one variant in one step.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Not to be judged: the base, a twin, a load that ran once, a metric that does not apply to
    /// the step.
    Aside,
    /// Judged.
    Compared(Box<judge::Comparison>),
    /// Should be judged but can't be.
    Unjudged(Unjudged),
}

impl Outcome {
    fn comparison(&self) -> Option<&judge::Comparison> {
        match self {
            Self::Compared(comparison) => Some(comparison),
            Self::Aside | Self::Unjudged(_) => None,
        }
    }
}

/// A comparison over fewer blocks than there should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// Index of the step in [`Results::steps`].
    pub step: usize,
    /// Index of the variant.
    pub variant: usize,
    /// Describes in plain words what is missing.
    pub text: String,
}

/// An outcome as it is reported.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding<'a> {
    /// Index of the step in [`Results::steps`].
    pub(crate) step: usize,
    /// Index of the variant.
    pub(crate) variant: usize,
    /// `None` if a cost is exactly 0 for both.
    pub(crate) verdict: Option<Verdict>,
    /// Paired blocks; with slices, restarts of the servers.
    pub(crate) blocks: usize,
    /// The comparison, if it has an interval.
    pub(crate) comparison: Option<&'a judge::Comparison>,
    /// The variant's value / the base's, also of a single block.
    pub(crate) ratio: Option<Ratio>,
    /// Why there is no comparison, or no verdict on it.
    pub(crate) reason: Option<Cow<'a, str>>,
    /// The finding in plain words.
    pub(crate) sentence: String,
    /// True if a gate must not ignore it, whatever the verdict.
    pub(crate) fails: bool,
}

/// One step of one pair of identical variants.
#[derive(Debug, Clone)]
pub struct Twin {
    /// Index of the step in [`Results::steps`].
    pub step: usize,
    /// Index of the variant that comes first.
    pub original: usize,
    /// Index of the same variant under its second name.
    pub twin: usize,
    /// The second compared with the first. Any difference is noise.
    pub comparison: judge::Comparison,
}

impl Finding<'_> {
    /// True if a ratio comes from fewer blocks than a verdict needs: it has no interval either,
    /// because Student's t of so few would say only that nothing is known.
    pub(crate) fn is_of_few(&self) -> bool {
        self.ratio.is_some_and(Ratio::is_of_few)
    }

    /// The comparison, unless it is of too few blocks.
    pub(crate) fn judged(&self) -> Option<&judge::Comparison> {
        self.comparison.filter(|_| !self.is_of_few())
    }
}

impl Judged {
    /// The comparison of a variant in a step.
    pub fn of(&self, step: usize, variant: usize) -> Option<&judge::Comparison> {
        self.steps.get(step)?.get(variant)?.comparison()
    }

    /// The variant that one is compared with.
    pub(crate) fn base_of(&self, variant: usize) -> usize {
        self.bases.get(variant).copied().unwrap_or(self.base)
    }

    /// The margin by which the comparisons of a step are judged.
    pub(crate) fn margin_in(&self, step: usize) -> Margin {
        let noise_floor = self.noise_floors.get(step).copied().flatten().unwrap_or_default();
        Margin { asked: self.margin, noise_floor }
    }

    /// The judged ratio of a variant's throughput to that of its base, wherever it is shown. A twin
    /// is not judged against the base, but its ratio is computed in the same way.
    pub(crate) fn throughput_ratio(
        &self,
        results: &Results,
        step: usize,
        place: usize,
    ) -> Option<Ratio> {
        let (figures, base) = (results.steps.get(step)?, self.base_of(place));
        match self.steps.get(step)?.get(place)? {
            Outcome::Compared(found) => Some(ratio_in(found)),
            Outcome::Unjudged(_) => ratio_across(figures, base, place, OPS.name),
            Outcome::Aside => {
                let (of_base, own) = (figures.variant(base)?, figures.variant(place)?);
                let sliced = sliced::compare(of_base, own, self.margin_in(step), &results.looks);
                match sliced.filter(|_| place != base) {
                    Some(found) => found.ok().map(|found| ratio_in(&found)),
                    None => ratio(figures, base, place, OPS.name),
                }
            }
        }
    }

    /// A figure of a variant as a fraction of its base's, wherever it is shown; for throughput,
    /// [`Self::throughput_ratio`].
    pub(crate) fn ratio_of(
        &self,
        results: &Results,
        step: usize,
        place: usize,
        metric: &str,
    ) -> Option<Ratio> {
        match metric == OPS.name {
            true => self.throughput_ratio(results, step, place),
            false => {
                let (step, base) = (results.steps.get(step)?, self.base_of(place));
                ratio(step, base, place, metric).or_else(|| ratio_across(step, base, place, metric))
            }
        }
    }

    /// The blocks that were compared, with their ratios; the judged one is the geometric mean.
    pub(crate) fn ratios(&self, results: &Results, step: usize, place: usize) -> Vec<(u32, f64)> {
        let found = || {
            let (step, found) = (results.steps.get(step)?, self.of(step, place)?);
            let both = (step.variant(self.base_of(place))?, step.variant(place)?);
            Some(ratios(self.metric_in(step)?, found, both))
        };
        found().unwrap_or_default()
    }

    /// The base of the other variants, for people: `pg13.7`, `the previous variant`.
    pub(crate) fn base_name<'a>(&self, results: &'a Results) -> &'a str {
        match self.bases.iter().all(|base| *base == self.base) {
            true => results.variant_name(self.base),
            false => "the previous variant",
        }
    }

    /// All comparisons.
    pub(crate) fn comparisons(&self) -> impl Iterator<Item = &judge::Comparison> {
        self.steps.iter().flatten().filter_map(Outcome::comparison)
    }

    /// The requested metric; for `p99`, its family.
    pub(crate) fn asked(&self) -> Option<&'static Metric> {
        metrics::named(&self.metric)
    }

    /// The meaning of the metric.
    pub(crate) fn meaning(&self) -> String {
        match self.asked() {
            // A bare percentile refers to a different class in each step.
            Some(family) if family.is_family() => format!(
                "response time of the statements the step counts, {} of each block",
                self.metric
            ),
            metric => metric.map_or("", |metric| metric.meaning).to_owned(),
        }
    }

    /// The classes of statements whose rate the base or a variant did not hold.
    pub(crate) fn not_held<'a>(&self, step: &'a StepResults, place: usize) -> Vec<&'a str> {
        let both = [self.base_of(place), place].into_iter().filter_map(|place| step.variant(place));
        both.flat_map(VariantStep::not_held).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The metric that was judged in a step.
    pub(crate) fn metric_in(&self, step: &StepResults) -> Option<&'static Metric> {
        metric_of(&self.metric, step)
    }

    /// The finding about a variant in a step; `None` if there is nothing to judge.
    pub(crate) fn finding(
        &self,
        results: &Results,
        number: usize,
        place: usize,
    ) -> Option<Finding<'_>> {
        let step = results.steps.get(number)?;
        let (name, base) = (results.variant_name(place), self.base_of(place));
        let base = results.variant_name(base);
        let unjudged = |unjudged: &'_ Unjudged| {
            let verdict = unjudged.verdict.map_or(String::new(), |verdict| format!(": {verdict}"));
            format!("{}{verdict}", unjudged.reason)
        };
        let (verdict, comparison, reason, sentence, fails) =
            match self.steps.get(number)?.get(place)? {
                Outcome::Aside => return None,
                Outcome::Unjudged(found) => {
                    let reason = Cow::Borrowed(found.reason.as_str());
                    (found.verdict, None, Some(reason), unjudged(found), found.verdict.is_some())
                }
                Outcome::Compared(found) if found.low.is_none() => {
                    let one = Unjudged::too_few(name, base, found);
                    let told = unjudged(&one);
                    (one.verdict, None, Some(Cow::Owned(one.reason)), told, true)
                }
                Outcome::Compared(found) => {
                    let words = self.metric_in(step)?.words;
                    let told = sentence(name, base, found, words, &self.not_held(step, place));
                    let few = found.blocks < judge::ENOUGH_BLOCKS;
                    let reason = few.then(|| Cow::Owned(too_few(found)));
                    (Some(found.verdict), Some(&**found), reason, told, few)
                }
            };
        let base = self.base_of(place);
        let across = || ratio_across(step, base, place, self.metric_in(step)?.name);
        let ratio = self.of(number, place).map(ratio_in).or_else(across);
        let blocks = ratio.map_or(0, |ratio| ratio.pairs);
        let (step, variant) = (number, place);
        Some(Finding { step, variant, verdict, blocks, comparison, ratio, reason, sentence, fails })
    }

    /// The findings about all variants in all steps, in order.
    pub(crate) fn findings(&self, results: &Results) -> Vec<Finding<'_>> {
        let order = self.order(results);
        (0..self.steps.len())
            .flat_map(|step| order.iter().map(move |place| (step, *place)))
            .filter_map(|(step, place)| self.finding(results, step, place))
            .collect()
    }

    /// How often twins were reported to differ; `None` without twins that have an interval.
    pub fn false_alarms(&self) -> Option<judge::FalseAlarms> {
        let comparisons: Vec<_> = self.twins.iter().map(|twin| twin.comparison.clone()).collect();
        judge::false_alarm_rate(&comparisons)
    }

    /// The warnings of the comparisons, each once; with indexes of its step and variant if it is
    /// about only one comparison.
    pub(crate) fn warnings(&self) -> Vec<(Option<(usize, usize)>, judge::Warning)> {
        let mut found: Vec<(Option<(usize, usize)>, judge::Warning)> = Vec::new();
        for (step, variants) in self.steps.iter().enumerate() {
            for (variant, outcome) in variants.iter().enumerate() {
                let Some(comparison) = outcome.comparison() else { continue };
                for warning in &comparison.warnings {
                    match found.iter_mut().find(|(_, known)| known == warning) {
                        Some((about, _)) => *about = None,
                        None => found.push((Some((step, variant)), *warning)),
                    }
                }
            }
        }
        found
    }

    /// The warnings with their codes, as sentences that begin with the comparison each is about.
    pub(crate) fn told_warnings(
        &self,
        results: &Results,
    ) -> impl Iterator<Item = (&'static str, String)> {
        let about = |(step, variant): (usize, usize)| {
            let label = results.step_label(&results.steps[step]);
            format!("{label} {}: ", results.variant_name(variant))
        };
        self.warnings().into_iter().map(move |(place, warning)| {
            (warning.code(), format!("{}{warning}", place.map(about).unwrap_or_default()))
        })
    }

    /// The gaps, as sentences that begin with the steps.
    pub(crate) fn told_gaps(&self, results: &Results) -> impl Iterator<Item = String> {
        let mut told: Vec<(&str, Vec<String>)> = Vec::new();
        for gap in &self.gaps {
            let place = place_of(&mut told, (&gap.text, Vec::new()), |one, new| one.0 == new.0);
            told[place].1.push(results.step_label(&results.steps[gap.step]));
        }
        told.into_iter().map(|(text, steps)| format!("{}: {text}", steps.join(", ")))
    }

    /// Indexes of the variants in the order of rows: the base, then the others as in the plan.
    pub fn order(&self, results: &Results) -> Vec<usize> {
        let others = (0..results.variants.len()).filter(|v| *v != self.base);
        std::iter::once(self.base).chain(others).collect()
    }
}

/// The blocks that were compared, and the ratio in each.
pub(super) fn ratios(
    metric: &Metric,
    found: &judge::Comparison,
    (base, variant): (&VariantStep, &VariantStep),
) -> Vec<(u32, f64)> {
    if found.method == judge::Method::Slices {
        return sliced::ratios(base, variant);
    }
    let by_cpu = found.warnings.iter().any(|it| matches!(it, judge::Warning::ByCpu { .. }));
    let pairs = match by_cpu {
        // More operations per second of CPU time is less CPU time per operation.
        true => paired(variant, base, DBMS_CPU.name),
        false => paired(base, variant, metric.name),
    };
    let both = pairs.base.iter().zip(&pairs.variant).map(|(base, variant)| variant / base);
    pairs.blocks.iter().copied().zip(both).collect()
}

/// The ratio that was judged.
fn ratio_in(comparison: &judge::Comparison) -> Ratio {
    Ratio { value: comparison.ratio, pairs: comparison.blocks }
}

/// The metric that a name refers to in a step.
pub(crate) fn metric_of(name: &str, step: &StepResults) -> Option<&'static Metric> {
    let found = in_step(name, &step.class)?;
    let lower = found.name == OPS.name && step.better == store::Better::Less;
    Some(if lower { &OPS_AS_COST } else { found })
}
