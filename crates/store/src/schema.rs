//! The schema, and its version.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Marks a database as steelyard's in its header (`PRAGMA application_id`): "STLY".
pub(crate) const APPLICATION_ID: i64 = 0x5354_4C59;

/// The version of the schema, the only one that is read and written. Raise it with every change,
/// and add what leads from the one before to it in `upgrades/`.
pub(crate) const VERSION: u32 = 7;

/// What leads from each version of the schema to the next, the last of them to [`VERSION`]. One
/// that has been released is never changed.
const UPGRADES: [&str; 1] = [include_str!("upgrades/7.sql")];

/// The oldest version of the schema that is upgraded.
const OLDEST: i64 = VERSION as i64 - UPGRADES.len() as i64;

/// True if a database of this version can be upgraded.
pub(crate) fn is_upgraded(version: i64) -> bool {
    (OLDEST..i64::from(VERSION)).contains(&version)
}

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

/// Leads a database from a version to the newest.
pub(crate) fn apply_upgrades(connection: &Connection, version: i64) -> rusqlite::Result<()> {
    for upgrade in UPGRADES.iter().skip(usize::try_from(version - OLDEST).unwrap_or_default()) {
        connection.execute_batch(upgrade)?;
    }
    connection.pragma_update(None, "user_version", VERSION)?;
    let check = "SELECT count(*) FROM pragma_foreign_key_check";
    let broken: i64 = connection.query_row(check, [], |row| row.get(0))?;
    match broken {
        0 => Ok(()),
        _ => {
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY);
            let text = format!("{broken} rows would refer to rows that do not exist");
            Err(rusqlite::Error::SqliteFailure(code, Some(text)))
        }
    }
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

    /// What SQLite knows of all columns, references and indexes.
    fn structure(connection: &Connection) -> Vec<String> {
        let sql = "SELECT t.name || '.' || c.cid || c.name || ' ' || c.type || c.\"notnull\" || c.pk || \
                   ifnull(c.dflt_value, '') FROM pragma_table_list t, pragma_table_info(t.name) c \
                   WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite%' UNION ALL \
                   SELECT t.name || '.' || f.\"from\" || ' ' || f.\"table\" || f.on_delete \
                   FROM pragma_table_list t, pragma_foreign_key_list(t.name) f UNION ALL \
                   SELECT t.name || '.' || i.name || ' ' || x.name || x.seqno || i.\"unique\" || i.partial \
                   FROM pragma_table_list t, pragma_index_list(t.name) i, pragma_index_info(i.name) x \
                   ORDER BY 1";
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(|row| row.unwrap()).collect()
    }

    #[test]
    fn an_upgraded_database_has_the_structure_of_a_new_one() {
        let (old, new) =
            (Connection::open_in_memory().unwrap(), Connection::open_in_memory().unwrap());
        old.execute_batch(include_str!("../tests/fixtures/schema-6.sql")).unwrap();
        create(&new).unwrap();
        assert_ne!(structure(&old), structure(&new));
        apply_upgrades(&old, 6).unwrap();
        assert_eq!(structure(&old), structure(&new));
    }

    #[test]
    fn rows_that_refer_to_none_are_not_upgraded() {
        let old = Connection::open_in_memory().unwrap();
        old.execute_batch(include_str!("../tests/fixtures/schema-6.sql")).unwrap();
        old.execute("DELETE FROM variant WHERE id = 3", []).unwrap();
        let said = apply_upgrades(&old, 6).unwrap_err().to_string();
        assert!(said.contains("2 rows would refer"), "{said}");
    }
}
