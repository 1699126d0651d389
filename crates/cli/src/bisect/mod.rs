//! `steelyard bisect`: which commit or release moved the performance.
//!
//! `candidates` are the commits or releases, `plans` what is measured, `state` what is known so
//! far, `search` the search (with crate `suspect`), which looks by `counting` or by runs in slices
//! (`slicing`) on a `site`. `document` is the answer, `text` and `page` its forms for people, and
//! `confirm` measures what was found once more. `words` are those of the command.

pub mod candidates;
mod confirm;
pub mod counting;
mod document;
mod page;
pub mod plans;
mod search;
pub mod site;
mod slicing;
mod state;
mod text;
mod words;

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, Parser, ValueEnum};
use dbms::History;
use lab::Event;
use plan::{Layer, Protocol};

use crate::changes::{Changes, named};
use crate::dash;
use crate::exit::refuse;
use crate::machine::{Machine, Ready};
use crate::results::ResultsDir;
use crate::short::ShortForm;

use candidates::Line;
use confirm::Confirming;
use counting::Counting;
use document::Document;
use plans::{Building, Plans};
use search::Bench;
use site::Site;
use slicing::{METRIC, Slicing};
use state::{Kept, Method, Request, State};

pub use confirm::is_interrupted;

/// The margin of counts, if not told otherwise.
const COUNT_MARGIN: f64 = 0.005;

/// Counts differ by up to a ten-thousandth without a reason, so changes must be larger than this.
const LEAST_MARGIN: f64 = 0.000_5;

/// Find the commit or the release that moved the performance
///
/// Searches the commits of a repository on this machine from --good to --bad by first parents, or
/// the releases that -v names, in this order. With --kind, each that is looked at is counted once,
/// exactly; otherwise each look is a run of it beside the good end. The same command goes on where
/// an earlier one ended, however that ended.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard bisect git:~/src/postgres --good REL_15_0 --bad HEAD --kind insert-100
  steelyard bisect git:~/src/postgres insert --good v1 --bad v2 --steps l.i0 --budget 1h
  steelyard bisect sysbench --kind range-pdc -v postgres@13.7 -v postgres@14.3 -v postgres@15.15")]
pub struct BisectArgs {
    /// A repository, git:DIRECTORY, whose commits are searched, and what to measure: the name of a
    /// workload, a plan file (whose base is the pattern for all) or a pgbench script [default for
    /// counts: insert]
    #[arg(value_name = "git:DIR|WORKLOAD|PLAN.toml", num_args = 0..=2)]
    what: Vec<PathBuf>,
    /// The commit from which changes are searched, itself not suspect
    #[arg(long, value_name = "COMMIT", requires = "bad")]
    good: Option<String>,
    /// The commit up to which changes are searched
    #[arg(long, value_name = "COMMIT", requires = "good")]
    bad: Option<String>,
    /// Count the instructions of these kinds of statements, such as insert-100; the margin is then
    /// 0.5% unless --margin sets it
    #[arg(long = "kind", visible_alias = "kinds", value_delimiter = ',', value_name = "KIND,…")]
    kinds: Vec<String>,
    /// Count only these protocols [default: simple]
    #[arg(long, value_parser = named(&Protocol::NAMED), value_delimiter = ',', value_name = "PROTOCOL,…")]
    protocols: Vec<Protocol>,
    /// Executions to count of each kind (instead of the plan's)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(6..))]
    statements: Option<u32>,
    /// Judge runs by this metric, such as dbms.cpu/o [default: o/s]
    #[arg(long, value_name = "METRIC", conflicts_with = "kinds")]
    metric: Option<String>,
    /// Run what a count has found beside the one before it, in the time of --budget: without that,
    /// only instructions are known
    #[arg(long, requires = "kinds")]
    confirm: bool,
    /// Go on with the bisection that was at work last in the results directory
    #[arg(long)]
    resume: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Also write the answer as a page
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    #[command(flatten)]
    building: Building,
    #[command(flatten)]
    directory: ResultsDir,
    #[command(flatten)]
    machine: Machine,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    short: ShortForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people and mails
    Text,
    /// One document; docs/bisect.md describes it
    Json,
}

/// The words of a bisection that is resumed.
#[derive(Debug, Parser)]
struct Again {
    #[command(flatten)]
    args: BisectArgs,
}

/// Searches and prints the answer.
pub fn run(args: &BisectArgs) -> anyhow::Result<()> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let given: Vec<String> = words.collect();
    if args.resume && args.what.is_empty() && args.short.variants()?.is_empty() {
        // These say where it runs.
        let elsewhere = ResultsDir::augment_args(Machine::augment_args(clap::Command::new("")));
        let mut elsewhere: Vec<&str> =
            elsewhere.get_arguments().map(|argument| argument.get_id().as_str()).collect();
        elsewhere.push("resume");
        let words = Kept::latest(args.directory.writable()?)?;
        let words = words::resumed(words, &Again::command(), &given, &elsewhere)?;
        let mut again = Again::try_parse_from(&words)?;
        again.args.directory = args.directory.clone();
        if !args.machine.again().is_empty() {
            again.args.machine = args.machine.clone();
        }
        return bisect(&again.args, words);
    }
    bisect(args, given)
}

fn bisect(args: &BisectArgs, words: Vec<String>) -> anyhow::Result<()> {
    if args.page.is_some() && !report::has_page() {
        return Err(report::ReportError::NoPage.into());
    }
    let Asked { request, plans, history } = args.asked()?;
    let results = args.directory.writable()?;
    let Ready { mut options, cache, ledger, interrupted, mut progress } =
        args.machine.ready(results)?;
    let (kept, mut state) = Kept::open(results, words, request)?;
    if args.measures_time() {
        options.findings = crate::doctor::before_run(&options.data_dir, false, &mut |line| {
            progress.tell(Event::Note(line));
        })?;
    }
    for unread in kept.unread() {
        progress.tell(Event::Note(unread));
    }
    if !state.looks.is_empty() {
        let text = format!("going on with {}", kept.path().display());
        progress.tell(Event::Note(text));
    }
    kept.write(&state)?;
    let candidates = state.request.candidates.clone();
    let interrupted = &interrupted;
    let mut site = Site {
        candidates: &candidates,
        plans: &plans,
        options,
        cache,
        ledger,
        interrupted,
        progress,
    };
    site.check_unchanged(&state, kept.path())?;
    let answer = answer(args, &mut site, &mut state, &kept, history.as_ref());
    site.progress.finish();
    let next = "all looks are kept, and the same command, or `steelyard bisect --resume`, goes on";
    let document = answer.map_err(|error| or_interrupted(error, next))?;
    let printed = match args.format {
        Format::Text => text::text(&document),
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&document)?),
    };
    dash::print(printed.as_bytes())?;
    if let Some(file) = &args.page
        && !state.looks.is_empty()
    {
        let page = page::page(&document, &state, &site.store()?)?;
        archive::write_whole(file, page.as_bytes())?;
    }
    match document.answer {
        "undecided" => anyhow::bail!(
            "the answer is incomplete: {}",
            match document.method {
                Method::Count => "no further count can tell more; try another --margin",
                Method::Run => "a larger --budget goes on, and a narrower range needs less",
            }
        ),
        "unconfirmed" => anyhow::bail!(
            "what was found is not confirmed: {}. The same command tries again; to search anew, \
             remove {}",
            document.unconfirmed.unwrap_or_default(),
            kept.path().display()
        ),
        _ => Ok(()),
    }
}

/// An error, or that this was interrupted and what to do `next`.
pub fn or_interrupted(error: anyhow::Error, next: &str) -> anyhow::Error {
    match is_interrupted(&error) {
        true => anyhow::anyhow!("interrupted; {next}"),
        false => error,
    }
}

/// Searches, and measures what was found once more.
fn answer(
    args: &BisectArgs,
    site: &mut Site<'_>,
    state: &mut State,
    kept: &Kept,
    history: Option<&History>,
) -> anyhow::Result<Document> {
    let keep = &mut |state: &State| kept.write(state);
    let budget = args.changes.budget();
    let ended = match state.request.method {
        Method::Count => search::search(state, &mut Counting(site), None, keep)?,
        Method::Run => {
            let metric = state.request.metric.clone().unwrap_or_default();
            let margin = state.request.margin;
            let mut bench = Slicing { site, metric: &metric, margin };
            search::search(state, &mut bench as &mut dyn Bench, budget, keep)?
        }
    };
    let found = search::verdicts(state)?;
    let mut document = document::document(state, &found, ended);
    for culprit in &mut document.culprits {
        if let Some(history) = history {
            let [from, to] = [&culprit.before, &state.candidates()[culprit.ends.1]];
            culprit.diffstat = Some(history.diffstat(from.revision(), to.revision())?);
        }
        let after = &state.candidates()[culprit.ends.1];
        culprit.command = words::again(&state.words, &culprit.before, after);
    }
    let budget = match state.request.method {
        Method::Count => args.confirm.then_some(budget),
        Method::Run => Some(budget.map(|budget| state.left_for_one(budget))),
    };
    if state.request.method == Method::Count || document.answer == "found" {
        confirm::confirm(&mut document, state, Confirming { site, keep, budget })?;
    }
    Ok(document)
}

/// What the command line asks.
struct Asked<'a> {
    request: Request,
    plans: Plans<'a>,
    history: Option<History>,
}

impl BisectArgs {
    fn asked(&self) -> anyhow::Result<Asked<'_>> {
        let (repository, workload) = self.named()?;
        let method = if self.kinds.is_empty() { Method::Run } else { Method::Count };
        if method == Method::Run && workload.is_none() {
            return refuse(
                "say what to measure: --kind insert-100 counts instructions, and the name of a \
                 workload (with --steps, --budget) measures time",
            );
        }
        if method == Method::Run && self.changes.budget().is_none() {
            return refuse(
                "say how long all looks may take together, such as --budget 40m: a change that is \
                 about as large as the margin takes very long to decide",
            );
        }
        let given = self.short.variants()?;
        let (candidates, history) = match (repository, &self.good, &self.bad) {
            (Some(repository), Some(good), Some(bad)) => {
                if !given.is_empty() {
                    return refuse("name a repository, or releases with -v, not both");
                }
                let Line { candidates, history } = candidates::commits(&repository, good, bad)?;
                (candidates, Some(history))
            }
            (Some(_), ..) => {
                return refuse("name the two ends of the range with --good and --bad");
            }
            (None, None, None) => (candidates::releases(given)?, None),
            (None, ..) => {
                return refuse("--good and --bad need a repository, such as git:~/src/postgres");
            }
        };
        // With settings of its own, one would be found that did not change by itself.
        let variants: Vec<(String, String)> =
            candidates.iter().map(|it| (it.name.clone(), it.dbms.clone())).collect();
        self.short.check_owners(&variants)?;
        let own =
            |it: &&String| variants.iter().any(|(name, _)| it.starts_with(&format!("{name}.")));
        if let Some((setting, _)) = self.short.settings()?.iter().find(|(name, _)| own(&name)) {
            return refuse(format!(
                "`-c {setting}` is for one of those that are searched; give all the same settings"
            ));
        }
        let mut plans = Plans::new(workload, &self.short, &self.building, self.layer(method))?;
        if method == Method::Count {
            plans.count(&self.protocols);
        }
        let ends = [&candidates[0], &candidates[candidates.len() - 1]];
        let plan = plans.of(&ends, None)?;
        let margin = plan.margin;
        if method == Method::Count && margin < LEAST_MARGIN {
            return refuse(format!(
                "--margin: counts repeat to 0.01%, so a change must be larger than {}",
                document::percent(LEAST_MARGIN)
            ));
        }
        let metric = match method {
            Method::Count => None,
            Method::Run => Some(self.metric.clone().unwrap_or_else(|| METRIC.to_owned())),
        };
        if self.changes.twins() {
            return refuse("--aa has no meaning for a bisection");
        }
        let plan = plan.text;
        Ok(Asked { request: Request { method, candidates, metric, margin, plan }, plans, history })
    }

    /// The repository and the workload among the first words.
    fn named(&self) -> anyhow::Result<(Option<String>, Option<&Path>)> {
        let (mut repository, mut workload) = (None, None);
        for word in &self.what {
            let source = word.to_str().filter(|text| {
                text.starts_with("git:")
                    || text.split_once('@').is_some_and(|(_, it)| it.starts_with("git:"))
            });
            let again = match source {
                Some(text) => repository.replace(text.to_owned()).is_some(),
                None => workload.replace(word.as_path()).is_some(),
            };
            if again {
                return refuse(format!(
                    "expected one repository and one workload, found another, `{}`",
                    word.display()
                ));
            }
        }
        Ok((repository, workload))
    }

    /// The keys of plans that the options set.
    fn layer(&self, method: Method) -> Layer {
        let mut layer = self.changes.layer_without_budget();
        if method == Method::Count {
            let default = self.changes.margin().is_none().then_some(COUNT_MARGIN);
            layer.set("--margin", &["margin"], &default);
            layer.set("--kind", &["count", "kinds"], &Some(&self.kinds));
            layer.set("--statements", &["count", "statements"], &self.statements);
        }
        layer
    }

    /// True if anything is measured but counts.
    fn measures_time(&self) -> bool {
        self.kinds.is_empty() || self.confirm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> BisectArgs {
        Again::try_parse_from(["bisect"].into_iter().chain(line.split(' '))).unwrap().args
    }

    fn refused(line: &str) -> String {
        let args = args(line);
        let error = args.asked().err().unwrap();
        assert!(error.is::<crate::exit::WrongRequest>(), "{error}");
        error.to_string()
    }

    #[test]
    fn what_is_missing_or_too_much_is_said() {
        for (line, said) in [
            ("git:/x --kind insert-100", "--good and --bad"),
            ("git:/x --good a --bad b", "say what to measure"),
            ("git:/x git:/y --good a --bad b", "another, `git:/y`"),
            ("insert kv -v postgres@13.7 --budget 9m", "another, `kv`"),
            ("--kind insert-100 -v postgres@13.7", "at least two releases"),
            ("--kind insert-100 --good a --bad b", "need a repository"),
            ("git:/x --kind insert-1 --good a --bad b -v postgres@13.7", "not both"),
            ("--kind insert-1 -v postgres@13.7 -v postgres://me@h/d", "running server"),
            ("--kind insert-1 -v postgres@13.7 -v postgres@14.3 --margin 0.01%", "larger than"),
            ("insert -v postgres@13.7 -v postgres@14.3", "--budget 40m"),
            ("insert -v postgres@13.7 -v postgres@14.3 --budget 9m --aa", "--aa"),
            ("git:/x#y --kind insert-1 --good a --bad b", "not after a #"),
            (
                "--kind insert-1 -v postgres@13.7 -v postgres@14.3 -c pg14.3.work_mem=1GB",
                "give all the same settings",
            ),
            ("--kind insert-1 -v postgres@13.7 -v postgres@14.3 -c x.work_mem=1GB", "no variant"),
        ] {
            let found = refused(line);
            assert!(found.contains(said), "{line}: {found}");
        }
    }

    #[test]
    fn releases_are_searched_in_the_given_order() {
        let args = args("--kind insert-100 -v postgres@14.3 -v new=postgres@13.7");
        let Asked { request, history, .. } = args.asked().unwrap();
        assert!(history.is_none());
        let names: Vec<&str> = request.candidates.iter().map(|it| it.name.as_str()).collect();
        assert_eq!((names, request.margin), (vec!["pg14.3", "new"], COUNT_MARGIN));
        assert_eq!((request.method, request.metric), (Method::Count, None));
        assert!(request.plan.contains("kinds = [\"insert-100\"]"), "{}", request.plan);
        assert!(request.plan.contains("protocols = [\"simple\"]"), "{}", request.plan);
        // Calls of a library have no protocol.
        let calls = self::args("kv --kind put -v rocksdb@7.4.5 -v rocksdb@10.10.1");
        let calls = calls.asked().unwrap().request.plan;
        assert!(!calls.contains("protocols = [\"simple\"]"), "{calls}");
    }

    #[test]
    fn a_budget_does_not_make_another_request() {
        let of = |more: &str| {
            let line = format!("insert -v postgres@13.7 -v postgres@14.3 --steps l.i0{more}");
            args(&line).asked().unwrap().request
        };
        let short = of(" --budget 20m");
        assert_eq!(short, of(" --budget 40m"));
        assert_ne!(short, of(" --budget 20m --metric dbms.cpu/o"));
        assert_ne!(short, of(" --budget 20m --blocks 9"));
        assert_eq!(short.metric.as_deref(), Some(METRIC));
    }

    #[test]
    fn a_plan_file_is_a_pattern() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("plan.toml");
        let text = "base = \"b\"\n[variants.a]\ndbms = \"postgres@9.6\"\n[variants.b]\n\
                    dbms = \"postgres@13.7\"\nconfig = { work_mem = \"9MB\" }\n\
                    [workload.insert]\nrows = 4000\n";
        std::fs::write(&file, text).unwrap();
        let line = format!("{} --kind insert-5 -v postgres@14.3 -v postgres@15.4", file.display());
        let args = args(&line);
        let Asked { plans, request, .. } = args.asked().unwrap();
        let plan = plans.of(&[&request.candidates[1]], None).unwrap();
        let [variant] = &plan.variants[..] else { panic!() };
        assert_eq!((variant.name.as_str(), variant.dbms.as_str()), ("pg15.4", "postgres@15.4"));
        assert_eq!(variant.config["work_mem"], "9MB");
        assert!(
            plan.text.contains("rows = 4000") && plan.text.contains("insert-5"),
            "{}",
            plan.text
        );
    }
}
