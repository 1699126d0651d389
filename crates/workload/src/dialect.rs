//! Differences between systems in the SQL that they accept, as far as a benchmark's requests
//! differ.

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
        engine: Engine,
    },
}

/// A storage engine of MySQL and MariaDB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
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
            "mysql" | "mariadb" if engine == Some("myrocks") => Dialect::mysql(Engine::MyRocks),
            "mysql" | "mariadb" => Dialect::mysql(Engine::InnoDb),
            "none" => Dialect::Files,
            "device" => Dialect::Device,
            _ => Dialect::KeyValue,
        }
    }

    /// PostgreSQL of the given major version.
    pub fn postgres(major: u32) -> Dialect {
        Dialect::Sql(Sql::Postgres { major })
    }

    /// MySQL or MariaDB with this engine.
    pub fn mysql(engine: Engine) -> Dialect {
        Dialect::Sql(Sql::Mysql { engine })
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
    /// Type and constraint of a column of 64 bits that the system fills with ascending numbers.
    pub(crate) fn big_serial(self) -> &'static str {
        match self {
            Sql::Postgres { .. } => "bigserial NOT NULL",
            Sql::Mysql { .. } => "bigint NOT NULL AUTO_INCREMENT",
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
            Sql::Mysql { engine: Engine::InnoDb } => " ENGINE=InnoDB",
            Sql::Mysql { engine: Engine::MyRocks } => " ENGINE=ROCKSDB",
        }
    }

    /// Creates indexes on a table, each with a name and columns: at once where the system reads the
    /// table only once for all of them.
    pub(crate) fn create_indexes(self, table: &str, indexes: &[(String, &str)]) -> Vec<String> {
        if self != (Sql::Mysql { engine: Engine::InnoDb }) {
            let create =
                |(name, columns): &(_, _)| format!("CREATE INDEX {name} ON {table} ({columns})");
            return indexes.iter().map(create).collect();
        }
        let add = indexes.iter().map(|(name, columns)| format!("ADD INDEX {name} ({columns})"));
        let add = add.collect::<Vec<_>>().join(", ");
        (!add.is_empty()).then(|| format!("ALTER TABLE {table} {add}")).into_iter().collect()
    }

    /// The text after the table in a query that an index is made for. PostgreSQL has nothing like
    /// it.
    pub(crate) fn force_index(self, index: &str) -> String {
        match self {
            Sql::Postgres { .. } => String::new(),
            Sql::Mysql { .. } => format!(" FORCE INDEX ({index})"),
        }
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
        assert_eq!(Sql::Mysql { engine: Engine::InnoDb }.create_indexes("a", &[]), [""; 0]);
    }

    #[test]
    fn what_is_no_sql_is_named() {
        let error = Dialect::KeyValue.sql("insert").unwrap_err();
        assert_eq!(error, Error::Unfit { workload: "insert", needs: "SQL" });
    }
}
