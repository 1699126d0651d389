//! The race: how soon do this program and what is usual practice find planted differences
//! (`bench race`)?

mod board;
mod competing;
mod contenders;
mod live;
mod plans;
mod plant;
mod publish;
mod recording;
mod verify;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Args, Subcommand};
use judge::Verdict;
use nix::sys::signal::Signal;

pub use competing::burn;
use competing::{Competing, bound};

/// A build of PostgreSQL that is slower by a known share.
pub struct Build {
    /// Its branch, and its name among the variants.
    pub name: &'static str,
    /// Rounds of the loop that each of its statements goes around.
    pub rounds: u32,
    /// By how much fewer rows per second it inserts, in percent.
    pub slower: u32,
    /// The margin with which the race asks about it.
    pub margin: f64,
    /// The verdict that is right with that margin.
    pub right: Verdict,
}

/// The builds. A round takes 0.97 ns on the machine the race was made for, and a statement of l.i0
/// [`STATEMENT_US`], in client and server together: 28,900 rounds are 28.0 µs, with which it takes
/// 560 µs, 1/0.95 times as long; 11,200 are 10.9 µs (1/0.98). Elsewhere the shares are others: the
/// tables have what was measured.
pub const BUILDS: [Build; 3] = [
    Build { name: "same", rounds: 0, slower: 0, margin: 0.02, right: Verdict::Equivalent },
    Build { name: "minus-2", rounds: 11_200, slower: 2, margin: 0.01, right: Verdict::Regression },
    Build { name: "minus-5", rounds: 28_900, slower: 5, margin: 0.02, right: Verdict::Regression },
];

/// The base once more, under a second name.
pub const AGAIN: &str = "same-again";

/// What else the machine does meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    Quiet,
    Loaded,
}

impl Condition {
    pub const ALL: [Self; 2] = [Self::Quiet, Self::Loaded];

    fn of(loaded: bool) -> Self {
        if loaded { Self::Loaded } else { Self::Quiet }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Quiet { "quiet" } else { "loaded" })
    }
}

/// The name under which a build runs beside the base.
fn variant_of(build: &Build) -> &'static str {
    if build.slower == 0 { AGAIN } else { build.name }
}

fn build_named(name: &str) -> Option<usize> {
    BUILDS.iter().position(|build| build.name == name)
}

/// What a statement of l.i0, which inserts [`STATEMENT_ROWS`], takes without a loop.
pub const STATEMENT_US: f64 = 532.0;
pub const STATEMENT_ROWS: u64 = 100;

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
    /// Record blocks of trials of all builds, until there are so many
    Record {
        /// Beside a load that takes a third of a core in bursts
        #[arg(long)]
        loaded: bool,
        /// Blocks of trials
        #[arg(long, default_value_t = 60)]
        blocks: u32,
        /// About how many seconds the load of a trial lasts; one run each needs 29 of them
        #[arg(long, default_value_t = 40.0)]
        seconds: f64,
    },
    /// Run what designs itself, for real, until live.tsv has so many runs of this kind
    Live {
        /// Beside a load that takes a third of a core in bursts
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
    /// Print who is right how often: live runs, and experiments cut from what was recorded
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
            live::live(&directory, &steelyard, condition, build, *budget, *runs)
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

/// The command that is raced.
pub struct Steelyard {
    program: PathBuf,
}

impl Steelyard {
    /// Runs it with a plan, which is kept beside its results.
    pub fn run(&self, word: &str, plan: &str, results: &Path, more: &[&str]) -> Result<()> {
        let file = results.with_extension("toml");
        std::fs::write(&file, plan).with_context(|| format!("cannot write {}", file.display()))?;
        let mut command = Command::new(&self.program);
        command.arg(word).arg(&file).arg("--results").arg(results).args(more).stdout(Stdio::null());
        // A run that is sent this stops its servers.
        let status = bound(&mut command, Signal::SIGTERM)
            .status()
            .with_context(|| format!("cannot run {}: make build", self.program.display()))?;
        ensure!(status.success(), "steelyard {word} {} failed: {status}", file.display());
        Ok(())
    }
}
