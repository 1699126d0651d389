//! `steelyard watch`: follow a submission until it is done.

use std::io::Write;
use std::time::Duration;

use clap::Args;
use fleet::{Growing, Slurm, State, Submission, Work};
use report::{CompareOptions, CountOptions, Which};

use super::Submitted;
use super::element::conclude;
use super::status::{machines, problems, stuck, summary};
use super::workplace::Workplace;
use crate::exit::GateFailed;
use crate::format::Format;
use crate::pasted::pasted;
use crate::results::open_archive;
use crate::terminal::columns;

/// Follow a submission until it is done: how far it is, and the verdicts so far
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard watch --results s3://team/bench nightly")]
pub struct WatchArgs {
    #[command(flatten)]
    submitted: Submitted,
    /// Seconds between looks
    #[arg(long, value_name = "S", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
}

/// Prints what changes. Ends with 1 if an element failed or is lost, and nothing is left that runs.
pub fn run(args: &WatchArgs) -> anyhow::Result<()> {
    let depot = args.submitted.open()?;
    let name = &depot.submission().name;
    let (mut said, mut shown) = (Vec::new(), 0);
    let mut place = Workplace::make(0)?;
    let mut growing = Growing::new(&depot, place.path())?;
    loop {
        let mut status = fleet::status(&depot, &Slurm, store::now_ms())?;
        if status.is_complete() {
            status.name_machines(&depot)?;
        }
        let mut now = vec![format!("{name}: {}", summary(&status))];
        now.extend(machines(&status));
        now.extend(stuck(name, &status));
        for line in now.iter().filter(|line| !said.contains(*line)) {
            writeln!(std::io::stdout(), "{line}")?;
        }
        said = now;
        let done = status.those(State::Done).count();
        if status.stopped && done < shown {
            // Those that decided everything, without others that were done later.
            place = Workplace::make(0)?;
            growing = Growing::new(&depot, place.path())?;
            shown = 0;
        }
        if done > shown {
            growing.add(&depot.claims()?)?;
            if !status.is_complete() {
                writeln!(std::io::stdout(), "The verdicts so far:")?;
            }
            show(&growing, depot.submission(), &args.submitted.shared.results)?;
            shown = done;
        }
        if status.is_complete() {
            return conclude(&depot, &open_archive(&args.submitted.shared.address()?)?);
        }
        let moves = status.those(State::Running).chain(status.those(State::Waiting)).count() > 0;
        if !moves {
            return Err(GateFailed(problems(name, &status)).into());
        }
        std::thread::sleep(Duration::from_secs(args.every));
    }
}

/// Prints the verdicts over the elements that are done.
fn show(growing: &Growing<'_>, of: &Submission, address: &str) -> anyhow::Result<()> {
    let (store, experiment) = growing.experiment()?;
    if of.work != Work::Run {
        let options = CountOptions { brief: Some(columns()), ..CountOptions::default() };
        let counted = report::count(store, experiment, &options)?;
        return Format::Text.print(|format| counted.render(format));
    }
    let results = report::load(store, Which::Id(experiment))?;
    let place = ["--results", address, "-e", &of.name].map(str::to_owned);
    let command = pasted(&["compare"], &place);
    let options = CompareOptions { brief: Some(columns()), command, ..CompareOptions::default() };
    let comparison = report::compare(&results, &options)?;
    Format::Text.print(|format| comparison.render(format))
}
