//! Comparison with the program `sysbench`: the same statements at the server.

use std::collections::BTreeMap;
use std::process::Command;

use drive::Address;
use plan::{Plan, SysbenchPlan, WorkloadPlan};
use workload::{Dialect, End, Phase, Step};

use crate::common::{TestServer, run};

const ROWS: u64 = 1000;
/// Transactions of each kind.
const EVENTS: u64 = 20;

/// Tests of both: ours, the script of the program with its options.
const PAIRS: [(&str, &str, &[&str]); 8] = [
    ("point-query", "oltp_point_select", &["--skip-trx=on"]),
    ("read-only_range=10", "oltp_read_only", &["--range-size=10"]),
    ("read-write_range=10", "oltp_read_write", &["--range-size=10"]),
    ("write-only_range=10000", "oltp_write_only", &[]),
    ("update-index", "oltp_update_index", &["--skip-trx=on"]),
    ("update-nonindex", "oltp_update_non_index", &["--skip-trx=on"]),
    ("delete", "oltp_delete", &["--skip-trx=on"]),
    ("insert", "oltp_insert", &["--skip-trx=on"]),
];

/// A statement of a log without its values: `select c from sbtest1 where id=?`.
fn shape(line: &str) -> Option<String> {
    let (_, said) = line.split_once("LOG:  ")?;
    let (how, text) = said.split_once(": ")?;
    if how != "statement" && !how.starts_with("execute ") {
        return None;
    }
    let mut shape = String::new();
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let word = shape.chars().next_back().is_some_and(|last| last.is_ascii_alphabetic());
        match c {
            '\'' => {
                quoted = !quoted;
                if quoted {
                    shape.push('?');
                }
            }
            _ if quoted => {}
            '$' => {}
            '0'..='9' if !word => {
                while characters.next_if(char::is_ascii_digit).is_some() {}
                shape.push('?');
            }
            c if c.is_whitespace() => {}
            c => shape.extend(c.to_lowercase()),
        }
    }
    Some(shape)
}

/// How often each statement came, according to the server's log.
fn logged(server: &TestServer) -> BTreeMap<String, u64> {
    let mut shapes = BTreeMap::new();
    for line in server.log().lines() {
        if let Some(shape) = shape(line).filter(|shape| !shape.contains("pg_")) {
            *shapes.entry(shape).or_default() += 1;
        }
    }
    shapes
}

/// The counts added since `before`.
fn since(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let more = |(shape, count): (&String, &u64)| {
        let more = count - before.get(shape).copied().unwrap_or(0);
        (more > 0).then(|| (shape.clone(), more))
    };
    after.iter().filter_map(more).collect()
}

#[test]
fn sysbench_sends_the_same_statements() {
    let here = Command::new("sysbench").arg("--version").output();
    if here.is_err() {
        return testing::skip("sysbench is not installed");
    }
    let mut server = TestServer::start();
    let names: Vec<String> = PAIRS.iter().map(|(test, ..)| format!("\"{test}\"")).collect();
    let text = format!(
        "[variants.a]\ndbms = \"postgres@14.3\"\n[workload.sysbench]\ntables = 1\nrows = {ROWS}\n\
         steps = [{}]\n",
        names.join(", ")
    );
    let WorkloadPlan::Sysbench(plan) = Plan::parse(&text, None, "test").unwrap().workload else {
        panic!("another workload")
    };
    let benchmark = workload::sysbench::benchmark(&plan, Dialect::postgres(14)).unwrap();
    benchmark.setup.iter().for_each(|statement| server.sql(statement));
    let steps: Vec<&Step> = benchmark.phases.iter().filter_map(Phase::step).collect();
    for step in &steps[..2] {
        assert_eq!(run((*step).clone(), &server).fatal, None);
    }
    server.set("log_statement", "all");
    for ((test, script, options), step) in PAIRS.iter().zip(&steps[2..]) {
        let mut step = (*step).clone();
        assert_eq!(step.key.name, *test);
        step.streams[0].end = End::Rounds(EVENTS);
        step.seconds = None;
        let before = logged(&server);
        assert_eq!(run(step, &server).fatal, None, "{test}");
        let after = logged(&server);
        by_sysbench(&server, &plan, script, options);
        let last = logged(&server);
        let (ours, theirs) = (since(&before, &after), since(&after, &last));
        assert!(!ours.is_empty());
        assert_eq!(ours, theirs, "{test}");
    }
}

/// Runs the program itself.
fn by_sysbench(server: &TestServer, plan: &SysbenchPlan, script: &str, options: &[&str]) {
    let postgres = server.postgres();
    let Address::Unix(socket) = &postgres.address else { panic!("no socket") };
    let option = |name: &str, value: &str| format!("--{name}={value}");
    let output = Command::new("sysbench")
        .arg(script)
        .args([
            option("db-driver", "pgsql"),
            option("pgsql-host", &socket.parent().unwrap().display().to_string()),
            option("pgsql-user", &postgres.user),
            option("pgsql-db", &postgres.database),
            option("tables", "1"),
            option("table-size", &plan.rows.to_string()),
            option("rand-type", "uniform"),
            option("events", &EVENTS.to_string()),
            option("time", "0"),
        ])
        .args(options)
        .arg("run")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{script}: {said}{}", String::from_utf8_lossy(&output.stderr));
}
