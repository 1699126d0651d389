//! Clients that each send one query after another to a PostgreSQL server: throughput and latency.
//!
//! `cargo run --release -p steelyard-drive --example point_queries -- localhost 5432 me bench 8 10`
//!
//! The arguments are `HOST PORT USER DATABASE [CLIENTS] [SECONDS] [SCALE]`. HOST is a name, an
//! address, or the directory of the server's socket, such as `/run/postgresql`. PGPASSWORD has the
//! password, if the server asks for one.
//!
//! With SCALE, a query reads one row of `pgbench_accounts`, which `pgbench -i -s SCALE` makes.
//! Otherwise it is `SELECT 1`.

use std::env;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use drive::{Address, Load, Postgres, Target};
use reference::Password;
use workload::{Class, Draw, Expect, Piece, Sent, Statement, Step, Stream, Width};

const USAGE: &str = "usage: point_queries HOST PORT USER DATABASE [CLIENTS] [SECONDS] [SCALE]";

/// How long to wait for the last answers.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [host, port, user, database, numbers @ ..] = &arguments[..] else {
        return Err(USAGE.into());
    };
    let port = port.parse::<u16>().map_err(|_| USAGE)?;
    let number = |place: usize, default: u32| match numbers.get(place) {
        Some(text) => text.parse::<u32>().map_err(|_| USAGE),
        None => Ok(default),
    };
    let (clients, seconds, scale) = (number(0, 4)?, number(1, 5)?, number(2, 0)?);
    // `aid` is an integer of four bytes.
    if clients == 0 || seconds == 0 || scale > 21_474 {
        return Err(USAGE.into());
    }

    let address = if host.starts_with('/') {
        Address::Unix(Path::new(host).join(format!(".s.PGSQL.{port}")))
    } else {
        Address::Tcp(host.clone(), port)
    };
    let password = env::var("PGPASSWORD").ok().map(Password::new);
    let (user, database) = (user.clone(), database.clone());
    let server = Postgres { address, user, password, database };

    let query = query(scale);
    let stream = |client| Stream::repeating(client, Class::QUERY, query.clone());
    let step = Step {
        seconds: Some(seconds.into()),
        ..Step::new("point queries", clients, Class::QUERY, (0..clients).map(stream).collect())
    };
    let load = Load::new(Arc::new(step), vec![Target::new("server", server)], 1);

    // All clients are connected and have prepared their statements before the first one starts.
    let running = drive::prepare(&load)?.go(Instant::now());
    if !running.wait(Duration::from_secs(seconds.into()) + PATIENCE) {
        return Err("the server does not answer".into());
    }
    let outcome = running.join().remove(0);
    if let Some(fatal) = &outcome.fatal {
        return Err(fatal.as_str().into());
    }
    let queries = outcome.class(&Class::QUERY).ok_or("no query was sent")?;
    let micros = |quantile| queries.latency.value_at_quantile(quantile) as f64 / 1000.0;
    let (rate, p50, p99) = (outcome.rate(), micros(0.5), micros(0.99));
    println!("{clients} clients: {rate:.0} queries/s, p50 {p50:.1} µs, p99 {p99:.1} µs");
    Ok(())
}

/// A query of one row, which the server parses once for each client.
fn query(scale: u32) -> Statement {
    let text = |text: &str| Piece::Text(text.to_owned());
    let pieces = if scale == 0 {
        vec![text("SELECT 1")]
    } else {
        let high = i64::from(scale) * 100_000 + 1;
        let account = Draw::Uniform { low: 1, high, width: Width::Four };
        vec![text("SELECT abalance FROM pgbench_accounts WHERE aid = "), Piece::Value(account)]
    };
    Statement { pieces, sent: Sent::Prepared, expect: Expect::Rows { min: 1, max: 1 } }
}
