//! `steelyard rm`: remove experiments from a results directory.

use std::io::{IsTerminal, Write};
use std::path::Path;

use clap::Args;
use lab::Exclusive;
use store::{Experiment, Store};

use crate::exit::refuse;
use crate::results::{ResultsDir, absent, open_directory};

/// Remove experiments with everything measured in them, and their logs and profiles
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard rm 3
  steelyard rm nightly --yes")]
pub struct RmArgs {
    /// The experiments, by number or name
    #[arg(value_name = "ID|NAME", required = true)]
    experiments: Vec<String>,
    #[command(flatten)]
    directory: ResultsDir,
    /// Remove them without asking
    #[arg(long, short)]
    yes: bool,
}

/// Removes the experiments: all, or none if one of them can't be removed.
pub fn run(args: &RmArgs) -> anyhow::Result<()> {
    let results = args.directory.writable()?;
    let all = open_directory(results)?.all_experiments()?;
    let mut chosen: Vec<&Experiment> = Vec::new();
    for name in &args.experiments {
        let experiment = only(&all, name, results)?;
        if !chosen.contains(&experiment) {
            chosen.push(experiment);
        }
    }
    let store = Store::open_existing(results)?;
    let mut held = Vec::new();
    for experiment in &chosen {
        held.push(Exclusive::take_experiment(store.database(), experiment.id.0)?);
    }
    if !args.yes && !agreed(&chosen)? {
        return refuse("nothing was removed");
    }
    for Experiment { id, name, .. } in chosen {
        store.remove_experiment(*id)?;
        writeln!(std::io::stdout(), "removed experiment {id} `{name}`")?;
    }
    Ok(())
}

/// The experiment of this number, or the only one of this name.
fn only<'a>(all: &'a [Experiment], named: &str, results: &Path) -> anyhow::Result<&'a Experiment> {
    if let Some(numbered) = all.iter().find(|it| named.parse() == Ok(it.id.0)) {
        return Ok(numbered);
    }
    let found: Vec<&Experiment> = all.iter().filter(|it| it.name == named).collect();
    match found[..] {
        [one] => Ok(one),
        [] => refuse(absent(named, results)),
        _ => {
            let ids: Vec<String> = found.iter().map(|it| it.id.to_string()).collect();
            refuse(format!(
                "several experiments are called `{named}` ({}); name those to remove by number",
                ids.join(", ")
            ))
        }
    }
}

/// Asks whether to remove them.
fn agreed(chosen: &[&Experiment]) -> anyhow::Result<bool> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return refuse("rm asks before it removes anything, but there is no terminal; pass --yes");
    }
    let named = chosen.iter().map(|it| format!("{} `{}`", it.id, it.name));
    let named = named.collect::<Vec<_>>().join(", ");
    let mut stderr = std::io::stderr();
    write!(stderr, "Remove for good, with all results: {named}? [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    stdin.read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::{ExperimentId, ExperimentState, Purpose};

    fn experiment(id: i64, name: &str) -> Experiment {
        Experiment {
            id: ExperimentId(id),
            purpose: Purpose::Run,
            name: name.to_owned(),
            workload: String::new(),
            base: String::new(),
            seed: 0,
            blocks: 1,
            margin: 0.02,
            plan: String::new(),
            steelyard: String::new(),
            created_ms: 0,
            ended_ms: None,
            state: ExperimentState::Finished,
        }
    }

    #[test]
    fn a_name_that_several_have_is_refused() {
        let all = [experiment(3, "x"), experiment(2, "y"), experiment(1, "x")];
        let results = Path::new("some results");
        let id =
            |named| only(&all, named, results).map(|it| it.id.0).map_err(|error| error.to_string());
        assert_eq!((id("y"), id("1")), (Ok(2), Ok(1)));
        assert!(id("x").unwrap_err().contains("called `x` (3, 1)"), "{:?}", id("x"));
        assert!(id("4").unwrap_err().contains("no experiment `4`"));
        assert!(
            id("4").unwrap_err().contains("`steelyard list --results 'some results'` shows them")
        );
    }
}
