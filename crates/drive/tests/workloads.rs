//! Every step of every workload, against real servers of several versions.

use std::sync::Arc;

use plan::{Plan, WorkloadPlan};
use workload::{Benchmark, Class, Condition, Dialect, Phase, Step, StorageEngine};

use crate::common::mysql::MysqlServer;
use crate::common::{TestServer, run, run_on, run_until};
use drive::Target;

/// Clients of each step: enough to get in each other's way.
const CLIENTS: u32 = 3;
/// Seconds of each timed step.
const SHORT: f64 = 0.15;

/// A workload's benchmark with few rows for [`CLIENTS`], after its tables were made; `None` if it
/// is not for SQL.
fn made(server: &mut TestServer, workload: &str, more: &str, major: u32) -> Option<Benchmark> {
    let benchmark = planned(workload, more, Dialect::postgres(major))?;
    drop_tables(&benchmark, |sql| server.sql(sql));
    benchmark.setup.iter().for_each(|statement| server.sql(statement));
    Some(benchmark)
}

/// Drops what workloads before may have left, such as the tables of queries.
fn drop_tables(benchmark: &Benchmark, mut sql: impl FnMut(&str)) {
    benchmark.tables.iter().for_each(|table| sql(&format!("DROP TABLE IF EXISTS {table}")));
}

/// The same, before its tables are made.
pub fn planned(workload: &str, more: &str, dialect: Dialect) -> Option<Benchmark> {
    let clients = match workload {
        "select" => "scale = 1\nclients",
        "script" => "builtin = \"tpcb-like\"\nscale = 1\nclients",
        // Old versions don't know all that the others ask for.
        "queries" => {
            "directory = \"../../plans/queries\"\nsteps = [\"order\", \"customer-orders\"]\nclients"
        }
        "tpch" if more.is_empty() => "scale = 0.01\nclients",
        "tpch" => "clients",
        _ => "dop",
    };
    let text = format!(
        "[variants.a]\ndbms = \"postgres@14.3\"\n[workload.{workload}]\n{clients} = {CLIENTS}\n{more}\n"
    );
    if ["program", "replay"].contains(&workload) {
        return None; // They need a command and a log, and send no statements of ours.
    }
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut plan = Plan::parse(&text, Some(folder), "test").unwrap();
    plan.workload.set_rows(|_| 3100);
    let sequence = plan.workload.sequences()[0].key;
    let benchmark = workload::benchmark(&plan.workload, sequence, dialect);
    if let Err(workload::Error::Unfit { .. }) = benchmark {
        return None;
    }
    Some(benchmark.unwrap())
}

/// Runs one step, shortened; returns its operations.
fn short(server: &TestServer, step: &Step) -> u64 {
    short_on(server.target(), step)
}

/// The same on any target.
fn short_on(target: Target, step: &Step) -> u64 {
    let shorter = Step { seconds: step.seconds.map(|_| SHORT), ..step.clone() };
    let mut outcome = run_on(shorter, target.clone());
    if outcome.fatal.is_none() && outcome.operations == 0 {
        // The machine has much else to do.
        outcome = run_until(step.clone(), target, 1);
    }
    assert_eq!(outcome.fatal, None, "{}: {:?}", step.key.name, outcome.failures);
    assert!(outcome.operations > 0, "no operation of {}", step.key.name);
    outcome.operations
}

/// The workloads whose data can be made small. The others have tests of their own.
fn small() -> impl Iterator<Item = &'static str> {
    WorkloadPlan::names().into_iter().filter(|name| *name != "tpcc")
}

/// Checks that all conditions hold.
pub fn hold(conditions: &[Condition], mut number: impl FnMut(&str) -> i64) {
    for Condition { name, exceptions } in conditions {
        assert_eq!(number(exceptions), 0, "{name}");
    }
}

fn every_step_runs(version: &str, major: u32) {
    let mut server = TestServer::of(version);
    for workload in small() {
        let Some(benchmark) = made(&mut server, workload, "", major) else { continue };
        for phase in &benchmark.phases {
            match phase {
                Phase::Step(step) => drop(short(&server, step)),
                Phase::Settle { .. } => drop(server.server.settle(&benchmark.tables).unwrap()),
                Phase::Check(list) => hold(list, |query| server.number(query)),
                Phase::Program(_) => panic!("no workload has one yet"),
            }
        }
    }
}

#[test]
fn every_step_runs_on_postgres_12() {
    every_step_runs("postgres@12.22", 12);
}

#[test]
fn every_step_runs_on_postgres_15() {
    every_step_runs("postgres@15.15", 15);
}

#[test]
fn every_step_runs_on_postgres_18() {
    every_step_runs("postgres@18.1", 18);
}

/// Our operations in a step, and the counters of the server.
fn counted(server: &mut TestServer, tables: &[String], step: &Step) -> (f64, Counted) {
    let before = server.server.counters(tables).unwrap();
    let operations = short(server, step) as f64;
    server.wait_for_clients();
    let after = server.server.counters(tables).unwrap();
    (operations, Counted(after.difference(&before)))
}

struct Counted(Vec<dbms::Counter>);

impl Counted {
    fn sum(&self, name: &str) -> f64 {
        let same = self.0.iter().filter(|counter| counter.name == name);
        same.filter(|counter| counter.view != "pg_stat_all_indexes").map(|it| it.value).sum()
    }
}

#[test]
fn what_is_counted_is_what_the_server_counts() {
    let mut server = TestServer::start();
    let more = "steps = [\"point-query\", \"read-only_range=10\", \"update-nonindex\", \
                \"update-one\", \"write-only\", \"insert\", \"delete\"]";
    let benchmark = made(&mut server, "sysbench", more, 14).unwrap();
    let tables = benchmark.tables.clone();
    let mut told = Vec::new();
    for step in benchmark.phases.iter().filter_map(Phase::step) {
        let (operations, server) = counted(&mut server, &tables, step);
        let statements = step.streams[0].operations_per_round as f64;
        // The counters whose sum is the number of operations, and how many one operation is.
        let (names, each): (&[&str], f64) = match step.key.name.as_str() {
            "load" | "insert" => (&["n_tup_ins"], 1.0),
            "point-query" => (&["idx_scan"], 1.0),
            "read-only_range=10" => (&["idx_scan"], 14.0 / 16.0),
            "update-nonindex" | "update-one" => (&["n_tup_upd"], 1.0),
            "write-only_range=10000" => (&["n_tup_upd", "n_tup_ins", "n_tup_del"], 4.0 / 6.0),
            "delete" => (&["idx_scan"], 1.0),
            _ => continue,
        };
        let found: f64 = names.iter().map(|name| server.sum(name)).sum();
        told.push(format!("{}: {operations} operations, {names:?} {found}", step.key.name));
        let expected = operations * each;
        // Our count leaves out operations that were under way at the end.
        let over = if step.is_timed() { f64::from(step.key.dop) * statements } else { 0.0 };
        assert!(found >= 0.99 * expected, "{told:#?}");
        assert!(found <= 1.01 * expected + over, "{told:#?}");
    }
    assert_eq!(told.len(), 8, "{told:#?}");
}

/// Two clients put the same row back, so one of them finds it there already.
#[test]
fn a_row_that_another_client_put_back_is_no_failure() {
    let mut server = TestServer::start();
    let benchmark =
        made(&mut server, "sysbench", "tables = 1\nsteps = [\"write-only\"]", 14).unwrap();
    let steps: Vec<&Step> = benchmark.phases.iter().filter_map(Phase::step).collect();
    short(&server, steps[0]);
    let mut step = steps[2].clone();
    // All of them always change the same row.
    for stream in &mut step.streams {
        let one = workload::Draw::Uniform { low: 7, high: 8, width: workload::Width::Four };
        let id = stream.keeps.len() - 1;
        stream.keeps[id] = one;
    }
    step.seconds = Some(1.0);
    let step = Arc::new(step);
    let outcome = run((*step).clone(), &server);
    assert_eq!(outcome.fatal, None);
    assert!(outcome.retries() > 0, "none came in another's way");
    assert!(outcome.class(&Class::INSERT).is_none());
    assert_eq!(server.number("SELECT count(*) FROM sbtest1"), 3100);
}

#[test]
fn clients_reconnect() {
    let mut server = TestServer::start();
    let more = "tables = 1\nsteps = [\"point-query\"]\nreconnect = 10";
    let benchmark = made(&mut server, "sysbench", more, 14).unwrap();
    let steps: Vec<&Step> = benchmark.phases.iter().filter_map(Phase::step).collect();
    short(&server, steps[0]);
    let mut step = steps[2].clone();
    for stream in &mut step.streams {
        stream.end = workload::End::Rounds(95);
    }
    step.seconds = None;
    server.set("log_connections", "on");
    let sessions = |server: &TestServer| server.log().matches("connection authorized").count();
    let before = sessions(&server);
    let outcome = run(step, &server);
    assert_eq!((outcome.operations, outcome.fatal), (3 * 95, None));
    assert_eq!(sessions(&server) - before, 3 * 10, "each begins with one, and has nine more");
}

/// Every step of every workload that has SQL of MySQL.
fn every_step_runs_on(reference: &str) {
    let server = MysqlServer::of(reference);
    let mut ran = Vec::new();
    for workload in small() {
        let dialect = Dialect::mysql(StorageEngine::InnoDb);
        let Some(benchmark) = planned(workload, "", dialect) else { continue };
        drop_tables(&benchmark, |sql| server.sql(sql));
        benchmark.setup.iter().for_each(|statement| server.sql(statement));
        for phase in &benchmark.phases {
            match phase {
                Phase::Check(list) => hold(list, |query| server.number(query)),
                _ => {
                    if let Some(step) = phase.step() {
                        short_on(server.target(), step);
                    }
                }
            }
        }
        ran.push(workload);
    }
    assert_eq!(ran, ["insert", "sysbench", "select", "queries", "tpch", "ycsb"]);
}

#[test]
fn every_step_runs_on_mysql_8() {
    every_step_runs_on("mysql@8.0.31");
}

#[test]
fn every_step_runs_on_mysql_5_6() {
    every_step_runs_on("mysql@5.6.24");
}

#[test]
fn every_step_runs_on_mariadb_10_11() {
    every_step_runs_on("mariadb@10.11.5");
}
