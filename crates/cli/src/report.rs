//! `steelyard report`: one self-contained page.

use std::path::PathBuf;

use clap::Args;
use report::{HistoryOptions, Source, Which};

use crate::exit::refuse;
use crate::history::OrderArgs;
use crate::results::Chosen;

/// Write one self-contained HTML page: tables, plots over time, the recorded environment
#[derive(Debug, Args)]
pub struct ReportArgs {
    #[command(flatten)]
    chosen: Chosen,
    /// The file to write
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// Put in the history of all experiments with the workload of this one, with change points
    #[arg(long)]
    history: bool,
    #[command(flatten)]
    order: OrderArgs,
}

/// Writes the page and says where it is.
pub fn run(args: &ReportArgs) -> anyhow::Result<()> {
    // A page shows counts as well: where there is no run, the latest count will do.
    let (store, results) = args.chosen.open(Which::LatestOrCount)?;
    if args.order.given() && !args.history {
        return refuse("--by and --commits are about the history; add --history");
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
    report::write_html(&store, &results, history.as_ref(), &args.output)?;
    println!("{}", args.output.display());
    Ok(())
}
