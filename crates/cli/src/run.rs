//! `steelyard run`: conduct an experiment.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use clap::Args;
use lab::{Options, Resume};
use plan::Plan;

use crate::changes::Changes;
use crate::exit::WrongRequest;
use crate::progress::Progress;
use crate::results::ResultsDir;
use crate::short::ShortForm;

/// Conduct an experiment: from a plan file, or `run insert -v … -v …` without one
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A plan file, or the name of a workload (insert) for the short form
    #[arg(value_name = "PLAN.toml|WORKLOAD")]
    what: Option<PathBuf>,
    #[command(flatten)]
    directory: ResultsDir,
    /// Go on with the latest unfinished experiment (of this plan, if one is named)
    #[arg(long)]
    resume: bool,
    /// Print the plan that would be run, and don't run it
    #[arg(long)]
    write_plan: bool,
    /// Where the servers' data is made; the storage below it gets measured [default: /var/tmp/steelyard-UID]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// User that servers run as when steelyard runs as root [default: steelyard, else nobody]
    #[arg(long, value_name = "USER")]
    server_user: Option<String>,
    /// Run although another run is measuring on this machine
    #[arg(long)]
    allow_concurrent: bool,
    /// No progress, only the tables at the end
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    short: ShortForm,
}

/// Names of workloads that have a short form.
const WORKLOADS: [&str; 1] = ["insert"];

/// Runs it and prints the tables.
pub fn run(args: &RunArgs) -> anyhow::Result<()> {
    let plan = args.plan()?;
    if args.write_plan {
        let plan =
            plan.ok_or_else(|| WrongRequest("--write-plan needs a plan or a workload".to_owned()))?;
        // As it would be stored: a password is better given anew than written to a file.
        std::io::stdout().write_all(plan::without_passwords(&plan.to_toml()).as_bytes())?;
        return Ok(());
    }
    let resume = match (args.resume, plan) {
        (true, plan) => Resume::Latest(plan.map(Box::new)),
        (false, Some(plan)) => Resume::New(Box::new(plan)),
        (false, None) => {
            let text = "name a plan file, or a workload with variants: steelyard run insert -v postgres@13.7 -v postgres@14.3";
            return Err(WrongRequest(text.to_owned()).into());
        }
    };
    let mut options = Options::new(args.directory.results.clone(), env!("CARGO_PKG_VERSION"));
    if let Some(directory) = &args.data_dir {
        options.data_dir = std::path::absolute(directory).context("--data-dir")?;
    }
    options.server_user.clone_from(&args.server_user);
    options.allow_concurrent = args.allow_concurrent;
    let interrupted = interrupt_flag().context("signal handlers could not be set")?;
    let cache = dbms::Cache::open_default()?;
    let ledger = dbms::Ledger::open_default()?;
    let mut progress = Progress::new(args.quiet);
    let experiment = lab::run(resume, &options, cache, &ledger, &interrupted, &mut |event| {
        progress.tell(event);
    });
    progress.finish();
    let experiment = experiment?;
    crate::compare::print_after_run(&args.directory.results, experiment)
}

impl RunArgs {
    fn plan(&self) -> anyhow::Result<Option<Plan>> {
        let Some(what) = &self.what else {
            if self.short.given() {
                let text = "say which workload the variants are for: steelyard run insert -v …";
                return Err(WrongRequest(text.to_owned()).into());
            }
            if self.resume && self.changes.given() {
                let text = "a run that is resumed keeps to its plan; to change it, start a new one";
                return Err(WrongRequest(text.to_owned()).into());
            }
            return Ok(None);
        };
        let workload = what.to_str().filter(|name| WORKLOADS.contains(name));
        if workload.is_some() {
            return Ok(Some(self.changes.apply(self.short.plan()?, "the short form")?));
        }
        if self.short.given() {
            let text = format!(
                "{}: the options of the short form don't go with a plan file; change the plan instead",
                what.display()
            );
            return Err(WrongRequest(text).into());
        }
        Ok(Some(self.changes.apply(read(what)?, &what.display().to_string())?))
    }
}

pub fn read(path: &Path) -> anyhow::Result<Plan> {
    if !path.exists() && path.extension().is_none() {
        let text = format!(
            "`{}` is neither a plan file nor a workload with a short form ({})",
            path.display(),
            WORKLOADS.join(", ")
        );
        return Err(WrongRequest(text).into());
    }
    Ok(Plan::read(path)?)
}

/// Set by the first SIGINT, SIGTERM or SIGHUP, which ends the run in order. A second one ends the
/// process at once; the kernel then ends its server, and the next run sweeps up.
pub fn interrupt_flag() -> std::io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in
        [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP]
    {
        // In this order: the first signal finds the flag unset and sets it.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))?;
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    Ok(flag)
}
