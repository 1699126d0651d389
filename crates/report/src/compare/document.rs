//! The output of `compare --format json`; `docs/compare-json.md` documents its shape.
//!
//! Every key is always there, except for classes of statements that a step does not have; unknown
//! values are `null`. Numbers are not rounded.

use std::collections::BTreeMap;

use metrics::{COSTS, OPS, STALL_SHARE};
use plan::{Labels, StepKey};
use serde::{Deserialize, Serialize};

use crate::judging::figures::absolute;
use crate::judging::judged::{Finding, Judged};
use crate::judging::sliced::{Slicing, slicing_of};
use crate::load::latency::{Latency, Pooled};
use crate::load::model::{Noted, Results, VariantStep};
use crate::output::table::distinct;
use crate::output::time::rfc3339;
use crate::sweep::{self, Sweep, SweepDocument};

/// Version of the shape; it grows when a key is removed or changes its meaning.
pub const FORMAT: u32 = 3;

/// A whole comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Version of this shape: 3.
    pub format: u32,
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the workload, such as `insert`.
    pub workload: String,
    /// Name of the variant that the others are compared with.
    pub base: String,
    /// δ, as a fraction.
    pub margin: f64,
    /// Blocks that the plan asks for.
    pub blocks: u32,
    /// When the experiment began, RFC 3339.
    pub started: String,
    /// True if all trials are finished.
    pub finished: bool,
    /// Names of the variants in the order of the plan.
    pub variants: Vec<String>,
    /// In order of execution; every step of the plan.
    pub steps: Vec<StepDocument>,
    /// The metrics that were judged; throughput if none was named.
    pub metrics: Vec<MetricDocument>,
    /// Steps measured with three or more numbers of clients.
    #[serde(default)]
    pub sweeps: Vec<SweepDocument>,
    /// Results of comparing identical variants; `null` without twins.
    pub twins: Option<TwinsDocument>,
    /// Notes on the figures.
    pub warnings: Vec<WarningDocument>,
}

/// One step at one number of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepDocument {
    /// Name, number of clients and labels.
    #[serde(flatten)]
    pub key: StepKey,
    /// The unit of its operations: `rows` or `queries`.
    pub unit: String,
    /// `more` or `less`: which direction of its throughput is better.
    pub better: String,
    /// True if the plan runs it once per variant (`restore_after`): shown, never judged.
    pub loaded_once: bool,
    /// Every variant, in the order of the plan.
    pub variants: Vec<VariantDocument>,
}

/// One variant in one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantDocument {
    /// Name.
    pub name: String,
    /// Name of the variant that this one is the same system as; such twins are not judged against
    /// the base.
    pub twin_of: Option<String>,
    /// Number of finished trials with this step.
    pub blocks: usize,
    /// Means over the blocks, and single values.
    pub absolute: Costs<Figure>,
    /// Compared with the base.
    pub relative: RelativeFigures,
    /// How its slices and those of the base (for a twin, of its original) went; `null` if the load
    /// did not move in slices.
    pub slices: Option<Slicing>,
    /// Response times by class of statement, all blocks together.
    pub latency: BTreeMap<String, LatencyFigures>,
    /// Paced statements that the step does not count, by class.
    pub rates: BTreeMap<String, RateFigures>,
    /// Bytes at the end of the step in all tables together, by what they hold: medians over the
    /// blocks.
    pub size: BTreeMap<String, u64>,
    /// Share of the seconds that were stalls, 0 to 1, median over the blocks.
    pub stall_share: Option<f64>,
    /// Failed statements over all blocks, retried ones included.
    pub failures: u64,
    /// Notes.
    pub warnings: Vec<String>,
}

/// A value for throughput and for each cost per operation, by name of the metric.
pub type Costs<T> = BTreeMap<String, T>;

/// Calls `of` with the name of each metric of [`Costs`].
pub(crate) fn costs<T>(of: impl Fn(&str) -> T) -> Costs<T> {
    let all = [&OPS].into_iter().chain(COSTS);
    all.map(|metric| (metric.name.to_owned(), of(metric.name))).collect()
}

/// A figure over the blocks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Figure {
    /// Geometric mean over the blocks that are paired with the base; arithmetic where the value is
    /// 0 in a block.
    pub mean: Option<f64>,
    /// One value per block that has one, in order of the blocks.
    pub values: Vec<f64>,
}

/// A metric and its verdicts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricDocument {
    /// As asked for, such as `dbms.cpu/o`.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// `more` or `less`.
    pub better: String,
    /// The meaning of the metric.
    pub meaning: String,
    /// One for each step and variant to be judged.
    pub comparisons: Vec<MetricComparison>,
}

/// One variant in one step, judged by a metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricComparison {
    /// Name of the step.
    pub step: String,
    /// Number of clients of the step.
    pub dop: u32,
    /// Labels of the step.
    pub labels: Labels,
    /// Name of the variant.
    pub variant: String,
    /// The comparison with the base.
    #[serde(flatten)]
    pub relative: RelativeFigures<BothMeans>,
}

/// The two values of a comparison.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct BothMeans {
    /// The base's mean.
    pub base_mean: Option<f64>,
    /// The variant's.
    pub mean: Option<f64>,
}

/// A variant compared with the base. For the base itself the ratio is 1 and there is no verdict.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(concrete(T = ())))]
pub struct RelativeFigures<T = Costs<Option<f64>>> {
    /// Value / the base's value, `exp(mean ln)` over paired blocks; of one block, too.
    pub ratio: Option<f64>,
    /// Lower end of the interval of the ratio; `null` with one block.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Confidence of the interval, as a fraction: 0.95 unless several looks share the error.
    pub confidence: Option<f64>,
    /// `blocks` or `slices`.
    pub pairing: Option<String>,
    /// Number of paired blocks; with slices, of restarts.
    pub blocks: usize,
    /// Two-sided p value of the sign-flip test.
    pub p: Option<f64>,
    /// `regression`, `improvement`, `equivalent` or `inconclusive`.
    #[cfg_attr(test, ts(type = "Verdict"))]
    pub verdict: Option<String>,
    /// True if there is certainly a difference, even one smaller than the margin.
    pub confirmed: Option<bool>,
    /// Minimum detectable effect: the slowdown (for a cost, the increase), as a fraction, that an
    /// experiment with as many blocks and comparisons would confirm with a power of 80%; `null`
    /// below 5 blocks.
    pub detectable: Option<f64>,
    /// Estimated number of further blocks until the verdict is decided; 0 if it is.
    pub further_blocks: Option<u32>,
    /// The reason if it can't be judged.
    pub reason: Option<String>,
    /// The comparison in plain words.
    #[cfg_attr(test, ts(type = "string"))]
    pub sentence: Option<String>,
    /// Figures without a verdict: the ratio of throughput and of each cost per operation.
    #[serde(flatten)]
    #[cfg_attr(test, ts(skip))]
    pub costs: T,
}

/// Results of comparing the same system under two names: any difference is noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TwinsDocument {
    /// Comparisons of twins that have an interval.
    pub comparisons: usize,
    /// How many of their intervals exclude 1.
    pub false_alarms: usize,
    /// `false_alarms / comparisons`; `null` without comparisons.
    pub rate: Option<f64>,
    /// Lower end of the 95% interval of the true rate (Clopper and Pearson).
    pub rate_low: Option<f64>,
    /// Upper end.
    pub rate_high: Option<f64>,
    /// Each pair in each step.
    pub pairs: Vec<TwinDocument>,
    /// For each step of the experiment, the smallest difference that counts, as a fraction.
    pub noise_floors: Vec<Option<f64>>,
}

/// One step of one pair of twins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TwinDocument {
    /// Name of the step.
    pub step: String,
    /// Number of clients of the step.
    pub dop: u32,
    /// Labels of the step.
    pub labels: Labels,
    /// Name of the variant.
    pub variant: String,
    /// Its second name.
    pub twin: String,
    /// Throughput of the twin / throughput of the variant.
    pub ratio: f64,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Number of paired blocks.
    pub blocks: usize,
    /// True if the interval excludes 1.
    pub false_alarm: bool,
}

/// Response times of one class of statements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyFigures {
    /// In microseconds.
    #[serde(flatten)]
    pub times: Latency,
    /// Share (0 to 1) of the responses in each bucket: 256us, 1ms, 4ms, 16ms, 64ms, 256ms, 1s, 4s,
    /// 16s, gt.
    pub buckets: Vec<f64>,
}

/// A paced class of statements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RateFigures {
    /// Target rate in operations per second (for inserts and deletes, rows per second).
    pub target: Option<f64>,
    /// The rate reached, median over the blocks.
    pub rate: Option<f64>,
    /// True if at least 95% of the target was reached in every block; if not, the statements that
    /// the step counts had an easier time.
    pub held: bool,
}

/// A warning; an absent key means all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "PageWarning", optional_fields))]
pub struct WarningDocument {
    /// Name of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Number of clients of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dop: Option<u32>,
    /// Labels of the step.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Labels>", optional))]
    pub labels: Labels,
    /// Name of the variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// Stable short name.
    pub code: String,
    /// A sentence.
    pub text: String,
}

/// The comparison by throughput, and the verdicts by every metric.
pub(super) fn document(
    results: &Results,
    judged: &Judged,
    verdicts: &[Judged],
    sweeps: &[Sweep],
) -> Document {
    Document {
        format: FORMAT,
        experiment: results.experiment.name.clone(),
        workload: results.experiment.workload.clone(),
        base: judged.base_name(results).to_owned(),
        margin: judged.margin,
        blocks: results.experiment.blocks,
        started: rfc3339(results.experiment.created_ms),
        finished: results.is_finished(),
        variants: results.variants.iter().map(|v| v.variant.name.clone()).collect(),
        steps: (0..results.steps.len()).map(|number| step(results, judged, number)).collect(),
        metrics: verdicts.iter().map(|judged| metric(results, judged)).collect(),
        sweeps: sweep::documents(results, sweeps),
        twins: twins(results, judged),
        warnings: results.warnings.iter().map(|noted| warning_document(results, noted)).collect(),
    }
}

fn step(results: &Results, judged: &Judged, number: usize) -> StepDocument {
    let step = &results.steps[number];
    let variants = step.variants.iter().enumerate();
    StepDocument {
        key: step.key.clone(),
        unit: step.unit.clone(),
        better: step.better.as_str().to_owned(),
        loaded_once: step.loaded_once,
        variants: variants
            .map(|(place, figures)| VariantDocument {
                name: results.variant_name(place).to_owned(),
                twin_of: results.twin_of(place).map(|of| results.variant_name(of).to_owned()),
                blocks: figures.samples.len(),
                absolute: costs(|metric| Figure {
                    mean: absolute(step, judged.base, place, metric),
                    values: figures.values(metric).into_iter().map(|(_, value)| value).collect(),
                }),
                relative: relative(results, judged, number, place),
                slices: slicing_of(results, step, judged.base_of(place), place),
                latency: latency(figures),
                rates: step.paced().into_iter().map(|class| rate(figures, class)).collect(),
                size: figures.sizes.clone(),
                stall_share: figures.median(STALL_SHARE.name),
                failures: figures.failures.iter().map(|failure| failure.count).sum(),
                warnings: warnings_of(results, judged, number, place),
            })
            .collect(),
    }
}

fn relative(results: &Results, judged: &Judged, number: usize, place: usize) -> RelativeFigures {
    let step = &results.steps[number];
    let ratio = |metric: &str| judged.ratio_of(results, number, place, metric);
    let costs = costs(|metric| ratio(metric).map(|ratio| ratio.value));
    match judged.finding(results, number, place) {
        Some(finding) => judgement(&finding, costs),
        None if place == judged.base => RelativeFigures {
            ratio: step.variants[place].values(OPS.name).first().map(|_| 1.0),
            blocks: step.variants[place].samples.len(),
            costs,
            ..RelativeFigures::default()
        },
        // A twin is not judged, but its ratio is known.
        None => RelativeFigures {
            ratio: costs.get(OPS.name).copied().flatten(),
            costs,
            ..RelativeFigures::default()
        },
    }
}

pub(crate) fn judgement<T: Default>(finding: &Finding<'_>, costs: T) -> RelativeFigures<T> {
    let told = RelativeFigures {
        verdict: finding.verdict.map(|verdict| verdict.to_string()),
        reason: finding.reason.as_deref().map(str::to_owned),
        sentence: Some(finding.sentence.clone()),
        ratio: finding.ratio.map(|ratio| ratio.value),
        blocks: finding.blocks,
        costs,
        ..RelativeFigures::default()
    };
    let Some(found) = finding.comparison else { return told };
    RelativeFigures {
        low: found.low,
        high: found.high,
        confidence: Some(found.confidence),
        pairing: Some(found.method.as_str().to_owned()),
        p: found.sign_flip_p,
        confirmed: Some(found.confirmed()),
        detectable: found.detectable,
        further_blocks: found.further_blocks,
        ..told
    }
}

/// The verdicts by one metric.
fn metric(results: &Results, judged: &Judged) -> MetricDocument {
    let asked = judged.asked();
    let comparison = |finding: &Finding<'_>| {
        let step = &results.steps[finding.step];
        let base = judged.base_of(finding.variant);
        let mean = |place: usize| absolute(step, base, place, judged.metric_in(step)?.name);
        let means = BothMeans { base_mean: mean(base), mean: mean(finding.variant) };
        MetricComparison {
            step: step.key.name.clone(),
            dop: step.key.dop,
            labels: step.key.labels.clone(),
            variant: results.variant_name(finding.variant).to_owned(),
            relative: judgement(finding, means),
        }
    };
    MetricDocument {
        metric: judged.metric.clone(),
        unit: asked.map_or("", |metric| metric.unit).to_owned(),
        better: asked.map_or("", |metric| metric.better.as_str()).to_owned(),
        meaning: judged.meaning(),
        comparisons: judged.findings(results).iter().map(comparison).collect(),
    }
}

fn twins(results: &Results, judged: &Judged) -> Option<TwinsDocument> {
    if judged.twins.is_empty() {
        return None;
    }
    let alarms = judged.false_alarms();
    let pairs = judged.twins.iter().filter_map(|twin| {
        let step = results.steps.get(twin.step)?;
        Some(TwinDocument {
            step: step.key.name.clone(),
            dop: step.key.dop,
            labels: step.key.labels.clone(),
            variant: results.variant_name(twin.original).to_owned(),
            twin: results.variant_name(twin.twin).to_owned(),
            ratio: twin.comparison.ratio,
            low: twin.comparison.low,
            high: twin.comparison.high,
            blocks: twin.comparison.blocks,
            false_alarm: twin.comparison.excludes_one(),
        })
    });
    Some(TwinsDocument {
        comparisons: alarms.map_or(0, |alarms| alarms.comparisons),
        false_alarms: alarms.map_or(0, |alarms| alarms.alarms),
        rate: alarms.map(|alarms| alarms.rate),
        rate_low: alarms.map(|alarms| alarms.low),
        rate_high: alarms.map(|alarms| alarms.high),
        pairs: pairs.collect(),
        noise_floors: judged.noise_floors.clone(),
    })
}

fn rate(figures: &VariantStep, class: &str) -> (String, RateFigures) {
    let rates = RateFigures {
        target: figures.median(&metrics::TARGET.of(class)),
        rate: figures.median(&metrics::RATE.of(class)),
        held: !figures.not_held().contains(class),
    };
    (class.to_owned(), rates)
}

fn latency(figures: &VariantStep) -> BTreeMap<String, LatencyFigures> {
    let of_class = |pooled: &Pooled| {
        let figures = LatencyFigures { times: pooled.latency(), buckets: pooled.shares() };
        (pooled.class.clone(), figures)
    };
    figures.latency.iter().map(of_class).collect()
}

fn warnings_of(results: &Results, judged: &Judged, number: usize, place: usize) -> Vec<String> {
    let key = &results.steps[number].key;
    let judged = judged.of(number, place).map(|comparison| comparison.warnings.as_slice());
    let of_step = results
        .warnings
        .iter()
        .filter(|noted| noted.variant == Some(place) && noted.step.as_ref() == Some(key));
    let texts = judged.unwrap_or_default().iter().map(ToString::to_string);
    distinct(texts.chain(of_step.map(|noted| noted.warning.text.clone())))
}

pub(crate) fn warning_document(results: &Results, noted: &Noted) -> WarningDocument {
    let step = noted.step.as_ref();
    WarningDocument {
        step: step.map(|step| step.name.clone()),
        dop: step.map(|step| step.dop),
        labels: step.map(|step| step.labels.clone()).unwrap_or_default(),
        variant: noted.variant.map(|place| results.variant_name(place).to_owned()),
        block: noted.block,
        code: noted.warning.code.clone(),
        text: noted.warning.text.clone(),
    }
}
