//! The standard loads on every system (`bench loads`): what ran, what was decided, and what was
//! checked.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use judge::Verdict;
use report::Which;
use store::{Scope, Store};

use crate::publish::{self, table};
use crate::steelyard::Steelyard;

/// The standard loads on every system: what ran, what was decided, and what was checked
#[derive(Debug, Args)]
pub struct LoadsArgs {
    /// Where the results are kept; what is there is not run again
    #[arg(long, default_value = "target/loads")]
    directory: PathBuf,
    /// The steelyard that runs
    #[arg(long, env = "STEELYARD", default_value = "target/release/steelyard")]
    steelyard: PathBuf,
    /// Put the table between the markers of this file
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,
}

/// Two versions or engines, what they are called, and whether they speak SQL.
const PAIRS: [(&str, [&str; 2], bool); 5] = [
    ("PostgreSQL 13.7, 18.1", [r#"dbms = "postgres@13.7""#, r#"dbms = "postgres@18.1""#], true),
    ("MySQL 5.7.22, 8.0.31", [r#"dbms = "mysql@5.7.22""#, r#"dbms = "mysql@8.0.31""#], true),
    (
        "MariaDB 10.4.20, 11.4.5",
        [r#"dbms = "mariadb@10.4.20""#, r#"dbms = "mariadb@11.4.5""#],
        true,
    ),
    (
        "MariaDB 10.11: InnoDB, MyRocks",
        [
            r#"dbms = "deb:mariadb-plugin-rocksdb""#,
            "dbms = \"deb:mariadb-plugin-rocksdb\"\nengine = \"myrocks\"",
        ],
        true,
    ),
    ("RocksDB 7.4.5, 10.10.1", [r#"dbms = "rocksdb@7.4.5""#, r#"dbms = "rocksdb@10.10.1""#], false),
];

/// The loads, small: name, keys, budget, and whether it needs SQL.
const LOADS: [(&str, &str, &str, bool); 3] = [
    ("tpcc", "warehouses = 1\nsteps = [\"mix\"]\n", "2m", true),
    (
        "tpch",
        "scale = 0.01\nseconds = 1\nsteps = [\"q1\", \"q2\", \"q3\", \"q4\", \"q5\", \"q6\", \
         \"q7\", \"q8\", \"q9\", \"q10\", \"q11\", \"q12\", \"q13\", \"q14\", \"q15\", \"q16\", \
         \"q17\", \"q18\", \"q19\", \"q20\", \"q21\", \"q22\", \"rf1\", \"rf2\", \"power\", \
         \"throughput\"]\n",
        "8m",
        true,
    ),
    ("ycsb", "seconds = 1\n", "2m", false),
];

/// The beginning of a step's note that names conditions (`lab::trial::check`).
const HOLD: &str = "these conditions hold: ";

const HEAD: &str = "versions | load | steps | blocks | minutes | regression | improvement | \
                    equivalent | inconclusive | no verdict | conditions that held | answers compared";

/// Runs what has not run yet, and prints the table.
pub fn loads(args: &LoadsArgs) -> Result<()> {
    let directory = std::path::absolute(&args.directory)?;
    std::fs::create_dir_all(&directory)?;
    let steelyard = Steelyard { program: args.steelyard.clone() };
    let mut rows = Vec::new();
    for (number, (pair, variants, sql)) in PAIRS.iter().enumerate() {
        for (load, keys, budget, needs_sql) in LOADS {
            if needs_sql && !sql {
                continue;
            }
            let results = directory.join(format!("{}-{load}", number + 1));
            if !finished(&results)? {
                let mut plan = format!(
                    "name = \"{load}\"\nbase = \"one\"\nbudget = \"{budget}\"\n\
                     durability = \"relaxed\"\n[workload.{load}]\n{keys}"
                );
                for (name, variant) in ["one", "other"].iter().zip(variants) {
                    write!(plan, "[variants.{name}]\n{variant}\n")?;
                }
                steelyard.run("run", &plan, &results, &["--quiet"])?;
            }
            rows.push(row(pair, load, &results).with_context(|| format!("{pair}, {load}"))?);
        }
    }
    let table = table(HEAD, rows.into_iter());
    println!("{table}");
    args.document.as_ref().map_or(Ok(()), |path| publish::put(path, "loads", &table))
}

/// True if an experiment there has ended.
fn finished(results: &Path) -> Result<bool> {
    if !results.exists() {
        return Ok(false);
    }
    let latest = Store::open_read_only(results)?.latest()?;
    Ok(latest.is_some_and(|it| it.state == store::ExperimentState::Finished))
}

/// What the table says of a run.
fn row(pair: &str, load: &str, results: &Path) -> Result<Vec<String>> {
    let store = Store::open_read_only(results)?;
    let loaded = report::load(&store, Which::Newest)?;
    let judged = report::judge_results(&loaded, None, None)?;
    let trials = store.trials(loaded.experiment.id)?;
    let other = loaded.variant_named("other").context("no such variant")?;
    let verdicts: Vec<Option<Verdict>> = (0..loaded.steps.len())
        .map(|step| judged.of(step, other).map(|comparison| comparison.verdict))
        .collect();
    let count = |wanted| verdicts.iter().filter(|it| **it == wanted).count().to_string();
    let spans = trials.iter().filter_map(|it| Some((it.started_ms, it.ended_ms?))).collect();
    let minutes = report::covered(spans).as_secs_f64() / 60.0;
    let blocks = trials.iter().map(|trial| trial.block).max().unwrap_or(0);
    let (mut conditions, mut answers) = (0, 0.0);
    for step in store.steps(loaded.experiment.id, Scope::Results)? {
        let held = step.notes.iter().filter_map(|note| note.strip_prefix(HOLD));
        conditions += held.map(|names| names.split("; ").count()).sum::<usize>();
        answers += store.metrics(step.id)?.get(metrics::ANSWERS.name).unwrap_or(&0.0);
    }
    ensure!(conditions > 0 || load != "tpcc", "expected conditions that were checked, found none");
    Ok(vec![
        pair.to_owned(),
        format!("`{load}`"),
        verdicts.len().to_string(),
        blocks.to_string(),
        format!("{minutes:.1}"),
        count(Some(Verdict::Regression)),
        count(Some(Verdict::Improvement)),
        count(Some(Verdict::Equivalent)),
        count(Some(Verdict::Inconclusive)),
        count(None),
        conditions.to_string(),
        format!("{answers:.0}"),
    ])
}
