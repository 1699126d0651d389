//! `steelyard explain`: where the costs of a step come from, and what moved.

use clap::Args;
use report::{ExplainOptions, Which};

use crate::format::Format;
use crate::results::Chosen;

/// Explain a step: its costs per operation, the state it began in, and what moved: the DBMS's
/// counters, events, functions
///
/// Events and functions need profiles, which `run --profile` takes. Flamegraphs are in the results
/// directory under artifacts/profiles, and on the page that `steelyard report` writes.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The step, for example l.i0 [default: every profiled step]
    #[arg(value_name = "STEP")]
    step: Option<String>,
    /// The same
    #[arg(long = "step", value_name = "STEP", conflicts_with = "step", hide = true)]
    named: Option<String>,
    #[command(flatten)]
    chosen: Chosen,
    /// Show the callees of this function [default: the one in which the server executes what
    /// clients send]
    #[arg(long, value_name = "FUNCTION")]
    parent: Option<String>,
    /// How many of the functions that moved to show for each variant
    #[arg(long, value_name = "N", default_value_t = 15)]
    functions: usize,
    /// The variant to compare with (instead of the plan's base)
    #[arg(long, value_name = "VARIANT")]
    base: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Prints the explanation.
pub fn run(args: &ExplainArgs) -> anyhow::Result<()> {
    let (store, results) = args.chosen.open(Which::Latest)?;
    let options = ExplainOptions {
        step: args.step.clone().or_else(|| args.named.clone()),
        parent: args.parent.clone(),
        functions: args.functions,
        base: args.base.clone(),
    };
    let explanation = report::explain(&store, &results, &options)?;
    args.format.print(|format| explanation.render(format))?;
    Ok(())
}
