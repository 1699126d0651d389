//! Side-by-side benchmarks of steelyard's own costs (`make bench`). The driver is compared with a
//! bare C loop, pgbench and sysbench on one server in turn. It also measures the cost of a row of
//! l.i0, compared with another bare loop, and the cost of sampling. Each contender runs as its own
//! process, and its CPU time is the kernel's figure for that whole process. `bench sysbench`
//! compares the tests of the sysbench workload with the program's, `bench scripts` pgbench's
//! scripts with pgbench, `bench mysql` point selects from MySQL with sysbench's, and `bench kv`
//! gets from RocksDB with db_bench's. `bench tpcc` compares transactions with those of go-tpc, and
//! their load with the server's own. `bench race` measures how soon planted differences are found,
//! `bench fleet` what a submission with many machines costs. `bench workloads` runs the standard
//! workloads on every system, `bench bisect` searches histories whose culprits are known, `bench
//! pages` asks for pages about a million step results.

mod bisect;
mod client;
mod fleet;
mod kv;
mod load;
mod loading;
mod measure;
mod pages;
mod planted;
mod publish;
mod race;
mod rivals;
mod scripts;
mod server;
mod steelyard;
mod sysbench;
mod table;
mod tpcc;
mod workloads;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Side-by-side benchmarks of steelyard's own costs.
#[derive(Debug, Parser)]
#[command(name = "bench")]
struct Cli {
    /// Rounds; in each, every contender runs once, in turn
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Seconds of each run
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Only compare one client with many
    #[arg(long)]
    clients_only: bool,
    #[command(subcommand)]
    role: Option<Role>,
}

/// The other roles of this program, some of them for when it starts itself.
#[derive(Debug, Subcommand)]
enum Role {
    Race(race::RaceArgs),
    Fleet(fleet::FleetArgs),
    Workloads(workloads::WorkloadsArgs),
    Bisect(bisect::BisectArgs),
    Pages(pages::PagesArgs),
    /// The tests of the sysbench workload compared with the program sysbench
    Sysbench,
    /// pgbench scripts compared with pgbench itself
    Scripts,
    /// A pgbench script by steelyard's engine; prints the number of transactions
    #[command(hide = true)]
    Script {
        socket: PathBuf,
        database: String,
        /// A file, or the name of a built-in script
        script: String,
        protocol: String,
        seconds: f64,
        clients: u32,
    },
    /// Point selects from MySQL and MariaDB compared with the program sysbench
    Mysql,
    /// Gets from RocksDB compared with db_bench, with the same library
    Kv,
    /// Transactions derived from TPC-C compared with go-tpc, their load with the server's own
    Tpcc,
    /// A step of that workload by steelyard's engine; prints the number of operations
    #[command(hide = true)]
    TpccStep {
        socket: PathBuf,
        database: String,
        step: String,
        seconds: f64,
        /// The server is MySQL or MariaDB
        #[arg(long)]
        mysql: bool,
    },
    /// The load of that workload by LOAD DATA; prints the number of files
    #[command(hide = true)]
    LoadData {
        socket: PathBuf,
        database: String,
        directory: PathBuf,
    },
    /// Gets by steelyard's engine; prints their number
    #[command(hide = true)]
    Get {
        directory: PathBuf,
        seconds: f64,
    },
    /// Takes a third of a core in bursts, until it is killed
    #[command(hide = true)]
    Burn {
        seed: u64,
    },
    /// Point selects by steelyard's engine; prints their number
    #[command(hide = true)]
    Select {
        socket: PathBuf,
        database: String,
        statement: String,
        ids: i64,
        seconds: f64,
        /// Also sample the kernel's figures
        #[arg(long)]
        sample: bool,
        /// Connections that run it concurrently.
        #[arg(long, default_value_t = 1)]
        clients: u32,
        /// The server is MySQL or MariaDB
        #[arg(long)]
        mysql: bool,
    },
    /// A test of the sysbench workload by steelyard's engine; prints the number of queries
    #[command(hide = true)]
    Test {
        socket: PathBuf,
        database: String,
        test: String,
        rows: u64,
        seconds: f64,
    },
    /// Step l.i0 by steelyard's engine; prints the number of rows
    #[command(hide = true)]
    Load {
        socket: PathBuf,
        database: String,
        rows: u64,
        /// Prepared inserts
        #[arg(long)]
        prepared: bool,
    },
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    match cli.role {
        Some(Role::Race(args)) => race::race(&args),
        Some(Role::Fleet(args)) => fleet::measure(&args),
        Some(Role::Workloads(args)) => workloads::workloads(&args),
        Some(Role::Bisect(args)) => bisect::bisect(&args),
        Some(Role::Pages(args)) => pages::pages(&args),
        Some(Role::Sysbench) => sysbench::side_by_side(cli.rounds, cli.seconds),
        Some(Role::Scripts) => scripts::side_by_side(cli.rounds, cli.seconds),
        Some(Role::Script { socket, database, script, protocol, seconds, clients }) => {
            client::script(socket, database, &script, &protocol, seconds, clients)
        }
        Some(Role::Mysql) => mysql(cli.rounds, cli.seconds),
        Some(Role::Tpcc) => {
            tpcc::beside_load_data(cli.rounds)?;
            tpcc::side_by_side(cli.rounds, cli.seconds)
        }
        Some(Role::TpccStep { socket, database, step, seconds, mysql }) => {
            let target = client::target(socket, database, mysql);
            println!("{}", client::step(target, loading::step(&step, seconds, mysql)?)?);
            Ok(())
        }
        Some(Role::LoadData { socket, database, directory }) => {
            println!("{}", loading::load_data(&socket, &database, &directory)?);
            Ok(())
        }
        Some(Role::Kv) => kv::side_by_side(cli.rounds, cli.seconds),
        Some(Role::Get { directory, seconds }) => kv::get(directory, seconds),
        Some(Role::Test { socket, database, test, rows, seconds }) => {
            client::test(socket, database, &test, rows, seconds)
        }
        Some(Role::Burn { seed }) => race::burn(seed),
        Some(Role::Select {
            socket,
            database,
            statement,
            ids,
            seconds,
            sample,
            clients,
            mysql,
        }) => {
            let target = client::target(socket, database, mysql);
            client::select(target, &statement, ids, seconds, sample, clients)
        }
        Some(Role::Load { socket, database, rows, prepared }) => {
            client::load(socket, database, rows, prepared)
        }
        None => side_by_side(cli.rounds, cli.seconds, cli.clients_only),
    }
}

fn side_by_side(rounds: usize, seconds: f64, clients_only: bool) -> Result<()> {
    let mut server = server::BenchServer::start()?;
    println!(
        "PostgreSQL {} on one unix socket, one connection, {rounds} rounds of {seconds} s in turn.",
        server.version
    );
    println!(
        "CPU of the client process alone, user + system, in µs per query; medians over the rounds.\n"
    );
    rivals::prepare(&mut server)?;
    if !clients_only {
        let contenders = rivals::point_select(&server, seconds);
        let runs = measure::in_turn(&contenders, rounds)?;
        table::point_select(&contenders, &runs);
        rivals::system_calls(&contenders);
        println!();
        let loads = rivals::loads(&server)?;
        let runs = measure::in_turn_with(&loads, rounds, || {
            server.sql("DROP TABLE IF EXISTS pi1")?;
            server.make_insert_table()
        })?;
        table::loads(&loads, &runs);
        println!();
        let sampling = rivals::sampling(&server, seconds);
        let runs = measure::in_turn(&sampling, rounds)?;
        table::sampling(&sampling, &runs);
        println!();
    }
    for clients in [rivals::clients(&server, seconds), rivals::scripted_clients(&server, seconds)] {
        let runs = measure::in_turn(&clients, rounds)?;
        table::clients(&clients, &runs);
    }
    server.stop()
}

/// Point selects by sysbench's statement, from both systems that it reaches by its MySQL driver.
fn mysql(rounds: usize, seconds: f64) -> Result<()> {
    for reference in ["mysql@8.0.31", "mariadb@10.11.5"] {
        let mut server = server::BenchServer::of(reference, &[("innodb_buffer_pool_size", "1GB")])?;
        println!(
            "{reference} on one unix socket, one connection, {rounds} rounds of {seconds} s in turn."
        );
        rivals::prepare(&mut server)?;
        let contenders = rivals::beside_sysbench(&server, seconds);
        let runs = measure::in_turn(&contenders, rounds)?;
        table::beside_sysbench(&contenders, &runs);
        rivals::system_calls(&contenders);
        println!();
        server.stop()?;
    }
    Ok(())
}
