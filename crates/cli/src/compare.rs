//! `steelyard compare`: absolute and relative tables, verdicts.

use std::io::{IsTerminal, Write};
use std::path::Path;

use clap::{Args, ValueEnum};
use report::{CompareOptions, Gate, Section, Which};

use crate::changes::named;
use crate::exit;
use crate::format::Format;
use crate::pasted::pasted;
use crate::results::Chosen;
use crate::terminal::columns;

/// Compare the variants of an experiment: tables, intervals, verdicts
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard compare
  steelyard compare -e 3 --brief
  steelyard compare --metric dbms.cpu/o,p99
  steelyard compare --format markdown > result.md
  steelyard compare --gate")]
pub struct CompareArgs {
    #[command(flatten)]
    chosen: Chosen,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Which rows the tables over all steps have
    #[arg(long, value_enum, default_value_t = Rows::Variants)]
    rows: Rows,
    /// One row per machine that the plan ran on (instead of their mean) or per class of statements,
    /// and no other table
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with_all = ["tables", "brief"])]
    by: Option<By>,
    /// Also show a variant of another experiment with the same steps, or all of its variants, such
    /// as 1:pg14.3 or 1; repeat for several. They have no verdict, because their trials were not
    /// interleaved with those of this experiment
    #[arg(long, value_name = "EXPERIMENT[:VARIANT]", conflicts_with_all = ["gate", "gate_inconclusive", "gate_unnoted", "by"])]
    with: Vec<String>,
    /// The variant to compare with (instead of the plan's base); `previous`: each with the one
    /// before it
    #[arg(long, value_name = "VARIANT")]
    base: Option<String>,
    /// Largest difference that counts as small, such as 2% (instead of the plan's margin)
    #[arg(long, value_name = "PERCENT", value_parser = plan::parse_share)]
    margin: Option<f64>,
    /// Judge and gate this metric instead of throughput (o/s): a cost such as dbms.cpu/o, wKB/o or
    /// r/o, or a response time such as p99 or query.p99; repeat for several
    #[arg(long, value_name = "METRIC", value_delimiter = ',')]
    metric: Vec<String>,
    /// Print all tables with their legends, as files and pipes get them, even on a terminal
    #[arg(long)]
    full: bool,
    /// Print only verdicts and warnings, as on a terminal, even to files and pipes
    #[arg(long, conflicts_with_all = ["full", "tables", "format", "rows"])]
    brief: bool,
    /// Print only these kinds of tables, or all [default: all except counters; on a terminal,
    /// verdicts and warnings]
    #[arg(long, value_parser = named(&TABLES), value_delimiter = ',', value_name = "KIND,…")]
    tables: Vec<Option<Section>>,
    /// Exit with 1 if any step has a confirmed regression, or if results are missing, unfinished or
    /// impossible to judge
    #[arg(long)]
    gate: bool,
    /// The same, but a regression with a note (`steelyard note`) does not count
    #[arg(long, conflicts_with_all = ["gate", "gate_inconclusive"])]
    gate_unnoted: bool,
    /// Strict gate: also exit with 1 if any step is inconclusive
    #[arg(long)]
    gate_inconclusive: bool,
}

/// The kinds of tables; `None` for all.
const TABLES: [(&str, Option<Section>); Section::NAMED.len() + 1] = {
    let mut tables = [("all", None); Section::NAMED.len() + 1];
    let mut place = 0;
    while place < Section::NAMED.len() {
        let (name, section) = Section::NAMED[place];
        tables[place + 1] = (name, Some(section));
        place += 1;
    }
    tables
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rows {
    /// Steps are columns, as in published tables
    Variants,
    /// Variants are columns
    Steps,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// As after `steelyard submit`
    Machine,
    /// The transactions of a mix, the forms of a log: response times, and a verdict on each
    Class,
}

impl CompareArgs {
    /// True if the short output is enough: on a terminal, if no more was requested.
    fn is_brief(&self, terminal: bool) -> bool {
        let asked = self.full || !self.tables.is_empty();
        let asked = asked || self.rows == Rows::Steps || self.format != Format::Text;
        self.brief || !asked && terminal
    }

    /// The words that choose the same variants in another command.
    fn words(&self) -> Vec<String> {
        let with = self.with.iter().flat_map(|it| ["--with".to_owned(), it.clone()]);
        self.chosen.words().into_iter().chain(with).collect()
    }

    /// The kinds of tables that were asked for.
    fn sections(&self) -> Option<Vec<Section>> {
        let every = || Section::NAMED.map(|(_, section)| section).to_vec();
        let some: Option<Vec<Section>> = self.tables.iter().copied().collect();
        (!self.tables.is_empty()).then(|| some.unwrap_or_else(every))
    }
}

/// Prints the comparison.
pub fn run(args: &CompareArgs) -> anyhow::Result<()> {
    let gated = args.gate || args.gate_inconclusive || args.gate_unnoted;
    let latest = if gated { Which::Newest } else { Which::Latest };
    let (store, mut results) = match args.with.is_empty() {
        true => args.chosen.open(latest)?,
        false => args.chosen.open_all(latest)?,
    };
    report::join(&store, &mut results, &args.with)?;
    let options = CompareOptions {
        rows: match args.rows {
            Rows::Variants => report::Rows::Variants,
            Rows::Steps => report::Rows::Steps,
        },
        base: args.base.clone(),
        margin: args.margin,
        metrics: args.metric.clone(),
        sections: args.sections(),
        by: args.by.map(|by| match by {
            By::Machine => report::By::Machine,
            By::Class => report::By::Class,
        }),
        brief: args.is_brief(std::io::stdout().is_terminal()).then(columns),
        command: pasted(&["compare"], &args.words()),
    };
    let comparison = report::compare(&results, &options)?;
    args.format.print(|format| comparison.render(format))?;
    exit::gate(match (args.gate_inconclusive, args.gate, args.gate_unnoted) {
        (true, ..) => comparison.gate(Gate::Undecided),
        (false, true, _) => comparison.gate(Gate::Regressions),
        (false, false, true) => comparison.gate(Gate::Unnoted),
        (false, false, false) => Vec::new(),
    })
}

/// Prints the end of a run: on a terminal the output of `compare`; elsewhere the verdicts on
/// throughput and on the DBMS's CPU, and throughput. Then says where to find the rest.
pub fn print_after_run(directory: &Path, results: &report::Results) -> anyhow::Result<()> {
    let (place, experiment) = (directory.display().to_string(), results.experiment.id);
    let command = pasted(&["compare", "--results", &place], &[]);
    if std::io::stdout().is_terminal() {
        let brief = Some(columns());
        let options = CompareOptions { brief, command, ..CompareOptions::default() };
        let comparison = report::compare(results, &options)?;
        Format::Text.print(|format| comparison.render(format))?;
    } else {
        let metrics = ["o/s", "dbms.cpu/o"].map(str::to_owned).to_vec();
        let options = CompareOptions { metrics, ..CompareOptions::default() };
        let comparison = report::compare(results, &options)?;
        Format::Text.print(|format| comparison.summary(format))?;
    }
    let mut out = std::io::stdout();
    writeln!(out, "\nResults are in {place} (experiment {experiment}).")?;
    writeln!(out, "All tables: {}", pasted(&["compare", "--full", "--results", &place], &[]))?;
    let page = pasted(&["report", "--results", &place, "-o", "report.html"], &[]);
    writeln!(out, "As a page: {page}")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CompareArgs;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        compare: CompareArgs,
    }

    #[test]
    fn a_terminal_gets_the_short_form_of_any_metric() {
        let brief = |words: &[&str], terminal| {
            let words = [&["compare"], words].concat();
            Command::parse_from(words).compare.is_brief(terminal)
        };
        assert!(brief(&[], true) && brief(&["--metric", "o/s,p99"], true));
        assert!(!brief(&["--metric", "p99"], false), "a pipe gets all tables");
        assert!(!brief(&["--metric", "p99", "--full"], true), "as it was asked to");
        assert!(!brief(&["--tables", "verdicts"], true) && brief(&["--brief"], false));
    }

    #[test]
    fn all_kinds_of_tables_have_a_word_too() {
        let sections = |words: &str| {
            Command::parse_from(["compare", "--tables", words]).compare.sections().unwrap()
        };
        assert_eq!(sections("all").len(), super::Section::NAMED.len());
        assert_eq!(sections("verdicts,all").len(), super::Section::NAMED.len());
        assert_eq!(sections("verdicts,other").len(), 2);
        assert!(Command::parse_from(["compare"]).compare.sections().is_none());
    }
}
