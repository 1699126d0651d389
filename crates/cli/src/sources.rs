//! Options for results directories and their experiments, shared by subcommands over many trials.

use std::path::PathBuf;

use archive::Wanted;
use clap::Args;
use report::{Chosen, Source};
use store::Store;

use crate::exit::refuse;
use crate::results::{ResultsDir, open_wanted};

/// Which results to read.
#[derive(Debug, Clone, Args)]
pub struct Sources {
    /// A results directory, or an address such as s3://BUCKET/PREFIX; repeat for several
    #[arg(
        long,
        value_name = "DIR",
        env = "STEELYARD_RESULTS",
        default_value = "steelyard-results"
    )]
    results: Vec<PathBuf>,
    /// Name of the machine that a results directory comes from, once per --results and in the same
    /// order [default: the name of its processor, with an id where there are several of one type]
    #[arg(long = "machine", value_name = "NAME")]
    machines: Vec<String>,
    /// An experiment by number, or all experiments of a name; repeat for several [default: all with
    /// the workload of the newest]
    #[arg(long = "experiment", short, value_name = "ID|NAME", conflicts_with = "all")]
    experiments: Vec<String>,
    /// All experiments, including those of other workloads
    #[arg(long)]
    all: bool,
}

/// Results directories, open for reading.
pub struct Opened {
    stores: Vec<(Store, String, Option<String>)>,
}

impl Sources {
    /// The first directory.
    pub fn first(&self) -> ResultsDir {
        ResultsDir { results: self.results.first().cloned().unwrap_or_default() }
    }

    /// Opens the results directories.
    pub fn open(&self) -> anyhow::Result<Opened> {
        let (machines, directories) = (self.machines.len(), self.results.len());
        if machines > 0 && machines != directories {
            return refuse(format!(
                "expected one --machine for each of {directories} results directories, or none; found {machines}"
            ));
        }
        let mut stores = Vec::new();
        for (place, directory) in self.results.iter().enumerate() {
            let wanted = if self.experiments.is_empty() {
                Wanted::All
            } else {
                Wanted::Named(&self.experiments)
            };
            let store = open_wanted(directory, wanted)?;
            let machine = self.machines.get(place).cloned();
            stores.push((store, directory.display().to_string(), machine));
        }
        Ok(Opened { stores })
    }

    /// Which of their experiments were chosen.
    pub fn chosen(&self) -> Chosen {
        if self.all {
            Chosen::All
        } else if self.experiments.is_empty() {
            Chosen::SameWorkload
        } else {
            Chosen::Named(self.experiments.clone())
        }
    }
}

impl Opened {
    /// The sources that `report` reads.
    pub fn sources(&self) -> Vec<Source<'_>> {
        self.stores
            .iter()
            .map(|(store, directory, machine)| Source {
                store,
                directory: directory.clone(),
                machine: machine.clone(),
            })
            .collect()
    }
}
