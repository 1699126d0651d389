//! Options for the results directory and its experiment, shared by all subcommands that read.

use std::path::{Path, PathBuf};

use clap::Args;
use report::{Results, Which};
use store::Store;

/// Where results are.
#[derive(Debug, Clone, Args)]
pub struct ResultsDir {
    /// The results directory
    #[arg(
        long,
        value_name = "DIR",
        env = "STEELYARD_RESULTS",
        default_value = "steelyard-results"
    )]
    pub results: PathBuf,
}

/// Which experiment in a results directory.
#[derive(Debug, Clone, Args)]
pub struct Chosen {
    #[command(flatten)]
    pub directory: ResultsDir,
    /// The experiment, by number or name [default: the latest]
    #[arg(long, short, value_name = "ID|NAME")]
    pub experiment: Option<String>,
}

impl Chosen {
    /// Opens the store and loads the experiment, or the `latest` if none is named.
    pub fn open(&self, latest: Which<'_>) -> anyhow::Result<(Store, Results)> {
        let which = self.experiment.as_deref().map_or(latest, Which::Named);
        load_which(&self.directory.results, which)
    }
}

/// Loads an experiment of a results directory.
pub fn load_which(directory: &Path, which: Which<'_>) -> anyhow::Result<(Store, Results)> {
    let store = Store::open_read_only(directory)?;
    let results = report::load(&store, which)?;
    Ok((store, results))
}
