//! Turns results into the data of the page.

use std::collections::{BTreeMap, BTreeSet};

use judge::Verdict;
use metrics::{
    AFTER_BEFORE, COSTS, DURING_BEFORE, IDLE_FROM, IDLE_TO, MEAN, Metric, OPS, RATE_AFTER,
    RATE_BEFORE, RATE_DURING, SECONDS,
};
use store::{LogEvent, Series, Setting, Store, Warning};

use super::data::{
    Page, PageEvent, PageExperiment, PageIdle, PageLatency, PageMetric, PagePercentiles,
    PageRelative, PageSeries, PageSetting, PageStep, PageTrial, PageVariant,
};
use super::number::Number;
use super::profiles::page_profiles;
use super::slices::{page_slices, reasons};
use super::sweeps::page_sweeps;
use super::why::why;
use crate::ReportError;
use crate::compare::document::{WarningDocument, judgement, warning_document};
use crate::compare::tables::{self, View};
use crate::explain::Explainer;
use crate::judging::figures::absolute;
use crate::judging::judged::{Finding, Judged};
use crate::judging::sentence::confidence;
use crate::judging::steps::{judge_classes, judge_results};
use crate::load::across::Ran;
use crate::load::latency::Latency;
use crate::load::model::{Noted, Results, Sample, StepResults, VariantStep};
use crate::output::table::Table;
use crate::output::time::rfc3339;
use crate::sweep::sweeps;

/// Maximum number of series values in a page; a browser opens that in about two seconds.
/// Throughput of all blocks comes first, then everything of the block nearest the median of each
/// variant, then the other blocks.
const MAX_VALUES: usize = 3_000_000;

/// Makes the page's data, without history, counts and the time of making it. Series are read from
/// the store step by step.
pub(crate) fn page(store: &Store, results: &Results) -> Result<Page, ReportError> {
    let judged = judge_results(results, None, None)?;
    let found = |about: Option<(usize, usize)>, code: &str, text: String| {
        let step = about.and_then(|(step, _)| Some(results.steps.get(step)?.key.clone()));
        let (variant, warning) = (about.map(|(_, v)| v), Warning { code: code.to_owned(), text });
        warning_document(results, &Noted { step, variant, block: None, warning })
    };
    let mut warnings: Vec<WarningDocument> =
        results.warnings.iter().map(|noted| warning_document(results, noted)).collect();
    let detail = Detail::affordable(store, results)?;
    let mut gatherer = Gatherer { store, catalog: BTreeMap::new(), detail };
    warnings.extend(detail.left_out().map(|text| found(None, "series-left-out", text.to_owned())));
    let judgements = judged.warnings().into_iter();
    warnings.extend(judgements.map(|(about, one)| found(about, one.code(), one.to_string())));
    let (profiles, left_out) = page_profiles(store, results, judged.base)?;
    warnings.extend(left_out.map(|text| found(None, "flamegraphs-left-out", text)));
    let explainer = Explainer::new(store, results, &judged)?;
    let sweeps = sweeps(results);
    let (ran, mut steps) = (Ran::of(results), Vec::new());
    for (number, step) in results.steps.iter().enumerate() {
        let why = why(&explainer, number)?;
        let ways: BTreeSet<_> = step.variants.iter().flat_map(|it| ran.ways(it)).collect();
        let (ways, after) = (ways.into_iter().collect(), ran.before(&step.key));
        let figures = page_step(&mut gatherer, results, &judged, number, step)?;
        steps.push(PageStep { why, ways, after, ..figures });
    }
    Ok(Page {
        format: 1,
        generated: None,
        writer: None,
        steelyard: results.experiment.steelyard.clone(),
        experiment: experiment(results),
        variants: results.variants.iter().map(variant).collect(),
        host: results.host.clone(),
        steps,
        sweeps: page_sweeps(results, &sweeps),
        tables: page_tables(View {
            results,
            judged: &judged,
            verdicts: std::slice::from_ref(&judged),
            sweeps: &sweeps,
            rows_are_steps: false,
            sections: None,
            command: tables::COMMAND,
        }),
        warnings,
        catalog: gatherer.catalog,
        metrics: [&OPS].into_iter().chain(COSTS).map(metric).collect(),
        slice_reasons: reasons(),
        history: None,
        profiles,
        counts: None,
    })
}

fn metric(&Metric { name, unit, meaning, published, .. }: &Metric) -> PageMetric {
    PageMetric { name, unit, meaning, published }
}

fn experiment(results: &Results) -> PageExperiment {
    let experiment = &results.experiment;
    PageExperiment {
        name: experiment.name.clone(),
        workload: experiment.workload.clone(),
        base: experiment.base.clone(),
        seed: experiment.seed.to_string(),
        blocks: experiment.blocks,
        margin: experiment.margin,
        started: rfc3339(experiment.created_ms),
        finished: results.is_finished(),
        plan: experiment.plan.clone(),
    }
}

fn variant(results: &crate::VariantResults) -> PageVariant {
    let stored = &results.variant;
    let pairs = |map: &BTreeMap<String, String>| {
        map.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let with_unit = |value: &str, setting: &Setting| {
        // "8192" with the unit "8kB" is 8192 times 8 kB: PostgreSQL keeps them separate, and so do
        // we.
        if setting.unit.is_empty() {
            value.to_owned()
        } else {
            format!("{value} × {}", setting.unit)
        }
    };
    PageVariant {
        name: stored.name.clone(),
        dbms: stored.dbms.clone(),
        source: stored.source.clone(),
        version: stored.version.clone(),
        build: pairs(&stored.build),
        config: pairs(&stored.config),
        settings: results
            .settings
            .iter()
            .map(|setting| PageSetting {
                name: setting.name.clone(),
                value: with_unit(&setting.value, setting),
                default: with_unit(&setting.boot_value, setting),
                source: setting.source.clone(),
            })
            .collect(),
    }
}

fn page_step(
    gatherer: &mut Gatherer<'_>,
    results: &Results,
    judged: &Judged,
    number: usize,
    step: &StepResults,
) -> Result<PageStep, ReportError> {
    let mut out = PageStep {
        name: step.key.name.clone(),
        dop: step.key.dop,
        labels: step.key.labels.clone(),
        better: step.better.as_str(),
        group: step.group.clone(),
        class: step.class.clone(),
        unit: step.unit.clone(),
        rates: step.paced().into_iter().filter_map(|class| rate(step, class)).collect(),
        slices: page_slices(results, judged, number, step),
        ..PageStep::default()
    };
    for (place, figures) in step.variants.iter().enumerate() {
        let shown = absolute(step, judged.base, place, OPS.name);
        out.throughput.push(Number(shown.unwrap_or(f64::NAN)));
        if let Some(finding) = judged.finding(results, number, place) {
            out.relative.push(page_relative(results, judged, &finding));
        }
        for pooled in &figures.latency {
            let Latency { count, figures } = pooled.latency();
            let figures = figures.into_iter().map(|(name, us)| (name, Number(us))).collect();
            let (class, times) = (pooled.class.clone(), Latency { count, figures });
            out.latency.push(PageLatency { variant: place, class, times });
            out.percentiles.push(PagePercentiles {
                variant: place,
                class: pooled.class.clone(),
                points: pooled.curve().into_iter().map(|(p, us)| (p, Number(us))).collect(),
            });
        }
        let typical = typical(figures);
        for sample in &figures.samples {
            let all = Some(sample.block) == typical;
            let seconds = figures.value(sample, SECONDS.name);
            let whole = seconds.map_or(usize::MAX, |seconds| seconds.floor() as usize);
            let trial = gatherer.trial(place, &step.class, sample, whole, all)?;
            out.trials
                .extend(trial.map(|trial| PageTrial { idle: idle(figures, sample), ..trial }));
        }
    }
    Ok(out)
}

fn page_relative(results: &Results, judged: &Judged, finding: &Finding<'_>) -> PageRelative {
    let mut relative = judgement(finding, ());
    relative.verdict.get_or_insert_with(|| Verdict::Inconclusive.to_string());
    let mut each = Vec::new();
    if finding.is_of_few() {
        (relative.low, relative.high, relative.confidence) = (None, None, None);
        each = judged.ratios(results, finding.step, finding.variant);
    }
    PageRelative {
        variant: finding.variant,
        level: relative.confidence.map(confidence).unwrap_or_default(),
        each: each.into_iter().map(|(_, ratio)| Number(ratio)).collect(),
        relative,
    }
}

/// The target rate of a paced class.
fn rate(step: &StepResults, class: &str) -> Option<(String, Number)> {
    let name = metrics::TARGET.of(class);
    let asked = step.variants.iter().find_map(|variant| variant.median(&name))?;
    Some((class.to_owned(), Number(asked)))
}

/// The block whose throughput is nearest the median.
fn typical(figures: &VariantStep) -> Option<u32> {
    let median = figures.median(OPS.name)?;
    let distance = |value: f64| (value - median).abs();
    figures
        .values(OPS.name)
        .into_iter()
        .min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)))
        .map(|(block, _)| block)
}

/// Which of the series go into the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    All,
    OneBlock,
    Throughput,
}

impl Detail {
    /// The warning about the series that are left out.
    fn left_out(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::OneBlock => Some(
                "the page would be too large with all series: hardware series are shown for one block of each \
                 variant, the one nearest its median; throughput is shown for all blocks",
            ),
            Self::Throughput => Some(
                "the page would be too large with all series: only throughput is shown; the rest are in the results directory",
            ),
        }
    }

    /// Decides from the series of one trial per step, which represent the others.
    fn affordable(store: &Store, results: &Results) -> Result<Self, ReportError> {
        let (mut all, mut one_block) = (0, 0);
        for step in &results.steps {
            let samples = || step.variants.iter().flat_map(|variant| &variant.samples);
            let Some(first) = samples().next() else { continue };
            let series = per_second(store, &step.class, first)?.unwrap_or_default();
            let values: usize = series.iter().map(|s| s.values.len()).sum();
            let shown = step.variants.iter().filter(|v| !v.samples.is_empty()).count();
            all += values * samples().count();
            one_block += values * shown;
        }
        Ok(match (all <= MAX_VALUES, one_block <= MAX_VALUES) {
            (true, _) => Self::All,
            (false, true) => Self::OneBlock,
            (false, false) => Self::Throughput,
        })
    }
}

struct Gatherer<'a> {
    store: &'a Store,
    catalog: BTreeMap<String, PageSeries>,
    detail: Detail,
}

impl Gatherer<'_> {
    fn trial(
        &mut self,
        variant: usize,
        class: &str,
        sample: &Sample,
        whole: usize,
        typical: bool,
    ) -> Result<Option<PageTrial>, ReportError> {
        let Some(series) = per_second(self.store, class, sample)? else { return Ok(None) };
        // Stalls of the operations that the step counts.
        let about = metrics::throughput_of(class);
        let stalls = series.iter().find(|s| s.name == about);
        let stalls = stalls.map(|series| spans(series, whole)).unwrap_or_default();
        let mut kept = BTreeMap::new();
        for one in series {
            let wanted = match self.detail {
                Detail::All => true,
                Detail::OneBlock => typical || one.group == metrics::THROUGHPUT,
                Detail::Throughput => one.group == metrics::THROUGHPUT,
            };
            if wanted {
                self.catalog.entry(one.name.clone()).or_insert(PageSeries {
                    label: one.label,
                    unit: one.unit,
                    group: one.group,
                });
                kept.insert(one.name, one.values.into_iter().map(Number).collect());
            }
        }
        Ok(Some(PageTrial {
            variant,
            block: sample.block,
            started: rfc3339(sample.started_ms),
            stalls,
            events: events(self.store, sample)?,
            idle: None,
            series: kept,
        }))
    }
}

/// The window in which idle-priority processes ran, if they did.
fn idle(figures: &VariantStep, sample: &Sample) -> Option<PageIdle> {
    let known = |metric: &Metric| figures.value(sample, metric.name);
    let figure = |metric: &Metric| Number(known(metric).unwrap_or(f64::NAN));
    Some(PageIdle {
        from: Number(known(&IDLE_FROM)?),
        to: Number(known(&IDLE_TO)?),
        before: figure(&RATE_BEFORE),
        during: figure(&RATE_DURING),
        after: figure(&RATE_AFTER),
        during_before: figure(&DURING_BEFORE),
        after_before: figure(&AFTER_BEFORE),
    })
}

/// The DBMS's own events during a trial's step.
fn events(store: &Store, sample: &Sample) -> Result<Vec<PageEvent>, ReportError> {
    let event = |event: LogEvent| PageEvent {
        at: Number((event.at_ms - sample.started_ms) as f64 / 1000.0),
        kind: event.kind,
        text: event.text,
    };
    Ok(store.events(sample.step)?.into_iter().map(event).collect())
}

/// The per-second series of a trial; `None` if its server shared the load with others, because the
/// seconds would be those of all servers together.
fn per_second(
    store: &Store,
    class: &str,
    sample: &Sample,
) -> Result<Option<Vec<Series>>, ReportError> {
    let mut series = store.series(sample.step)?;
    let has = |name: &str| series.iter().any(|one| one.name == name);
    // Slices that don't count are not among the results, but a shared load still has response times
    // without a throughput per second.
    let shared = sample.slices.is_some()
        || has(&metrics::longest_of(class)) && !has(&metrics::throughput_of(class));
    let other = [metrics::SLICES, metrics::ANSWERS_GROUP];
    series.retain(|one| !other.contains(&one.group.as_str()));
    Ok((!shared).then_some(series))
}

/// The stalls in the whole seconds of a series.
fn spans(series: &Series, whole: usize) -> Vec<(usize, usize)> {
    let seconds = series.values.get(..whole).unwrap_or(&series.values);
    judge::stalls(seconds).spans.into_iter().map(|span| (span.start, span.end)).collect()
}

/// The tables as the page shows them, with those by class: each part stands alone, so its title
/// names the part.
fn page_tables(view: View<'_>) -> Vec<Table> {
    let all = tables::all(view);
    let classes = judge_classes(view.results, MEAN.short(), None, None).unwrap_or_default();
    let by_class = tables::by_class(View { verdicts: &classes, ..view });
    let all = all.iter().chain(&by_class);
    let mut tables: Vec<Table> = all.map(Table::with_spreads).collect();
    for table in &mut tables {
        if !table.part.is_empty() {
            table.title = format!("{}: {}", table.title, table.part);
        }
    }
    tables
}
