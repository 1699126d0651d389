//! The workload derived from TPC-C beside two others on one server: its load beside the server's
//! own bulk loader, and its transactions beside those of go-tpc.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use plan::TpccPlan;
use workload::{Benchmark, Dialect, Phase, Step};

use crate::client;
use crate::measure::{Contender, spread};
use crate::rivals::{finish, number_after, ourselves, output, plain};
use crate::server::BenchServer;
use crate::sysbench::{Both, alternate, stay_on_one_cpu};

const PSQL: &str = "/usr/lib/postgresql/15/bin/psql";
/// Warehouses; those who load have the same number each.
const WAREHOUSES: u32 = 4;
/// Sessions that load, one per core.
const LOADERS: u32 = 2;
/// The extension that counts statements, loaded and off.
const COUNTING: [(&str, &str); 3] = [
    ("shared_preload_libraries", "pg_stat_statements"),
    ("pg_stat_statements.track", "none"),
    ("compute_query_id", "off"),
];
/// The part of go-tpc's CPU that ours may take for a transaction.
const CLIENT: f64 = 0.7;

/// Tables with the column by which sessions divide them.
const TABLES: [(&str, &str); 9] = [
    ("warehouse", "w_id"),
    ("district", "d_w_id"),
    ("customer", "c_w_id"),
    ("history", "h_w_id"),
    ("orders", "o_w_id"),
    ("new_order", "no_w_id"),
    ("order_line", "ol_w_id"),
    ("stock", "s_w_id"),
    // All of it is the first session's.
    ("item", "1"),
];

/// Answers of COPY, which has the number of rows in each: a table for each session, but one item.
const COPIES: usize = LOADERS as usize * (TABLES.len() - 1) + 1;

/// Compares both.
pub fn side_by_side(rounds: usize, seconds: f64) -> Result<()> {
    let mut server = BenchServer::start_with(&COUNTING)?;
    println!("PostgreSQL {}, {WAREHOUSES} warehouses, {rounds} rounds in turn.\n", server.version);
    let files = tempfile::tempdir()?;
    create(&mut server)?;
    let run = |server: &BenchServer, step: &str| {
        client::step(server.socket.clone(), server.database.clone(), self::step(step, seconds)?)
    };
    run(&server, "load")?;
    let loaders = loaders(&server, files.path())?;
    let runs = alternate(&mut server, &loaders, rounds, create)?;
    print("the load, s, and COPY by psql", Some(1.0), figures(&runs, |both| both.run.seconds));
    // The last to load may have been the other one.
    create(&mut server)?;
    for step in ["load", "index"] {
        run(&server, step)?;
    }
    server.sql("CREATE DATABASE gotpc")?;
    go_tpc(&server, &["prepare", "--no-check", "--threads", &LOADERS.to_string()])?;
    finish(&shell(format!("{} -d gotpc -c 'VACUUM ANALYZE'", psql(&server))))?;
    server.settle()?;
    stay_on_one_cpu()?;
    let mixes = mixes(&server, seconds);
    let runs = alternate(&mut server, &mixes, rounds, |server| server.sql("CHECKPOINT"))?;
    print("a transaction, and by go-tpc: client, µs", Some(CLIENT), figures(&runs, Both::client));
    print("the same: server, µs", None, figures(&runs, Both::server));
    let [ours, theirs] = &mixes;
    let counts = [statements(&mut server, ours)?, statements(&mut server, theirs)?];
    print("the same: statements", None, counts.map(|count| vec![count]));
    let [ours, theirs] = figures(&runs, Both::client);
    let each = |all: Vec<f64>, count: f64| all.into_iter().map(|one| one / count).collect();
    let each = [each(ours, counts[0]), each(theirs, counts[1])];
    print("a statement: client, µs", None, each);
    server.stop()
}

/// The statements of a transaction, as the server counts them in a run of its own.
fn statements(server: &mut BenchServer, mix: &Contender) -> Result<f64> {
    let set = |server: &mut BenchServer, to: &str| {
        server.sql(&format!("ALTER SYSTEM SET pg_stat_statements.track = {to}"))?;
        server.sql(&format!("ALTER SYSTEM SET compute_query_id = {}", to != "none"))?;
        server.sql("SELECT pg_reload_conf()")
    };
    server.sql("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")?;
    set(server, "top")?;
    server.sql("SELECT pg_stat_statements_reset()")?;
    let text = output(&mix.command)?;
    let transactions = (mix.operations)(&text).context("no transactions")?;
    set(server, "none")?;
    let sum = "SELECT sum(calls) FROM pg_stat_statements";
    let calls = output(&shell(format!("{} -At -c '{sum}'", psql(server))))?;
    let calls: f64 = calls.trim().parse().with_context(|| format!("{sum}: {calls}"))?;
    Ok(calls / transactions)
}

/// A step of the workload.
pub fn step(name: &str, seconds: f64) -> Result<Step> {
    let phases = benchmark()?.phases;
    let steps = phases.into_iter().filter_map(|phase| match phase {
        Phase::Step(step) if step.key.name == name => Some(step),
        _ => None,
    });
    let Some(mut step) = steps.last() else { bail!("no step {name}") };
    step.seconds = step.seconds.map(|_| seconds);
    Ok(step)
}

fn benchmark() -> Result<Benchmark> {
    let plan =
        TpccPlan { warehouses: WAREHOUSES, load_dop: LOADERS, check: false, ..TpccPlan::default() };
    Ok(workload::tpcc::benchmark(&plan, Dialect::postgres(15))?)
}

/// Empty tables.
fn create(server: &mut BenchServer) -> Result<()> {
    let Benchmark { tables, setup, .. } = benchmark()?;
    let drop = tables.iter().map(|table| format!("DROP TABLE IF EXISTS {table}"));
    drop.chain(setup).try_for_each(|statement| server.sql(&statement))?;
    server.sql("CHECKPOINT")
}

/// The workload's load, and `COPY` from files that psql reads, in as many sessions.
fn loaders(server: &BenchServer, files: &Path) -> Result<[Contender; 2]> {
    let (mut store, mut all) = (String::new(), String::new());
    for session in 0..LOADERS {
        let (low, high) = (session * WAREHOUSES / LOADERS, (session + 1) * WAREHOUSES / LOADERS);
        let mut script = String::new();
        for (table, column) in TABLES {
            if column == "1" && session > 0 {
                continue;
            }
            let file = files.join(format!("{table}.{session}"));
            let file = file.display();
            let rows =
                format!("SELECT * FROM {table} WHERE {column} > {low} AND {column} <= {high}");
            writeln!(store, "\\copy ({rows}) TO '{file}'")?;
            writeln!(script, "\\copy {table} FROM '{file}'")?;
        }
        let path = files.join(format!("{session}.sql"));
        std::fs::write(&path, script)?;
        write!(all, "{} -f {} & ", psql(server), path.display())?;
    }
    let path = files.join("store.sql");
    std::fs::write(&path, store)?;
    finish(&shell(format!("{} -f {}", psql(server), path.display())))?;
    Ok([
        Contender {
            name: "steelyard".to_owned(),
            command: ours(server, "load", 0.0),
            operations: plain,
        },
        Contender {
            name: "COPY by psql".to_owned(),
            command: shell(format!("{all} wait")).into(),
            operations: |text| (text.matches("COPY ").count() == COPIES).then_some(1.0),
        },
    ])
}

fn shell(command: String) -> [String; 3] {
    ["sh".to_owned(), "-c".to_owned(), command]
}

fn psql(server: &BenchServer) -> String {
    let BenchServer { socket_directory, port, database, .. } = server;
    let directory = socket_directory.display();
    format!("{PSQL} -X -v ON_ERROR_STOP=1 -h {directory} -p {port} -U steelyard -d {database}")
}

fn ours(server: &BenchServer, step: &str, seconds: f64) -> Vec<String> {
    let (socket, database) = (server.socket.display().to_string(), server.database.clone());
    ourselves(vec!["tpcc-step".to_owned(), socket, database, step.to_owned(), seconds.to_string()])
}

/// The mix with one client.
fn mixes(server: &BenchServer, seconds: f64) -> [Contender; 2] {
    let time = format!("{seconds}s");
    [
        Contender {
            name: "steelyard".to_owned(),
            command: ours(server, "mix", seconds),
            operations: plain,
        },
        Contender {
            name: "go-tpc".to_owned(),
            command: go_tpc_command(server, &["run", "--threads", "1", "--time", &time]),
            operations: transactions,
        },
    ]
}

/// Those that succeeded, of all kinds.
fn transactions(text: &str) -> Option<f64> {
    let kinds = text.lines().filter(|line| line.starts_with("[Summary]") && !line.contains("_ERR"));
    let counts: Vec<f64> = kinds.filter_map(|line| number_after(line, "Count:")).collect();
    (counts.len() == 5).then(|| counts.iter().sum())
}

fn go_tpc_command(server: &BenchServer, arguments: &[&str]) -> Vec<String> {
    let parameters = format!("host={}&sslmode=disable", server.socket_directory.display());
    let (port, warehouses) = (server.port.to_string(), WAREHOUSES.to_string());
    let options = [
        ["--driver", "postgres"],
        ["--user", "steelyard"],
        ["--db", "gotpc"],
        // It sorts parameters by their values, and the last host counts: the socket's directory.
        ["--host", "-"],
        ["--port", &port],
        ["--conn-params", &parameters],
        ["--warehouses", &warehouses],
    ];
    let words = ["go-tpc", "tpcc"].iter().chain(arguments).chain(options.as_flattened());
    words.map(|word| (*word).to_owned()).collect()
}

fn go_tpc(server: &BenchServer, arguments: &[&str]) -> Result<()> {
    finish(&go_tpc_command(server, arguments)).context(
        "expected go-tpc on the PATH; if it is missing, install it with \
         `go install github.com/pingcap/go-tpc/cmd/go-tpc@v1.0.12`",
    )
}

/// A figure of each run.
fn figures(runs: &[Vec<Both>; 2], of: fn(&Both) -> f64) -> [Vec<f64>; 2] {
    runs.each_ref().map(|all| all.iter().map(of).collect())
}

fn print(what: &str, bound: Option<f64>, [ours, theirs]: [Vec<f64>; 2]) {
    let median = |runs: &[f64]| spread(runs.iter().copied()).0;
    let [our, their] = [median(&ours), median(&theirs)];
    let ratio = our / their;
    let (_, low, high) = spread(ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs));
    let holds = bound.map(|bound| (bound, if ratio <= bound { "holds" } else { "MISSED" }));
    let holds = holds.map_or(String::new(), |(bound, holds)| format!("  bound {bound}: {holds}"));
    println!("{what:<42}{our:>9.2}{their:>9.2}  {ratio:.3} ({low:.3}..{high:.3}){holds}",);
}
