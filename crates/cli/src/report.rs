//! `steelyard report`: a self-contained page.

use std::path::PathBuf;

use clap::Args;
use report::{HistoryOptions, Source, Which};

use crate::dash::{is_stdout, print};
use crate::exit::refuse;
use crate::history::OrderArgs;
use crate::results::Chosen;
use crate::version;

/// Write a self-contained HTML page: tables, plots over time, the recorded environment
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard report
  steelyard report -e 3 -o result.html
  steelyard report --history")]
pub struct ReportArgs {
    #[command(flatten)]
    chosen: Chosen,
    /// The file to write; - for standard output
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// Include the history of all experiments with the same workload, with change points
    #[arg(long)]
    history: bool,
    #[command(flatten)]
    order: OrderArgs,
}

/// Writes the page and prints its path.
pub fn run(args: &ReportArgs) -> anyhow::Result<()> {
    // The page shows counts too: if there is no run, the latest count is enough. The history is of
    // all experiments.
    let (store, results) = if args.history {
        args.chosen.open_all(Which::LatestOrCount)?
    } else {
        args.chosen.open(Which::LatestOrCount)?
    };
    if args.order.given() && !args.history {
        return refuse("--by and --commits work only with --history; add it");
    }
    let history = if args.history {
        let (order, commits) = args.order.read()?;
        let chosen = report::Chosen::LikeExperiment(results.experiment.id);
        let options = HistoryOptions { chosen, order, commits, ..HistoryOptions::default() };
        let directory = args.chosen.directory.results.display().to_string();
        let source = Source { store: &store, directory, machine: None };
        Some(report::history(&[source], &options)?.document)
    } else {
        None
    };
    let page = report::html(&store, &results, history.as_ref(), &version::SHORT)?;
    if is_stdout(&args.output) {
        return print(page.as_bytes());
    }
    archive::write_whole(&args.output, page.as_bytes())?;
    println!("{}", args.output.display());
    Ok(())
}
