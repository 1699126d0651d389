//! `steelyard compare`: absolute and relative tables, verdicts.

use std::io::Write;
use std::path::Path;

use clap::{Args, ValueEnum};
use report::{CompareOptions, Gate, Section, Which};

use crate::changes::named;
use crate::exit;
use crate::results::Chosen;

/// Compare the variants of an experiment: tables, intervals, verdicts
#[derive(Debug, Args)]
pub struct CompareArgs {
    #[command(flatten)]
    chosen: Chosen,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// What the rows of the tables over all steps are
    #[arg(long, value_enum, default_value_t = Rows::Variants)]
    rows: Rows,
    /// The variant to compare with (instead of the plan's base)
    #[arg(long, value_name = "VARIANT")]
    base: Option<String>,
    /// What counts as a small difference, in percent (instead of the plan's margin)
    #[arg(long, value_name = "PERCENT")]
    margin: Option<f64>,
    /// What verdicts and the gate are about instead of throughput (o/s); may be given several
    /// times: costs such as dbms.cpu/o, wKB/o, r/o, response times such as p99, query.p99
    #[arg(long, value_name = "METRIC", value_delimiter = ',')]
    metric: Vec<String>,
    /// Only these kinds of tables [default: all but counters]
    #[arg(long, value_parser = named(&KINDS), value_delimiter = ',', value_name = "KIND,…")]
    tables: Vec<Section>,
    /// Exit with 1 if any step has a confirmed regression, or if results are missing, unfinished or
    /// can't be judged
    #[arg(long)]
    gate: bool,
    /// The strict gate: exit with 1 also if a step is inconclusive
    #[arg(long)]
    gate_inconclusive: bool,
}

/// How a table is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned with spaces, fit for a terminal and a mail
    Text,
    /// Headings, lists and pipes
    Markdown,
    /// One line per cell
    Csv,
    /// One document, its shape described in docs/compare-json.md
    Json,
}

impl From<Format> for report::Format {
    fn from(format: Format) -> report::Format {
        match format {
            Format::Text => report::Format::Text,
            Format::Markdown => report::Format::Markdown,
            Format::Csv => report::Format::Csv,
            Format::Json => report::Format::Json,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rows {
    /// Steps are columns, as in published tables
    Variants,
    /// Variants are columns
    Steps,
}

/// Kinds of tables by name.
const KINDS: [(&str, Section); 8] = [
    ("absolute", Section::Absolute),
    ("relative", Section::Relative),
    ("rates", Section::Rates),
    ("latency", Section::Latency),
    ("hardware", Section::Hardware),
    ("size", Section::Size),
    ("counters", Section::Counters),
    ("other", Section::Other),
];

/// Prints the comparison.
pub fn run(args: &CompareArgs) -> anyhow::Result<()> {
    let (_, results) = args.chosen.open(Which::Latest)?;
    let options = CompareOptions {
        rows: match args.rows {
            Rows::Variants => report::Rows::Variants,
            Rows::Steps => report::Rows::Steps,
        },
        base: args.base.clone(),
        margin: args.margin.map(|percent| percent / 100.0),
        metrics: args.metric.clone(),
        sections: (!args.tables.is_empty()).then(|| args.tables.clone()),
    };
    let comparison = report::compare(&results, &options)?;
    std::io::stdout().write_all(comparison.render(args.format.into())?.as_bytes())?;
    exit::gate(match (args.gate_inconclusive, args.gate) {
        (true, _) => comparison.gate(Gate::Undecided),
        (false, true) => comparison.gate(Gate::Regressions),
        (false, false) => Vec::new(),
    })
}

/// The tables that end a run: verdicts on throughput and on the DBMS's CPU, throughput, and where to
/// find the rest.
pub fn print_after_run(directory: &Path, results: &report::Results) -> anyhow::Result<()> {
    let metrics = ["o/s", "dbms.cpu/o"].map(str::to_owned).to_vec();
    let options = CompareOptions { metrics, ..CompareOptions::default() };
    let comparison = report::compare(results, &options)?;
    let mut out = std::io::stdout();
    out.write_all(comparison.summary()?.as_bytes())?;
    let (place, experiment) = (directory.display(), results.experiment.id);
    writeln!(
        out,
        "\nResults are in {place} (experiment {experiment}). All tables: steelyard compare --results {place}"
    )?;
    writeln!(out, "As a page: steelyard report --results {place} -o report.html")?;
    Ok(())
}
