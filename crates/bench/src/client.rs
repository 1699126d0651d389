//! steelyard's engine as a contender: a process that runs one step and prints its operations.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use drive::{Address, Load, Mysql, Outcome, Postgres, Target};
use plan::SequenceKey;
use workload::{Class, Dialect, Draw, Expect, Phase, Piece, Sent, Statement, Step, Stream, Width};

use crate::load;

/// Prepared point selects over ids 1 to `ids` with `clients` clients, for `seconds`. `statement`
/// has `$1` for the id.
pub fn select(
    target: Target,
    statement: &str,
    ids: i64,
    seconds: f64,
    sample: bool,
    clients: u32,
) -> Result<()> {
    let (before, after) = statement.split_once("$1").unwrap_or((statement, ""));
    let pieces = vec![
        Piece::Text(before.to_owned()),
        Piece::Value(Draw::Uniform { low: 1, high: ids + 1, width: Width::Four }),
        Piece::Text(after.to_owned()),
    ];
    let statement =
        Statement { pieces, sent: Sent::Prepared, expect: Expect::Rows { min: 1, max: 1 } };
    let stream = |client| Stream::repeating(client, Class::QUERY, statement.clone());
    let streams = (0..clients).map(stream).collect();
    let step = Step::new("point-select", clients, Class::QUERY, streams);
    let step = Step { seconds: Some(seconds), ..step };
    println!("{}", run(step, target, sample)?.operations);
    Ok(())
}

/// Step l.i0 into the empty table pi1, as one client.
pub fn load(socket: PathBuf, database: String, rows: u64, prepared: bool) -> Result<()> {
    let step = load::step(rows, prepared)?;
    println!("{}", run(step, target(socket, database, false), false)?.operations);
    Ok(())
}

/// A test of the sysbench workload on the table sbtest1, which has this many rows.
pub fn test(socket: PathBuf, database: String, test: &str, rows: u64, seconds: f64) -> Result<()> {
    let steps = vec![test.to_owned()];
    let plan = plan::SysbenchPlan { tables: 1, rows, steps, ..plan::SysbenchPlan::default() };
    let benchmark = workload::sysbench::benchmark(&plan, Dialect::postgres(15))?;
    let Some(step) = benchmark.phases.iter().find_map(Phase::step) else { bail!("no test {test}") };
    let step = Step { seconds: Some(seconds), ..step.clone() };
    println!("{}", run(step, target(socket, database, false), false)?.operations);
    Ok(())
}

/// Any step; returns its operations.
pub fn step(target: Target, step: Step) -> Result<u64> {
    Ok(run(step, target, false)?.operations)
}

/// A pgbench script, from a file or built in, on pgbench's tables.
pub fn script(
    socket: PathBuf,
    database: String,
    script: &str,
    protocol: &str,
    seconds: f64,
    clients: u32,
) -> Result<()> {
    let key = if script.ends_with(".sql") { "file" } else { "builtin" };
    let text = format!(
        "[variants.a]\ndbms = \"postgres@15\"\n[workload.script]\n{key} = \"{script}\"\n\
         protocol = \"{protocol}\"\nclients = {clients}\nscale = {}\nwarm_seconds = 0\n",
        crate::scripts::SCALE
    );
    let plan = plan::Plan::parse(&text, Some(std::path::Path::new("/")), "bench")?;
    let benchmark = workload::benchmark(
        &plan.workload,
        SequenceKey::of_clients(clients),
        Dialect::postgres(15),
    )?;
    let step = benchmark.phases.iter().filter_map(Phase::step).next_back();
    let Some(step) = step else { bail!("no step runs {script}") };
    let step = Step { seconds: Some(seconds), ..step.clone() };
    println!("{}", run(step, target(socket, database, false), false)?.operations);
    Ok(())
}

/// The server behind a socket: MySQL or MariaDB, otherwise PostgreSQL.
pub fn target(socket: PathBuf, database: String, mysql: bool) -> Target {
    let (address, user) = (Address::Unix(socket), "steelyard".to_owned());
    if mysql {
        Target::new("bench", Mysql { address, user, password: None, database })
    } else {
        Target::new("bench", Postgres { address, user, password: None, database })
    }
}

fn run(step: Step, target: Target, sample: bool) -> Result<Outcome> {
    let load = Load::new(Arc::new(step), vec![target], 42);
    let ready = drive::prepare(&load)?;
    let start = Instant::now() + Duration::from_millis(1);
    let sampler = sample.then(|| {
        let targets = probe::Targets {
            device: probe::block_device_of(std::path::Path::new("/var/tmp")),
            dbms: None,
            driver: true,
        };
        probe::Sampler::start(targets, start, Duration::from_secs(1))
    });
    let running = ready.go(start);
    while !running.wait(Duration::from_secs(10)) {}
    drop(sampler);
    let Some(outcome) = running.join().into_iter().next() else { bail!("no outcome") };
    match outcome.fatal {
        Some(fatal) => bail!(fatal),
        None => Ok(outcome),
    }
}
