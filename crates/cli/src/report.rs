//! `steelyard report`: one self-contained page.

use std::path::PathBuf;

use clap::Args;

use crate::results::Chosen;

/// Write one self-contained HTML page: tables, plots over time, the recorded environment
#[derive(Debug, Args)]
pub struct ReportArgs {
    #[command(flatten)]
    chosen: Chosen,
    /// The file to write
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
}

/// Writes the page and says where it is.
pub fn run(args: &ReportArgs) -> anyhow::Result<()> {
    let (store, results) = args.chosen.open()?;
    report::write_html(&store, &results, &args.output)?;
    println!("{}", args.output.display());
    Ok(())
}
