//! Counting instructions of statements.
//!
//! A thread of the server serves a session, and other threads work by the clock. Callgrind collects
//! costs in [`STATEMENT`] only, per thread. This excludes the other threads, and the reading of the
//! request.

use super::profile::{COUNTED, LEFT_OUT};
use super::version::Version;
use crate::{CountMethod, Error, Installation, Sql, SqlCount};

/// The function that executes a request, with its parameters, which differ between versions.
const STATEMENT: &[&str] = &["dispatch_command(*"];

/// Decides whether a version gets a setting.
type Applies = fn(Version) -> bool;

/// Settings of servers that count.
const SETTINGS: [(&str, &str, Applies); 9] = [
    // Valgrind lacks some of its system calls.
    ("innodb_use_native_aio", "0", all),
    ("innodb_buffer_pool_size_max", "1073741824", reserves),
    // A thread would compute statistics, and with them other plans, by the clock.
    ("innodb_stats_auto_recalc", "OFF", all),
    // ANALYZE TABLE reads 20 pages of an index, chosen at random, so plans differed between loads
    // of the same data. This is more than an index has, so it reads all.
    ("innodb_stats_persistent_sample_pages", "1000000", all),
    // Its contents depend on how often each statement was executed.
    ("innodb_adaptive_hash_index", "OFF", all),
    // When buffered changes reach their pages is a matter of chance.
    ("innodb_change_buffering", "none", buffers_changes),
    // Otherwise the time of a read would decide whether a page moves in the list of pages.
    ("innodb_old_blocks_time", "0", all),
    // Only the kernel waits for the disk.
    ("innodb_flush_log_at_trx_commit", "2", |version| !has_log_writer(version)),
    // Sessions would only wait for the log writer: they would spin, then sleep.
    ("innodb_flush_log_at_trx_commit", "0", has_log_writer),
];

fn all(_: Version) -> bool {
    true
}

/// True if a dedicated thread writes the log for all sessions.
fn has_log_writer(version: Version) -> bool {
    !version.mariadb && version.number >= 80_011
}

/// True if it knows the change buffer, which MariaDB 11.0 removed.
fn buffers_changes(version: Version) -> bool {
    !version.mariadb || version.number < 110_000
}

/// True if, unless told otherwise, it reserves addresses for a buffer pool of 8 TB, which is more
/// than Valgrind has (MariaDB's MDEV-36197).
fn reserves(version: Version) -> bool {
    let since = [100_622..100_700, 101_112..101_200, 110_406..u32::MAX];
    version.mariadb && since.iter().any(|range| range.contains(&version.number))
}

/// How to count on servers of an installation.
pub(super) fn method(installation: &Installation) -> CountMethod {
    let version = Version::of(installation);
    let settings = SETTINGS.into_iter().filter(|(_, _, applies)| version.is_some_and(*applies));
    CountMethod {
        settings: settings.map(|(name, value, _)| (name, value)).collect(),
        kinds: 12,
        place: "thread",
        mark_function: "Item_func_sleep::val_int()",
        only_in: STATEMENT,
        left_out: LEFT_OUT,
        phases: COUNTED,
        sql: Some(SqlCount {
            freeze: None,
            copy,
            finish: None,
            own_process: None,
            periodic: None,
            // No thread purges data that this session could see. Otherwise the progress of purging
            // would change what a commit adds to the history.
            bystander: Some("START TRANSACTION WITH CONSISTENT SNAPSHOT"),
            // Reading a page computes its checksum, in the session's thread.
            warm: Some(warm),
            // Transactions take turns with 128 rollback segments, in MySQL 8.0 with those of two
            // tablespaces. The first in each creates an undo log, which later ones reuse.
            warm_up: 256,
            mark: "SELECT SLEEP(0)",
            before_mark: None,
        }),
    }
}

/// Copies all tables, row by row in the order of their primary keys, so that copies are alike, and
/// all procedures and functions.
fn copy(sql: &mut dyn Sql, name: &str) -> Result<(), Error> {
    let tables = sql.query_rows(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = database() \
         AND table_type = 'BASE TABLE' ORDER BY table_name",
    )?;
    sql.execute(&format!("CREATE DATABASE {name}"))?;
    for table in tables.into_iter().flatten().flatten() {
        sql.execute(&format!("CREATE TABLE {name}.{table} LIKE {table}"))?;
        sql.execute(&format!("INSERT INTO {name}.{table} SELECT * FROM {table}"))?;
        sql.query_rows(&format!("ANALYZE TABLE {name}.{table}"))?;
    }
    let routines = sql.query_rows(
        "SELECT routine_type, routine_name FROM information_schema.routines \
         WHERE routine_schema = database() ORDER BY routine_name",
    )?;
    for row in routines {
        let [Some(kind), Some(routine)] = row.as_slice() else { continue };
        let shown = sql.query_rows(&format!("SHOW CREATE {kind} `{routine}`"))?;
        // Its name, the mode it was made in, and its text.
        if let Some([_, _, Some(text), ..]) = shown.first().map(Vec::as_slice) {
            let own = format!("{kind} `{routine}`");
            sql.execute(&text.replacen(&own, &format!("{kind} {name}.`{routine}`"), 1))?;
        }
    }
    Ok(())
}

/// Reads all indexes of a database.
fn warm(sql: &mut dyn Sql, name: &str) -> Result<(), Error> {
    let indexes = sql.query_rows(&format!(
        "SELECT DISTINCT table_name, index_name FROM information_schema.statistics \
         WHERE table_schema = '{name}'"
    ))?;
    for row in indexes {
        if let [Some(table), Some(index)] = row.as_slice() {
            sql.query_rows(&format!("SELECT COUNT(*) FROM {name}.{table} FORCE INDEX ({index})"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_versions_of_mariadb_need_less_room() {
        let of = |dbms: &str, version: &str| {
            method(&Installation::of(dbms, version))
                .settings
                .iter()
                .any(|(name, _)| *name == "innodb_buffer_pool_size_max")
        };
        assert!(of("mariadb", "10.11.19") && of("mariadb", "11.8.2"));
        assert!(!of("mariadb", "10.11.5") && !of("mariadb", "11.4.5"));
        assert!(!of("mysql", "8.0.31"));
    }
}
