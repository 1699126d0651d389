//! The systems that the suite runs on, and the facts it needs about them.

use crate::common::{Place, Variant, socket_directory, variant, with_myrocks};
use crate::rocksdb;
use dbms::{Endpoint, Error, Host, Server, ServerSpec, System};
use mysql::prelude::Queryable;
use std::path::Path;

/// All of them: their name in a plan, and the facts. `DBMS_TEST_VERSIONS` adds further versions of
/// systems that are here, such as `postgres@9.6.24 postgres@18.1`.
const SUBJECTS: [(&str, &Facts); 8] = [
    ("postgres@13.7", &POSTGRES),
    ("path:/usr/lib/postgresql/15", &POSTGRES),
    ("rocksdb@7.4.5", &ROCKSDB),
    ("rocksdb@10.10.1", &ROCKSDB),
    ("mariadb@10.11.5", &MARIADB),
    ("mysql@8.0.31", &MYSQL),
    ("mysql@5.6.24", &MYSQL),
    ("mariadb with MyRocks", &MYROCKS),
];

/// The facts that the suite needs about a system.
pub struct Facts {
    /// The beginning of its name in a plan.
    name: &'static str,
    /// Settings with which it needs little memory, and does nothing on its own that counters show.
    config: &'static [(&'static str, &'static str)],
    /// Its storage engine, if it has a choice.
    engine: Option<&'static str>,
    /// The object that `fill` fills.
    pub object: &'static str,
    /// Creates the object if necessary, and adds rows with a client that then disconnects.
    pub fill: fn(&mut dyn System, rows: u32),
    /// How many rows are in it.
    pub rows: fn(&mut dyn System) -> i64,
    /// View and name of a counter of the object that grows by 1 for each row.
    pub counter: (&'static str, &'static str),
    /// The figure of its footprint that grows with the rows.
    pub bytes: &'static str,
    /// Does something that takes hours.
    pub long: fn(&mut dyn System) -> Result<(), Error>,
    /// Writes until there is no space left.
    pub hoard: fn(&mut dyn System) -> Result<(), Error>,
    /// A setting and a value that it rejects.
    pub rejected: (&'static str, &'static str),
    /// A setting that steelyard chooses itself.
    pub reserved: &'static str,
    /// True if it prepares data directories in the cache, which take more than 10 MB.
    pub prepares: bool,
    /// Log messages after the start, and after a clean stop.
    pub says: (&'static str, &'static str),
}

const POSTGRES: Facts = Facts {
    name: "postgres",
    config: &[("shared_buffers", "16MB"), ("autovacuum", "off")],
    engine: None,
    object: "t",
    fill: |system, rows| {
        let mut config = postgres::Config::new();
        config.host_path(socket_directory(system)).user("steelyard").dbname("steelyard");
        let mut client = config.connect(postgres::NoTls).unwrap();
        let make = "create table if not exists t (a int primary key)";
        let fill = format!(
            "insert into t select a + (select count(*) from t) from generate_series(1, {rows}) a"
        );
        client.batch_execute(make).unwrap();
        client.batch_execute(&fill).unwrap();
        client.close().unwrap();
    },
    rows: |system| system.sql().unwrap().query_i64("select count(*) from t").unwrap(),
    counter: ("pg_stat_all_tables", "n_tup_ins"),
    bytes: "total",
    long: |system| system.need_sql()?.execute("select pg_sleep(36000)").map(drop),
    hoard: |system| {
        // Without its log, since a server that cannot write that one ends.
        let rows = "select a, repeat('x', 500) from generate_series(1, 2000000000) a";
        system.need_sql()?.execute(&format!("create unlogged table hoard as {rows}")).map(drop)
    },
    rejected: ("work_mem", "banana"),
    reserved: "port",
    prepares: true,
    says: ("ready to accept connections", "database system is shut down"),
};

const ROCKSDB: Facts = Facts {
    name: "rocksdb",
    config: &[("write_buffer_size", "4MB"), ("max_background_jobs", "1")],
    engine: None,
    object: "default",
    fill: |system, rows| assert_eq!(rocksdb::ask(system, "fill", rows).unwrap(), i64::from(rows)),
    rows: |system| rocksdb::ask(system, "rows", 0).unwrap(),
    counter: ("rocksdb.properties", "estimate-num-keys"),
    bytes: "total",
    long: |system| rocksdb::ask(system, "long", 0).map(drop),
    hoard: |system| rocksdb::ask(system, "hoard", 0).map(drop),
    rejected: ("write_buffer_size", "banana"),
    reserved: "wal_dir",
    prepares: false,
    says: ("opened", "closing"),
};

/// The same for both systems but their names.
const MYSQL: Facts = Facts {
    name: "mysql",
    config: &[
        ("innodb_buffer_pool_size", "16MB"),
        ("innodb_log_file_size", "4MB"),
        ("performance_schema", "ON"),
    ],
    engine: None,
    object: "t",
    fill: |system, rows| {
        let mut client = mysql_client(system);
        let mut run = |sql: &str| client.query_drop(sql).unwrap();
        run("create table if not exists t (a int auto_increment primary key)");
        let rows = (0..rows).map(|_| "(null)").collect::<Vec<_>>();
        for some in rows.chunks(1000) {
            run(&format!("insert into t values {}", some.join(",")));
        }
    },
    rows: |system| system.sql().unwrap().query_i64("select count(*) from t").unwrap(),
    counter: ("table_io_waits_summary_by_table", "count_insert"),
    bytes: "total",
    long: |system| {
        // Not sleep(), which ends without an error.
        let tables =
            ["a", "b", "c", "d", "e"].map(|it| format!("information_schema.collations {it}"));
        let sql = format!("select count(*) from {}", tables.join(", "));
        system.need_sql()?.execute(&sql).map(drop)
    },
    hoard: |system| {
        let sql = system.need_sql()?;
        sql.execute("create table hoard (a varchar(8000))")?;
        // Not from a query, whose temporary table would wait for space.
        let rows = ["(repeat('x', 7000))"; 50].join(",");
        loop {
            sql.execute(&format!("insert into hoard values {rows}"))?;
        }
    },
    rejected: ("innodb_buffer_pool_size", "banana"),
    reserved: "port",
    prepares: true,
    says: ("ready for connections", "Shutdown complete"),
};

const MARIADB: Facts = Facts { name: "mariadb", ..MYSQL };

const MYROCKS: Facts = Facts { name: "myrocks", engine: Some("myrocks"), ..MYSQL };

/// A client of its own, which disconnects when it is dropped.
fn mysql_client(system: &dyn System) -> mysql::Conn {
    let Endpoint::Mysql(Server { host: Host::Socket(file), user, database, .. }) =
        system.endpoint()
    else {
        panic!("expected a socket, found {}", system.endpoint())
    };
    let options = mysql::OptsBuilder::new()
        .socket(Some(file.display().to_string()))
        .user(Some(user))
        .db_name(Some(database));
    mysql::Conn::new(options).unwrap()
}

/// A system that was obtained, and what is known of it.
pub struct Subject {
    pub facts: &'static Facts,
    pub variant: Variant,
}

/// Those available on this machine; the others are skipped.
pub fn subjects() -> Vec<Subject> {
    rocksdb::contain();
    let more = std::env::var("DBMS_TEST_VERSIONS").unwrap_or_default();
    let more = more.split_ascii_whitespace().map(|text| {
        let known = SUBJECTS.iter().find(|(_, facts)| text.starts_with(facts.name));
        (text, known.unwrap_or_else(|| panic!("no facts of {text}")).1)
    });
    SUBJECTS
        .into_iter()
        .chain(more)
        .filter_map(|(text, facts)| {
            let found = if facts.engine.is_some() { with_myrocks() } else { variant(text) };
            Some(Subject { facts, variant: found? })
        })
        .collect()
}

/// The first of each system, for tests that don't depend on its version.
pub fn first() -> Vec<Subject> {
    let mut names = Vec::new();
    let mut subjects = subjects();
    subjects.retain(|subject| {
        let new = !names.contains(&subject.facts.name);
        names.push(subject.facts.name);
        new
    });
    subjects
}

impl Subject {
    /// The specification that starts it in `directory`.
    pub fn spec<'a>(&'a self, place: &'a Place, directory: &'a Path) -> ServerSpec<'a> {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let config = self.facts.config.iter().map(own).collect();
        ServerSpec { config, engine: self.facts.engine, ..place.spec(&self.variant, directory) }
    }

    /// A started one.
    pub fn start(&self, place: &Place) -> Box<dyn System> {
        dbms::start(self.spec(place, &place.trial())).unwrap()
    }

    /// Why it does not start with a setting.
    pub fn refusal(&self, place: &Place, setting: &str, value: &str) -> Error {
        let trial = place.trial();
        let mut spec = self.spec(place, &trial);
        spec.config.insert(setting.to_owned(), value.to_owned());
        match dbms::start(spec) {
            Ok(_) => panic!("{} starts with {setting} = {value}", self.variant.name),
            Err(error) => error,
        }
    }
}
