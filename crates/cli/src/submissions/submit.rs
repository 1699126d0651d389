//! `steelyard submit`: run a plan on many machines.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use fleet::{Depot, Job, Scheduler, Slurm, State, Submission, Wishes};

use super::{Shared, work};
use crate::exit::refuse;
use crate::machine::Machine;
use crate::pasted::pasted;
use crate::planned::Planned;

/// Run a plan on many machines through Slurm
///
/// Makes one array job. Each of its elements runs the whole plan, all blocks of all variants, on a
/// machine of its own, and adds what it measured to the address. When the last one is done, they
/// become one experiment there: `steelyard compare --results ADDRESS` reads it. A plan runs a fixed
/// number of blocks on each machine: --blocks and --seconds, not --budget.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard submit plan.toml --machines 8 --results s3://team/bench
  steelyard submit insert -v postgres@13.7 -v postgres@18.1 --machines 4 --results s3://team/bench")]
#[command(next_help_heading = "On which machines")]
pub struct SubmitArgs {
    #[command(flatten)]
    shared: Shared,
    /// How many machines run the plan
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
    /// Machines to leave out, as Slurm's --exclude
    #[arg(long, value_name = "HOSTS")]
    exclude: Option<String>,
    /// Limit on the time of an element, as Slurm's --time
    #[arg(long, value_name = "TIME")]
    time: Option<String>,
    /// At most so many machines at a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    at_once: Option<u32>,
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
    let mut out = std::io::stdout();
    let wishes = args.wishes();
    wishes.check()?;
    if let Some(name) = &args.resume {
        if args.planned.changes() {
            return refuse("a submission keeps its plan; to change it, submit another one");
        }
        let depot = Depot::open(&address, name, &work()?)?;
        let submission = depot.submission();
        let status = fleet::status(&depot, &Slurm, store::now_ms())?;
        let open = |it: &&fleet::Element| matches!(it.state, State::Failed | State::Lost);
        let elements: Vec<u32> = status.elements.iter().filter(open).map(|it| it.element).collect();
        // As before, unless this says otherwise.
        let words = match args.machine.again().is_empty() && args.steelyard.is_none() {
            true => submission.words.clone(),
            false => args.words(name)?,
        };
        let wishes = wishes.or(&submission.wishes);
        let script = fleet::script(name, &elements, &wishes, &words);
        if elements.is_empty() {
            writeln!(
                out,
                "nothing to submit: all elements of `{name}` are done, waiting or running"
            )?;
        } else if args.dry_run {
            write!(out, "{script}")?;
        } else {
            args.submit(&depot, elements, &script)?;
        }
        return Ok(());
    }
    let (Some(plan), Some(machines)) = (args.planned.plan()?, args.machines) else {
        return refuse(
            "name a plan and how many machines run it: steelyard submit PLAN.toml --machines 4 \
             --results s3://…",
        );
    };
    let now_ms = store::now_ms();
    let name = args.name.clone().unwrap_or_else(|| default_name(&plan.name, now_ms));
    let seed = plan.seed.unwrap_or_else(lab::fresh_seed);
    let version = env!("CARGO_PKG_VERSION");
    let words = args.words(&name)?;
    let elements: Vec<u32> = (1..=machines).collect();
    let script = fleet::script(&name, &elements, &wishes, &words);
    let how = (wishes, words);
    let mut submission = Submission::new(name, &plan, machines, (now_ms, seed), version, how)?;
    if args.early_stop {
        submission = submission.stopping_early()?;
    }
    if args.dry_run {
        write!(out, "{script}")?;
        return Ok(());
    }
    let depot = Depot::create(&address, submission, &work()?)?;
    args.submit(&depot, elements, &script)
}

impl SubmitArgs {
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
        }
    }

    fn submit(&self, depot: &Depot, elements: Vec<u32>, script: &str) -> anyhow::Result<()> {
        let name = &depot.submission().name;
        let again = |error| anyhow::anyhow!("{error}; `submit --resume {name}` tries it again");
        let number = Slurm.submit(script).map_err(again)?;
        let count = metrics::counted(elements.len(), "element");
        let job = Job { job: number.clone(), elements, at_ms: store::now_ms() };
        if let Err(error) = depot.add_job(&job) {
            // Nobody would find it.
            let _ = Slurm.cancel(&[job]);
            return Err(again(error));
        }
        let words = ["--results".to_owned(), self.shared.results.clone()];
        let watch = pasted(&["watch", name], &words);
        let mut out = std::io::stdout();
        writeln!(out, "submitted `{name}`: {count}, job {number}")?;
        writeln!(out, "To follow it: {watch}")?;
        Ok(())
    }
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
