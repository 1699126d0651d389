//! The workload derived from TPC-C beside others on one server: its load beside the server's own
//! bulk loader, and its transactions beside those of go-tpc.

use anyhow::{Context, Result};

use crate::loading::{self, LOADERS, WAREHOUSES, create, ours, prepare, psql, shell};
use crate::measure::{Contender, spread};
use crate::rivals::{finish, number_after, output};
use crate::server::BenchServer;
use crate::sysbench::{Both, alternate, stay_on_one_cpu};

/// The MySQL whose bulk loader is compared.
const MYSQL: &str = "mysql@8.0.31";
/// The part of go-tpc's CPU that ours may take for a transaction.
const CLIENT: f64 = 0.7;

/// Compares both.
pub fn side_by_side(rounds: usize, seconds: f64) -> Result<()> {
    let mut server = BenchServer::start()?;
    println!("PostgreSQL {}, {WAREHOUSES} warehouses, {rounds} rounds in turn.\n", server.version);
    let files = tempfile::tempdir()?;
    create(&mut server)?;
    prepare(&server, "load")?;
    let loaders = loading::beside_copy(&server, files.path())?;
    let runs = alternate(&mut server, &loaders, rounds, create)?;
    print_loads("COPY by psql", &runs);
    fill(&mut server)?;
    stay_on_one_cpu()?;
    let mixes = mixes(&server, seconds);
    let runs = alternate(&mut server, &mixes, rounds, |server| server.sql("CHECKPOINT"))?;
    print("a transaction, and by go-tpc: client, µs", Some(CLIENT), figures(&runs, Both::client));
    print("the same: server, µs", None, figures(&runs, Both::server));
    server.stop()?;
    let counts = statements(seconds)?;
    print("the same: statements", None, counts.map(|count| vec![count]));
    let [ours, theirs] = figures(&runs, Both::client);
    let each = |all: Vec<f64>, count: f64| all.into_iter().map(|one| one / count).collect();
    let each = [each(ours, counts[0]), each(theirs, counts[1])];
    print("a statement: client, µs", None, each);
    Ok(())
}

/// The data of both, new.
fn fill(server: &mut BenchServer) -> Result<()> {
    create(server)?;
    prepare(server, "load")?;
    prepare(server, "index")?;
    server.sql("CREATE DATABASE gotpc")?;
    go_tpc(server, &["prepare", "--no-check", "--threads", &LOADERS.to_string()])?;
    finish(&shell(format!("{} -d gotpc -c 'VACUUM ANALYZE'", psql(server))))?;
    server.settle()
}

/// The statements of a transaction of both, as a server of their own counts them.
fn statements(seconds: f64) -> Result<[f64; 2]> {
    let mut server =
        BenchServer::start_with(&[("shared_preload_libraries", "pg_stat_statements")])?;
    server.sql("CREATE EXTENSION pg_stat_statements")?;
    fill(&mut server)?;
    let mut counts = [0.0; 2];
    for (count, mix) in counts.iter_mut().zip(mixes(&server, seconds)) {
        server.sql("SELECT pg_stat_statements_reset()")?;
        let transactions = (mix.operations)(&output(&mix.command)?).context("no transactions")?;
        let sum = "SELECT sum(calls) FROM pg_stat_statements";
        let calls = output(&shell(format!("{} -At -c '{sum}'", psql(&server))))?;
        let calls: f64 = calls.trim().parse().with_context(|| format!("{sum}: {calls}"))?;
        *count = calls / transactions;
    }
    server.stop()?;
    Ok(counts)
}

/// Compares the load with `LOAD DATA` of this version of MySQL.
pub fn beside_load_data(rounds: usize) -> Result<()> {
    let mut server = BenchServer::of(MYSQL, &[("innodb_buffer_pool_size", "2GB")])?;
    println!("{MYSQL}, {WAREHOUSES} warehouses, {rounds} rounds in turn.\n");
    create(&mut server)?;
    prepare(&server, "load")?;
    let loaders = loading::beside_load_data(&mut server)?;
    let runs = alternate(&mut server, &loaders, rounds, create)?;
    print_loads("LOAD DATA", &runs);
    server.stop()
}

fn print_loads(rival: &str, runs: &[Vec<Both>; 2]) {
    let seconds = figures(runs, |both| both.run.seconds);
    print(&format!("the load, s, and {rival}"), Some(1.0), seconds);
    let client = figures(runs, |both| (both.run.user_us + both.run.system_us) / 1e6);
    print("the same: client CPU, s", None, client);
    print("the same: server CPU, s", None, figures(runs, |both| both.server_us / 1e6));
}

/// The mix with one client.
fn mixes(server: &BenchServer, seconds: f64) -> [Contender; 2] {
    let time = format!("{seconds}s");
    [
        ours(server, "mix", seconds),
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
    println!("{what:<42}{our:>9.2}{their:>9.2}  {ratio:.3} ({low:.3}..{high:.3}){holds}");
}
