//! The load of the workload derived from TPC-C beside the server's own bulk loaders.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Result, anyhow, bail};
use drive::Single;
use plan::TpccPlan;
use workload::{Benchmark, Dialect, Expect, Phase, Statement, Step, StorageEngine};

use crate::client;
use crate::measure::Contender;
use crate::rivals::{finish, ourselves, plain};
use crate::server::BenchServer;

const PSQL: &str = "/usr/lib/postgresql/15/bin/psql";
/// Warehouses; those who load have the same number each.
pub const WAREHOUSES: u32 = 4;
/// Sessions that load, one per core.
pub const LOADERS: u32 = 2;

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

/// Files with what the sessions load: a table for each session, but one of items.
const FILES: usize = LOADERS as usize * (TABLES.len() - 1) + 1;

/// A step of the workload.
pub fn step(name: &str, seconds: f64, mysql: bool) -> Result<Step> {
    let phases = benchmark(mysql)?.phases;
    let steps = phases.into_iter().filter_map(|phase| match phase {
        Phase::Step(step) if step.key.name == name => Some(step),
        _ => None,
    });
    let Some(mut step) = steps.last() else { bail!("no step {name}") };
    step.seconds = step.seconds.map(|_| seconds);
    Ok(step)
}

fn benchmark(mysql: bool) -> Result<Benchmark> {
    let plan =
        TpccPlan { warehouses: WAREHOUSES, load_dop: LOADERS, check: false, ..TpccPlan::default() };
    let dialect = match mysql {
        true => Dialect::mysql(StorageEngine::InnoDb),
        false => Dialect::postgres(15),
    };
    Ok(workload::tpcc::benchmark(&plan, dialect)?)
}

/// Empty tables.
pub fn create(server: &mut BenchServer) -> Result<()> {
    let Benchmark { tables, setup, .. } = benchmark(server.mysql)?;
    let drop = tables.iter().map(|table| format!("DROP TABLE IF EXISTS {table}"));
    drop.chain(setup).try_for_each(|statement| server.sql(&statement))?;
    server.flush()
}

/// Runs the step `load` or `index`.
pub fn prepare(server: &BenchServer, name: &str) -> Result<()> {
    let target = client::target(server.socket.clone(), server.database.clone(), server.mysql);
    client::step(target, step(name, 0.0, server.mysql)?).map(drop)
}

/// The files of a session in this directory: table, file, and the query for its rows.
fn files(directory: &Path, session: u32) -> impl Iterator<Item = (&'static str, PathBuf, String)> {
    let (low, high) = (session * WAREHOUSES / LOADERS, (session + 1) * WAREHOUSES / LOADERS);
    let own = TABLES.into_iter().filter(move |(_, column)| *column != "1" || session == 0);
    own.map(move |(table, column)| {
        let file = directory.join(format!("{table}.{session}"));
        let rows = format!("FROM {table} WHERE {column} > {low} AND {column} <= {high}");
        (table, file, rows)
    })
}

/// The workload's load, and `COPY` from files that psql reads, in as many sessions.
pub fn beside_copy(server: &BenchServer, directory: &Path) -> Result<[Contender; 2]> {
    let (mut store, mut all) = (String::new(), String::new());
    for session in 0..LOADERS {
        let mut script = String::new();
        for (table, file, rows) in files(directory, session) {
            let file = file.display();
            writeln!(store, "\\copy (SELECT * {rows}) TO '{file}'")?;
            writeln!(script, "\\copy {table} FROM '{file}'")?;
        }
        let path = directory.join(format!("{session}.sql"));
        std::fs::write(&path, script)?;
        write!(all, "{} -f {} & ", psql(server), path.display())?;
    }
    let path = directory.join("store.sql");
    std::fs::write(&path, store)?;
    finish(&shell(format!("{} -f {}", psql(server), path.display())))?;
    let copy = Contender {
        name: "COPY by psql".to_owned(),
        command: shell(format!("{all} wait")).into(),
        operations: |text| (text.matches("COPY ").count() == FILES).then_some(1.0),
    };
    Ok([ours(server, "load", 0.0), copy])
}

/// The workload's load, and `LOAD DATA` from files that the server reads, in as many sessions.
pub fn beside_load_data(server: &mut BenchServer) -> Result<[Contender; 2]> {
    // The only place where the server writes and reads files.
    let directory = PathBuf::from(server.text("SELECT @@secure_file_priv")?);
    let directory = directory.as_path();
    for (_, file, rows) in (0..LOADERS).flat_map(|session| files(directory, session)) {
        server.sql(&format!("SELECT * INTO OUTFILE '{}' {rows}", file.display()))?;
    }
    let (socket, database) = (server.socket.display().to_string(), server.database.clone());
    let command = ["load-data".to_owned(), socket, database, directory.display().to_string()];
    let load_data = Contender {
        name: "LOAD DATA".to_owned(),
        command: ourselves(command.into()),
        operations: plain,
    };
    Ok([ours(server, "load", 0.0), load_data])
}

/// `LOAD DATA` of these files; returns how many there are.
pub fn load_data(socket: &Path, database: &str, directory: &Path) -> Result<usize> {
    let session = |session: u32| -> Result<usize> {
        let target = client::target(socket.to_owned(), database.to_owned(), true);
        let mut connection = Single::connect(&target, 0, 0)?;
        let mut loaded = 0;
        for (table, file, _) in files(directory, session) {
            let text = format!("LOAD DATA INFILE '{}' INTO TABLE {table}", file.display());
            let prepared = connection.prepare(Statement::plain(text, Expect::Success))?;
            connection.run(prepared)?;
            loaded += 1;
        }
        Ok(loaded)
    };
    thread::scope(|scope| {
        let session = &session;
        let all: Vec<_> = (0..LOADERS).map(|number| scope.spawn(move || session(number))).collect();
        all.into_iter().map(|one| one.join().map_err(|_| anyhow!("a session panicked"))?).sum()
    })
}

pub fn shell(command: String) -> [String; 3] {
    ["sh".to_owned(), "-c".to_owned(), command]
}

pub fn psql(server: &BenchServer) -> String {
    let BenchServer { socket_directory, port, database, .. } = server;
    let directory = socket_directory.display();
    format!("{PSQL} -X -v ON_ERROR_STOP=1 -h {directory} -p {port} -U steelyard -d {database}")
}

/// A step of the workload by steelyard's engine.
pub fn ours(server: &BenchServer, step: &str, seconds: f64) -> Contender {
    let (socket, database) = (server.socket.display().to_string(), server.database.clone());
    let command = ["tpcc-step".to_owned(), socket, database, step.to_owned(), seconds.to_string()];
    let mysql = server.mysql.then(|| "--mysql".to_owned());
    Contender {
        name: "steelyard".to_owned(),
        command: ourselves(command.into_iter().chain(mysql).collect()),
        operations: plain,
    }
}
