//! What `compare --format json` prints: the shape documented in `docs/compare-json.md`.
//!
//! Every key is always there, except for classes of statements that a step does not have; unknown
//! values are `null`. Numbers are not rounded.

use std::collections::BTreeMap;

use metrics::{COSTS, OPS};
use serde::{Deserialize, Serialize};

use crate::judging::sliced::Slicing;
use crate::load::latency::Latency;
use crate::load::model::Labels;
use crate::sweep::SweepDocument;

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
    /// Whether all trials are finished.
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
    /// What identical variants showed; `null` without twins.
    pub twins: Option<TwinsDocument>,
    /// Notes on the figures.
    pub warnings: Vec<WarningDocument>,
}

/// One step at one number of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepDocument {
    /// Name, such as `l.i0`.
    pub name: String,
    /// Number of clients.
    pub dop: u32,
    /// What else distinguishes it from steps of the same name, such as `pinning`; usually empty.
    pub labels: Labels,
    /// What an operation is: `rows` or `queries`.
    pub unit: String,
    /// `more` or `less`: which direction of its throughput is better.
    pub better: String,
    /// Whether the plan runs it once per variant (`restore_after`): shown, never judged.
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
    /// How its slices and the base's (for a twin, those of its original) went; `null` where the
    /// load did not move in slices.
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
    /// What it is.
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
    /// Whether there is certainly a difference, even if smaller than the margin.
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

/// What the same system under two names showed: any difference is noise.
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
    /// Whether the interval excludes 1.
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
    /// Whether at least 95% of the target was reached in every block; if not, the statements that
    /// the step counts had an easier time.
    pub held: bool,
}

/// A warning; an absent key means all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "PageWarning"))]
pub struct WarningDocument {
    /// Name of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub step: Option<String>,
    /// Number of clients of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub dop: Option<u32>,
    /// Labels of the step.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Labels>", optional))]
    pub labels: Labels,
    /// Name of the variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub variant: Option<String>,
    /// The block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub block: Option<u32>,
    /// Stable short name.
    pub code: String,
    /// A sentence.
    pub text: String,
}
