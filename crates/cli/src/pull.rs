//! `steelyard pull`: experiments from object storage.

use archive::Address;
use clap::Args;

use crate::exit::refuse;
use crate::import::say;
use crate::push::ADDRESSES;
use crate::results::{ResultsDir, open_archive};

/// Add experiments from object storage to a results directory
///
/// Each is checked against its hash and appears as a whole or not at all. If one is damaged, the
/// others are pulled. `list`, `compare` and other commands that read also take an address in
/// --results, without a pull.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard pull s3://team/bench
  steelyard pull s3://team/bench nightly")]
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

/// Pulls each experiment and reports the result.
pub fn run(args: &PullArgs) -> anyhow::Result<()> {
    let results = args.directory.writable()?;
    store::Store::check_writable(results)?;
    if let Some(address) = args.experiments.iter().find(|word| Address::is_meant(word)) {
        return refuse(format!("the address comes first, as in: steelyard pull {address} 1"));
    }
    let from: Address = args.address.parse()?;
    let archive = open_archive(&from)?;
    let (all, damaged) = archive.list_undamaged()?;
    let numbered = || (1..).zip(&all);
    for name in &args.experiments {
        if !numbered().any(|(number, archived)| archived.is_called(name, number)) {
            // It may be the one that is asked for.
            if let Some(error) = damaged.into_iter().next() {
                return Err(error.into());
            }
            return refuse(format!(
                "no experiment `{name}` at {from}; `steelyard list --results {from}` shows what is there"
            ));
        }
    }
    let mut failed = if args.experiments.is_empty() { damaged } else { Vec::new() };
    if all.is_empty() && failed.is_empty() {
        return refuse(format!("no experiments at {from}; `steelyard push` puts some there"));
    }
    for (number, archived) in numbered() {
        let asked = args.experiments.iter().any(|name| archived.is_called(name, number));
        if asked || args.experiments.is_empty() {
            match archive.pull(archived, results) {
                Ok(pulled) => say("pulled", &pulled, results),
                Err(error) if error.is_about_one() => failed.push(error),
                Err(error) => return Err(error.into()),
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    anyhow::bail!(failed.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}
