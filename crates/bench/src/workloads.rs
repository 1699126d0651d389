//! The standard workloads on every system (`bench workloads`): what ran, what was decided, and what
//! was checked.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use judge::Verdict;
use report::{Outcome, Which};
use store::{ExperimentState, Scope, Store, TrialState};

use crate::publish::{self, table};
use crate::steelyard::Steelyard;

/// The standard workloads on every system: what ran, what was decided, and what was checked
#[derive(Debug, Args)]
pub struct WorkloadsArgs {
    /// Where the results are kept; what is there is not run again
    #[arg(long, default_value = "target/workloads")]
    directory: PathBuf,
    /// The steelyard that runs
    #[arg(long, env = "STEELYARD", default_value = "target/release/steelyard")]
    steelyard: PathBuf,
    /// Only this workload
    #[arg(long, value_name = "NAME", conflicts_with = "document")]
    only: Option<String>,
    /// Put the table between the markers of this file
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,
}

/// Two versions or engines.
struct Pair {
    name: &'static str,
    variants: [&'static str; 2],
    sql: bool,
}

const PAIRS: [Pair; 5] = [
    Pair {
        name: "PostgreSQL 13.7, 18.1",
        variants: [r#"dbms = "postgres@13.7""#, r#"dbms = "postgres@18.1""#],
        sql: true,
    },
    Pair {
        name: "MySQL 5.7.22, 8.0.31",
        variants: [r#"dbms = "mysql@5.7.22""#, r#"dbms = "mysql@8.0.31""#],
        sql: true,
    },
    Pair {
        name: "MariaDB 10.4.20, 11.4.5",
        variants: [r#"dbms = "mariadb@10.4.20""#, r#"dbms = "mariadb@11.4.5""#],
        sql: true,
    },
    Pair {
        name: "MariaDB 10.11: InnoDB, MyRocks",
        variants: [
            r#"dbms = "deb:mariadb-plugin-rocksdb""#,
            "dbms = \"deb:mariadb-plugin-rocksdb\"\nengine = \"myrocks\"",
        ],
        sql: true,
    },
    Pair {
        name: "RocksDB 7.4.5, 10.10.1",
        variants: [r#"dbms = "rocksdb@7.4.5""#, r#"dbms = "rocksdb@10.10.1""#],
        sql: false,
    },
];

/// A workload, small.
struct Small {
    name: &'static str,
    keys: &'static str,
    budget: &'static str,
    needs_sql: bool,
}

const WORKLOADS: [Small; 3] = [
    Small {
        name: "tpcc",
        keys: "warehouses = 1\nseconds = 5\nsteps = [\"mix\"]\n",
        budget: "150s",
        needs_sql: true,
    },
    Small {
        name: "tpch",
        keys: "scale = 0.01\nseconds = 1\nsteps = [\"q1\", \"q6\", \"q13\", \"rf1\", \"rf2\", \
               \"power\", \"throughput\"]\n",
        budget: "3m",
        needs_sql: true,
    },
    Small {
        name: "ycsb",
        // With the load as a step, each trial would load; on InnoDB that takes half a minute.
        keys: "seconds = 1\nsteps = [\"a\", \"b\", \"c\", \"f\", \"d\", \"e\"]\n",
        budget: "6m",
        needs_sql: false,
    },
];

const NAMES: [&str; 2] = ["one", "other"];

/// The beginning of a step's note that names conditions (`lab::trial::check`).
const HOLD: &str = "these conditions hold: ";

const HEAD: &str = "systems | workload | steps | blocks | minutes | regression | improvement | \
                    equivalent | inconclusive | not judged | conditions that held | answers compared";

/// Runs what has not run yet, and prints the table.
pub fn workloads(args: &WorkloadsArgs) -> Result<()> {
    let directory = std::path::absolute(&args.directory)?;
    std::fs::create_dir_all(&directory)?;
    let steelyard = Steelyard { program: args.steelyard.clone() };
    let mut rows = Vec::new();
    for pair in PAIRS {
        let wanted = |it: &&Small| args.only.as_ref().is_none_or(|only| only == it.name);
        for workload in WORKLOADS.iter().filter(|it| pair.sql || !it.needs_sql).filter(wanted) {
            let results = directory.join(format!("{}-{}", workload.name, plain(pair.name)));
            let plan = plan(&pair, workload)?;
            if !ran(&results, &plan)? {
                steelyard.run("run", &plan, &results, &["--quiet"])?;
            }
            let row = row(&pair, workload, &results);
            rows.push(row.with_context(|| results.display().to_string())?);
        }
    }
    let table = table(HEAD, rows.into_iter());
    println!("{table}");
    args.document.as_ref().map_or(Ok(()), |path| publish::put(path, "workloads", &table))
}

/// A name for a directory.
fn plain(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

fn plan(pair: &Pair, workload: &Small) -> Result<String> {
    let Small { name, keys, budget, .. } = workload;
    let durability = if pair.sql { "durability = \"relaxed\"\n" } else { "" };
    let mut plan = format!(
        "name = \"{name}\"\nbase = \"{}\"\nbudget = \"{budget}\"\n{durability}\
         [workload.{name}]\n{keys}",
        NAMES[0]
    );
    for (name, variant) in NAMES.iter().zip(pair.variants) {
        write!(plan, "[variants.{name}]\n{variant}\n")?;
    }
    Ok(plan)
}

/// True if this plan has run there to its end.
fn ran(results: &Path, plan: &str) -> Result<bool> {
    if !results.exists() {
        return Ok(false);
    }
    let shown = results.display();
    let file = results.with_extension("toml");
    let before = std::fs::read_to_string(&file)
        .with_context(|| format!("expected the plan of {shown} in {}", file.display()))?;
    ensure!(before == plan, "{shown} has results of another plan: remove it, then run again");
    let latest = Store::open_read_only(results)?.latest()?;
    Ok(latest.is_some_and(|it| it.state == ExperimentState::Finished))
}

/// What the table says of a run.
fn row(pair: &Pair, workload: &Small, results: &Path) -> Result<Vec<String>> {
    let store = Store::open_read_only(results)?;
    let loaded = report::load(&store, Which::Newest)?;
    let judged = report::judge_results(&loaded, None, None)?;
    let other = loaded.variant_named(NAMES[1]).context("no such variant")?;
    let outcomes = judged.steps.iter().filter_map(|step| step.get(other));
    // None: it should be judged, but can't be.
    let verdicts: Vec<Option<Verdict>> = outcomes
        .filter_map(|outcome| match outcome {
            Outcome::Aside => None,
            Outcome::Compared(comparison) => Some(Some(comparison.verdict)),
            Outcome::Unjudged(why) => {
                eprintln!("{}: {}", results.display(), why.reason);
                Some(None)
            }
        })
        .collect();
    let count = |wanted| verdicts.iter().filter(|it| **it == wanted).count().to_string();
    let trials = store.trials(loaded.experiment.id)?;
    let spans = trials.iter().filter_map(|it| Some((it.started_ms, it.ended_ms?))).collect();
    let minutes = report::covered(spans).as_secs_f64() / 60.0;
    let mut blocks: BTreeMap<u32, usize> = BTreeMap::new();
    // Block 0 only loads.
    for trial in trials.iter().filter(|it| it.block > 0 && it.state == TrialState::Finished) {
        *blocks.entry(trial.block).or_default() += 1;
    }
    let blocks = blocks.values().filter(|trials| **trials == NAMES.len()).count();
    let mut conditions = 0;
    let mut answers: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    for step in store.steps(loaded.experiment.id, Scope::Results)? {
        let held = step.notes.iter().filter_map(|note| note.strip_prefix(HOLD));
        conditions += held.map(|names| names.split("; ").count()).sum::<usize>();
        let given = store.metrics(step.id)?.get(metrics::ANSWERS.name).copied();
        answers.entry((step.block, step.ordinal)).or_default().extend(given);
    }
    let both = answers.into_values().filter(|given| given.len() == NAMES.len());
    let answers: f64 = both.map(|given| given.into_iter().fold(f64::INFINITY, f64::min)).sum();
    let answers = answers as u64;
    ensure!(conditions > 0 || workload.name != "tpcc", "no conditions were checked");
    ensure!(answers > 0 || workload.name != "tpch", "no answers were compared");
    Ok(vec![
        pair.name.to_owned(),
        format!("`{}`", workload.name),
        verdicts.len().to_string(),
        blocks.to_string(),
        format!("{minutes:.1}"),
        count(Some(Verdict::Regression)),
        count(Some(Verdict::Improvement)),
        count(Some(Verdict::Equivalent)),
        count(Some(Verdict::Inconclusive)),
        count(None),
        conditions.to_string(),
        answers.to_string(),
    ])
}
