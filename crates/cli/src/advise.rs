//! `steelyard advise`: how many blocks to run, and how long their steps should be.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use plan::Layer;
use report::{AdviseOptions, Chosen, ReportError};

use crate::dash::{is_dash, is_stdout, print, read_plan};
use crate::exit::{WrongRequest, refuse};
use crate::format::Format;
use crate::pasted::pasted;
use crate::sources::Sources;

/// Find the number of blocks and seconds that decide the most steps of a plan within a budget
///
/// Uses the variance between and within stored trials of the same workload, and what a trial costs
/// in addition to its measured seconds. Prints the figures and the plan to run.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard advise plan.toml --budget 8h
  steelyard advise plan.toml --budget 8h --margin 1% -o advised.toml")]
pub struct AdviseArgs {
    /// The plan, or a .steelyard file that has one; - for standard input
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// How much machine time may be spent, for example 8h, 90m or 1h30m
    #[arg(long, value_name = "TIME", value_parser = plan::parse_duration)]
    budget: Duration,
    /// Largest difference that counts as small, such as 2% (instead of the plan's margin)
    #[arg(long, value_name = "PERCENT", value_parser = plan::parse_share)]
    margin: Option<f64>,
    /// Give more rows to steps that end when their work is done, so that they last longer; check
    /// that the data still fits in memory, if it should
    #[arg(long)]
    scale_rows: bool,
    /// Write the advised plan to this file; - for standard output, and the figures to standard
    /// error
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    sources: Sources,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Prints the advice.
pub fn run(args: &AdviseArgs) -> anyhow::Result<()> {
    let plan = read_plan(&args.plan, &Layer::default())?;
    let opened = args.sources.open()?;
    let options = AdviseOptions {
        // `report::advise` picks those with the plan's workload.
        chosen: match args.sources.chosen() {
            Chosen::SameWorkload => Chosen::All,
            chosen => chosen,
        },
        budget: args.budget,
        margin: args.margin,
        scale_rows: args.scale_rows,
    };
    let advice = report::advise(&opened.sources(), &plan, &options)
        .map_err(|error| args.with_pilot(error))?;
    if args.output.as_deref().is_some_and(is_stdout) {
        print(advice.document.toml.as_bytes())?;
        return args.format.tell(|format| advice.render(format));
    }
    if let Some(path) = &args.output {
        if path == &args.plan {
            return refuse(
                "the advised plan would overwrite the plan itself; choose another file for -o",
            );
        }
        archive::write_whole(path, advice.document.toml.as_bytes())?;
    }
    args.format.print(|format| advice.render(format))?;
    Ok(())
}

impl AdviseArgs {
    /// Adds the command that runs a pilot to an error that one is missing.
    fn with_pilot(&self, error: ReportError) -> anyhow::Error {
        if !matches!(error, ReportError::NoPilot { .. }) {
            return error.into();
        }
        let (plan, results) = (self.plan.display().to_string(), self.sources.first());
        if is_dash(&self.plan) || results.writable().is_err() {
            return error.into();
        }
        let command = pasted(&["run", &plan, "--blocks", "3"], &results.words());
        WrongRequest(format!("{error}: {command}")).into()
    }
}
