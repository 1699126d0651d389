//! `steelyard cancel`: end what waits or runs of a submission.

use std::io::Write;

use clap::Args;
use fleet::{Scheduler, Slurm};

use super::Submitted;

/// End what waits or runs of a submission; elements that are done stay
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard cancel --results s3://team/bench nightly")]
pub struct CancelArgs {
    #[command(flatten)]
    submitted: Submitted,
}

/// Cancels its jobs.
pub fn run(args: &CancelArgs) -> anyhow::Result<()> {
    let depot = args.submitted.open()?;
    let queue = Slurm.queue(&depot.jobs()?)?;
    Slurm.cancel(&depot.jobs()?)?;
    depot.add_cancel(store::now_ms())?;
    let elements = queue.iter().filter(|it| it.element > 0).count();
    let (name, count) = (&depot.submission().name, metrics::counted(elements, "element"));
    writeln!(std::io::stdout(), "canceled `{name}`: {count} waited or ran")?;
    Ok(())
}
