//! `steelyard count`: exact numbers of instructions, and of other events, per statement.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use clap::builder::PossibleValuesParser;
use plan::{Layer, Plan, Protocol};
use report::CountOptions;
use store::{ExperimentId, Store};

use crate::changes::named;
use crate::dash::{is_stdout, plan_of, print, read_named};
use crate::exit::{self, WrongRequest};
use crate::format::Format;
use crate::machine::{Machine, Ready};
use crate::results::{Chosen, find, open, open_directory};
use crate::terminal::columns;

/// Count the instructions of single statements, exactly, under Callgrind
///
/// Executes each kind of statement of the plan's workload (or of the file that [count] names) on
/// every variant under Callgrind, on the same data. The counts don't depend on how fast or how busy
/// the machine is. Without a plan, prints the latest counts.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard count plan.toml
  steelyard count --plan-of 1 --kinds insert-100,range-pdc --protocols simple
  steelyard count --event 'L1 misses'
  steelyard count --gate")]
pub struct CountArgs {
    /// A plan file, or a .steelyard file that has one; - for standard input
    #[arg(value_name = "PLAN.toml")]
    plan: Option<PathBuf>,
    /// Count the plan of this stored experiment, by number or name
    #[arg(long, value_name = "ID|NAME", conflicts_with = "plan")]
    plan_of: Option<String>,
    #[command(flatten)]
    chosen: Chosen,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The variant to compare with (instead of the plan's base)
    #[arg(long, value_name = "VARIANT")]
    base: Option<String>,
    /// Largest difference that counts as small, such as 2% (instead of the plan's margin)
    #[arg(long, value_name = "PERCENT", value_parser = plan::parse_share)]
    margin: Option<f64>,
    /// What to show phases, functions and verdicts of [default: instructions]
    #[arg(long, value_name = "EVENT", ignore_case = true)]
    #[arg(value_parser = PossibleValuesParser::new(lab::count_events()))]
    event: Option<String>,
    /// How many functions to show in each table [default: 15]
    #[arg(long, value_name = "N")]
    functions: Option<usize>,
    /// Print a table of functions for every kind of statement (instead of the one that moved most)
    #[arg(long)]
    every_kind: bool,
    /// Print all tables with their legends, as files and pipes get them, even on a terminal
    #[arg(long)]
    full: bool,
    /// Print only the counts that moved most, and their functions, as on a terminal, even to
    /// files and pipes
    #[arg(long, conflicts_with_all = ["full", "functions", "every_kind", "format", "chart"])]
    brief: bool,
    /// Also draw the counts over the variants into this SVG file; - for standard output, and the
    /// tables to standard error
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    /// Exit with 1 if any kind of statement takes more instructions (or has more of the --event)
    /// than in the base, certainly by more than the margin, or if the count is unfinished
    #[arg(long)]
    gate: bool,
    /// Strict gate: also exit with 1 if any kind is inconclusive
    #[arg(long)]
    gate_inconclusive: bool,
    /// Count only these kinds of statements (instead of the plan's)
    #[arg(long, value_delimiter = ',', value_name = "KIND,…")]
    kinds: Vec<String>,
    /// Count only these protocols (instead of the plan's): simple sends text that is parsed and
    /// planned each time; prepared parses once, then binds and executes
    #[arg(long, value_parser = named(&Protocol::NAMED), value_delimiter = ',', value_name = "PROTOCOL,…")]
    protocols: Vec<Protocol>,
    /// Executions to count of each kind (instead of the plan's)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(6..))]
    statements: Option<u32>,
    /// Also simulate caches and branch prediction, and count system calls; takes up to twice
    /// as long
    #[arg(long)]
    caches: bool,
    /// Servers to count on at the same time [default: the number of CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    workers: Option<u32>,
    #[command(flatten)]
    machine: Machine,
}

/// Counts and prints the tables.
pub fn run(args: &CountArgs) -> anyhow::Result<()> {
    let mut options = CountOptions {
        base: args.base.clone(),
        margin: args.margin,
        event: args.event.clone(),
        every_kind: args.every_kind,
        brief: args.is_brief().then(columns),
        ..CountOptions::default()
    };
    options.functions = args.functions.unwrap_or(options.functions);
    let (store, experiment) = match (args.plan()?, &args.chosen.experiment) {
        (Some(_), Some(_)) => {
            return exit::refuse("--experiment names a stored count; leave it out to count a plan");
        }
        (Some(plan), None) => {
            let event = args.event.as_deref().unwrap_or(store::INSTRUCTIONS);
            if !plan.count.caches && !event.eq_ignore_ascii_case(store::INSTRUCTIONS) {
                return exit::refuse(format!("{event} are counted with --caches; add it"));
            }
            let experiment = args.count(plan)?;
            (open_directory(args.chosen.directory.writable()?)?, experiment)
        }
        (None, _) if !args.changes().is_empty() => {
            return exit::refuse("name the plan to count: steelyard count PLAN.toml");
        }
        (None, named) => stored(&args.chosen.directory.results, named.as_deref())?,
    };
    let counted = report::count(&store, experiment, &options)?;
    match &args.chart {
        Some(file) if is_stdout(file) => {
            print(counted.document.chart().as_bytes())?;
            args.format.tell(|format| counted.render(format))?;
        }
        file => {
            if let Some(file) = file {
                archive::write_whole(file, counted.document.chart().as_bytes())?;
            }
            args.format.print(|format| counted.render(format))?;
        }
    }
    let gated = args.gate || args.gate_inconclusive;
    exit::gate(if gated { counted.gate(args.gate_inconclusive) } else { Vec::new() })
}

/// Finds a stored count: the latest, or by its name or number.
fn stored(results: &Path, named: Option<&str>) -> anyhow::Result<(Store, ExperimentId)> {
    let store = open(results, named.as_slice())?;
    let found = match named {
        None => store.latest_count()?,
        Some(name) => match (store.count_named(name)?, name.parse()) {
            (None, Ok(number)) => Some(store.experiment(ExperimentId(number))?),
            (found, _) => found,
        },
    };
    let Some(found) = found else {
        let what = named.map_or("no counts".to_owned(), |name| format!("no count named `{name}`"));
        let text = format!("{what} in {}; make one: steelyard count PLAN.toml", results.display());
        return Err(WrongRequest(text).into());
    };
    Ok((store, found.id))
}

impl CountArgs {
    /// True if the short output is enough: on a terminal, if no more was requested.
    fn is_brief(&self) -> bool {
        let asked = self.full || self.every_kind || self.functions.is_some();
        let asked = asked || self.chart.is_some() || self.format != Format::Text;
        self.brief || !asked && std::io::stdout().is_terminal()
    }

    fn count(&self, plan: Plan) -> anyhow::Result<ExperimentId> {
        let Ready { options, cache, ledger, interrupted, mut progress } =
            self.machine.ready(self.chosen.directory.writable()?)?;
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = self.workers.map_or(cpus, |workers| workers as usize);
        let experiment =
            lab::count(plan, &options, workers, cache, &ledger, &interrupted, &mut |event| {
                progress.tell(event);
            });
        progress.finish();
        experiment.map_err(|error| match error {
            lab::Error::Interrupted => {
                anyhow!(
                    "interrupted; everything counted twice is kept, and `steelyard count` shows it"
                )
            }
            other => other.into(),
        })
    }

    /// The plan with the command line's changes.
    fn plan(&self) -> anyhow::Result<Option<Plan>> {
        let changes = self.changes();
        Ok(match (&self.plan, &self.plan_of) {
            (Some(path), _) => Some(read_named(path, &changes)?),
            (None, Some(named)) => {
                let results = &self.chosen.directory.results;
                let experiment = find(&open_directory(results)?, Some(named))?;
                Some(plan_of(&experiment, &results.display().to_string(), &changes)?)
            }
            (None, None) => None,
        })
    }

    fn changes(&self) -> Layer {
        let mut layer = Layer::default();
        let kinds = (!self.kinds.is_empty()).then_some(&self.kinds);
        layer.set("--kinds", &["count", "kinds"], &kinds);
        let asked = Protocol::NAMED.iter().filter(|known| self.protocols.contains(&known.1));
        let asked: Vec<Protocol> = asked.map(|(_, protocol)| *protocol).collect();
        layer.set("--protocols", &["count", "protocols"], &(!asked.is_empty()).then_some(asked));
        layer.set("--caches", &["count", "caches"], &self.caches.then_some(true));
        layer.set("--statements", &["count", "statements"], &self.statements);
        layer
    }
}
