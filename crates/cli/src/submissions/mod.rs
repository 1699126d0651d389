//! Commands for one plan on many machines: `submit`, `status`, `watch`, `cancel`, and `element`,
//! which the scheduler starts on each machine.

pub mod cancel;
pub mod element;
mod programs;
pub mod status;
pub mod submit;
pub mod watch;
mod workplace;

use archive::Address;
use clap::Args;
use fleet::Depot;

use crate::exit::refuse;
use crate::results::archives;

/// The submission that is meant.
#[derive(Debug, Args)]
pub struct Submitted {
    /// The name of the submission
    #[arg(value_name = "SUBMISSION")]
    name: String,
    #[command(flatten)]
    shared: Shared,
}

/// The address that all machines reach.
#[derive(Debug, Args)]
pub struct Shared {
    /// Where submissions and their results are, an address that all machines reach: s3://BUCKET/…,
    /// gs://, az://, or file:///DIRECTORY on a file system that they share
    #[arg(long, value_name = "ADDRESS", env = "STEELYARD_RESULTS")]
    results: String,
}

impl Shared {
    /// The address.
    fn address(&self) -> anyhow::Result<Address> {
        if !Address::is_meant(&self.results) {
            let results = &self.results;
            return refuse(format!(
                "--results: expected an address that all machines reach, such as s3://bucket/bench \
                 or file:///shared/bench, found `{results}`"
            ));
        }
        Ok(self.results.parse()?)
    }
}

impl Submitted {
    /// Opens it.
    fn open(&self) -> anyhow::Result<Depot> {
        Ok(Depot::open(&self.shared.address()?, &self.name, &work()?)?)
    }
}

/// The directory for work in progress.
fn work() -> anyhow::Result<std::path::PathBuf> {
    Ok(archives(&dbms::Cache::open_default()?))
}
