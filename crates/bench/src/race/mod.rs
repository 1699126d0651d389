//! The race: how soon do this program and usual practices find planted differences (`bench race`)?

mod board;
mod builds;
mod competing;
mod contenders;
mod live;
mod plans;
mod plant;
mod publish;
mod recording;
mod steelyard;
mod verify;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Args, Subcommand};

use builds::{BUILDS, Condition, build_named};
use competing::Competing;
use steelyard::Steelyard;

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
    /// Make the repository of builds, build them, and count what the loops cost
    Plant {
        /// Where the source of PostgreSQL 15 is
        #[arg(long, default_value = "target/sources")]
        sources: PathBuf,
        /// Only make the repository
        #[arg(long)]
        only_source: bool,
    },
    /// Record blocks of trials of all builds, until there are this many
    Record {
        /// Next to a load that takes a third of a core in bursts
        #[arg(long)]
        loaded: bool,
        /// Blocks of trials
        #[arg(long, default_value_t = 60)]
        blocks: u32,
        /// About how many seconds the load of a trial lasts; one run each needs 29 of them
        #[arg(long, default_value_t = 40.0)]
        seconds: f64,
    },
    /// Run plans that design themselves, for real, until live.tsv has this many runs of this kind
    Live {
        /// Next to a load that takes a third of a core in bursts
        #[arg(long)]
        loaded: bool,
        /// The build that is compared with the base
        #[arg(long, value_parser = BUILDS.map(|build| build.name))]
        build: String,
        /// Machine time that a run gets
        #[arg(long, value_parser = plan::parse_duration)]
        budget: Duration,
        #[arg(long, default_value_t = 10)]
        runs: usize,
    },
    /// Print who is right how often: live runs, and experiments cut from recorded trials
    Judge {
        /// Put the tables between the markers of this file
        #[arg(long, value_name = "FILE")]
        document: Option<PathBuf>,
    },
}

/// Does one part of the race.
pub fn race(args: &RaceArgs) -> Result<()> {
    let directory = std::path::absolute(&args.directory)?;
    let steelyard = Steelyard { program: args.steelyard.clone() };
    match &args.part {
        Part::Plant { sources, only_source } => {
            let repository = plant::plant(sources, &directory)?;
            println!("planted: {}", repository.display());
            if *only_source { Ok(()) } else { verify::verify(&directory, &steelyard) }
        }
        Part::Record { loaded, blocks, seconds } => {
            // Ends when this does.
            let _load = loaded.then(|| Competing::start(1)).transpose()?;
            let results = recording::results(&directory, Condition::of(*loaded));
            match blocks.saturating_sub(recording::blocks(&results)?) {
                0 => Ok(()),
                missing => {
                    let plan = plans::trials(&directory, missing, *seconds);
                    steelyard.run("run", &plan, &results, &[])
                }
            }
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
    let read = |condition| recording::read(directory, condition).transpose();
    let recordings: Vec<_> = Condition::ALL.into_iter().filter_map(read).collect::<Result<_>>()?;
    let nothing = recordings.is_empty() && live.is_empty();
    ensure!(!nothing, "nothing was recorded in {}", directory.display());
    recordings.iter().try_for_each(board::complete)?;
    let tables = board::document(&recordings, &live);
    println!("{tables}");
    if let Some(path) = document {
        publish::put(path, &tables)?;
    }
    Ok(())
}
