//! `steelyard serve`: results in the browser.

use std::path::PathBuf;

use ::serve::{Service, listen};
use archive::Wanted;
use clap::Args;
use store::Store;

use crate::results::{ResultsDir, open_wanted};

/// Show all experiments in the browser, as they are at each moment
///
/// The pages are those of `steelyard site`. Only this machine can reach them: there are no users
/// and tokens yet. Ctrl-C ends it.
#[derive(Debug, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    directory: ResultsDir,
    /// The address to listen on, one of this machine alone; port 0 for any that is free
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7700")]
    listen: String,
}

/// Answers until it is interrupted.
pub fn run(args: &ServeArgs) -> anyhow::Result<()> {
    let listening = listen(&args.listen)?;
    let store = open_wanted(&args.directory.results, Wanted::All)?;
    let kept = kept(&store)?;
    let service = Service::open(store, Some(&kept))?;
    eprintln!("Open http://{}/ in a browser; Ctrl-C ends the service.", listening.address());
    Ok(listening.run(service)?)
}

/// The file in the cache for what is known of this results directory.
fn kept(store: &Store) -> anyhow::Result<PathBuf> {
    let database = std::path::absolute(store.database())?;
    Ok(dbms::Cache::open_default()?.path().join("briefs").join(::site::Kept::file_name(&database)))
}
