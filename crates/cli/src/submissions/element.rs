//! `steelyard element`: what a scheduler starts on each machine.

use std::sync::atomic::Ordering;

use archive::Archive;
use clap::Args;
use fleet::{Depot, Failed, Job, Scheduler, Slurm, Start, Started, Work};
use lab::{Event, Resume};
use store::Store;

use super::workplace::Workplace;
use super::{Submitted, programs};
use crate::exit::Unfit;
use crate::machine::{Machine, Ready};
use crate::results::open_archive;

/// Run one element of a submission on this machine
///
/// The script of `steelyard submit` does that through Slurm. Any other scheduler can do it too, or
/// a person. A second run of an element does no harm: the first that is done counts. If the plan's
/// systems have to be fetched or built, element 0 does that for the others, on whichever machine,
/// and goes first.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard element --results s3://team/bench nightly 3")]
pub struct ElementArgs {
    #[command(flatten)]
    submitted: Submitted,
    /// The number of the element, from 1; 0 obtains the systems
    #[arg(value_name = "ELEMENT")]
    element: u32,
    /// Refuse to start if `steelyard doctor --quick` finds that something on this machine fails; if
    /// Slurm has started this, the element is submitted again for another machine, up to three
    /// times
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    machine: Machine,
}

/// Runs it, adds its results to the address, and all results together if it is the last.
pub fn run(args: &ElementArgs) -> anyhow::Result<()> {
    let (address, name) = (args.submitted.shared.address()?, &args.submitted.name);
    let work = super::work()?;
    // While measuring waits, nothing is lost.
    let depot = patiently(|| Depot::open(&address, name, &work))?;
    let (element, submission) = (args.element, depot.submission());
    if element > submission.elements {
        let (name, last) = (&submission.name, submission.elements);
        return crate::exit::refuse(format!(
            "expected an element of `{name}` from 0 to {last}, found {element}"
        ));
    }
    let version = env!("CARGO_PKG_VERSION");
    if submission.steelyard != version {
        let (name, expected) = (&submission.name, &submission.steelyard);
        return crate::exit::refuse(format!(
            "`{name}` was submitted by steelyard {expected}, and this is {version}; its elements \
             must be run by the same"
        ));
    }
    if patiently(|| depot.stop())?.is_some() {
        // Those who found that are about to make one experiment of it, and to cancel this.
        eprintln!("element {element} is not needed: others decided everything");
        return Ok(());
    }
    let is_done = || match element {
        0 => depot.has_programs(),
        _ => depot.claim(element).map(|claim| claim.is_some()),
    };
    if patiently(is_done)? {
        eprintln!("element {element} is done already");
    } else {
        let started = Started { start: start(element), host: host(), at_ms: store::now_ms() };
        patiently(|| {
            if let Ok(job) = std::env::var("SLURM_ARRAY_JOB_ID") {
                // If `submit` was killed before it could, this is how the job is found.
                depot.add_job(&Job { job, elements: vec![element], at_ms: store::now_ms() })?;
            }
            depot.add_start(&started)
        })?;
        let done = match element {
            0 => programs::send(&depot, &address, &args.machine),
            _ => measure(args, &depot, &started),
        };
        if let Err(error) = done {
            let (unfit, why) = (error.is::<Unfit>(), format!("{error:#}"));
            let mut failed = Failed { started, why, at_ms: store::now_ms() };
            if unfit {
                elsewhere(&depot, &mut failed);
            }
            // Its own failure says more.
            let _ = depot.add_failure(&failed);
            return Err(error);
        }
    }
    if element == 0 {
        return Ok(());
    }
    let archive = open_archive(&address)?;
    let stopped = submission.stop_early && stop(&depot)?;
    conclude(&depot, &archive)?;
    if stopped && std::env::var_os("SLURM_ARRAY_JOB_ID").is_some() {
        cancel_others(&depot)?;
    }
    Ok(())
}

/// What the depot answers, once it can be reached.
fn patiently<T>(ask: impl FnMut() -> Result<T, fleet::Error>) -> Result<T, fleet::Error> {
    fleet::patiently(fleet::Error::is_request, ask)
}

/// Looks, if that is due; true if no other elements are needed.
fn stop(depot: &Depot) -> anyhow::Result<bool> {
    let place = Workplace::make(0)?;
    Ok(fleet::stop_if_decided(depot, place.path(), decides, store::now_ms())?.is_some())
}

/// True if nothing of an experiment is left to decide.
fn decides(store: &Store, experiment: store::ExperimentId) -> anyhow::Result<bool> {
    let results = report::load(store, report::Which::Id(experiment))?;
    let judged = report::judge_results(&results, None, None)?;
    let mut compared = 0;
    let mut outcomes = judged.steps.iter().flatten();
    let decided = outcomes.all(|outcome| match outcome {
        report::Outcome::Aside => true,
        report::Outcome::Compared(comparison) => {
            compared += 1;
            judge::decided(comparison, None)
        }
        report::Outcome::Unjudged(it) => it.verdict != Some(judge::Verdict::Inconclusive),
    });
    Ok(decided && compared > 0)
}

/// Ends the elements that are not needed any more. Those that are done end by themselves.
fn cancel_others(depot: &Depot) -> anyhow::Result<()> {
    let mut queue = Slurm.queue(&depot.jobs()?)?;
    let done = depot.done()?;
    queue.retain(|it| !done.contains_key(&it.element));
    let one = |it: &fleet::Queued| Job {
        job: format!("{}_{}", it.job, it.element),
        elements: vec![it.element],
        at_ms: 0,
    };
    Slurm.cancel(&queue.iter().map(one).collect::<Vec<_>>())?;
    eprintln!("all is decided: {} canceled", metrics::counted(queue.len(), "other element"));
    Ok(())
}

/// Has an element run on another machine than this one, if Slurm has started it, and adds to the
/// reason what has become of that.
fn elsewhere(depot: &Depot, failed: &mut Failed) {
    // This command without the element's number at its end, which the script adds.
    let words: Vec<String> = std::env::args().skip(1).collect();
    let program = std::env::current_exe().map(|it| it.display().to_string());
    let words: Vec<String> = match words.split_last() {
        Some((last, words)) if *last == failed.started.start.element.to_string() => {
            program.into_iter().chain(words.iter().cloned()).collect()
        }
        _ => depot.submission().words.clone(),
    };
    let now_ms = store::now_ms();
    let done = match std::env::var_os("SLURM_ARRAY_JOB_ID") {
        Some(_) => fleet::elsewhere(depot, &Slurm, failed, &words, now_ms),
        None => depot.add_refusal(failed).map(|()| None),
    };
    match done {
        Ok(Some(job)) => eprintln!("job {} runs the element on another machine", job.job),
        Ok(None) => {}
        Err(error) => failed.why.push_str(&format!("; it can't be run elsewhere: {error}")),
    }
}

/// Measures everything and delivers it.
fn measure(args: &ElementArgs, depot: &Depot, started: &Started) -> anyhow::Result<()> {
    let element = started.start.element;
    programs::receive(depot, &args.submitted.shared.address()?)?;
    let (submission, plan) = (depot.submission(), depot.submission().plan_of(element)?);
    let place = Workplace::make(element)?;
    let results = place.path().join("results");
    let Ready { mut options, cache, ledger, interrupted, mut progress } =
        args.machine.ready(&results)?;
    options.findings = crate::doctor::before_run(&options.data_dir, args.strict, &mut |line| {
        progress.tell(Event::Note(line));
    })?;
    options.node = Some(started.host.clone());
    options.spends_budget = true;
    let mut tell = |event| progress.tell(event);
    let run = match submission.work {
        Work::Run => {
            let (resume, systems) = (Resume::New(Box::new(plan)), lab::Installed(cache));
            lab::run(resume, &options, &systems, &ledger, &interrupted, &mut tell)
        }
        Work::Count(_) => {
            let cpus = std::thread::available_parallelism().map_or(1, usize::from);
            lab::count(plan, &options, cpus, cache, &ledger, &interrupted, &mut tell)
        }
    };
    progress.finish();
    let experiment = run.map_err(|error| match interrupted.load(Ordering::Relaxed) {
        // Whatever fails first if a scheduler ends all processes of a job at once.
        true if matches!(error, lab::Error::Interrupted) => error.into(),
        true => anyhow::anyhow!("interrupted ({error})"),
        false => error.into(),
    })?;
    let store = Store::open_read_only(&results)?;
    let measured = (&store, experiment);
    let conditions = match submission.work {
        Work::Run => Vec::new(),
        Work::Count(_) => lab::count_conditions()?,
    };
    let version = (env!("CARGO_PKG_VERSION"), &conditions[..]);
    match depot.deliver(started, measured, version, store::now_ms())? {
        true => eprintln!("element {element} is done"),
        false => eprintln!("element {element} was done by another start; this one does not count"),
    }
    Ok(())
}

/// Adds the merged experiment to those of the address if no element is missing.
pub fn conclude(depot: &Depot, archive: &Archive) -> anyhow::Result<()> {
    if depot.is_whole()? {
        return Ok(());
    }
    let place = Workplace::make(0)?;
    if fleet::conclude(depot, archive, place.path())? {
        let submission = depot.submission();
        let (name, elements) = (&submission.name, submission.elements as usize);
        let elements = metrics::counted(elements, "element");
        eprintln!("all of `{name}` is done; what its {elements} measured is experiment `{name}`");
    }
    Ok(())
}

/// The numbers that tell this start from others: Slurm's if it has started this, otherwise the
/// process.
fn start(element: u32) -> Start {
    let of = |name: &str| std::env::var(name).ok();
    let (job, restart) = match of("SLURM_JOB_ID") {
        Some(job) => (job, of("SLURM_RESTART_COUNT").and_then(|it| it.parse().ok()).unwrap_or(0)),
        None => (format!("{}_{}_{}", host(), std::process::id(), store::now_ms()), 0),
    };
    Start { element, job, restart }
}

/// The machine's name: Slurm's, if it has started this.
fn host() -> String {
    if let Some(name) = std::env::var("SLURMD_NODENAME").ok().filter(|name| !name.is_empty()) {
        return name;
    }
    let name = dbms::host_name();
    if name.is_empty() { "unknown".to_owned() } else { name }
}
