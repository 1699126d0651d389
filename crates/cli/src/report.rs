//! `steelyard report`: one self-contained page.

use std::path::PathBuf;

use clap::Args;
use report::{HistoryOptions, Source};

use crate::exit::WrongRequest;
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
    let (store, results) = args.chosen.open_for_page()?;
    if args.order.given() && !args.history {
        let text = "--by and --commits are about the history; add --history";
        return Err(WrongRequest(text.to_owned()).into());
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
