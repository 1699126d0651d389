//! The schema, and its version.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Marks a database as steelyard's in its header (`PRAGMA application_id`): "STLY".
pub(crate) const APPLICATION_ID: i64 = 0x5354_4C59;

/// The version of the schema, the only one that is read and written. Raise it with every change.
pub(crate) const VERSION: u32 = 7;

/// Creates the tables in an empty database, in a single transaction. Others are left alone.
///
/// Another process may be doing the same, so the version is read again under the lock.
pub(crate) fn create(connection: &Connection) -> rusqlite::Result<()> {
    if user_version(connection)? != 0 {
        return Ok(());
    }
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    if user_version(&transaction)? == 0 {
        transaction.execute_batch(include_str!("schema.sql"))?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()
}

/// The schema version of a database; 0 for an empty one.
pub(crate) fn user_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(connection: &Connection) -> Vec<String> {
        let mut statement = connection
            .prepare(
                "SELECT name FROM sqlite_schema WHERE type = 'table' \
                 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
            )
            .unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn tables_are_created_once_and_only_in_an_empty_database() {
        let connection = Connection::open_in_memory().unwrap();
        create(&connection).unwrap();
        assert_eq!(user_version(&connection).unwrap(), i64::from(VERSION));
        let before = tables(&connection);
        assert!(before.iter().any(|table| table == "experiment"), "{before:?}");
        create(&connection).unwrap();
        assert_eq!(tables(&connection), before);
        let other = Connection::open_in_memory().unwrap();
        other.pragma_update(None, "user_version", 99).unwrap();
        create(&other).unwrap();
        assert_eq!((user_version(&other).unwrap(), tables(&other).len()), (99, 0));
    }

    #[test]
    fn every_table_and_column_is_documented() {
        let connection = Connection::open_in_memory().unwrap();
        create(&connection).unwrap();
        let text = include_str!("../SCHEMA.md");
        for table in tables(&connection) {
            let heading = format!("### {table}\n");
            let section = text
                .split_once(&heading)
                .unwrap_or_else(|| panic!("SCHEMA.md lacks table {table}"))
                .1;
            let section = section.split("\n##").next().unwrap();
            let mut columns = connection.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
            let columns: Vec<String> = columns
                .query_map([&table], |row| row.get(0))
                .unwrap()
                .map(Result::unwrap)
                .collect();
            for column in &columns {
                assert!(
                    section.contains(&format!("| `{column}` |")),
                    "SCHEMA.md lacks column {table}.{column}"
                );
            }
            let documented = section.lines().filter(|l| l.starts_with("| `")).count();
            assert_eq!(documented, columns.len(), "SCHEMA.md has a column too many in {table}");
        }
        assert!(text.contains(&format!("Schema version: {VERSION}\n")));
    }
}
