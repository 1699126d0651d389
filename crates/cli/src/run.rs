//! `steelyard run`: run an experiment.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use lab::{Event, Resume};
use metrics::counted;
use plan::Plan;
use report::{Results, Which};
use store::{Experiment, Store};

use crate::dash::is_dash;
use crate::destination::Destination;
use crate::exit::{Unfinished, WrongRequest, refuse};
use crate::machine::{Machine, Ready};
use crate::pasted::pasted;
use crate::planned::Planned;
use crate::results::{ResultsDir, load_which};

/// Run an experiment from a plan file, or without one: `run insert -v … -v …`
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard run insert -v postgres@13.7 -v postgres@18.1 --budget 5m
  steelyard run queries queries/ -v postgres@13.7 -v image:postgres:18 --budget 20m
  steelyard run tpcc -v mysql@8.0.31 -v mariadb@11.4.3 --warehouses 10 --budget 30m
  steelyard run plan.toml --margin 3%
  steelyard run --resume")]
pub struct RunArgs {
    #[command(flatten)]
    directory: ResultsDir,
    /// Continue the latest unfinished experiment (of this plan, if one is named)
    #[arg(long)]
    resume: bool,
    /// Print the plan instead of running it
    #[arg(long)]
    write_plan: bool,
    /// Push the experiment when it has finished, as `steelyard push` does, to an address such as
    /// s3://BUCKET/PREFIX or https://bench.example.com, whose page Live also shows the run meanwhile
    #[arg(long, value_name = "ADDRESS")]
    push: Option<String>,
    /// Refuse to start if `steelyard doctor` finds that something on this machine fails
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    machine: Machine,
    #[command(flatten)]
    planned: Planned,
}

/// Runs it and prints the tables.
pub fn run(args: &RunArgs) -> anyhow::Result<()> {
    let plan = args.plan()?;
    if args.write_plan {
        let plan =
            plan.ok_or_else(|| WrongRequest("--write-plan needs a plan or a workload".to_owned()))?;
        // As it would be stored: better to give a password again than to write it to a file.
        let written = plan.text_without_passwords();
        if written != plan.text {
            eprintln!("note: passwords are not written to the plan; add them before you run it");
        }
        std::io::stdout().write_all(written.as_bytes())?;
        return Ok(());
    }
    let resume = match (args.resume, plan) {
        (true, plan) => lab::latest_unfinished(args.directory.writable()?, plan.map(Box::new))?,
        (false, Some(plan)) => Resume::New(Box::new(plan)),
        (false, None) => {
            return refuse(
                "name a plan file, or a workload with variants: steelyard run insert -v postgres@13.7 -v postgres@14.3",
            );
        }
    };
    if let Resume::New(plan) = &resume {
        lab::check_budget(plan)?;
    }
    args.check_profiler()?;
    let destination = args.destination()?;
    let Ready { mut options, cache, ledger, interrupted, mut progress } =
        args.ready(destination.as_ref())?;
    let profile = matches!(&resume, Resume::New(plan) if plan.profile);
    progress.tell(Event::Note(match &resume {
        Resume::New(plan) => intention(plan),
        Resume::Unfinished(plan, experiment) => resumption(plan, experiment),
    }));
    options.findings = crate::doctor::before_run(&options.data_dir, args.strict, &mut |line| {
        progress.tell(Event::Note(line));
    })?;
    let (resuming, again) = match &resume {
        Resume::New(plan) | Resume::Unfinished(plan, _) => (args.resuming(plan), args.again(plan)),
    };
    let (mut finished, mut enough) = (None, None);
    let experiment =
        lab::run(resume, &options, &lab::Installed(cache), &ledger, &interrupted, &mut |event| {
            match &event {
                Event::Began { finished: before, .. } => finished = Some(*before),
                Event::TrialEnded => finished = finished.map(|trials| trials + 1),
                Event::Enough { budget, decides } => enough = Some((*budget, *decides)),
                _ => {}
            }
            progress.tell(event);
        });
    // Also draws the profiles of a run that was interrupted.
    let which = experiment.as_ref().map_or(Which::Newest, |id| Which::Id(*id));
    let loaded = load_which(&args.directory.results, which);
    let mut flamegraphs = None;
    if let Ok((store, results)) = &loaded {
        match report::draw_flamegraphs(store, results) {
            Ok(drawn) => flamegraphs = Some(drawn),
            Err(error) => {
                progress.tell(Event::Note(format!("could not draw the flamegraphs: {error}")));
            }
        }
    }
    progress.finish();
    let stored = args.resume && args.planned.what().is_none();
    experiment.map_err(|error| match stored && lacks_password(&error) {
        true => Unfinished { error, next: PASSWORDS.to_owned() }.into(),
        false => explained(error, finished, &resuming),
    })?;
    let (store, results) = loaded?;
    crate::compare::print_after_run(&args.directory.results, &results)?;
    args.push(destination.as_ref(), &store, &results.experiment)?;
    if let Some((budget, decides)) = enough {
        let command = with_budget(again.as_deref(), budget);
        eprintln!("{}: {command}", if decides { DECIDES } else { SIX_BLOCKS });
    }
    let asked = args.planned.profile();
    match flamegraphs {
        Some(0) if asked => anyhow::bail!("--profile: {}", unprofiled(&results)),
        Some(0) if profile => eprintln!("warning: {}", unprofiled(&results)),
        _ => {}
    }
    Ok(())
}

/// That no step was profiled, and why, as far as it was noted.
fn unprofiled(results: &Results) -> String {
    let warned = results.warnings.iter().map(|noted| &noted.warning);
    let no_perf = warned.filter(|warning| warning.code == "no-perf").map(|it| it.text.as_str());
    let notes = results.steps.iter().flat_map(|step| &step.variants).flat_map(|it| &it.notes);
    let noted = notes.filter_map(|note| note.strip_prefix("no profile: "));
    let why: BTreeSet<&str> = no_perf.chain(noted).collect();
    let why: Vec<&str> = why.into_iter().collect();
    let why = if why.is_empty() { "no reason was noted".to_owned() } else { why.join("; ") };
    format!("no step was profiled ({why}); everything else was measured")
}

/// The effect of the larger budget that a run suggests at its end.
const DECIDES: &str = "A larger budget would probably decide the rest";
const SIX_BLOCKS: &str = "A larger budget would have room for the 6 blocks that a verdict needs; \
                          after them, the run says what would decide the rest";

/// The remedy if a resumed run can't log in.
const PASSWORDS: &str = "Passwords are not stored; repeat the command with --resume";

/// True if a server that is already running can't be reached because there is no password.
fn lacks_password(error: &lab::Error) -> bool {
    let lab::Error::NoServer { source, .. } = error else { return false };
    match &**source {
        dbms::Error::Connect { detail, .. } => detail.contains("password"),
        _ => false,
    }
}

/// Adds to an error how to continue, if the experiment had begun: this many trials are `finished`.
fn explained(error: lab::Error, finished: Option<usize>, resuming: &str) -> anyhow::Error {
    let next = match finished {
        None => return error.into(),
        Some(_) if error.is_lasting() => {
            "Resuming the run can't change that: correct it, and run it again".to_owned()
        }
        Some(0) => format!("No trial has finished yet; continue with {resuming}"),
        Some(_) => format!("The finished trials are kept; continue with {resuming}"),
    };
    Unfinished { error, next }.into()
}

/// Describes what is about to run and for how long; printed before anything is fetched or started.
fn intention(plan: &Plan) -> String {
    let mut steps: Vec<String> = Vec::new();
    for step in plan.workload.sequences().into_iter().flat_map(|sequence| sequence.steps) {
        if !steps.contains(&step.key.name) {
            steps.push(step.key.name);
        }
    }
    let added = match &plan.added[..] {
        [] => String::new(),
        [.., last] => {
            let once = plan.restore_after.as_ref() == Some(last);
            let once = if once { ", loaded once per variant" } else { "" };
            format!(" (added for the others{once}: {})", plan.added.join(", "))
        }
    };
    let time = plan.budget.map(|budget| format!(", at most {}", plan::format_duration(budget)));
    format!(
        "{}: {} with {}{added}; {}{}",
        plan.name,
        names(plan),
        steps.join(", "),
        often(plan),
        time.unwrap_or_default()
    )
}

/// Describes the run that is about to continue.
fn resumption(plan: &Plan, experiment: &Experiment) -> String {
    let extent = match plan.budget {
        Some(budget) => format!("budget {}", plan::format_duration(budget)),
        None => often(plan),
    };
    format!("resuming experiment {} `{}` ({}; {extent})", experiment.id, plan.name, names(plan))
}

fn names(plan: &Plan) -> String {
    let variants: Vec<&str> = plan.variants.iter().map(|v| v.name.as_str()).collect();
    variants.join(", ")
}

/// How often everything runs.
fn often(plan: &Plan) -> String {
    match plan.designs_itself() {
        true => "blocks as needed".to_owned(),
        false => counted(plan.blocks as usize, "block"),
    }
}

/// The command of these words with another budget, to be pasted; without words, how to change it.
fn with_budget(words: Option<&[String]>, budget: Duration) -> String {
    let budget = plan::format_duration(budget);
    let Some(words) = words else { return format!("run the same plan with --budget {budget}") };
    let mut changed = Vec::new();
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "--resume" => {}
            "--budget" => {
                words.next();
            }
            joined if joined.starts_with("--budget=") => {}
            other => changed.push(other),
        }
    }
    changed.extend(["--budget", &budget]);
    format!("`{}`", pasted(&changed, &[]))
}

/// True if the plan has a password.
fn secret(plan: &Plan) -> bool {
    plan.text_without_passwords() != plan.text
}

impl RunArgs {
    /// The words of this command, if they name the plan and no password.
    fn again(&self, plan: &Plan) -> Option<Vec<String>> {
        if self.planned.what().is_none_or(is_dash) || secret(plan) {
            return None;
        }
        std::env::args_os().skip(1).map(|word| word.into_string().ok()).collect()
    }

    /// Refuses `--profile` if this user can't profile on this machine.
    fn check_profiler(&self) -> anyhow::Result<()> {
        match self.planned.profile().then(lab::check_profiler) {
            Some(Err(error)) => refuse(format!("--profile: {error}")),
            _ => Ok(()),
        }
    }

    /// How to continue this run: a command that can be pasted, unless the plan is needed again.
    fn resuming(&self, plan: &Plan) -> String {
        if self.resume && self.planned.what().is_some() {
            return "the same command".to_owned();
        }
        // Passwords are not stored.
        if secret(plan) {
            return "the same command and --resume".to_owned();
        }
        let push = self.push.iter().flat_map(|to| ["--push".to_owned(), to.clone()]);
        let mut place = [self.directory.words(), self.machine.again()].concat();
        place.extend(push);
        format!("`{}`", pasted(&["run", "--resume"], &place))
    }

    /// What a run needs; a service that it is pushed to is also told how far it is.
    fn ready(&self, destination: Option<&Destination>) -> anyhow::Result<Ready> {
        let mut ready = self.machine.ready(self.directory.writable()?)?;
        ready.progress.report_to(destination.and_then(Destination::service));
        Ok(ready)
    }

    /// Where the experiment will be pushed to, which is better asked now than after hours.
    fn destination(&self) -> anyhow::Result<Option<Destination>> {
        let destination = self.push.as_deref().map(Destination::open).transpose()?;
        destination.as_ref().map(Destination::check).transpose()?;
        Ok(destination)
    }

    /// Pushes the experiment, if that was asked for.
    fn push(
        &self,
        to: Option<&Destination>,
        store: &Store,
        experiment: &Experiment,
    ) -> anyhow::Result<()> {
        let Some(to) = to else { return Ok(()) };
        let pushed = to.push(store, experiment).with_context(|| {
            let address = self.push.clone().unwrap_or_default();
            let words = [self.directory.words(), vec![experiment.id.to_string(), address]].concat();
            let again = pasted(&["push"], &words);
            format!("the run has finished and is kept here, but was not pushed; try again with `{again}`")
        })?;
        writeln!(std::io::stdout(), "{pushed}")?;
        Ok(())
    }

    fn plan(&self) -> anyhow::Result<Option<Plan>> {
        let plan = self.planned.plan()?;
        if plan.is_none() && self.resume && self.planned.changes() {
            return refuse("a resumed run keeps its plan; to change the plan, start a new run");
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::RESULTS;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        run: RunArgs,
    }

    fn resuming(words: &[&str], dbms: &str) -> String {
        let line = Line::try_parse_from([&["run"][..], words].concat()).unwrap();
        line.run.resuming(&plan(dbms))
    }

    fn plan(dbms: &str) -> Plan {
        let text = format!("[variants.a]\ndbms = \"{dbms}\"\n[workload.insert]\n");
        Plan::parse(&text, None, "a test").unwrap()
    }

    #[test]
    fn the_command_that_continues_can_be_pasted() {
        let words = ["x.toml", "--results", "my results", "--data-dir", "/mnt/a b", "--quiet"];
        let line = resuming(&words, "postgres@14.3");
        let line = line.strip_prefix('`').and_then(|line| line.strip_suffix('`')).unwrap();
        assert_eq!(
            shlex::split(line).unwrap(),
            ["steelyard", "run", "--resume", "--results", "my results", "--data-dir", "/mnt/a b"]
        );
        let line = resuming(&["--resume", "--results", RESULTS], "postgres@14.3");
        assert_eq!(line, "`steelyard run --resume`");
        let line = resuming(&["x.toml", "--push", "https://host"], "postgres@14.3");
        assert_eq!(line, "`steelyard run --resume --push https://host`");
    }

    #[test]
    fn the_command_with_a_larger_budget_can_be_pasted() {
        let told = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            with_budget(Some(&words), Duration::from_secs(540))
        };
        let insert = "run insert -v postgres@13.7 -v postgres@18.1";
        let changed = format!("`steelyard {insert} --budget 9m`");
        assert_eq!(told(&format!("{insert} --budget 5m")), changed);
        assert_eq!(told(&format!("{insert} --resume --budget=5m")), changed);
        let file = told("run --budget 5m x.toml --results there");
        assert_eq!(file, "`steelyard run x.toml --results there --budget 9m`");
        let unknown = with_budget(None, Duration::from_secs(540));
        assert_eq!(unknown, "run the same plan with --budget 9m");
    }

    #[test]
    fn a_plan_that_is_needed_again_is_asked_for() {
        let secret = resuming(&["x.toml"], "postgres://me:s3cret@host/db");
        assert_eq!(secret, "the same command and --resume");
        let named = resuming(&["--resume", "x.toml"], "postgres@14.3");
        assert_eq!(named, "the same command");
    }

    #[test]
    fn what_has_not_begun_can_not_be_continued() {
        let told = |finished| explained(lab::Error::Interrupted, finished, "`x`").to_string();
        assert_eq!(told(None), "interrupted");
        assert_eq!(told(Some(0)), "interrupted\nNo trial has finished yet; continue with `x`");
        assert_eq!(told(Some(1)), "interrupted\nThe finished trials are kept; continue with `x`");
    }

    #[test]
    fn what_was_added_to_the_steps_is_said() {
        let said = |keys: &str, steps: &str| {
            let variants =
                "[variants.a]\ndbms = 'postgres@14.3'\n[variants.b]\ndbms = 'postgres@15'";
            let text = format!("{keys}\n{variants}\n[workload.insert]\nsteps = [{steps}]\n");
            intention(&Plan::parse(&text, None, "test").unwrap())
        };
        let all = "insert: a, b with l.i0, l.x, qr100";
        let named = said("", "'l.i0', 'l.x', 'qr100'");
        assert_eq!(named, format!("{all}; 6 blocks"));
        let added = said("", "'l.i0', 'qr100'");
        assert_eq!(added, format!("{all} (added for the others: l.x); 6 blocks"));
        let once = said("budget = '2m'", "'qr100'");
        let added = "added for the others, loaded once per variant: l.i0, l.x";
        assert!(once.starts_with(&format!("{all} ({added});")), "{once}");
    }
}
