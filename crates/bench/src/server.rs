//! The one server that all contenders use.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dbms::{Cache, Endpoint, Host, Ledger, Reference, Server, ServerSpec, ServerUser, System};
use workload::{Dialect, insert};

/// A tick of the times in /proc, in microseconds: 1/100 s, whatever the kernel's own.
const TICK_US: f64 = 10_000.0;

/// A started server and its address.
pub struct BenchServer {
    server: Option<Box<dyn System>>,
    pub version: String,
    pub socket_directory: PathBuf,
    /// The socket's file.
    pub socket: PathBuf,
    pub port: u16,
    pub database: String,
    /// True for MySQL and MariaDB, false for PostgreSQL.
    pub mysql: bool,
    _directory: tempfile::TempDir,
}

impl BenchServer {
    /// Debian's PostgreSQL 15, or the newest 15 from the archive if Debian's isn't installed.
    pub fn start() -> Result<BenchServer> {
        Self::start_with(&[])
    }

    /// The same, with more settings.
    pub fn start_with(more: &[(&str, &str)]) -> Result<BenchServer> {
        let debian = std::path::Path::new("/usr/lib/postgresql/15/bin/postgres");
        let text = if debian.exists() { "path:/usr/lib/postgresql/15" } else { "postgres@15" };
        let config = [
            ("shared_buffers", "1GB"),
            ("max_connections", "300"),
            ("max_wal_size", "8GB"),
            ("checkpoint_timeout", "1h"),
            ("autovacuum", "off"),
        ];
        Self::of(text, &[&config, more].concat())
    }

    /// The server that `text` refers to, with these settings.
    pub fn of(text: &str, config: &[(&str, &str)]) -> Result<BenchServer> {
        let reference: Reference = text.parse()?;
        let cache = Cache::open_default()?;
        let installation = dbms::obtain(&reference, &cache, &|line| eprintln!("{line}"))?;
        let directory = testing::directory();
        let ledger = Ledger::open_default()?;
        let place = directory.path().join("server");
        let user = ServerUser::choose(None)?;
        let config = config.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let server = dbms::start(ServerSpec {
            config: config.collect(),
            ..ServerSpec::new("bench", &installation, &place, user, &cache, &ledger)
        })?;
        let endpoint = server.endpoint();
        let mysql = matches!(endpoint, Endpoint::Mysql(_));
        let (Endpoint::Postgres(address) | Endpoint::Mysql(address)) = endpoint else {
            bail!("the server has no address")
        };
        let Server { host: Host::Socket(socket), port, database, .. } = address else {
            bail!("the server has no unix socket")
        };
        Ok(BenchServer {
            server: Some(server),
            version: installation.version,
            socket_directory: socket.parent().context("the socket has a directory")?.to_owned(),
            socket,
            port,
            database,
            mysql,
            _directory: directory,
        })
    }

    pub fn sql(&mut self, sql: &str) -> Result<()> {
        let server = self.server.as_mut().context("the server has been stopped")?;
        server.need_sql()?.execute(sql)?;
        Ok(())
    }

    /// The text that a query returns.
    pub fn text(&mut self, sql: &str) -> Result<String> {
        let server = self.server.as_mut().context("the server has been stopped")?;
        let rows = server.need_sql()?.query_rows(sql)?;
        rows.into_iter().flatten().next().flatten().with_context(|| format!("{sql}: no text"))
    }

    /// Brings statistics up to date and writes what is dirty.
    pub fn settle(&mut self) -> Result<()> {
        self.sql(if self.mysql { "ANALYZE TABLE sbtest1" } else { "VACUUM ANALYZE" })?;
        self.flush()
    }

    /// Writes what is dirty.
    pub fn flush(&mut self) -> Result<()> {
        let server = self.server.as_mut().context("the server has been stopped")?;
        Ok(server.flush()?)
    }

    /// CPU microseconds that the server's processes have used, including ended ones. The kernel
    /// counts them in ticks of 10 ms.
    pub fn cpu_us(&self) -> Result<f64> {
        let pid = self.server.as_ref().and_then(|server| server.root_pid());
        let pid = pid.context("the server is not known")?;
        let ticks = |pid: u32, ended: bool| -> Result<f64> {
            let text = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
            let fields = text.rsplit_once(") ").context("a process without a state")?.1;
            let fields: Vec<&str> = fields.split(' ').collect();
            // utime, stime, cutime, cstime: fields 14 to 17 of proc(5), counted from 1.
            let of = |at: usize| fields.get(at - 3).and_then(|text| text.parse::<f64>().ok());
            let wanted = if ended { 14..=17 } else { 14..=15 };
            wanted.map(of).sum::<Option<f64>>().context("a process without CPU time")
        };
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
        let mut all = ticks(pid, true)?;
        for child in children.split_whitespace() {
            // One that ends meanwhile is in the parent's account.
            all += ticks(child.parse()?, false).unwrap_or(0.0);
        }
        Ok(all * TICK_US)
    }

    /// The empty table of the insert benchmark.
    pub fn make_insert_table(&mut self) -> Result<()> {
        let benchmark = insert::benchmark(&plan::InsertPlan::default(), 1, Dialect::postgres(15))?;
        for sql in benchmark.setup {
            self.sql(&sql)?;
        }
        Ok(())
    }

    pub fn stop(mut self) -> Result<()> {
        if let Some(server) = self.server.take() {
            server.stop()?.discard()?;
        }
        Ok(())
    }
}
