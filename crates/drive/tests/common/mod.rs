//! Helpers for tests against a real server.

pub mod mysql;
pub mod revived;

use std::sync::Arc;
use std::time::{Duration, Instant};

use dbms::{Cache, Endpoint, Host, Ledger, Reference, Server, ServerSpec, ServerUser, System};
use drive::{Address, Load, Outcome, Postgres, Target};
use workload::{Class, Draw, End, Expect, Pace, Piece, Sent, Statement, Step, Stream, Width};

/// Anything that takes longer than this hangs, even on the slowest machine. If a test shows that
/// something ends early, it would otherwise run for longer than this.
pub const HANG: Duration = Duration::from_secs(600);

/// A real server with its files, which are removed with it.
pub struct TestServer {
    pub server: Box<dyn System>,
    /// Removed with it.
    directory: tempfile::TempDir,
}

impl TestServer {
    pub fn start() -> TestServer {
        TestServer::of("postgres@14.3")
    }

    /// A server of this version.
    pub fn of(reference: &str) -> TestServer {
        let config = [("shared_buffers", "32MB"), ("fsync", "off"), ("max_connections", "250")];
        let (server, directory) = start(reference, &config);
        TestServer { server, directory }
    }

    pub fn target(&self) -> Target {
        postgres_target(self.postgres())
    }

    pub fn postgres(&self) -> Postgres {
        let Endpoint::Postgres(Server { host, user, database, .. }) = self.server.endpoint() else {
            panic!("no PostgreSQL")
        };
        let Host::Socket(socket) = host else { panic!("no socket") };
        Postgres { address: Address::Unix(socket), user, password: None, database }
    }

    /// The server's whole log.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("trial/server.log")).unwrap()
    }

    pub fn sql(&mut self, sql: &str) {
        self.server.need_sql().unwrap().execute(sql).unwrap();
    }

    pub fn number(&mut self, sql: &str) -> i64 {
        self.server.need_sql().unwrap().query_i64(sql).unwrap()
    }

    /// Changes a setting, and waits until later connections have it.
    pub fn set(&mut self, name: &str, value: &str) {
        self.sql(&format!("ALTER SYSTEM SET {name} = '{value}'"));
        self.sql("SELECT pg_reload_conf()");
        let told = format!("parameter \"{name}\" changed to \"{value}\"");
        wait_for(&told, || self.log().contains(&told));
    }

    /// Waits until the sessions of clients have ended and have reported their counts.
    pub fn wait_for_clients(&mut self) {
        let sessions = "SELECT count(*) FROM pg_stat_activity \
                        WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
        wait_for("the end of the sessions", || self.number(sessions) == 0);
    }
}

/// Starts a server of this version with these settings, in a directory of its own.
fn start(reference: &str, config: &[(&str, &str)]) -> (Box<dyn System>, tempfile::TempDir) {
    let directory = testing::directory();
    let reference: Reference = reference.parse().unwrap();
    let cache = Cache::open_default().unwrap();
    let ledger = Ledger::open(directory.path().join("ledger")).unwrap();
    let installation = dbms::obtain(&reference, &cache, &|_| ()).unwrap();
    let trial = directory.path().join("trial");
    let user = ServerUser::choose(None).unwrap();
    let server = dbms::start(ServerSpec {
        config: config.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        ..ServerSpec::new("tested", &installation, &trial, user, &cache, &ledger)
    })
    .unwrap();
    (server, directory)
}

/// Waits until a condition holds.
pub fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < HANG, "{what} does not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub fn postgres_target(postgres: Postgres) -> Target {
    Target::new("pg14.3", postgres)
}

pub fn text(text: &str) -> Piece {
    Piece::Text(text.to_owned())
}

pub fn uniform(low: i64, high: i64) -> Piece {
    Piece::Value(Draw::Uniform { low, high, width: Width::Four })
}

pub fn statement(pieces: Vec<Piece>, prepared: bool, expect: Expect) -> Statement {
    Statement { pieces, sent: Sent::prepared(prepared), expect }
}

pub fn stream(client: u32, class: Class, statement: Statement, pace: Pace, end: End) -> Stream {
    Stream { pace, end, ..Stream::repeating(client, class, statement) }
}

pub fn step(counted: Class, streams: Vec<Stream>, seconds: Option<f64>) -> Step {
    Step { cells: 4, seconds, ..Step::new("test", streams.len() as u32, counted, streams) }
}

pub fn load(step: Step, targets: Vec<Target>) -> Load {
    Load::new(Arc::new(step), targets, 42)
}

/// Runs a step to its end.
pub fn run(step: Step, server: &TestServer) -> Outcome {
    run_on(step, server.target())
}

/// The same on any target.
pub fn run_on(step: Step, target: Target) -> Outcome {
    let ready = drive::prepare(&load(step, vec![target])).unwrap();
    let running = ready.go(Instant::now() + Duration::from_millis(5));
    assert!(running.wait(HANG), "the step hangs");
    running.join().remove(0)
}

/// Runs a timed step until this many operations are done, however long they take.
pub fn run_until(step: Step, target: Target, operations: u64) -> Outcome {
    let step = Step { seconds: step.seconds.map(|_| 3600.0), ..step };
    let running = drive::prepare(&load(step, vec![target])).unwrap().go(Instant::now());
    while running.operations()[0] < operations && !running.wait(Duration::from_millis(10)) {}
    running.stop();
    assert!(running.wait(HANG), "the step hangs");
    running.join().remove(0)
}

/// The row with one of the ids 1 to 1000 of [`make_table`]'s table.
pub fn point_select(prepared: bool) -> Statement {
    statement(
        vec![text("SELECT v FROM t WHERE id = "), uniform(1, 1001)],
        prepared,
        Expect::Rows { min: 1, max: 1 },
    )
}

/// A table `t (id int primary key, v int)` with ids 1 to `rows`.
pub fn make_table(server: &mut TestServer, rows: u32) {
    server.sql("CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL)");
    server.sql(&format!("INSERT INTO t SELECT i, 0 FROM generate_series(1, {rows}) i"));
    server.sql("ANALYZE t");
}
