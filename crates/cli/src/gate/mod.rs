//! `steelyard gate`: whether a change of a system's source may pass, for continuous integration.
//!
//! Both commits are built and counted, unless the counts of the one before are among the
//! `baselines`.

mod baselines;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use dbms::{FunctionLine, History};
use lab::Event;
use plan::{Layer, Plan};
use report::{
    ChangeFound, ChangeRun, CompareOptions, Comparison, CountOptions, CountedIn, JudgedChange,
    Section, Which,
};

use crate::bisect::candidates::{self, Line};
use crate::bisect::counting;
use crate::bisect::plans::{Building, Plans};
use crate::bisect::site::{Outcome, Site};
use crate::bisect::{is_interrupted, or_interrupted};
use crate::dash;
use crate::exit;
use crate::machine::{Machine, Ready};
use crate::results::ResultsDir;
use crate::short::ShortForm;

use baselines::{Baselines, Known};

/// Judge a change of a system's source by exact counts, for continuous integration
///
/// Builds both commits and, unless their code is the same, counts the kinds of statements that the
/// plan names in both. With --budget, both also run at the same time. Prints a comment for the
/// change in Markdown. Exits with 1 if a kind takes more instructions by more than the margin, if a
/// step is slower, or if the change can't be judged.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard gate gate.toml --base origin/main
  steelyard gate gate.toml --base v1 --head v2 --comment comment.md
  steelyard gate gate.toml --baselines s3://team/gate --budget 4m")]
pub struct GateArgs {
    /// The plan to count, or a .steelyard file that has one; its base is the pattern for both
    /// commits
    #[arg(value_name = "PLAN.toml")]
    plan: PathBuf,
    /// The repository, on this machine
    #[arg(long, value_name = "git:DIR", default_value = "git:.")]
    repository: String,
    /// The commit that the change is compared with, from which it descends by first parents
    #[arg(long, value_name = "COMMIT", default_value = "HEAD^1")]
    base: String,
    /// The changed commit
    #[arg(long, value_name = "COMMIT", default_value = "HEAD")]
    head: String,
    /// The largest increase that passes, such as 1% (instead of the plan's margin)
    #[arg(long, value_name = "PERCENT", value_parser = plan::parse_share)]
    margin: Option<f64>,
    /// Also fail if counts scatter too much to say, or if a step stays undecided
    #[arg(long)]
    strict: bool,
    /// Also run both at the same time for this long, such as 4m, and judge throughput
    #[arg(long, value_name = "TIME", value_parser = plan::parse_duration)]
    budget: Option<Duration>,
    /// The margin for throughput
    #[arg(long, value_name = "PERCENT", value_parser = plan::parse_share, default_value = "2%")]
    #[arg(requires = "budget")]
    run_margin: f64,
    /// Keep the counts of both commits at this address, and use those of the commit before if they
    /// are there: a directory, or object storage such as s3://team/gate
    #[arg(long, value_name = "ADDRESS")]
    baselines: Option<String>,
    /// Write the comment into this file, too
    #[arg(long, value_name = "FILE")]
    comment: Option<PathBuf>,
    /// Write JUnit's XML into this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write annotations on lines of the source into this file, in the form that GitHub's runners
    /// read
    #[arg(long, value_name = "FILE")]
    annotations: Option<PathBuf>,
    #[command(flatten)]
    building: Building,
    #[command(flatten)]
    directory: ResultsDir,
    #[command(flatten)]
    machine: Machine,
}

/// Judges the change and prints the comment.
pub fn run(args: &GateArgs) -> anyhow::Result<()> {
    let Line { candidates: mut line, history } =
        candidates::commits(&args.repository, &args.base, &args.head)?;
    let ends = [line.remove(0), line.remove(line.len() - 1)];
    let short = ShortForm::default();
    let plans = |option, margin: Option<f64>| {
        let mut layer = Layer::default();
        layer.set(option, &["margin"], &margin);
        Plans::new(Some(&args.plan), &short, &args.building, layer)
    };
    let both = [&ends[0], &ends[1]];
    let run_plans = plans("--run-margin", Some(args.run_margin))?;
    let timed = args.budget.map(|budget| run_plans.of(&both, Some(budget))).transpose()?;
    timed.as_ref().map(lab::check_budget).transpose()?;
    let plans = plans("--margin", args.margin)?;
    let margin = plans.of(&both, None)?.margin;
    let results = args.directory.writable()?;
    let Ready { mut options, cache, ledger, interrupted: told, mut progress } =
        args.machine.ready(results)?;
    if timed.is_some() {
        let tell = &mut |line| progress.tell(Event::Note(line));
        options.findings = crate::doctor::before_run(&options.data_dir, false, tell)?;
    }
    for file in [&args.comment, &args.junit, &args.annotations].into_iter().flatten() {
        // Those of an earlier change must not be taken for this one's.
        match std::fs::remove_file(file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| file.display().to_string());
            }
            _ => {}
        }
    }
    let candidates = &ends[..];
    let mut site =
        Site { candidates, plans: &plans, options, cache, ledger, interrupted: &told, progress };
    let found = find(&mut site, args.baselines.as_deref(), margin, timed);
    site.progress.finish();
    let found = found.map_err(|error| or_interrupted(error, "run the command again"))?;
    let name = args.plan.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let [base, head] = ends.each_ref().map(|it| it.short().to_owned());
    let change = JudgedChange { name, base, head, margin, found };
    let comment = change.comment()?;
    if let Some(file) = &args.comment {
        archive::write_whole(file, comment.as_bytes())?;
    }
    if let Some(file) = &args.junit {
        archive::write_whole(file, change.junit(args.strict).as_bytes())?;
    }
    dash::print(comment.as_bytes())?;
    if let Some(file) = &args.annotations {
        let text = annotations(&mut site, &change, &history).unwrap_or_else(|error| {
            site.progress.tell(Event::Note(format!("no lines can be annotated: {error:#}")));
            String::new()
        });
        archive::write_whole(file, text.as_bytes())?;
    }
    exit::gate(change.reasons(args.strict))
}

/// The places of the commits.
const BASE: usize = 0;
const HEAD: usize = 1;

/// Obtains the counts of both, and runs both if that is asked.
fn find(
    site: &mut Site<'_>,
    baselines: Option<&str>,
    margin: f64,
    timed: Option<Plan>,
) -> anyhow::Result<ChangeFound> {
    let baselines = baselines.map(|address| Baselines::open(address, site)).transpose()?.flatten();
    let known = baselines.as_ref().map(|it| it.known(site, BASE)).transpose()?.flatten();
    let before = match &known {
        Some(known) => Some(known.code.clone()),
        None => site.build(BASE)?.map_err(|why| nothing_before(site, &why))?.code,
    };
    let after = match site.build(HEAD)? {
        Ok(built) => built.code,
        Err(why) => return Ok(ChangeFound::Unfit(why)),
    };
    if before.is_some() && before == after {
        return Ok(ChangeFound::SameCode);
    }
    let new: &[usize] = if known.is_some() { &[HEAD] } else { &[BASE, HEAD] };
    let plan = site.plan(new, None)?;
    let experiment = match site.count(plan)? {
        Ok(experiment) => experiment,
        Err(why) => return Ok(ChangeFound::Unfit(why)),
    };
    let store = site.store()?;
    let candidates = site.candidates;
    let of = |place: usize| {
        let variant = candidates[place].name.as_str();
        CountedIn { store: &store, experiment, variant }
    };
    if let Some(baselines) = &baselines {
        new.iter().try_for_each(|place| baselines.keep(site, *place, of(*place)))?;
    }
    let base = known.as_ref().map_or_else(|| of(BASE), Known::counted);
    let options = CountOptions { margin: Some(margin), ..counting::options() };
    let counts = Box::new(report::count_between([base, of(HEAD)], &options)?);
    let run = match timed.map(|plan| in_time(site, plan)) {
        None => ChangeRun::None,
        Some(Ok(Ok(run))) => ChangeRun::Compared(Box::new(run)),
        Some(Ok(Err(why))) => ChangeRun::Failed(why),
        Some(Err(error)) if is_interrupted(&error) => return Err(error),
        // The counts are known.
        Some(Err(error)) => ChangeRun::Failed(format!("{error:#}")),
    };
    Ok(ChangeFound::Counted(counts, run))
}

/// The base can't be measured.
fn nothing_before(site: &Site<'_>, why: &str) -> anyhow::Error {
    let titled = site.candidates[BASE].titled();
    anyhow::anyhow!("there is nothing to compare with: {titled} can't be used, {why}")
}

/// Runs both at the same time.
fn in_time(site: &mut Site<'_>, plan: Plan) -> Outcome<Comparison> {
    let experiment = match site.run(plan)? {
        Ok(experiment) => experiment,
        Err(why) => return Ok(Err(why)),
    };
    let results = report::load(&site.store()?, Which::Id(experiment))?;
    let sections = Some(vec![Section::Verdicts]);
    let options = CompareOptions { sections, ..CompareOptions::default() };
    Ok(Ok(report::compare(&results, &options)?))
}

/// Annotations on the lines at which functions begin that take more.
fn annotations(
    site: &mut Site<'_>,
    change: &JudgedChange,
    history: &History,
) -> anyhow::Result<String> {
    let ChangeFound::Counted(counts, _) = &change.found else { return Ok(String::new()) };
    if counts.regressions().is_empty() {
        return Ok(String::new());
    }
    let Ok(installation) = site.obtain(HEAD)? else { return Ok(String::new()) };
    let files = history.files(site.candidates[HEAD].revision())?;
    Ok(change.annotations(|function| {
        let found = dbms::function_line(&installation, &function.object, &function.name)?;
        let ends = |path: &&String| Path::new(&found.file).ends_with(path);
        let file = files.iter().filter(ends).max_by_key(|path| path.len())?;
        Some(FunctionLine { file: file.clone(), ..found })
    }))
}
