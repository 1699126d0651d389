//! `steelyard list`: the experiments in a results directory or at an address.

use std::io::Write;
use std::time::Duration;

use archive::Summary;
use clap::Args;
use lab::Exclusive;
use store::{Experiment, ExperimentState, Store};

use crate::results::{ResultsDir, address, open_archive, open_directory};

/// List the experiments in a results directory
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard list
  steelyard list --results s3://team/bench")]
pub struct ListArgs {
    #[command(flatten)]
    directory: ResultsDir,
}

/// Prints a line for each experiment, newest first.
pub fn run(args: &ListArgs) -> anyhow::Result<()> {
    let results = &args.directory.results;
    let listed: Vec<(i64, Summary)> = match address(results)? {
        Some(address) => {
            let all = open_archive(&address)?.list()?;
            let numbered = (1..).zip(all.into_iter().map(|archived| archived.experiment));
            let mut numbered: Vec<_> = numbered.collect();
            numbered.reverse();
            numbered
        }
        None => {
            let store = open_directory(results)?;
            let mut listed = Vec::new();
            for experiment in store.all_experiments()? {
                listed.push((experiment.id.0, summary(&store, &experiment)?));
            }
            listed
        }
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "id\tname\tworkload\tstate\ttrials\tvariants\tpurpose\tstarted\ttook")?;
    for (id, it) in listed {
        let Summary { name, workload, state, trials, purpose, .. } = &it;
        let variants = it.variants.join(" ");
        // In whole seconds.
        let started = report::rfc3339(it.created_ms / 1000 * 1000);
        let took = it.took_ms().map(Duration::from_millis);
        let took = took.map_or_else(|| "–".to_owned(), plan::format_duration);
        writeln!(
            out,
            "{id}\t{name}\t{workload}\t{state}\t{trials}\t{variants}\t{purpose}\t{started}\t{took}"
        )?;
    }
    Ok(())
}

/// An experiment as it is now: running if a process works on it.
fn summary(store: &Store, experiment: &Experiment) -> anyhow::Result<Summary> {
    let mut summary = Summary::of(store, experiment)?;
    let running = experiment.state == ExperimentState::Running && summary.state != store::FAILED;
    if running && Exclusive::is_taken(store.database(), experiment.id.0) {
        ExperimentState::Running.as_str().clone_into(&mut summary.state);
    }
    Ok(summary)
}
