//! The schema, version by version.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Marks a database as steelyard's in its header (`PRAGMA application_id`): "STLY".
pub(crate) const APPLICATION_ID: i64 = 0x5354_4C59;

/// Migration n (from 1) upgrades schema version n-1 to n. Never change a released one; add another.
pub(crate) const MIGRATIONS: [&str; 6] = [
    include_str!("migrations/001.sql"),
    include_str!("migrations/002.sql"),
    include_str!("migrations/003.sql"),
    include_str!("migrations/004.sql"),
    include_str!("migrations/005.sql"),
    include_str!("migrations/006.sql"),
];

/// The oldest version that can be read without an upgrade.
pub(crate) const OLDEST_READABLE: i64 = 1;

/// What an older database lacks, by version. Temporary views hide its tables and show them in the
/// form of the newest version. For read-only databases.
pub(crate) const VIEWS: [(i64, &str); 4] = [
    (
        3,
        "CREATE TEMP VIEW experiment AS SELECT *, 'run' AS purpose FROM main.experiment;
         CREATE TEMP TABLE count
         (id, variant_id, kind_id, protocol, place, statements, row_count, instructions);",
    ),
    (
        4,
        "CREATE TEMP VIEW count_total AS
         SELECT id AS count_id, 0 AS ordinal, instructions FROM main.count
         UNION ALL SELECT id, 1, repeated FROM main.count;",
    ),
    (
        5,
        "CREATE TEMP VIEW trial AS SELECT *, dop AS sequence FROM main.trial;
         CREATE TEMP VIEW failure AS SELECT *, sqlstate AS code FROM main.failure;
         CREATE TEMP TABLE measure AS
         SELECT 1 AS id, '' AS class, '' AS unit, 'more' AS better, 0 AS timed, '{}' AS labels
         UNION ALL SELECT 2, 'query', 'queries', 'more', 1, '{}'
         UNION ALL SELECT 3, 'define', 'rows', 'more', 0, '{}'
         UNION ALL SELECT 4, 'insert', 'rows', 'more', 0, '{}';
         CREATE TEMP VIEW step AS SELECT *, CASE WHEN unit = 'queries' THEN 2
         WHEN name_id = (SELECT id FROM main.name WHERE text = 'l.x') THEN 3
         WHEN unit = 'rows' THEN 4 ELSE 1 END AS measure_id FROM main.step;
         CREATE TEMP VIEW size AS
         SELECT step_id, 3 * ordinal AS ordinal, table_id AS object_id, 'index' AS name,
         index_bytes AS bytes FROM main.table_size UNION ALL
         SELECT step_id, 3 * ordinal + 1, table_id, 'rel', rel_bytes FROM main.table_size UNION ALL
         SELECT step_id, 3 * ordinal + 2, table_id, 'total', total_bytes FROM main.table_size;",
    ),
    (
        6,
        "CREATE TEMP TABLE query_plan (step_id, ordinal, statement_id, plan_id);
         CREATE TEMP TABLE event (step_id, ordinal, at_ms, kind, text);",
    ),
];

/// Upgrades a database to the newest version of `migrations` in a single transaction.
///
/// Another process may be doing the same, so the version is read again under the lock. Foreign keys
/// are off during the migration: otherwise, recreating a table would lose the rows that refer to
/// it. Afterwards they are checked, and nothing is changed if one would be broken.
pub(crate) fn migrate(connection: &Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    if usize::try_from(user_version(connection)?).is_ok_and(|version| version < migrations.len()) {
        connection.pragma_update(None, "foreign_keys", false)?;
        migrate_unchecked(connection, migrations)?;
    }
    connection.pragma_update(None, "foreign_keys", true)
}

fn migrate_unchecked(connection: &Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let version = usize::try_from(user_version(connection)?).unwrap_or(usize::MAX);
    for sql in migrations.iter().skip(version) {
        transaction.execute_batch(sql)?;
    }
    if version < migrations.len() {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", migrations.len() as i64)?;
        let check = "SELECT count(*) FROM pragma_foreign_key_check";
        let broken: i64 = transaction.query_row(check, [], |row| row.get(0))?;
        if broken > 0 {
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY);
            let text = format!("{broken} rows would refer to rows that do not exist");
            return Err(rusqlite::Error::SqliteFailure(code, Some(text)));
        }
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
    fn a_table_made_anew_keeps_the_rows_that_refer_to_it() {
        let connection = Connection::open_in_memory().unwrap();
        migrate(&connection, &MIGRATIONS[..1]).unwrap();
        connection
            .execute_batch(
                "INSERT INTO experiment (id, name, workload, base, seed, blocks, margin, plan, steelyard, created_ms, state) \
                 VALUES (3, 'e', 'insert', 'a', 1, 1, 0.02, '', '0', 0, 'running'); \
                 INSERT INTO variant (id, experiment_id, position, name, dbms, source, version, build, config) \
                 VALUES (4, 3, 0, 'a', 'postgres@14', '', '14', '{}', '{}'); \
                 INSERT INTO trial (id, experiment_id, variant_id, block, position, dop, attempt, state, started_ms, error) \
                 VALUES (5, 3, 4, 1, 1, 2, 1, 'failed', 7, 'why'), (6, 3, 4, 1, 1, 2, 2, 'finished', 8, NULL); \
                 INSERT INTO name (id, text) VALUES (1, 'l.i0'); \
                 INSERT INTO step (id, trial_id, ordinal, name_id, dop, kind, state, started_ms, seconds, operations, unit, absent, notes) \
                 VALUES (9, 6, 0, 1, 2, 'measured', 'finished', 8, 1.5, 10, 'rows', '[]', '[]'); \
                 INSERT INTO warning (experiment_id, trial_id, step_id, code, text) VALUES (3, 6, 9, 'x', 'y')",
            )
            .unwrap();
        migrate(&connection, &MIGRATIONS).unwrap();
        assert_eq!(user_version(&connection).unwrap(), 6);
        let counted = |sql: &str| -> i64 { connection.query_row(sql, [], |r| r.get(0)).unwrap() };
        assert_eq!(counted("SELECT count(*) FROM trial WHERE id = 5 AND error = 'why'"), 1);
        assert_eq!(counted("SELECT count(*) FROM experiment WHERE purpose = 'run'"), 1);
        let joined = "SELECT count(*) FROM step s JOIN trial t ON t.id = s.trial_id JOIN warning w ON w.step_id = s.id";
        assert_eq!(counted(joined), 1);
        connection.execute("UPDATE trial SET state = 'polluted' WHERE id = 5", []).unwrap();
        let second = "UPDATE trial SET state = 'finished' WHERE id = 5";
        assert!(connection.execute(second, []).is_err(), "one result per variant and block");
        // Foreign keys are enforced again, to the table of the old name.
        assert!(connection.execute("UPDATE step SET trial_id = 77", []).is_err());
        connection.execute("DELETE FROM experiment", []).unwrap();
        assert_eq!(counted("SELECT count(*) FROM step"), 0);
    }

    #[test]
    fn a_migration_that_breaks_references_changes_nothing() {
        let connection = Connection::open_in_memory().unwrap();
        let one = "CREATE TABLE a (x PRIMARY KEY); CREATE TABLE b (x REFERENCES a (x)); \
                   INSERT INTO a VALUES (1); INSERT INTO b VALUES (1)";
        migrate(&connection, &[one]).unwrap();
        assert!(migrate(&connection, &[one, "DELETE FROM a"]).is_err());
        assert_eq!(user_version(&connection).unwrap(), 1);
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
