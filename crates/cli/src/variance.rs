//! `steelyard variance`: how much repeated trials differ, and in which setup they differ least.

use clap::{Args, ValueEnum};
use report::{DEFAULT_LIMIT, VarianceOptions};

use crate::format::Format;
use crate::sources::Sources;

/// Show variation between repeated trials: per step, per setup, and which setup to choose
///
/// A setup is a machine, a variant and a number of clients. Its CV (deviation / mean) per step
/// comes from all finished trials of the chosen experiments.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard variance
  steelyard variance --all --metric p99")]
pub struct VarianceArgs {
    #[command(flatten)]
    sources: Sources,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Which standard deviation to use; the published tables use the population one, over 3 runs
    #[arg(long, value_enum, default_value_t = Deviation::Population)]
    deviation: Deviation,
    /// Only these steps: a setup's maximum and mean are over them [default: all]
    #[arg(long, value_name = "STEP", value_delimiter = ',')]
    steps: Vec<String>,
    /// Largest CV of a setup that may be chosen
    #[arg(long, value_name = "CV", default_value_t = DEFAULT_LIMIT)]
    limit: f64,
    /// The metric, for example o/s, cpu/o, dbms.cpu/o
    #[arg(long, value_name = "METRIC", default_value = "o/s")]
    metric: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deviation {
    /// Divides by the number of trials
    Population,
    /// Divides by the number of trials minus one
    Sample,
}

/// Prints the tables.
pub fn run(args: &VarianceArgs) -> anyhow::Result<()> {
    let opened = args.sources.open()?;
    let options = VarianceOptions {
        chosen: args.sources.chosen(),
        metric: args.metric.clone(),
        steps: args.steps.clone(),
        deviation: match args.deviation {
            Deviation::Population => report::Deviation::Population,
            Deviation::Sample => report::Deviation::Sample,
        },
        limit: args.limit,
    };
    let variance = report::variance(&opened.sources(), &options)?;
    args.format.print(|format| variance.render(format))?;
    Ok(())
}
