//! The results of one experiment, ready for layout: measurements, not how to show them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plan::StepKey;
use store::{
    Better, Experiment, ExperimentId, Failure, HostFact, Setting, StepId, TrialId, Variant, Warning,
};

use super::answers::Answers;
use super::latency::Pooled;
use super::slices::Slices;

/// An experiment with all figures of its finished trials.
#[derive(Debug, Clone)]
pub struct Results {
    /// The request, and when it was made.
    pub experiment: Experiment,
    /// The machine.
    pub host: Vec<HostFact>,
    /// In the order of the plan.
    pub variants: Vec<VariantResults>,
    /// In order of execution: the steps of the plan for each number of clients. Steps without
    /// results are included, but empty.
    pub steps: Vec<StepResults>,
    /// The planned looks of an adaptive experiment; other experiments have a single look.
    pub looks: judge::Looks,
    /// Number of blocks that every comparison of a finished experiment must have: the plan's
    /// number, or 0 if a budget may have ended it early.
    pub least_blocks: u32,
    /// Warnings about the figures.
    pub warnings: Vec<Noted>,
    /// Trials without results.
    pub failed: Vec<FailedTrial>,
    /// Name and type of the machine of each block, if the blocks are of several machines.
    pub machines: BTreeMap<u32, (String, String)>,
}

/// A variant and the settings of its server.
#[derive(Debug, Clone)]
pub struct VariantResults {
    /// As stored.
    pub variant: Variant,
    /// Settings that differ from their defaults, from its latest finished trial.
    pub settings: Vec<Setting>,
    /// Index of the variant that this one duplicates under a second name (an A/A pair).
    pub twin_of: Option<usize>,
}

/// One step at one number of clients.
#[derive(Debug, Clone, Default)]
pub struct StepResults {
    /// Name, number of clients and labels.
    pub key: StepKey,
    /// Key of the plan's sequence that it belongs to; `None` if it is not in the plan.
    pub sequence: Option<u32>,
    /// Which direction of its throughput is better.
    pub better: Better,
    /// The unit of its operations: `rows` or `queries`.
    pub unit: String,
    /// The class of statements that an operation is.
    pub class: String,
    /// True if the plan runs it once per variant and starts trials from copies of its result. There
    /// is nothing to pair, so it is shown but never judged.
    pub loaded_once: bool,
    /// True if the plan runs it only to warm up caches: shown, but never judged.
    pub warm_up: bool,
    /// True if it only prepares for others: loaded once, or not named by the plan. Shown, but never
    /// judged.
    pub prepares: bool,
    /// The group of steps that it is shown with; empty if its workload has no groups.
    pub group: String,
    /// One per variant, in the order of [`Results::variants`].
    pub variants: Vec<VariantStep>,
}

/// One variant in one step, over all blocks.
#[derive(Debug, Clone, Default)]
pub struct VariantStep {
    /// Names of the metrics that samples may have, sorted.
    pub metrics: Arc<[String]>,
    /// One per finished trial, by block.
    pub samples: Vec<Sample>,
    /// The run goes on with longer slices where they are too short, and all of it ran on one
    /// machine.
    pub lengthens: bool,
    /// Response times over all blocks, by class of statement.
    pub latency: Vec<Pooled>,
    /// Sizes of all tables together at the end, in bytes: medians over the blocks.
    pub sizes: BTreeMap<String, u64>,
    /// Differences of the DBMS's counters, summed over objects: medians over the blocks.
    pub counters: Vec<CounterFigure>,
    /// Views that this version does not have.
    pub absent: BTreeSet<String>,
    /// The answers to its queries that are compared between the variants, by block.
    pub answers: BTreeMap<u32, Answers>,
    /// Why it failed in a block whose other steps are results: the server's words, or nothing where
    /// another variant's server refused.
    pub refused: BTreeMap<u32, String>,
    /// The plans that were chosen for a statement, in any block.
    pub plans: BTreeMap<String, BTreeSet<String>>,
    /// Errors of statements, over all blocks.
    pub failures: Vec<Failure>,
    /// Notes about the measurement, such as what could not be measured and why.
    pub notes: BTreeSet<String>,
    /// Set if another experiment measured it.
    pub elsewhere: Option<Elsewhere>,
}

/// Where the figures of a variant come from that was measured in another experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    /// Number of the experiment.
    pub experiment: ExperimentId,
    /// Why they can't be related to those of this one at all; `None` if they can.
    pub apart: Option<String>,
}

/// One trial's figures for a step.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The block, from 1.
    pub block: u32,
    /// The trial.
    pub trial: TrialId,
    /// The step in the store.
    pub step: StepId,
    /// When it began, milliseconds since 1970 (UTC).
    pub started_ms: i64,
    /// One value per entry of [`VariantStep::metrics`]; NaN if unknown.
    pub values: Vec<f64>,
    /// Its slices, if the load moved between the servers of all variants.
    pub slices: Option<Slices>,
}

/// How much a counter rose during a step.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterFigure {
    /// View, such as `pg_stat_wal`.
    pub view: String,
    /// Column.
    pub name: String,
    /// Difference over the step, summed over objects, median over the blocks.
    pub value: f64,
}

/// A warning and its scope; `None` means all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted {
    /// The step.
    pub step: Option<StepKey>,
    /// Index in [`Results::variants`].
    pub variant: Option<usize>,
    /// The block.
    pub block: Option<u32>,
    /// The warning.
    pub warning: Warning,
}

impl Noted {
    /// A warning about a variant in a step.
    pub(crate) fn about(step: &StepResults, variant: usize, code: &str, text: String) -> Self {
        let warning = Warning { code: code.to_owned(), text };
        Self { step: Some(step.key.clone()), variant: Some(variant), block: None, warning }
    }
}

/// A trial without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedTrial {
    /// Index in [`Results::variants`].
    pub variant: usize,
    /// The block, from 1.
    pub block: u32,
    /// The sequence of steps that it ran.
    pub sequence: u32,
    /// `failed`, `polluted`, `abandoned` or `running`.
    pub state: &'static str,
    /// Why.
    pub error: String,
}

impl Results {
    /// True if another program printed the figures.
    pub(crate) fn is_imported(&self) -> bool {
        self.variants.iter().any(|it| it.variant.dbms.starts_with(store::IMPORTED))
    }

    /// True if variants of other experiments are beside its own.
    pub(crate) fn has_other_experiments(&self) -> bool {
        self.steps.iter().flat_map(|step| &step.variants).any(|it| it.elsewhere.is_some())
    }

    /// Index of the variant with this name.
    pub fn variant_named(&self, name: &str) -> Option<usize> {
        self.variants.iter().position(|v| v.variant.name == name)
    }

    /// The classes of statements that have metrics in the results directory, each once.
    pub(crate) fn classes(&self) -> Vec<&str> {
        let variants = self.steps.iter().flat_map(|step| &step.variants);
        let names: BTreeSet<&String> = variants.flat_map(|variant| &*variant.metrics).collect();
        let families = metrics::LATENCIES.into_iter().chain([&metrics::RATE]);
        let found =
            families.flat_map(|family| names.iter().filter_map(move |name| family.member_in(name)));
        found.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// True if a metric was measured in any step; a bare `p99` in any class.
    pub(crate) fn has(&self, metric: &str) -> bool {
        self.steps.iter().any(|step| {
            let name = metrics::in_step(metric, &step.class).map_or(metric, |found| found.name);
            step.variants.iter().any(|variant| variant.metrics.iter().any(|one| one == name))
        })
    }

    /// True if all trials are finished.
    pub fn is_finished(&self) -> bool {
        self.experiment.state == store::ExperimentState::Finished
    }

    /// True if the run failed for a reason that resuming it can't change.
    pub(crate) fn would_fail_again(&self) -> bool {
        self.warnings.iter().any(|noted| noted.warning.code == store::FAILED)
    }

    /// Removes the samples of blocks after `last`, so that judging works as if only the blocks up
    /// to it had run. Figures pooled over all blocks (response times, sizes, counters) stay as they
    /// are.
    pub fn keep_blocks(&mut self, last: u32) {
        for variant in self.steps.iter_mut().flat_map(|step| &mut step.variants) {
            variant.samples.retain(|sample| sample.block <= last);
        }
    }

    /// Name of a variant.
    pub fn variant_name(&self, place: usize) -> &str {
        self.variants.get(place).map_or("?", |v| v.variant.name.as_str())
    }

    /// Index of the variant that this one duplicates.
    pub(crate) fn twin_of(&self, place: usize) -> Option<usize> {
        self.variants.get(place)?.twin_of
    }

    /// Name of a step in tables: with the number of clients if it ran with several, and with its
    /// labels.
    pub fn step_label(&self, step: &StepResults) -> String {
        let mut same = self.steps.iter().filter(|other| other.key.name == step.key.name);
        step.key.label(same.any(|other| other.key.dop != step.key.dop))
    }
}

impl StepResults {
    /// The figures of a variant.
    pub fn variant(&self, place: usize) -> Option<&VariantStep> {
        self.variants.get(place)
    }

    /// The classes of statements that were sent at a target rate.
    pub fn paced(&self) -> BTreeSet<&str> {
        self.with(&metrics::TARGET)
    }

    /// The classes of statements that have a metric of this family.
    pub(crate) fn with(&self, family: &metrics::Metric) -> BTreeSet<&str> {
        self.variants.iter().flat_map(|variant| variant.with(family)).collect()
    }

    /// The classes that have a metric of this family, if there are several: those that share the
    /// statements of the step, without the one that stands for all of a mix.
    pub(crate) fn parts(&self, family: &metrics::Metric) -> BTreeSet<&str> {
        let mut classes = self.with(family);
        let is_total = |variant: &VariantStep| {
            let (all, parts): (Vec<&Pooled>, Vec<&Pooled>) =
                variant.latency.iter().partition(|pooled| pooled.class == self.class);
            // The same statements, with the same response times.
            let alike = |of: fn(&Pooled) -> f64| {
                let [all, parts] = [&all, &parts].map(|it| it.iter().map(|it| of(it)).sum::<f64>());
                parts > 0.0 && (all / parts - 1.0).abs() < 1e-3
            };
            alike(Pooled::count) && alike(Pooled::total)
        };
        if self.variants.iter().any(is_total) {
            classes.remove(self.class.as_str());
        }
        // What has a mean over its kinds stands for them.
        let totals = self.with(&metrics::GEOMEAN);
        classes.retain(|class| !totals.contains(class));
        let several = classes.len() > 1 && !self.prepares && !self.warm_up;
        if several { classes } else { BTreeSet::new() }
    }
}

impl Sample {
    fn value(&self, place: usize) -> Option<f64> {
        self.values.get(place).copied().filter(|value| !value.is_nan())
    }
}

impl VariantStep {
    /// The known values of a metric, with their blocks.
    pub fn values(&self, metric: &str) -> Vec<(u32, f64)> {
        let Some(place) = self.place(metric) else { return Vec::new() };
        self.samples.iter().filter_map(|s| Some((s.block, s.value(place)?))).collect()
    }

    /// A metric in one of the samples, if it is known.
    pub fn value(&self, sample: &Sample, metric: &str) -> Option<f64> {
        sample.value(self.place(metric)?)
    }

    fn place(&self, metric: &str) -> Option<usize> {
        self.metrics.binary_search_by(|name| name.as_str().cmp(metric)).ok()
    }

    /// Median of a metric over the blocks; `None` if it is not known in any.
    pub fn median(&self, metric: &str) -> Option<f64> {
        let values: Vec<f64> = self.values(metric).into_iter().map(|(_, value)| value).collect();
        judge::median(&values)
    }

    /// The paced classes of statements that fell below 95% of their target in any block.
    pub fn not_held(&self) -> BTreeSet<&str> {
        let mut classes = self.with(&metrics::HELD);
        classes.retain(|class| {
            self.values(&metrics::HELD.of(class)).iter().any(|(_, held)| *held < 0.5)
        });
        classes
    }

    /// The classes of statements that have a metric of this family.
    pub(crate) fn with(&self, family: &metrics::Metric) -> BTreeSet<&str> {
        let member = |name| family.member_in(name).filter(|_| !self.values(name).is_empty());
        self.metrics.iter().filter_map(|name: &String| member(name)).collect()
    }
}
