//! `steelyard pull`: experiments from object storage.

use archive::Address;
use clap::Args;

use crate::exit::refuse;
use crate::import::say;
use crate::push::ADDRESSES;
use crate::results::{ResultsDir, open_archive};

/// Add experiments from object storage to a results directory
///
/// Each is checked against its hash and appears as a whole or not at all. `list`, `compare` and
/// other commands that read also take an address in --results, without a pull.
#[derive(Debug, Args)]
#[command(after_help = ADDRESSES)]
pub struct PullArgs {
    /// Where from, for example s3://bucket/prefix
    #[arg(value_name = "ADDRESS")]
    address: String,
    /// The experiments, by name, by the number that `steelyard list --results ADDRESS` shows, or by
    /// at least 8 digits of the content hash [default: all]
    #[arg(value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    #[command(flatten)]
    directory: ResultsDir,
}

/// Pulls each experiment and says what became of it.
pub fn run(args: &PullArgs) -> anyhow::Result<()> {
    let results = args.directory.writable()?;
    store::Store::check_writable(results)?;
    let from: Address = args.address.parse()?;
    let archive = open_archive(&from)?;
    let all = archive.list()?;
    let numbered = || (1..).zip(&all);
    for name in &args.experiments {
        if !numbered().any(|(number, archived)| archived.is_called(name, number)) {
            return refuse(format!(
                "no experiment `{name}` at {from}; `steelyard list --results {from}` shows what is there"
            ));
        }
    }
    if all.is_empty() {
        return refuse(format!("no experiments at {from}; `steelyard push` puts some there"));
    }
    for (number, archived) in numbered() {
        let asked = args.experiments.iter().any(|name| archived.is_called(name, number));
        if asked || args.experiments.is_empty() {
            say("pulled", &archive.pull(archived, results)?, results);
        }
    }
    Ok(())
}
