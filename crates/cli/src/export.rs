//! `steelyard export`: one experiment as a single file.

use std::path::PathBuf;

use clap::Args;

use crate::results::{ResultsDir, find, note_running, open};

/// Write one experiment, with all its data and artifacts, to a single file
///
/// `steelyard import` reads it on any machine. The file is a compressed tar archive; unpacked, it
/// is a results directory.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The experiment, by number or name [default: the latest]
    #[arg(value_name = "EXPERIMENT")]
    experiment: Option<String>,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    directory: ResultsDir,
}

/// Writes the file and says what is in it.
pub fn run(args: &ExportArgs) -> anyhow::Result<()> {
    let named = args.experiment.as_deref();
    let store = open(&args.directory.results, named.as_slice())?;
    let experiment = find(&store, named)?;
    note_running(&experiment);
    let version = env!("CARGO_PKG_VERSION");
    let manifest = archive::export(&store, experiment.id, &args.output, version)?;
    let (id, name, output) = (experiment.id, &experiment.name, args.output.display());
    println!("exported experiment {id} `{name}` to {output}; content hash {}", manifest.content);
    Ok(())
}
