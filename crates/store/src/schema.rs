//! The schema, version by version.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Marks a database as steelyard's in its header (`PRAGMA application_id`): "STLY".
pub(crate) const APPLICATION_ID: i64 = 0x5354_4C59;

/// Migration n (from 1) leads from schema version n-1 to n. Never change one that was released; add another.
pub(crate) const MIGRATIONS: [&str; 1] = [include_str!("migrations/001.sql")];

/// Brings a database to the newest version of `migrations`, all in one transaction.
///
/// Another process may do the same at this moment: the version is read again under the lock.
pub(crate) fn migrate(connection: &Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let version = usize::try_from(user_version(connection)?).unwrap_or(usize::MAX);
    for sql in migrations.iter().skip(version) {
        transaction.execute_batch(sql)?;
    }
    if version < migrations.len() {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", migrations.len() as i64)?;
    }
    transaction.commit()
}

/// The version of the schema that a database has; 0 for an empty one.
pub(crate) fn user_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(connection: &Connection) -> Vec<String> {
        let mut statement = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
            .unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn migrations_build_on_each_other() {
        let connection = Connection::open_in_memory().unwrap();
        migrate(&connection, &["CREATE TABLE a (x)"]).unwrap();
        connection.execute("INSERT INTO a VALUES (1)", []).unwrap();
        let two = ["CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y; CREATE TABLE b (x)"];
        migrate(&connection, &two).unwrap();
        migrate(&connection, &two).unwrap(); // nothing to do
        assert_eq!(user_version(&connection).unwrap(), 2);
        assert_eq!(tables(&connection), ["a", "b"]);
        let kept: (i64, Option<i64>) =
            connection.query_row("SELECT x, y FROM a", [], |r| Ok((r.get(0)?, r.get(1)?))).unwrap();
        assert_eq!(kept, (1, None));
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let connection = Connection::open_in_memory().unwrap();
        migrate(&connection, &["CREATE TABLE a (x)"]).unwrap();
        let broken = ["", "CREATE TABLE b (x)", "CREATE TABLE b (x)"];
        assert!(migrate(&connection, &broken).is_err());
        assert_eq!(user_version(&connection).unwrap(), 1);
        assert_eq!(tables(&connection), ["a"]);
    }

    #[test]
    fn a_newer_version_is_left_alone() {
        let connection = Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "user_version", 99).unwrap();
        migrate(&connection, &["CREATE TABLE a (x)"]).unwrap();
        assert_eq!(user_version(&connection).unwrap(), 99);
        assert!(tables(&connection).is_empty());
    }

    #[test]
    fn every_table_and_column_is_documented() {
        let connection = Connection::open_in_memory().unwrap();
        migrate(&connection, &MIGRATIONS).unwrap();
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
        assert!(text.contains(&format!("Schema version: {}\n", MIGRATIONS.len())));
    }
}
