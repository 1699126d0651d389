//! Opening a database that an earlier steelyard wrote.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use store::{Scope, Store, StoreError};

use crate::common::{as_nobody, begin, count_of, full_step};

/// The hash of the run in it, as the steelyard that wrote it said.
const RUN: &str = "aedd3633ca626058a78b829548bd4ce4721a9fd6979e00a3b0919f6bbf1b8f5a";

/// Makes a results directory of schema version 6 with a run and a count.
fn older(directory: &Path) {
    fs::create_dir_all(directory.join("artifacts")).unwrap();
    let old = Connection::open(directory.join("steelyard.db")).unwrap();
    old.execute_batch(include_str!("fixtures/schema-6.sql")).unwrap();
}

fn version(file: &Path) -> i64 {
    let connection = Connection::open(file).unwrap();
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.ends_with("-wal") && !name.ends_with("-shm"));
    names.sort();
    names
}

#[test]
fn an_older_database_is_upgraded_by_a_reader_and_kept_beside() {
    let folder = tempfile::tempdir().unwrap();
    older(folder.path());
    Store::check_writable(folder.path()).unwrap();
    assert_eq!(names(folder.path()), ["artifacts", "steelyard.db"], "a check changes nothing");
    let store = Store::open_read_only(folder.path()).unwrap();
    let run = store.latest().unwrap().unwrap();
    assert_eq!(store.content_hash(run.id).unwrap(), RUN, "it is the same experiment as before");
    assert_eq!(store.steps(run.id, Scope::Results).unwrap().len(), 2);
    let step = store.steps(run.id, Scope::Results).unwrap().remove(0);
    assert_eq!(store.series(step.id).unwrap(), full_step(1, "l.i0").series);
    let count = store.latest_count().unwrap().unwrap();
    let counts: Vec<_> =
        store.counts(count.id).unwrap().into_iter().map(|(_, record)| record).collect();
    assert_eq!(counts, [count_of("insert-100", 10, 4), count_of("pk", 20, 3)]);
    let kept = Store::backup_file(folder.path(), 6, 1);
    assert_eq!(names(folder.path()), ["artifacts", "steelyard.db", "steelyard.db.schema-6"]);
    assert_eq!((version(&kept), version(store.database())), (6, i64::from(Store::schema())));
    let old = Connection::open(&kept).unwrap();
    let total: i64 =
        old.query_row("SELECT sum(instructions) FROM count", [], |row| row.get(0)).unwrap();
    assert_eq!(total, counts.iter().map(|count| count.total as i64).sum::<i64>());
}

#[test]
fn a_backup_can_be_put_back_and_upgraded_again() {
    let folder = tempfile::tempdir().unwrap();
    older(folder.path());
    drop(Store::open(folder.path()).unwrap());
    fs::rename(Store::backup_file(folder.path(), 6, 1), folder.path().join("steelyard.db"))
        .unwrap();
    let store = Store::open(folder.path()).unwrap();
    // It can be written to.
    begin(&store);
    assert_eq!(store.experiments().unwrap().len(), 2);
    assert_eq!(
        names(folder.path()),
        ["artifacts", "steelyard.db", "steelyard.db.schema-6"],
        "what was put back is the only one"
    );
    drop(store);
    // Another old one in its place: both are kept.
    fs::remove_file(folder.path().join("steelyard.db")).unwrap();
    older(folder.path());
    drop(Store::open(folder.path()).unwrap());
    assert!(Store::backup_file(folder.path(), 6, 1).exists());
    assert_eq!(version(&Store::backup_file(folder.path(), 6, 2)), 6);
}

/// As a run of the earlier steelyard does: its results are not taken from under it.
#[test]
fn what_another_process_has_open_is_not_upgraded() {
    let folder = tempfile::tempdir().unwrap();
    older(folder.path());
    let file = folder.path().join("steelyard.db");
    let running = Connection::open(&file).unwrap();
    running.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())).unwrap();
    running.execute("UPDATE experiment SET state = 'running' WHERE id = 1", []).unwrap();
    for error in [Store::open_read_only(folder.path()), Store::open(folder.path())] {
        let error = error.unwrap_err();
        assert!(matches!(error, StoreError::Busy(_)) && !error.is_request(), "{error}");
    }
    let error = Store::open_as_it_is(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Older { found: 6, .. }), "{error}");
    assert_eq!(names(folder.path()), ["artifacts", "steelyard.db"]);
    running.execute("UPDATE experiment SET state = 'finished' WHERE id = 1", []).unwrap();
    drop(running);
    let store = Store::open_read_only(folder.path()).unwrap();
    assert_eq!(store.latest().unwrap().unwrap().state, store::ExperimentState::Finished);
}

#[test]
fn many_upgrade_at_once() {
    let folder = tempfile::tempdir().unwrap();
    older(folder.path());
    std::thread::scope(|scope| {
        for reads in [false, true].repeat(4) {
            let folder = folder.path();
            scope.spawn(move || {
                let store = match reads {
                    true => Store::open_read_only(folder),
                    false => Store::open(folder),
                };
                assert_eq!(store.unwrap().experiments().unwrap().len(), 1);
            });
        }
    });
    assert_eq!(version(&Store::backup_file(folder.path(), 6, 1)), 6, "kept by the first only");
}

#[test]
fn what_cannot_be_upgraded_is_left_as_it_was() {
    if let Some(folder) = testing::given() {
        let error = Store::open_read_only(&folder).unwrap_err();
        assert!(matches!(error, StoreError::NotUpgraded { .. }) && error.is_request(), "{error}");
        let error = error.to_string();
        assert!(error.contains("from schema version 6 to") && error.contains("denied"), "{error}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results");
    older(&results);
    as_nobody(folder.path(), &results, &[(&results, 0o555)]);
    // Damaged so that the upgrade is refused in its last moment.
    let old = Connection::open(results.join("steelyard.db")).unwrap();
    old.execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM variant WHERE id = 3").unwrap();
    drop(old);
    for error in [Store::open(&results), Store::open_read_only(&results)] {
        let error = error.unwrap_err();
        assert!(matches!(error, StoreError::NotUpgraded { found: 6, .. }), "{error}");
        assert!(error.to_string().contains("2 rows would refer to rows that do not exist"));
    }
    assert_eq!(version(&results.join("steelyard.db")), 6);
    assert_eq!(names(&results), ["artifacts", "steelyard.db"], "nothing was upgraded");
}
