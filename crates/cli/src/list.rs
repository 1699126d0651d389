//! `steelyard list`: the experiments in a results directory.

use std::io::Write;

use clap::Args;

use crate::results::ResultsDir;

/// List the experiments in a results directory
#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    directory: ResultsDir,
}

/// Prints a line for each experiment, oldest first.
pub fn run(args: &ListArgs) -> anyhow::Result<()> {
    let store = store::Store::open_read_only(&args.directory.results)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "id\tname\tworkload\tstate\ttrials\tvariants\tpurpose")?;
    for experiment in store.all_experiments()? {
        let variants: Vec<String> =
            store.variants(experiment.id)?.into_iter().map(|variant| variant.name).collect();
        writeln!(
            out,
            "{}\t{}\t{}\t{}\t{}\t{}\t{}",
            experiment.id,
            experiment.name,
            experiment.workload,
            experiment.state.as_str(),
            // Block 0 holds the loads of a plan that loads once.
            store.finished_trials(experiment.id)?.iter().filter(|(block, ..)| *block > 0).count(),
            variants.join(" "),
            experiment.purpose.as_str()
        )?;
    }
    Ok(())
}
