//! `steelyard submit`: run a plan on many machines.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use fleet::{Depot, Job, Scheduler, Slurm, State, Submission, Wishes, Work};

use super::{Shared, programs, work};
use crate::exit::refuse;
use crate::machine::Machine;
use crate::pasted::pasted;
use crate::planned::Planned;

/// Run a plan on many machines through Slurm
///
/// Makes an array job. Each of its elements runs the whole plan, all blocks of all variants, on a
/// machine of its own, and adds what it measured to the address. When the last one is done, they
/// become one experiment there: `steelyard compare --results ADDRESS` reads it. Each machine runs a
/// number of blocks (--blocks and --seconds) or for a time (--budget), whatever it finds. Systems
/// that must be fetched or built are obtained once, by a job that goes first.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard submit plan.toml --machines 8 --results s3://team/bench
  steelyard submit insert -v postgres@13.7 -v postgres@18.1 --machines 4 --results s3://team/bench")]
#[command(next_help_heading = "On which machines")]
pub struct SubmitArgs {
    #[command(flatten)]
    shared: Shared,
    /// How many elements to run, each with a machine for itself; with fewer machines, some run
    /// several
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    machines: Option<u32>,
    /// Name of the submission [default: name of the plan, day and time]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Submit the elements of this submission again that are neither done nor waiting nor running
    #[arg(long, value_name = "SUBMISSION", conflicts_with_all = ["what", "machines", "name"])]
    resume: Option<String>,
    /// Slurm's partition
    #[arg(long, value_name = "NAME")]
    partition: Option<String>,
    /// Features that the machines must have, as Slurm's --constraint
    #[arg(long, value_name = "FEATURES")]
    constraint: Option<String>,
    /// Machines to leave out, as Slurm's --exclude; with --resume, in place of those that were
    /// refused
    #[arg(long, value_name = "HOSTS")]
    exclude: Option<String>,
    /// Limit on the time of an element, as Slurm's --time
    #[arg(long, value_name = "TIME")]
    time: Option<String>,
    /// Where the elements' logs are, a directory that all machines have; each is called
    /// steelyard-SUBMISSION-ELEMENT.log [default: /tmp/steelyard-UID-SUBMISSION-ELEMENT.log]
    #[arg(long, value_name = "DIR")]
    log_dir: Option<String>,
    /// At most so many machines at a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    at_once: Option<u32>,
    /// Count instructions, as `steelyard count` does: each machine counts some of the plan's kinds
    /// of statements
    #[arg(long, conflicts_with_all = ["early_stop", "resume"])]
    count: bool,
    /// Look at the elements that are done, first when a quarter is, and run no more once they
    /// decide everything
    #[arg(long, conflicts_with = "resume")]
    early_stop: bool,
    /// Let elements refuse machines on which `steelyard doctor --quick` finds that something fails;
    /// they run on others
    #[arg(long)]
    strict: bool,
    /// Where steelyard is on the machines [default: where this one is]
    #[arg(long, value_name = "FILE")]
    steelyard: Option<PathBuf>,
    /// Print the job's script, and submit nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    machine: Machine,
    #[command(flatten)]
    planned: Planned,
}

/// Submits it, or the rest of it.
pub fn run(args: &SubmitArgs) -> anyhow::Result<()> {
    let address = args.shared.address()?;
    let wishes = args.wishes();
    wishes.check()?;
    if let Some(name) = &args.resume {
        if args.planned.changes() {
            return refuse("a submission keeps its plan; to change it, submit another one");
        }
        let depot = Depot::open(&address, name, &work()?)?;
        return args.resume(&depot, wishes);
    }
    let (Some(plan), Some(machines)) = (args.planned.plan()?, args.machines) else {
        return refuse(
            "name a plan and how many machines run it: steelyard submit PLAN.toml --machines 4 \
             --results s3://…",
        );
    };
    let now_ms = store::now_ms();
    let name = args.name.clone().unwrap_or_else(|| default_name(&plan.name, now_ms));
    let (doing, seed) = match args.count {
        false => (Work::Run, plan.seed.unwrap_or_else(lab::fresh_seed)),
        true => match lab::count_kinds(&plan) {
            Some(kinds) => (Work::Count(kinds), plan.seed.unwrap_or(lab::COUNT_SEED)),
            None => return refuse("the plan has nothing that `steelyard count` can count"),
        },
    };
    let mut wishes = wishes;
    // With the user, whose files others can't append to.
    wishes.logs.get_or_insert_with(|| format!("/tmp/steelyard-{}-", nix::unistd::getuid()));
    let how = (wishes, args.words(&name)?);
    let (version, begun) = (env!("CARGO_PKG_VERSION"), (now_ms, seed));
    let mut submission = Submission::new(name, (&plan, doing), machines, begun, version, how)?;
    if args.early_stop {
        submission = submission.stopping_early()?;
    }
    if programs::are_needed(&plan)? {
        submission = submission.sending_programs();
    }
    let elements: Vec<u32> = (1..=machines).collect();
    let first = if submission.sends_programs { First::New } else { First::Nothing };
    if args.dry_run {
        return dry_run(&submission, elements, first);
    }
    let depot = Depot::create(&address, submission, &work()?)?;
    let submission = depot.submission();
    let submitted = args.submit(&depot, submission, elements, first);
    let Err(error) = submitted else { return Ok(()) };
    let refused = matches!(error.downcast_ref(), Some(fleet::Error::Refused { .. }));
    if refused && depot.jobs().is_ok_and(|jobs| jobs.is_empty()) {
        // Its name is free again.
        depot.discard(&work()?)?;
        return Err(error);
    }
    let name = &submission.name;
    Err(error.context(format!(
        "`{name}` was not submitted, or not all of it; `steelyard submit --resume {name}` does the \
         rest, if need be with another --partition or --constraint"
    )))
}

/// What obtains the systems' programs before elements can run.
enum First {
    /// Nothing: there are none, or they are there.
    Nothing,
    /// This job, which waits or runs.
    Job(String),
    /// One that is to be submitted.
    New,
}

/// Puts the scripts of a submission in their order; the job that elements wait for, and theirs.
fn put_all(
    submission: &Submission,
    elements: Vec<u32>,
    first: First,
    mut put: impl FnMut(Vec<u32>, &str) -> anyhow::Result<String>,
) -> anyhow::Result<(Option<String>, String)> {
    let Submission { name, wishes, words, .. } = submission;
    let after = match first {
        First::Nothing => None,
        First::Job(job) => Some(job),
        First::New => Some(put(vec![0], &fleet::script(name, &[0], wishes, words, None))?),
    };
    let script = fleet::script(name, &elements, wishes, words, after.as_deref());
    Ok((after, put(elements, &script)?))
}

/// Prints the scripts.
fn dry_run(submission: &Submission, elements: Vec<u32>, first: First) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    let put = |elements: Vec<u32>, script: &str| {
        let end = if elements == [0] { "\n" } else { "" };
        write!(out, "{script}{end}")?;
        Ok("JOB".to_owned())
    };
    put_all(submission, elements, first, put).map(drop)
}

impl SubmitArgs {
    /// Submits the elements of a submission that are open.
    fn resume(&self, depot: &Depot, wishes: Wishes) -> anyhow::Result<()> {
        let submission = depot.submission();
        let name = &submission.name;
        let status = fleet::status(depot, &Slurm, store::now_ms())?;
        let open = |it: &&fleet::Element| matches!(it.state, State::Failed | State::Lost);
        let elements: Vec<u32> = status.elements.iter().filter(open).map(|it| it.element).collect();
        if elements.is_empty() {
            let text =
                format!("nothing to submit: all elements of `{name}` are done, waiting or running");
            writeln!(std::io::stdout(), "{text}")?;
            return Ok(());
        }
        // As before, unless this says otherwise.
        let words = match self.machine.again().is_empty() && self.steelyard.is_none() {
            true => submission.words.clone(),
            false => self.words(name)?,
        };
        let mut wishes = wishes.or(&submission.wishes);
        if self.exclude.is_none() {
            wishes = wishes.without(status.unfit.keys().map(String::as_str));
        }
        wishes.check()?;
        let first = match status.has_programs() {
            true => First::Nothing,
            false => {
                let queue = Slurm.queue(&depot.jobs()?)?;
                let known = queue.into_iter().find(|it| it.element == 0);
                known.map_or(First::New, |it| First::Job(it.job))
            }
        };
        let changed = Submission { wishes, words, ..submission.clone() };
        match self.dry_run {
            true => dry_run(&changed, elements, first),
            false => self.submit(depot, &changed, elements, first),
        }
    }

    /// The command that runs an element.
    fn words(&self, name: &str) -> anyhow::Result<Vec<String>> {
        let steelyard = match &self.steelyard {
            Some(path) => path.clone(),
            None => std::env::current_exe()?,
        };
        let steelyard = steelyard.display().to_string();
        let words = [&steelyard, "element", "--results", &self.shared.results];
        let mut words = words.map(str::to_owned).to_vec();
        words.extend(self.machine.again());
        words.extend(self.strict.then(|| "--strict".to_owned()));
        words.push(name.to_owned());
        Ok(words)
    }

    /// What the job asks of Slurm.
    fn wishes(&self) -> Wishes {
        Wishes {
            partition: self.partition.clone(),
            constraint: self.constraint.clone(),
            exclude: self.exclude.clone(),
            time: self.time.clone(),
            at_once: self.at_once,
            logs: self.log_dir.as_ref().map(|folder| format!("{folder}/steelyard-")),
        }
    }

    fn submit(
        &self,
        depot: &Depot,
        submission: &Submission,
        elements: Vec<u32>,
        first: First,
    ) -> anyhow::Result<()> {
        let name = &submission.name;
        let count = metrics::counted(elements.len(), "element");
        let put = |elements: Vec<u32>, script: &str| put(depot, elements, script);
        let (after, number) = put_all(submission, elements, first, put)?;
        let address = ["--results".to_owned(), self.shared.results.clone()];
        let watch = pasted(&["watch", name], &address);
        let mut out = std::io::stdout();
        let after = after.map(|job| format!(", after job {job}, which obtains the systems"));
        writeln!(out, "submitted `{name}`: {count}, job {number}{}", after.unwrap_or_default())?;
        writeln!(out, "To follow it: {watch}")?;
        Ok(())
    }
}

/// Submits a job; its number.
fn put(depot: &Depot, elements: Vec<u32>, script: &str) -> anyhow::Result<String> {
    let number = Slurm.submit(script)?;
    let job = Job { job: number.clone(), elements, at_ms: store::now_ms() };
    if let Err(error) = depot.add_job(&job) {
        // Nobody would find it.
        let _ = Slurm.cancel(&[job]);
        return Err(error.into());
    }
    Ok(number)
}

/// The plan's name as far as it can be part of a submission's, and the time.
fn default_name(plan: &str, now_ms: i64) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._".contains(c) { c } else { '-' };
    let plan: String = plan.chars().map(plain).take(40).collect();
    let plan = plan.trim_start_matches(['.', '_', '-']);
    let time: String = report::rfc3339(now_ms / 1000 * 1000)
        .chars()
        .filter(char::is_ascii_digit)
        .take("20261125093000".len())
        .collect();
    let (day, time) = time.split_at_checked(8).unwrap_or((&time, ""));
    format!("{}-{day}-{time}", if plan.is_empty() { "run" } else { plan })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_name_is_one() {
        let name = default_name("a b/ü", 1_764_063_000_000);
        assert_eq!(name, "a-b---20251125-093000");
        assert!(default_name("-.-", 0).starts_with("run-19700101-"));
    }
}
