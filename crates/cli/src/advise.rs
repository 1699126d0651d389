//! `steelyard advise`: how many blocks of how many seconds.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use plan::Plan;
use report::{AdviseOptions, Chosen};

use crate::compare::Format;
use crate::exit::refuse;
use crate::sources::Sources;

/// How many blocks of how many seconds decide most steps of a plan within a budget
///
/// From the variance between and within the stored trials of the same workload, and what a trial
/// costs beside its measured seconds. Prints the figures and the plan to run.
#[derive(Debug, Args)]
pub struct AdviseArgs {
    /// The plan (TOML)
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// The machine's time that may be spent, for example 8h, 90m or 1h30m
    #[arg(long, value_name = "TIME", value_parser = plan::parse_duration)]
    budget: Duration,
    /// What counts as a small difference, in percent (instead of the plan's margin)
    #[arg(long, value_name = "PERCENT")]
    margin: Option<f64>,
    /// Let steps that end by work last longer by more rows; think of what fits into memory
    #[arg(long)]
    scale_rows: bool,
    /// Write the advised plan to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    sources: Sources,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Prints the advice.
pub fn run(args: &AdviseArgs) -> anyhow::Result<()> {
    let plan = Plan::read(&args.plan)?;
    let opened = args.sources.open()?;
    let options = AdviseOptions {
        // Which of them are of the plan's workload is found out there.
        chosen: match args.sources.chosen() {
            Chosen::SameWorkload => Chosen::All,
            chosen => chosen,
        },
        budget: args.budget,
        margin: args.margin.map(|percent| percent / 100.0),
        scale_rows: args.scale_rows,
    };
    let advice = report::advise(&opened.sources(), &plan, &options)?;
    if let Some(path) = &args.output {
        if path == &args.plan {
            return refuse(
                "the advised plan would replace the plan itself; choose another file for -o",
            );
        }
        std::fs::write(path, &advice.document.toml)
            .with_context(|| format!("could not write the plan to {}", path.display()))?;
    }
    std::io::stdout().write_all(advice.render(args.format.into())?.as_bytes())?;
    Ok(())
}
