//! pgbench scripts by steelyard's engine, compared with pgbench on one server: the cost of a
//! transaction for the server, and for the client.

use anyhow::Result;

use crate::measure::{Contender, spread};
use crate::rivals::{finish, number_after, ourselves, plain};
use crate::server::BenchServer;
use crate::sysbench::{Both, alternate, stay_on_one_cpu};

const PGBENCH: &str = "/usr/lib/postgresql/15/bin/pgbench";
/// Scale of pgbench's tables.
pub const SCALE: u32 = 10;
/// The server's cost of a transaction may differ by this part.
const BOUND: f64 = 0.03;
/// The part of pgbench's CPU that ours may take, in those with prepared statements.
const CLIENT: f64 = 0.7;

/// Scripts that come with pgbench.
const BUILT_IN: [&str; 3] = ["select-only", "simple-update", "tpcb-like"];
/// Scripts of our own, which use every construct that pgbench 15 has.
const OWN: [(&str, &str); 5] = [
    ("expressions", include_str!("scripts/expressions.sql")),
    ("branches", include_str!("scripts/branches.sql")),
    ("kept", include_str!("scripts/kept.sql")),
    ("pipeline", include_str!("scripts/pipeline.sql")),
    ("ranges", include_str!("scripts/ranges.sql")),
];

/// Runs every script of both in turn. Server and client share one CPU, as for sysbench.
pub fn side_by_side(rounds: usize, seconds: f64) -> Result<()> {
    stay_on_one_cpu()?;
    let mut server = BenchServer::start()?;
    let files = tempfile::tempdir()?;
    pgbench(&server, &["-i", "-q", "-s", &SCALE.to_string()].map(str::to_owned))?;
    println!(
        "PostgreSQL {}, one client, one CPU, {rounds} rounds of {seconds} s in turn; medians in µs per transaction.\n\n\
         {:<26}{:>8}{:>8}  {:<28}{:>8}{:>8}  ratio (by round)",
        server.version, "script", "server", "pgbench", "ratio (by round)", "client", "pgbench",
    );
    let mut scripts: Vec<(String, String, Vec<String>)> = Vec::new();
    for name in BUILT_IN {
        let option = vec!["-b".to_owned(), name.to_owned()];
        scripts.push((name.to_owned(), name.to_owned(), option));
    }
    for (name, text) in OWN {
        let path = files.path().join(format!("{name}.sql")).display().to_string();
        std::fs::write(&path, text)?;
        scripts.push((name.to_owned(), path.clone(), vec!["-f".to_owned(), path]));
    }
    for (name, script, option) in &scripts {
        for protocol in ["prepared", "simple"] {
            if name == "pipeline" && protocol == "simple" {
                continue;
            }
            compare(&mut server, (name, script, option), protocol, rounds, seconds)?;
        }
    }
    server.stop()
}

fn compare(
    server: &mut BenchServer,
    (name, script, option): (&str, &str, &[String]),
    protocol: &str,
    rounds: usize,
    seconds: f64,
) -> Result<()> {
    let mut theirs = vec![PGBENCH.to_owned(), "-n".to_owned(), "-c1".to_owned()];
    theirs.extend([format!("-T{}", seconds.ceil()), format!("-M{protocol}")]);
    theirs.extend(option.iter().cloned());
    theirs.extend(address(server));
    let ours = vec![
        "script".to_owned(),
        server.socket.display().to_string(),
        server.database.clone(),
        script.to_owned(),
        protocol.to_owned(),
        seconds.to_string(),
        "1".to_owned(),
    ];
    let contenders = [
        Contender {
            name: format!("steelyard, {name}"),
            command: ourselves(ours),
            operations: plain,
        },
        Contender { name: format!("pgbench, {name}"), command: theirs, operations: transactions },
    ];
    let runs = alternate(server, &contenders, rounds, |server| {
        for statement in
            ["VACUUM pgbench_branches", "VACUUM pgbench_tellers", "TRUNCATE pgbench_history"]
        {
            server.sql(statement)?;
        }
        server.sql("CHECKPOINT")
    })?;
    print(&format!("{name}, {protocol}"), protocol == "prepared", &runs);
    Ok(())
}

/// The options with which pgbench finds the server.
fn address(server: &BenchServer) -> [String; 4] {
    let directory = server.socket_directory.display();
    [
        format!("-h{directory}"),
        format!("-p{}", server.port),
        "-Usteelyard".to_owned(),
        server.database.clone(),
    ]
}

fn pgbench(server: &BenchServer, arguments: &[String]) -> Result<()> {
    finish(&[&[PGBENCH.to_owned()], arguments, &address(server)[..]].concat())
}

fn transactions(text: &str) -> Option<f64> {
    number_after(text, "actually processed:")
}

fn print(name: &str, bounded: bool, [ours, theirs]: &[Vec<Both>; 2]) {
    let median = |runs: &[Both], of: fn(&Both) -> f64| spread(runs.iter().map(of)).0;
    let ratio = |of: fn(&Both) -> f64| median(ours, of) / median(theirs, of);
    let by_round = |of: fn(&Both) -> f64| {
        spread(ours.iter().zip(theirs).map(|(ours, theirs)| of(ours) / of(theirs)))
    };
    let (_, low, high) = by_round(Both::server);
    let (_, least, greatest) = by_round(Both::client);
    let (server, client) = (ratio(Both::server), ratio(Both::client));
    let most = if bounded { CLIENT } else { 1.0 };
    // A difference is missed if no round contradicts it; otherwise rounds scatter by more than it.
    let server_is = match (server - 1.0).abs() <= BOUND {
        true => "holds",
        false if low <= 1.0 + BOUND && high >= 1.0 - BOUND => "noise",
        false => "MISSED",
    };
    let client_is = match client <= most {
        true => "holds",
        false if least <= most => "noise",
        false => "MISSED",
    };
    println!(
        "{name:<26}{:>8.2}{:>8.2}  {server:.3} ({low:.3}..{high:.3}) {server_is:<7}{:>8.2}{:>8.2}  \
         {client:.2} ({least:.2}..{greatest:.2}) {client_is}",
        median(ours, Both::server),
        median(theirs, Both::server),
        median(ours, Both::client),
        median(theirs, Both::client),
    );
}
