//! The race: how soon does this program find planted differences (`bench race`)?

mod board;
mod builds;
mod calls;
mod competing;
mod function;
mod live;
mod plans;
mod source;
mod subjects;
mod verify;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

use builds::{BUILDS, Condition, build_named};

use crate::publish;
use crate::steelyard::Steelyard;

pub use competing::burn;

/// Planted differences, and who finds them
#[derive(Debug, Args)]
pub struct RaceArgs {
    /// Where everything is kept
    #[arg(long, default_value = "target/race", global = true)]
    directory: PathBuf,
    /// The steelyard that runs
    #[arg(long, env = "STEELYARD", default_value = "target/release/steelyard", global = true)]
    steelyard: PathBuf,
    #[command(subcommand)]
    part: Part,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// Make the builds, and count what the loops cost
    Plant {
        /// Where the source of PostgreSQL 15 is
        #[arg(long, default_value = "target/sources")]
        sources: PathBuf,
        /// Only make the repository of those that are built from source
        #[arg(long)]
        only_source: bool,
    },
    /// Run plans that design themselves, for real, until live.tsv has this many runs of this kind
    Live {
        /// Next to a load that takes a third of a core in bursts
        #[arg(long)]
        loaded: bool,
        /// The build that is compared with the base
        #[arg(long, value_parser = names())]
        build: String,
        /// Machine time that a run gets
        #[arg(long, value_parser = plan::parse_duration)]
        budget: Duration,
        #[arg(long, default_value_t = 10)]
        runs: usize,
    },
    /// Print how often live runs are right
    Judge {
        /// Put the tables between the markers of this file
        #[arg(long, value_name = "FILE")]
        document: Option<PathBuf>,
    },
}

/// The builds that run against a base.
fn names() -> PossibleValuesParser {
    let others = BUILDS.iter().filter(|build| !build.is_base());
    PossibleValuesParser::new(others.map(|build| build.name))
}

/// Does one part of the race.
pub fn race(args: &RaceArgs) -> Result<()> {
    let directory = std::path::absolute(&args.directory)?;
    let steelyard = Steelyard { program: args.steelyard.clone() };
    match &args.part {
        Part::Plant { sources, only_source } => {
            let repository = source::plant(sources, &directory)?;
            println!("planted: {}", repository.display());
            if *only_source {
                return Ok(());
            }
            function::plant(&directory, &steelyard)?;
            verify::verify(&directory, &steelyard)
        }
        Part::Live { loaded, build, budget, runs } => {
            let condition = Condition::of(*loaded);
            let build = build_named(build).context("no such build")?;
            let case = live::Case { condition, build, budget: *budget };
            live::live(&directory, &steelyard, case, *runs)
        }
        Part::Judge { document } => judge_all(&directory, document.as_deref()),
    }
}

fn judge_all(directory: &Path, document: Option<&Path>) -> Result<()> {
    let live = live::read(directory)?;
    ensure!(!live.is_empty(), "expected runs in {}, found none", directory.display());
    let table = board::table_of(&live);
    println!("{table}");
    document.map_or(Ok(()), |path| publish::put(path, "race", &table))
}
