//! Helpers for tests against a real MySQL or MariaDB server.

use dbms::{Endpoint, Host, Server, System};
use drive::{Address, Mysql, Outcome, Single, Target};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use workload::{Expect, Statement, Step};

/// A real server with its files, which are removed with it.
pub struct MysqlServer {
    pub server: Box<dyn System>,
    /// Removed with it.
    _directory: tempfile::TempDir,
}

impl MysqlServer {
    /// A server of this version.
    pub fn of(reference: &str) -> MysqlServer {
        let (server, directory) = super::start(reference, &[("max_connections", "250")]);
        MysqlServer { server, _directory: directory }
    }

    pub fn pid(&self) -> u32 {
        self.server.root_pid().unwrap()
    }

    /// Ends it at once.
    pub fn kill(&self) {
        kill(Pid::from_raw(self.pid() as i32), Signal::SIGKILL).unwrap();
    }

    pub fn mysql(&self) -> Mysql {
        let Endpoint::Mysql(Server { host, user, database, .. }) = self.server.endpoint() else {
            panic!("no MySQL")
        };
        let Host::Socket(socket) = host else { panic!("no socket") };
        Mysql { address: Address::Unix(socket), user, password: None, database }
    }

    pub fn target(&self) -> Target {
        Target::new("my", self.mysql())
    }

    pub fn run(&self, step: Step) -> Outcome {
        super::run_on(step, self.target())
    }

    pub fn connection(&self) -> Single {
        Single::connect(&self.target(), 1, 4).unwrap()
    }

    pub fn sql(&self, sql: &str) {
        execute(&mut self.connection(), sql);
    }

    pub fn number(&self, sql: &str) -> i64 {
        number(&mut self.connection(), sql)
    }

    /// A global status variable that is a number.
    pub fn status(&self, name: &str) -> i64 {
        let find = |schema: &str| {
            let text =
                format!("SELECT VARIABLE_VALUE FROM {schema} WHERE VARIABLE_NAME = '{name}'");
            let statement = Statement::plain(text, Expect::Rows { min: 1, max: 1 });
            self.connection().row(&statement).ok().and_then(|row| row[0])
        };
        find("performance_schema.global_status")
            .or_else(|| find("information_schema.GLOBAL_STATUS"))
            .unwrap()
    }
}

/// Executes a statement.
pub fn execute(connection: &mut Single, sql: &str) {
    let prepared = connection.prepare(Statement::plain(sql, Expect::Success)).unwrap();
    connection.run(prepared).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// The number that a query finds.
pub fn number(connection: &mut Single, sql: &str) -> i64 {
    let statement = Statement::plain(sql, Expect::Rows { min: 1, max: 1 });
    connection.row(&statement).unwrap_or_else(|error| panic!("{sql}: {error}"))[0].unwrap()
}

/// A table `t (id int primary key, v int)` with ids 1 to `rows`.
pub fn make_table(server: &MysqlServer, rows: u32) {
    server.sql("CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL) ENGINE = InnoDB");
    let rows: Vec<String> = (1..=rows).map(|id| format!("({id},0)")).collect();
    server.sql(&format!("INSERT INTO t VALUES {}", rows.join(",")));
}
