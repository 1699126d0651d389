//! The comparison of an experiment's variants: tables and a document, and how to print them.

pub(crate) mod document;
pub(crate) mod tables;

use std::collections::BTreeMap;

use metrics::{OPS, STALL_SHARE};

use crate::ReportError;
use crate::judging::figures::absolute;
use crate::judging::gate::{Gate, Reasons, reasons};
use crate::judging::judged::{Finding, Judged};
use crate::judging::sliced::slicing_of;
use crate::judging::steps::{judge_metric, judge_results};
use crate::load::latency::Pooled;
use crate::load::model::{Noted, Results, VariantStep};
use crate::output::sheet::{Format, Part, Sheet};
use crate::output::table::{Section, Table, distinct, one_line};
use crate::output::time::rfc3339;
use crate::sweep::{self, sweeps};
use document::{
    BothMeans, Document, FORMAT, Figure, LatencyFigures, MetricComparison, MetricDocument,
    RateFigures, RelativeFigures, StepDocument, TwinDocument, TwinsDocument, VariantDocument,
    WarningDocument, costs,
};
use tables::View;

/// Which rows the tables over all steps have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rows {
    /// Variants; steps are columns, as in the published tables.
    #[default]
    Variants,
    /// Steps; variants are columns.
    Steps,
}

/// What to compare, and how to lay it out.
#[derive(Debug, Clone, Default)]
pub struct CompareOptions {
    /// Which rows the tables over all steps have.
    pub rows: Rows,
    /// Name of the variant to compare with; the plan's base when `None`.
    pub base: Option<String>,
    /// δ as a fraction; the plan's when `None`.
    pub margin: Option<f64>,
    /// The metrics to judge and gate; throughput when empty.
    pub metrics: Vec<String>,
    /// Which tables to print; `None`: all except the DBMS's counters, which are long.
    pub sections: Option<Vec<Section>>,
    /// Instead of all tables, only what is read first, for a terminal of so many columns.
    pub brief: Option<usize>,
}

/// A comparison, ready to be printed.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// All tables that apply, including those of sections that are not printed; or the brief ones.
    pub tables: Vec<Table>,
    /// The same as data.
    pub document: Document,
    /// All steps, judged by throughput.
    pub judged: Judged,
    pub(crate) reasons: Reasons,
    sections: Option<Vec<Section>>,
    /// Why there is no table of a kind that was asked for.
    missing: Vec<String>,
}

/// Judges every step and lays everything out.
///
/// # Errors
/// When the base is not a variant, the margin is not between 0 and 1, or a metric does not exist.
pub fn compare(results: &Results, options: &CompareOptions) -> Result<Comparison, ReportError> {
    let judged = judge_results(results, options.base.as_deref(), options.margin)?;
    let metrics = distinct(&options.metrics).into_iter();
    let mut verdicts = metrics
        .map(|metric| judge_metric(results, metric, options.base.as_deref(), options.margin))
        .collect::<Result<Vec<Judged>, _>>()?;
    if verdicts.is_empty() {
        verdicts.push(judged.clone());
    }
    let rows_are_steps = options.rows == Rows::Steps;
    let sweeps = sweeps(results);
    let view = View {
        results,
        judged: &judged,
        verdicts: &verdicts,
        sweeps: &sweeps,
        rows_are_steps,
        sections: options.sections.as_deref(),
    };
    let document = Document {
        sweeps: sweep::documents(results, &sweeps),
        ..document(results, &judged, &verdicts)
    };
    let tables = match options.brief {
        Some(width) => tables::brief::tables(view, &document.warnings, width),
        None => tables::all(view),
    };
    let missing = tables::missing(view, &tables);
    let reasons = reasons(results, &verdicts);
    let sections = options.sections.clone();
    Ok(Comparison { tables, document, judged, reasons, sections, missing })
}

impl Comparison {
    /// The tables that were asked for.
    pub fn shown(&self) -> Vec<&Table> {
        let wanted = |table: &&Table| match &self.sections {
            Some(sections) => sections.contains(&table.section),
            None => table.section != Section::Counters,
        };
        self.tables.iter().filter(wanted).collect()
    }

    /// Renders the comparison as text that ends with a line feed.
    ///
    /// # Errors
    /// When it cannot be written as JSON, which no stored result should cause.
    pub fn render(&self, format: Format) -> Result<String, ReportError> {
        let parts = self.shown().into_iter().map(|table| self.laid_out(table, format)).collect();
        let mut sheet = Sheet { parts };
        sheet.notes(self.missing.clone());
        sheet.render(format, &self.document)
    }

    /// The text printed at the end of a run: warnings about all of it, verdicts, then throughput
    /// and how paced streams went.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn summary(&self, format: Format) -> Result<String, ReportError> {
        let sections = [Section::Absolute, Section::Relative, Section::Rates];
        let mut tables: Vec<&Table> =
            self.tables.iter().filter(|table| sections.contains(&table.section)).collect();
        tables.sort_by_key(|table| !table.id.starts_with("verdicts"));
        let mut sheet = Sheet::default();
        let whole = |w: &&WarningDocument| w.step.is_none() && w.variant.is_none();
        let said = self.document.warnings.iter().filter(whole);
        sheet.notes(said.map(|w| format!("{}: {}", w.code, one_line(&w.text))).collect());
        sheet.parts.extend(tables.into_iter().map(|table| self.laid_out(table, format)));
        sheet.render(format, &self.document)
    }

    /// A table as people read it has no columns without a figure, except those of variants. Programs
    /// get all columns.
    fn laid_out(&self, table: &Table, format: Format) -> Part {
        Part::Table(match format {
            Format::Csv | Format::Json => table.clone(),
            Format::Text | Format::Terminal | Format::Markdown => {
                table.without_empty_columns(&self.document.variants)
            }
        })
    }

    /// The reasons why the gate fails, one sentence each with its step; empty when it passes.
    pub fn gate(&self, gate: Gate) -> Vec<String> {
        self.reasons.of(gate)
    }

    /// The sentences of all regressions with their steps.
    pub fn regressions(&self) -> &[String] {
        &self.reasons.regressions
    }
}

fn document(results: &Results, judged: &Judged, verdicts: &[Judged]) -> Document {
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
        steps: (0..results.steps.len()).filter_map(|n| step(results, judged, n)).collect(),
        metrics: verdicts.iter().map(|judged| metric(results, judged)).collect(),
        sweeps: Vec::new(),
        twins: twins(results, judged),
        warnings: results.warnings.iter().map(|noted| warning_document(results, noted)).collect(),
    }
}

fn step(results: &Results, judged: &Judged, number: usize) -> Option<StepDocument> {
    let step = results.steps.get(number)?;
    let variants = step.variants.iter().enumerate();
    Some(StepDocument {
        name: step.key.name.clone(),
        dop: step.key.dop,
        labels: step.key.labels.clone(),
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
    })
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
        let step = results.steps.get(finding.step)?;
        let base = judged.base_of(finding.variant);
        let mean = |place: usize| absolute(step, base, place, judged.metric_in(step)?.name);
        let means = BothMeans { base_mean: mean(base), mean: mean(finding.variant) };
        Some(MetricComparison {
            step: step.key.name.clone(),
            dop: step.key.dop,
            labels: step.key.labels.clone(),
            variant: results.variant_name(finding.variant).to_owned(),
            relative: judgement(finding, means),
        })
    };
    MetricDocument {
        metric: judged.metric.clone(),
        unit: asked.map_or("", |metric| metric.unit).to_owned(),
        better: asked.map_or("", |metric| metric.better.as_str()).to_owned(),
        meaning: judged.meaning(),
        comparisons: judged.findings(results).iter().filter_map(comparison).collect(),
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
