//! The comparison of an experiment's variants: tables and a document, and how to print them.

pub(crate) mod document;
pub(crate) mod tables;

use metrics::MEAN;

use crate::ReportError;
use crate::judging::gate::{Gate, Reasons, reasons};
use crate::judging::judged::Judged;
use crate::judging::steps::{judge_classes, judge_metric, judge_results};
use crate::load::model::Results;
use crate::output::sheet::{Format, Part, Sheet};
use crate::output::table::{Section, Table, distinct, one_line};
use crate::sweep::sweeps;
use document::{Document, WarningDocument, document};
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

/// What the rows stand for in tables of another kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Machines, in place of the mean of all.
    Machine,
    /// Classes of statements: the transactions of a mix, the forms of a log. The metrics to judge
    /// are response times, such as `p99`; `mean` when empty.
    Class,
}

/// The comparison to make, and how to lay it out.
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
    /// Rows of another kind, and no other table.
    pub by: Option<By>,
    /// Prints only the short output, for a terminal with this many columns, instead of all tables.
    pub brief: Option<usize>,
    /// The command that prints this comparison, as typed, to name in hints; `steelyard compare` if
    /// empty.
    pub command: String,
}

/// A comparison, ready to be printed.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// All tables that apply, including those of sections that are not printed; or only the short
    /// ones.
    pub tables: Vec<Table>,
    /// The same as data.
    pub document: Document,
    /// All steps, judged by throughput.
    pub judged: Judged,
    pub(crate) reasons: Reasons,
    sections: Option<Vec<Section>>,
    /// Reasons why requested kinds of tables are missing.
    missing: Vec<String>,
}

/// Judges every step and lays everything out.
///
/// # Errors
/// When the base is not a variant, the margin is not between 0 and 1, or a metric does not exist;
/// when rows for machines or classes are asked for, and there is only one.
pub fn compare(results: &Results, options: &CompareOptions) -> Result<Comparison, ReportError> {
    let judged = judge_results(results, options.base.as_deref(), options.margin)?;
    let (base, margin) = (options.base.as_deref(), options.margin);
    let mut metrics: Vec<&str> = distinct(options.metrics.iter().map(String::as_str));
    let mut verdicts = Vec::new();
    if options.by == Some(By::Class) {
        metrics.extend(metrics.is_empty().then_some(MEAN.short()));
        for metric in metrics {
            verdicts.extend(judge_classes(results, metric, base, margin)?);
        }
    } else {
        for metric in &metrics {
            verdicts.push(judge_metric(results, metric, base, margin)?);
        }
        verdicts.extend(metrics.is_empty().then(|| judged.clone()));
    }
    let sweeps = sweeps(results);
    let view = View {
        results,
        judged: &judged,
        verdicts: &verdicts,
        sweeps: &sweeps,
        rows_are_steps: options.rows == Rows::Steps,
        sections: options.sections.as_deref(),
        command: Some(options.command.as_str())
            .filter(|it| !it.is_empty())
            .unwrap_or(tables::COMMAND),
    };
    let document = document(results, &judged, &verdicts, &sweeps);
    let tables = match (options.by, options.brief) {
        (Some(By::Machine), _) => tables::by_machine(view),
        (Some(By::Class), _) => tables::by_class(view),
        (None, Some(width)) => tables::brief::tables(view, &document.warnings, width),
        (None, None) => tables::all(view),
    };
    let name = || results.experiment.name.clone();
    match options.by {
        Some(By::Machine) if tables.is_empty() => return Err(ReportError::OneMachine(name())),
        Some(By::Class) if tables.is_empty() => return Err(ReportError::OneClass(name())),
        _ => {}
    }
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

    /// The text printed at the end of a run, in the order of [`Self::render`]: warnings about all
    /// of it, throughput, verdicts, and how paced streams went.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn summary(&self, format: Format) -> Result<String, ReportError> {
        let sections = [Section::Absolute, Section::Relative, Section::Verdicts, Section::Rates];
        let tables = self.tables.iter().filter(|table| sections.contains(&table.section));
        let mut sheet = Sheet::default();
        let whole = |w: &&WarningDocument| w.step.is_none() && w.variant.is_none();
        let said = self.document.warnings.iter().filter(whole);
        sheet.notes(said.map(|w| format!("{}: {}", w.code, one_line(&w.text))).collect());
        sheet.parts.extend(tables.map(|table| self.laid_out(table, format)));
        sheet.render(format, &self.document)
    }

    /// Leaves out empty columns in a table for people, except those of variants. Programs get all
    /// columns.
    fn laid_out(&self, table: &Table, format: Format) -> Part {
        Part::Table(match format.is_for_people() {
            true => table.with_spreads().without_empty_columns(&self.document.variants),
            false => table.clone(),
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
