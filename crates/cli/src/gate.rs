//! `steelyard gate`: whether a change of a system's source may pass, for continuous integration.

use std::path::PathBuf;

use clap::Args;
use plan::Layer;
use report::{ChangeFound, CountedChange};

use crate::bisect::candidates::{self, Candidate};
use crate::bisect::counting;
use crate::bisect::or_interrupted;
use crate::bisect::plans::{Building, Plans};
use crate::bisect::site::Site;
use crate::dash;
use crate::exit;
use crate::machine::{Machine, Ready};
use crate::results::ResultsDir;
use crate::short::ShortForm;

/// Judge a change of a system's source by exact counts, for continuous integration
///
/// Builds both commits and, unless their code is the same, counts the kinds of statements that the
/// plan names in both. Prints a comment for the change in Markdown. Exits with 1 if a kind takes
/// more instructions by more than the margin, or if the change can't be judged.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard gate gate.toml --base origin/main
  steelyard gate gate.toml --base v1 --head v2 --comment comment.md")]
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
    /// Also fail if counts scatter too much to say
    #[arg(long)]
    strict: bool,
    /// Write the comment into this file, too
    #[arg(long, value_name = "FILE")]
    comment: Option<PathBuf>,
    /// Write JUnit's XML into this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    building: Building,
    #[command(flatten)]
    directory: ResultsDir,
    #[command(flatten)]
    machine: Machine,
}

/// Judges the change and prints the comment.
pub fn run(args: &GateArgs) -> anyhow::Result<()> {
    let mut line = candidates::commits(&args.repository, &args.base, &args.head)?.candidates;
    let ends = [line.remove(0), line.remove(line.len() - 1)];
    let mut layer = Layer::default();
    layer.set("--margin", &["margin"], &args.margin);
    let short = ShortForm::default();
    let plans = Plans::new(Some(&args.plan), &short, &args.building, layer)?;
    let plan = plans.of(&[&ends[0], &ends[1]], None)?;
    let results = args.directory.writable()?;
    let Ready { options, cache, ledger, interrupted: told, progress } =
        args.machine.ready(results)?;
    let candidates = &ends[..];
    let mut site =
        Site { candidates, plans: &plans, options, cache, ledger, interrupted: &told, progress };
    let found = find(&mut site);
    site.progress.finish();
    let name = args.plan.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let [base, head] = ends.each_ref().map(|it| it.short().to_owned());
    let found = found.map_err(|error| or_interrupted(error, "run the command again"))?;
    let change = CountedChange { name, base, head, margin: plan.margin, found };
    let comment = change.comment()?;
    if let Some(file) = &args.comment {
        archive::write_whole(file, comment.as_bytes())?;
    }
    if let Some(file) = &args.junit {
        archive::write_whole(file, change.junit().as_bytes())?;
    }
    dash::print(comment.as_bytes())?;
    exit::gate(change.reasons(args.strict))
}

/// Builds both and counts them.
fn find(site: &mut Site<'_>) -> anyhow::Result<ChangeFound> {
    let base: &Candidate = &site.candidates[0];
    let titled = base.titled();
    let base = site.build(0)?.map_err(|why| {
        anyhow::anyhow!("there is nothing to compare with: {titled} can't be used, {why}")
    })?;
    let head = match site.build(1)? {
        Ok(built) => built,
        Err(why) => return Ok(ChangeFound::Unfit(why)),
    };
    if base.code.is_some() && base.code == head.code {
        return Ok(ChangeFound::SameCode);
    }
    match counting::pair(site, 0, 1)? {
        Ok(experiment) => {
            Ok(ChangeFound::Counted(Box::new(counting::counts(&site.store()?, experiment)?)))
        }
        Err(why) => Ok(ChangeFound::Unfit(why)),
    }
}
