//! `steelyard explain`: what the costs of a step consist of, and what moved.

use std::io::Write;

use clap::Args;
use report::{ExplainOptions, Which};

use crate::compare::Format;
use crate::results::Chosen;

/// Explain a step: costs and events per operation, where samples fell, and the functions that moved
///
/// Needs profiles, which `run --profile` takes. Flamegraphs are in the results directory under
/// artifacts/profiles, and in the page of `steelyard report`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The step, for example l.i0 [default: all that were profiled]
    #[arg(value_name = "STEP")]
    step: Option<String>,
    #[command(flatten)]
    chosen: Chosen,
    /// The function whose callees are shown [default: the one in which the server does what clients
    /// ask for]
    #[arg(long, value_name = "FUNCTION")]
    parent: Option<String>,
    /// How many functions that moved are shown for each variant
    #[arg(long, value_name = "N", default_value_t = 15)]
    functions: usize,
    /// The variant to compare with (instead of the plan's base)
    #[arg(long, value_name = "VARIANT")]
    base: Option<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Prints the explanation.
pub fn run(args: &ExplainArgs) -> anyhow::Result<()> {
    let (store, results) = args.chosen.open(Which::Latest)?;
    let options = ExplainOptions {
        step: args.step.clone(),
        parent: args.parent.clone(),
        functions: args.functions,
        base: args.base.clone(),
    };
    let explanation = report::explain(&store, &results, &options)?;
    std::io::stdout().write_all(explanation.render(args.format.into())?.as_bytes())?;
    Ok(())
}
