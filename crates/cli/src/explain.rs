//! `steelyard explain`: where the costs of a step come from, and what moved.

use clap::Args;
use plan::Plan;
use report::{ExplainOptions, ReportError, Results, Which};

use crate::exit::WrongRequest;
use crate::format::Format;
use crate::pasted::pasted;
use crate::results::Chosen;

/// Explain a step: its costs per operation, the state it began in, and what moved: the DBMS's
/// counters, events, functions
///
/// Events and functions need profiles, which `run --profile` takes. Flamegraphs are in the results
/// directory under artifacts/profiles, and on the page that `steelyard report` writes.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard explain
  steelyard explain qr100 -e 3")]
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

/// Commands to show at most.
const COMMANDS: usize = 12;

/// Prints the explanation.
pub fn run(args: &ExplainArgs) -> anyhow::Result<()> {
    let (store, results) = args.chosen.open(Which::Latest)?;
    let options = ExplainOptions {
        step: args.step.clone().or_else(|| args.named.clone()),
        parent: args.parent.clone(),
        functions: args.functions,
        base: args.base.clone(),
        counting: args.counting(&results),
    };
    let explanation = report::explain(&store, &results, &options)
        .map_err(|error| with_commands(error, &results, &args.chosen.words()))?;
    args.format.print(|format| explanation.render(format))?;
    Ok(())
}

impl ExplainArgs {
    /// The command that counts instructions of the experiment, if that is possible.
    fn counting(&self, results: &Results) -> Option<String> {
        let experiment = &results.experiment;
        let plan = Plan::parse(&experiment.plan, None, "the stored plan").ok();
        plan.filter(lab::can_count)?;
        let directory = &self.chosen.directory;
        // `count` writes into it.
        directory.writable().ok()?;
        Some(pasted(&["count", "--plan-of", &experiment.id.to_string()], &directory.words()))
    }
}

/// Adds to an error about steps the commands that explain them; `place` chooses the experiment.
fn with_commands(error: ReportError, results: &Results, place: &[String]) -> anyhow::Error {
    if !matches!(error, ReportError::UnknownStep { .. } | ReportError::NoProfiles { .. }) {
        return error.into();
    }
    let mut lines: Vec<String> = Vec::new();
    for step in &results.steps {
        let label = results.step_label(step);
        let line = format!("  {}", pasted(&["explain", &label], place));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let more = lines.len().saturating_sub(COMMANDS);
    lines.truncate(COMMANDS);
    lines.extend((more > 0).then(|| format!("  and {more} more")));
    WrongRequest(format!("{error}\n{}", lines.join("\n"))).into()
}
