//! The contenders and what they need.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::load;
use crate::measure::Contender;
use crate::server::BenchServer;

/// Rows of the tables that point selects read, all in the server's cache.
const IDS: u32 = 100_000;
/// Rows of one load: enough to make the process's startup negligible.
const ROWS: u64 = 600_000;
/// pgbench's read-only statement.
const PGBENCH_SELECT: &str = "SELECT abalance FROM pgbench_accounts WHERE aid = $1";
/// sysbench's point select.
const SYSBENCH_SELECT: &str = "SELECT c FROM sbtest1 WHERE id=$1";

/// pgbench, on the PATH or where Debian puts it.
fn pgbench() -> String {
    let debian = "/usr/lib/postgresql/15/bin/pgbench";
    if Path::new(debian).exists() { debian.to_owned() } else { "pgbench".to_owned() }
}

fn pgbench_with(server: &BenchServer, arguments: &[&str]) -> Vec<String> {
    let mut command = vec![
        pgbench(),
        "-h".to_owned(),
        server.socket_directory.display().to_string(),
        "-p".to_owned(),
        server.port.to_string(),
        "-U".to_owned(),
        "steelyard".to_owned(),
    ];
    command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    command.push(server.database.clone());
    command
}

/// A script of sysbench on one table of this many rows.
pub fn sysbench(
    server: &BenchServer,
    script: &str,
    rows: u32,
    arguments: &[String],
) -> Vec<String> {
    let BenchServer { socket, socket_directory, port, database, .. } = server;
    let (driver, place) = if server.mysql {
        ("mysql", vec![format!("--mysql-socket={}", socket.display())])
    } else {
        let host = format!("--pgsql-host={}", socket_directory.display());
        ("pgsql", vec![host, format!("--pgsql-port={port}")])
    };
    let mut command = vec![
        "sysbench".to_owned(),
        script.to_owned(),
        format!("--db-driver={driver}"),
        format!("--{driver}-user=steelyard"),
        format!("--{driver}-db={database}"),
        "--tables=1".to_owned(),
        format!("--table-size={rows}"),
    ];
    command.extend(place);
    command.extend(arguments.iter().cloned());
    command
}

/// Its point selects.
fn point_selects(server: &BenchServer, arguments: &[&str]) -> Vec<String> {
    let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    sysbench(server, "oltp_point_select", IDS, &arguments)
}

/// Creates the rivals' tables with their own tools.
pub fn prepare(server: &mut BenchServer) -> Result<()> {
    let mut commands = vec![point_selects(server, &["prepare"])];
    if !server.mysql {
        commands.push(pgbench_with(server, &["-i", "-q", "-s", "1"]));
    }
    commands.iter().try_for_each(|command| finish(command))?;
    server.settle()
}

/// Runs a rival's tool to its end.
pub fn finish(command: &[String]) -> Result<()> {
    output(command).map(drop)
}

/// Runs a program to its end; returns what it prints.
pub fn output(command: &[String]) -> Result<String> {
    let output = Command::new(&command[0]).args(&command[1..]).output().with_context(|| {
        format!("cannot run {}: `make bench` installs what it runs", command[0])
    })?;
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    anyhow::ensure!(output.status.success(), "{} failed: {stdout}{stderr}", command[0]);
    Ok(stdout.into_owned())
}

/// This program as a contender.
pub fn ourselves(arguments: Vec<String>) -> Vec<String> {
    let program = std::env::current_exe().unwrap_or_else(|_| "bench".into());
    let mut command = vec![program.display().to_string()];
    command.extend(arguments);
    command
}

pub fn plain(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

fn select(server: &BenchServer, statement: &str, seconds: f64, sample: bool) -> Vec<String> {
    let mut arguments = vec![
        "select".to_owned(),
        server.socket.display().to_string(),
        server.database.clone(),
        statement.to_owned(),
        IDS.to_string(),
        seconds.to_string(),
    ];
    for (set, flag) in [(sample, "--sample"), (server.mysql, "--mysql")] {
        if set {
            arguments.push(flag.to_owned());
        }
    }
    ourselves(arguments)
}

/// Point selects: the floor, steelyard on both statements, and both rivals.
pub fn point_select(server: &BenchServer, seconds: f64) -> Vec<Contender> {
    let whole = seconds.ceil().to_string();
    let bare = |statement: &str| {
        vec![
            env!("BARE_LOOP").to_owned(),
            server.socket.display().to_string(),
            "steelyard".to_owned(),
            server.database.clone(),
            statement.to_owned(),
            IDS.to_string(),
            seconds.to_string(),
        ]
    };
    let contender =
        |name: &str, command, operations| Contender { name: name.to_owned(), command, operations };
    let mut contenders = vec![
        contender("bare C loop, pgbench's select", bare(PGBENCH_SELECT), plain as fn(&str) -> _),
        contender(
            "steelyard, pgbench's select",
            select(server, PGBENCH_SELECT, seconds, false),
            plain,
        ),
        contender(
            "pgbench -M prepared -S",
            pgbench_with(server, &["-n", "-M", "prepared", "-S", "-c", "1", "-T", &whole]),
            |text| number_after(text, "number of transactions actually processed:"),
        ),
    ];
    contenders.extend(beside_sysbench(server, seconds));
    contenders
}

/// Its point selects, by steelyard and by sysbench.
pub fn beside_sysbench(server: &BenchServer, seconds: f64) -> [Contender; 2] {
    let time = format!("--time={}", seconds.ceil());
    [
        Contender {
            name: "steelyard, sysbench's select".to_owned(),
            command: select(server, SYSBENCH_SELECT, seconds, false),
            operations: plain,
        },
        Contender {
            name: "sysbench oltp_point_select".to_owned(),
            command: point_selects(server, &["--threads=1", &time, "run"]),
            operations: |text| number_after(text, "transactions:"),
        },
    ]
}

/// The first number after `label`.
pub fn number_after(text: &str, label: &str) -> Option<f64> {
    let rest = &text[text.find(label)? + label.len()..];
    let digits: String =
        rest.trim_start().chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.parse().ok()
}

/// The floor of l.i0; l.i0 with inserts as text, as published, and prepared.
pub fn loads(server: &BenchServer) -> Result<Vec<Contender>> {
    let (socket, database) = (server.socket.display().to_string(), server.database.clone());
    let (statement, rows) = load::statement()?;
    let bare = vec![
        env!("BARE_INSERT").to_owned(),
        socket.clone(),
        "steelyard".to_owned(),
        database.clone(),
        statement,
        rows.to_string(),
        ROWS.div_ceil(rows).to_string(),
    ];
    let load = |more: &[&str]| {
        let mut arguments =
            vec!["load".to_owned(), socket.clone(), database.clone(), ROWS.to_string()];
        arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
        ourselves(arguments)
    };
    let loads = [
        ("bare C loop, l.i0's inserts", bare),
        ("l.i0, 100 rows per statement", load(&[])),
        ("l.i0, prepared", load(&["--prepared"])),
    ];
    let contender = |(name, command): (&str, _)| Contender {
        name: name.to_owned(),
        command,
        operations: plain,
    };
    Ok(loads.map(contender).into())
}

/// Many clients.
const MANY: u32 = 256;

/// Point selects, without and with sampling of the kernel's figures.
pub fn sampling(server: &BenchServer, seconds: f64) -> Vec<Contender> {
    [("without sampling", false), ("sampling at 1 Hz", true)]
        .into_iter()
        .map(|(name, sample)| Contender {
            name: name.to_owned(),
            command: select(server, PGBENCH_SELECT, seconds, sample),
            operations: plain,
        })
        .collect()
}

/// Point selects by one client and by many.
pub fn clients(server: &BenchServer, seconds: f64) -> Vec<Contender> {
    [1, MANY]
        .into_iter()
        .map(|clients| {
            let mut command = select(server, PGBENCH_SELECT, seconds, false);
            command.extend(["--clients".to_owned(), clients.to_string()]);
            Contender { name: format!("{clients} clients"), command, operations: plain }
        })
        .collect()
}

/// The same by pgbench's script.
pub fn scripted_clients(server: &BenchServer, seconds: f64) -> Vec<Contender> {
    [1, MANY]
        .into_iter()
        .map(|clients| {
            let (socket, database) = (server.socket.display().to_string(), &server.database);
            let words = ["script", &socket, database, "select-only", "prepared"];
            let numbers = [seconds.to_string(), clients.to_string()];
            let command = ourselves(words.map(str::to_owned).into_iter().chain(numbers).collect());
            Contender { name: format!("{clients} clients, script"), command, operations: plain }
        })
        .collect()
}

/// System calls per query, counted by perf if available and permitted.
pub fn system_calls(contenders: &[Contender]) {
    println!("\nSystem calls per query (perf stat -e raw_syscalls:sys_enter):");
    for contender in contenders {
        let output = Command::new("perf")
            .args(["stat", "-x", ",", "-e", "raw_syscalls:sys_enter", "--"])
            .args(&contender.command)
            .output();
        let counted = output.ok().and_then(|output| {
            let operations = (contender.operations)(&String::from_utf8_lossy(&output.stdout))?;
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let line = text.lines().find(|line| line.contains("raw_syscalls:sys_enter"))?;
            let calls: f64 = line.split(',').next()?.parse().ok()?;
            Some(calls / operations)
        });
        match counted {
            Some(calls) => println!("  {:<34}{calls:>8.3}", contender.name),
            None => {
                println!(
                    "  not counted: perf is missing or has no permission (kernel.perf_event_paranoid)"
                );
                break;
            }
        }
    }
}
