//! `steelyard history`: results of many runs in order, and where they changed.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use report::HistoryOptions;

use crate::dash::is_dash;
use crate::exit::{WrongRequest, refuse};
use crate::format::Format;
use crate::sources::Sources;

/// Show results over versions, commits or dates, and the points where they changed
///
/// E-divisive finds the change points over trials. Each change lies between two runs and has a
/// size with a 95% interval.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard history
  steelyard history l.i0 qr100 --metric dbms.cpu/o
  steelyard history --all --by date --results s3://team/bench")]
pub struct HistoryArgs {
    /// Only these steps
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    order: OrderArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The metric, for example o/s, cpu/o, dbms.cpu/o
    #[arg(long, value_name = "METRIC", default_value = "o/s")]
    metric: String,
}

/// The order of runs.
#[derive(Debug, Clone, Args)]
pub struct OrderArgs {
    /// How results are grouped into runs, and how runs are ordered [default: version if there are
    /// several, otherwise date]
    #[arg(long, value_enum)]
    by: Option<By>,
    /// A file of commits, oldest first, as printed by `git rev-list --reverse` (`-` for standard
    /// input); commits not in it are left out
    #[arg(long, value_name = "FILE")]
    commits: Option<PathBuf>,
}

/// How results are grouped into runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// A version of the DBMS: 9.6 comes before 13.7, betas before releases
    Version,
    /// An experiment
    Date,
    /// A commit, taken from the recorded build or from the variant's name
    Commit,
}

impl OrderArgs {
    /// True if any of the options was given.
    pub fn given(&self) -> bool {
        self.by.is_some() || self.commits.is_some()
    }

    /// The order and the commits given.
    pub fn read(&self) -> anyhow::Result<(Option<report::Order>, Vec<String>)> {
        let by = match (self.by, &self.commits) {
            (None, Some(_)) => Some(By::Commit),
            (Some(By::Version | By::Date), Some(_)) => {
                return refuse("--commits works only with --by commit; leave out one of them");
            }
            (by, _) => by,
        };
        let commits = self.commits.as_deref().map(read_commits).transpose()?;
        let order = by.map(|by| match by {
            By::Version => report::Order::Version,
            By::Date => report::Order::Date,
            By::Commit => report::Order::Commit,
        });
        Ok((order, commits.unwrap_or_default()))
    }
}

/// The first word of each line.
fn read_commits(path: &Path) -> anyhow::Result<Vec<String>> {
    let text = if is_dash(path) {
        crate::dash::read()?
    } else {
        std::fs::read_to_string(path).map_err(|error| {
            WrongRequest(format!("could not read the commits in {}: {error}", path.display()))
        })?
    };
    let commits: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_ascii_lowercase)
        .collect();
    if let Some(bad) =
        commits.iter().find(|word| word.len() < 7 || !word.bytes().all(|b| b.is_ascii_hexdigit()))
    {
        return refuse(format!(
            "expected a commit of at least 7 hexadecimal digits in each line of {}, found `{bad}`",
            path.display()
        ));
    }
    if commits.is_empty() {
        return refuse(format!("found no commit in {}", path.display()));
    }
    Ok(commits)
}

/// Prints the tables.
pub fn run(args: &HistoryArgs) -> anyhow::Result<()> {
    let opened = args.sources.open()?;
    let (order, commits) = args.order.read()?;
    let options = HistoryOptions {
        chosen: args.sources.chosen(),
        machine: None,
        metric: args.metric.clone(),
        order,
        steps: args.steps.clone(),
        commits,
    };
    let history = report::history(&opened.sources(), &options)?;
    args.format.print(|format| history.render(format))?;
    Ok(())
}
