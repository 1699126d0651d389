//! Differences between systems in the SQL that they accept, as far as a benchmark's requests
//! differ.

use std::time::Duration;

use plan::Isolation;

use crate::Error;

/// The SQL that a system accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// SQL.
    Sql(Sql),
    /// Keys and values.
    KeyValue,
    /// There is no system, only a directory for files.
    Files,
    /// There is no system, only a block device, which is never written.
    Device,
}

/// Whose SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sql {
    /// PostgreSQL of this major version (9.6 counts as 9).
    Postgres {
        /// Major version, for example 14.
        major: u32,
    },
    /// MySQL or MariaDB.
    Mysql {
        /// The engine that stores the tables.
        engine: StorageEngine,
        /// True for MariaDB.
        mariadb: bool,
    },
}

/// A storage engine of MySQL and MariaDB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageEngine {
    /// InnoDB.
    InnoDb,
    /// MyRocks.
    MyRocks,
}

impl Dialect {
    /// The dialect of the system called `dbms`, with its storage engine if it has several.
    pub fn of(dbms: &str, major: u32, engine: Option<&str>) -> Dialect {
        match dbms {
            "postgres" => Dialect::postgres(major),
            "mysql" | "mariadb" => {
                let engine = match engine {
                    Some("myrocks") => StorageEngine::MyRocks,
                    _ => StorageEngine::InnoDb,
                };
                Dialect::Sql(Sql::Mysql { engine, mariadb: dbms == "mariadb" })
            }
            "none" => Dialect::Files,
            "device" => Dialect::Device,
            _ => Dialect::KeyValue,
        }
    }

    /// PostgreSQL of the given major version.
    pub fn postgres(major: u32) -> Dialect {
        Dialect::Sql(Sql::Postgres { major })
    }

    /// MySQL with this engine.
    pub fn mysql(engine: StorageEngine) -> Dialect {
        Dialect::Sql(Sql::Mysql { engine, mariadb: false })
    }

    /// A name for the systems whose results have the same types and text forms; empty for systems
    /// without SQL.
    pub fn family(self) -> &'static str {
        match self {
            Dialect::Sql(Sql::Postgres { .. }) => "PostgreSQL",
            Dialect::Sql(Sql::Mysql { .. }) => "MySQL and MariaDB",
            _ => "",
        }
    }

    /// Its SQL, for this workload.
    ///
    /// # Errors
    /// [`Error::Unfit`] if it speaks none.
    pub fn sql(self, workload: &'static str) -> Result<Sql, Error> {
        match self {
            Dialect::Sql(sql) => Ok(sql),
            _ => Err(Error::Unfit { workload, needs: "SQL" }),
        }
    }
}

impl Sql {
    /// The name of the system in plans.
    pub(crate) fn system(self) -> &'static str {
        match self {
            Sql::Postgres { .. } => "postgres",
            Sql::Mysql { mariadb: false, .. } => "mysql",
            Sql::Mysql { mariadb: true, .. } => "mariadb",
        }
    }

    /// The rules by which texts are divided into tokens.
    pub(crate) fn syntax(self) -> plan::Syntax {
        match self {
            Sql::Postgres { .. } => plan::Syntax::Dollars,
            Sql::Mysql { .. } => plan::Syntax::Backslashes,
        }
    }

    /// Lets a session only read, and no statement take longer than this.
    pub(crate) fn only_read(self, timeout: Option<Duration>) -> Vec<String> {
        let read_only = match self {
            Sql::Postgres { .. } => "SET default_transaction_read_only = on",
            Sql::Mysql { .. } => "SET SESSION TRANSACTION READ ONLY",
        };
        std::iter::once(read_only.to_owned()).chain(self.limit(timeout)).collect()
    }

    /// Limits the time of a session's statements.
    pub(crate) fn limit(self, timeout: Option<Duration>) -> Option<String> {
        timeout.map(|limit| match self {
            Sql::Postgres { .. } => format!("SET statement_timeout = {}", limit.as_millis()),
            Sql::Mysql { mariadb: false, .. } => {
                // Since 5.7.8, to which older versions read a comment.
                let limit = limit.as_millis();
                format!("SET @steelyard = 0 /*!50708 , SESSION max_execution_time = {limit} */")
            }
            Sql::Mysql { mariadb: true, .. } => {
                format!("SET SESSION max_statement_time = {}", limit.as_secs_f64())
            }
        })
    }

    /// Has a session print floating-point numbers with all of their digits. Versions that do so
    /// anyway are told alike, since only equal steps share slices.
    pub(crate) fn print_exactly(self) -> Option<&'static str> {
        match self {
            Sql::Postgres { .. } => Some("SET extra_float_digits = 3"),
            Sql::Mysql { .. } => None,
        }
    }

    /// Settings with which a server that has just started does not read by itself what it had in
    /// memory before.
    pub(crate) fn starts_cold(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Sql::Postgres { .. } => &[],
            Sql::Mysql { .. } => &[("innodb_buffer_pool_load_at_startup", "OFF")],
        }
    }

    /// Makes statistics of all tables, so that nothing has to make them later. Some systems have to
    /// be told the tables.
    pub(crate) fn analyze(self, tables: &[&str]) -> Option<String> {
        match self {
            Sql::Postgres { .. } => Some("VACUUM ANALYZE".to_owned()),
            Sql::Mysql { .. } => {
                (!tables.is_empty()).then(|| format!("ANALYZE TABLE {}", tables.join(", ")))
            }
        }
    }

    /// Type and constraint of a column of 64 bits that the system fills with ascending numbers.
    pub(crate) fn big_serial(self) -> &'static str {
        match self {
            Sql::Postgres { .. } => "bigserial NOT NULL",
            Sql::Mysql { .. } => "bigint NOT NULL AUTO_INCREMENT",
        }
    }

    /// The same of 32 bits, and the end of the table's definition if the numbers need an index from
    /// the start: one of this name.
    pub(crate) fn serial(self, index: &str, column: &str) -> (&'static str, String) {
        match self {
            Sql::Postgres { .. } => ("SERIAL", String::new()),
            Sql::Mysql { .. } => {
                ("INTEGER NOT NULL AUTO_INCREMENT", format!(", KEY {index} ({column})"))
            }
        }
    }

    /// Lets sessions take many of a column's ascending numbers at once, on systems where they would
    /// otherwise take them one by one.
    pub(crate) fn cache_serial(self, table: &str, column: &str) -> Option<String> {
        match self {
            Sql::Postgres { .. } => Some(format!("ALTER SEQUENCE {table}_{column}_seq CACHE 1000")),
            Sql::Mysql { .. } => None,
        }
    }

    /// The type of a point in time, to the second at least, without a time zone.
    pub(crate) fn time(self) -> &'static str {
        match self {
            Sql::Postgres { .. } => "timestamp without time zone",
            Sql::Mysql { .. } => "datetime",
        }
    }

    /// The text after the columns of a new table.
    pub(crate) fn table_options(self) -> &'static str {
        match self {
            Sql::Postgres { .. } => "",
            Sql::Mysql { engine: StorageEngine::InnoDb, .. } => " ENGINE=InnoDB",
            Sql::Mysql { engine: StorageEngine::MyRocks, .. } => " ENGINE=ROCKSDB",
        }
    }

    /// The same, for a table whose pages are filled.
    pub(crate) fn filled_options(self) -> &'static str {
        match self {
            Sql::Postgres { .. } => " WITH (fillfactor = 100)",
            Sql::Mysql { .. } => self.table_options(),
        }
    }

    /// The end of the definition of a table that is partitioned by a column, and the statements
    /// that make the partitions. Each partition ends before one of these values.
    ///
    /// # Errors
    /// [`Error::TooOld`] if the server's version lacks partitions.
    pub(crate) fn partitions(
        self,
        table: &str,
        column: &str,
        ends: &[String],
    ) -> Result<(String, Vec<String>), Error> {
        let by = format!(" PARTITION BY RANGE ({column})");
        match self {
            Sql::Postgres { major: found @ ..11 } => {
                Err(Error::TooOld { feature: "partitions", needs: 11, found })
            }
            Sql::Postgres { .. } => {
                let begins = std::iter::once("MINVALUE").chain(ends.iter().map(String::as_str));
                let make = |(part, (from, to)): (usize, (&str, &String))| {
                    format!(
                        "CREATE TABLE {table}_p{part} PARTITION OF {table} FOR VALUES FROM \
                         ({from}) TO ({to})"
                    )
                };
                Ok((by, begins.zip(ends).enumerate().map(make).collect()))
            }
            Sql::Mysql { .. } => {
                let make = |(part, end)| format!("PARTITION p{part} VALUES LESS THAN ({end})");
                let all: Vec<String> = ends.iter().enumerate().map(make).collect();
                Ok((format!("{by} ({})", all.join(", ")), Vec::new()))
            }
        }
    }

    /// Deletes the rows with the lowest values of a key, starting at a value, which goes between
    /// the two texts.
    pub(crate) fn delete_lowest(self, table: &str, key: &str, rows: u32) -> [String; 2] {
        let from = format!("FROM {table} WHERE {key} >= ");
        let first = format!(" ORDER BY {key} LIMIT {rows}");
        match self {
            Sql::Postgres { .. } => [
                format!("DELETE FROM {table} WHERE {key} IN (SELECT {key} {from}"),
                format!("{first})"),
            ],
            Sql::Mysql { .. } => [format!("DELETE {from}"), first],
        }
    }

    /// Creates indexes on a table, each with a name and columns. All are created at once if the
    /// system then reads the table only once.
    pub(crate) fn create_indexes(self, table: &str, indexes: &[(String, &str)]) -> Vec<String> {
        if !matches!(self, Sql::Mysql { engine: StorageEngine::InnoDb, .. }) {
            let create =
                |(name, columns): &(_, _)| format!("CREATE INDEX {name} ON {table} ({columns})");
            return indexes.iter().map(create).collect();
        }
        let add = indexes.iter().map(|(name, columns)| format!("ADD INDEX {name} ({columns})"));
        let add = add.collect::<Vec<_>>().join(", ");
        (!add.is_empty()).then(|| format!("ALTER TABLE {table} {add}")).into_iter().collect()
    }

    /// The text after the table in a query that forces the use of an index. PostgreSQL has none.
    pub(crate) fn force_index(self, index: &str) -> String {
        match self {
            Sql::Postgres { .. } => String::new(),
            Sql::Mysql { .. } => format!(" FORCE INDEX ({index})"),
        }
    }

    /// True if statements can be parsed each time and sent in pipelines, and connections have a
    /// process each.
    pub(crate) fn has_pipelines(self) -> bool {
        matches!(self, Sql::Postgres { .. })
    }

    /// The parts in which statements can be sent, of which some systems take only one at a time.
    ///
    /// # Errors
    /// A sentence about a text that can't be divided into statements.
    pub(crate) fn messages(self, text: String) -> Result<Vec<String>, String> {
        match self {
            Sql::Postgres { .. } => Ok(vec![text]),
            Sql::Mysql { .. } => plan::split(&text, self.syntax()),
        }
    }

    /// True if pgbench makes its tables there.
    pub(crate) fn has_pgbench(self) -> bool {
        matches!(self, Sql::Postgres { .. })
    }

    /// True if what a client calls is a function, each call a transaction; else a procedure, which
    /// begins and ends its own.
    pub(crate) fn calls_functions(self) -> bool {
        matches!(self, Sql::Postgres { .. })
    }

    /// Sets the isolation of a session's transactions.
    pub(crate) fn isolation(self, level: Isolation) -> String {
        let session = match self {
            Sql::Postgres { .. } => "SESSION CHARACTERISTICS AS",
            Sql::Mysql { .. } => "SESSION",
        };
        format!("SET {session} TRANSACTION ISOLATION LEVEL {}", level.sql())
    }

    /// An expression's value as text.
    pub(crate) fn as_text(self, expression: &str) -> String {
        let kind = match self {
            Sql::Postgres { .. } => "text",
            Sql::Mysql { .. } => "char",
        };
        format!("CAST({expression} AS {kind})")
    }

    /// Begins a transaction whose snapshot stays as it is.
    pub(crate) fn begin_snapshot(self) -> &'static str {
        match self {
            Sql::Postgres { .. } => "BEGIN ISOLATION LEVEL REPEATABLE READ",
            Sql::Mysql { .. } => "START TRANSACTION WITH CONSISTENT SNAPSHOT",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_made_as_each_engine_makes_them_best() {
        let indexes = [("a_x".to_owned(), "x"), ("a_y".to_owned(), "y, z")];
        let of = |dialect: Dialect| dialect.sql("test").unwrap().create_indexes("a", &indexes);
        let each = ["CREATE INDEX a_x ON a (x)", "CREATE INDEX a_y ON a (y, z)"];
        assert_eq!(of(Dialect::postgres(17)), each);
        assert_eq!(of(Dialect::of("mariadb", 10, Some("myrocks"))), each);
        let once = ["ALTER TABLE a ADD INDEX a_x (x), ADD INDEX a_y (y, z)"];
        assert_eq!(of(Dialect::of("mysql", 8, None)), once);
        let mysql = Sql::Mysql { engine: StorageEngine::InnoDb, mariadb: false };
        assert_eq!(mysql.create_indexes("a", &[]), [""; 0]);
    }

    #[test]
    fn what_is_no_sql_is_named() {
        let error = Dialect::KeyValue.sql("insert").unwrap_err();
        assert_eq!(error, Error::Unfit { workload: "insert", needs: "SQL" });
    }
}
