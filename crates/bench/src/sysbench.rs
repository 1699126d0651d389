//! The tests of the sysbench workload compared with the program `sysbench` on one server: the cost
//! of a statement for the server, and for the client.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::measure::{Contender, Run, run, spread};
use crate::rivals::{finish, number_after, ourselves, plain, sysbench};
use crate::server::BenchServer;

/// Rows of the only table.
const ROWS: u32 = 100_000;
/// The server's cost of a statement may differ by this part.
const BOUND: f64 = 0.05;
/// sysbench's own script of this name has another statement (by `k`, not `id`), so only the clients
/// compare: ours may take no more.
const OTHER_STATEMENT: &str = "random-points_range=1000";

/// Our name of a test, and the script and options of the program.
const TESTS: [(&str, &str, &[&str]); 9] = [
    ("point-query", "oltp_point_select", &["--skip-trx=on"]),
    ("random-points_range=1000", "select_random_points", &["--random-points=1000"]),
    ("read-only_range=100", "oltp_read_only", &["--range-size=100"]),
    ("read-write_range=100", "oltp_read_write", &["--range-size=100"]),
    ("write-only_range=10000", "oltp_write_only", &[]),
    ("update-index", "oltp_update_index", &["--skip-trx=on"]),
    ("update-nonindex", "oltp_update_non_index", &["--skip-trx=on"]),
    ("delete", "oltp_delete", &["--skip-trx=on"]),
    ("insert", "oltp_insert", &["--skip-trx=on"]),
];

/// A run, and the CPU microseconds of the server meanwhile.
pub struct Both {
    pub run: Run,
    pub server_us: f64,
}

impl Both {
    /// CPU microseconds of the server for an operation.
    pub fn server(&self) -> f64 {
        self.server_us / self.run.operations
    }

    /// Those of the client.
    pub fn client(&self) -> f64 {
        self.run.cpu_per_operation()
    }
}

/// Keeps this process, and the servers and contenders that it starts, on one CPU, which each leaves
/// only to wait (`SCHED_BATCH`, sched(7)).
///
/// Otherwise clients interrupt the server, depending on chance and on how they wait: a client in
/// `recv` on a unix socket is also woken when the server has read its query.
pub fn stay_on_one_cpu() -> Result<()> {
    let process = std::process::id().to_string();
    let done = Command::new("chrt").args(["-b", "-p", "0", &process]).status();
    ensure!(done.context("cannot run chrt, of util-linux")?.success(), "chrt failed");
    let own = Pid::from_raw(0);
    let allowed = sched_getaffinity(own)?;
    let mut cpus = (0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu) == Ok(true));
    let mut one = CpuSet::new();
    one.set(cpus.next().context("expected a CPU to run on, found none")?)?;
    Ok(sched_setaffinity(own, &one)?)
}

/// Runs two contenders in turn, each beginning every other round, with an action before each run.
pub fn alternate(
    server: &mut BenchServer,
    contenders: &[Contender; 2],
    rounds: usize,
    before: impl Fn(&mut BenchServer) -> Result<()>,
) -> Result<[Vec<Both>; 2]> {
    let mut runs: [Vec<Both>; 2] = Default::default();
    for round in 0..rounds {
        for place in [round % 2, 1 - round % 2] {
            before(server)?;
            let used = server.cpu_us()?;
            let run = run(&contenders[place])?;
            let server_us = server.cpu_us()? - used;
            runs[place].push(Both { run, server_us });
        }
    }
    Ok(runs)
}

/// Runs every test of both in turn, on a fresh table each time, and prints what they cost. Server
/// and client share one CPU. With several, the scheduler decides whether a wakeup crosses CPUs, and
/// that costs more than anything compared here.
pub fn side_by_side(rounds: usize, seconds: f64) -> Result<()> {
    stay_on_one_cpu()?;
    let mut server = BenchServer::start()?;
    println!(
        "PostgreSQL {}, one client, one CPU, {rounds} rounds of {seconds} s in turn; medians in µs per query.\n\n\
         {:<26}{:>9}{:>9}  {:>22}   {:>9}{:>9}",
        server.version, "test", "server", "sysbench", "ratio (by round)", "client", "sysbench"
    );
    for (test, script, options) in TESTS {
        let whole = seconds.ceil().to_string();
        let mut arguments = vec!["--threads=1".to_owned(), format!("--time={whole}")];
        arguments.extend(["--rand-type=uniform", "run"].map(str::to_owned));
        arguments.extend(options.iter().map(|option| (*option).to_owned()));
        let contenders = [
            Contender {
                name: format!("steelyard, {test}"),
                command: ourselves(vec![
                    "test".to_owned(),
                    server.socket.display().to_string(),
                    server.database.clone(),
                    test.to_owned(),
                    ROWS.to_string(),
                    seconds.to_string(),
                ]),
                operations: plain,
            },
            Contender {
                name: format!("sysbench, {test}"),
                command: sysbench(&server, script, ROWS, &arguments),
                operations: queries,
            },
        ];
        print(test, &alternate(&mut server, &contenders, rounds, fresh)?);
    }
    server.stop()
}

/// Drops the table and has the program make it again, so both contenders find the same data.
fn fresh(server: &mut BenchServer) -> Result<()> {
    server.sql("DROP TABLE IF EXISTS sbtest1")?;
    finish(&sysbench(server, "oltp_point_select", ROWS, &["prepare".to_owned()]))?;
    server.settle()
}

/// All queries that it reports, including those that end transactions.
fn queries(text: &str) -> Option<f64> {
    number_after(text, "total:")
}

fn print(test: &str, [ours, theirs]: &[Vec<Both>; 2]) {
    let (server, client) = (Both::server, Both::client);
    let median = |runs: &[Both], of: &dyn Fn(&Both) -> f64| spread(runs.iter().map(of)).0;
    let ratio = median(ours, &server) / median(theirs, &server);
    let pairs = ours.iter().zip(theirs).map(|(ours, theirs)| server(ours) / server(theirs));
    let (_, low, high) = spread(pairs);
    let holds = if test == OTHER_STATEMENT {
        median(ours, &client) <= median(theirs, &client)
    } else {
        (ratio - 1.0).abs() <= BOUND
    };
    let holds = if holds { "" } else { "  MISSED" };
    println!(
        "{test:<26}{:>9.2}{:>9.2}  {ratio:>6.3} ({low:.3}..{high:.3})   {:>9.2}{:>9.2}{holds}",
        median(ours, &server),
        median(theirs, &server),
        median(ours, &client),
        median(theirs, &client),
    );
}
