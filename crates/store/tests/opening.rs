//! Opening results directories: their content, and other processes using them.

use std::fs;
use std::path::Path;

use crate::common::{as_nobody, begin, begin_trial, full_step};
use store::{Scope, Store, StoreError};

fn refused(folder: &Path) -> [StoreError; 2] {
    [Store::open(folder).unwrap_err(), Store::open_read_only(folder).unwrap_err()]
}

#[test]
fn where_nothing_is_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    for error in [Store::open_existing(folder.path()), Store::open_read_only(folder.path())] {
        let error = error.unwrap_err();
        assert!(matches!(error, StoreError::Missing(_)), "{error}");
        assert!(error.to_string().contains("--results"), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_file_that_is_not_a_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("steelyard.db");
    let text = "no database, however long it is\n".repeat(100);
    fs::write(&file, &text).unwrap();
    for error in refused(folder.path()) {
        assert!(matches!(error, StoreError::NotADatabase { .. }), "{error}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("steelyard.db");
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.execute_batch("CREATE TABLE notes (x); PRAGMA user_version = 1").unwrap();
    drop(connection);
    let before = fs::read(&file).unwrap();
    for error in refused(folder.path()) {
        assert!(error.to_string().contains("another program"), "{error}");
    }
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is made beside it");
}

#[test]
fn another_version_of_the_schema_is_refused_with_both_versions() {
    let known = i64::from(Store::schema());
    for (found, said) in [(known + 1, "update steelyard"), (5, "measure again")] {
        let folder = tempfile::tempdir().unwrap();
        drop(Store::open(folder.path()).unwrap());
        let file = folder.path().join("steelyard.db");
        let connection = rusqlite::Connection::open(&file).unwrap();
        connection.pragma_update(None, "user_version", found).unwrap();
        drop(connection);
        let before = fs::read(&file).unwrap();
        for error in refused(folder.path()) {
            assert!(error.is_request(), "{error}");
            let text = error.to_string();
            let versions = format!("expected schema version {known}, found {found}");
            assert!(text.contains(&versions) && text.contains(said), "{text}");
        }
        assert_eq!(fs::read(&file).unwrap(), before);
    }
}

#[test]
fn an_empty_file_becomes_a_store() {
    // Leftovers of a process killed right at the start.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("steelyard.db"), "").unwrap();
    assert!(matches!(Store::open_read_only(folder.path()), Err(StoreError::Missing(_))));
    begin(&Store::open(folder.path()).unwrap());
    assert!(Store::open_read_only(folder.path()).unwrap().latest().unwrap().is_some());
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let error = Store::open(&folder.path().join("file/results")).unwrap_err();
    assert!(matches!(error, StoreError::Directory { .. }), "{error}");
}

#[test]
fn a_step_may_be_read_while_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Store::open(folder.path()).unwrap();
    let (experiment, [variant, _]) = begin(&writer);
    let reader = Store::open_read_only(folder.path()).unwrap();
    for block in 1..=3 {
        let trial = begin_trial(&writer, experiment, variant, block);
        writer.record_step(trial, &full_step(1, "l.i0")).unwrap();
        assert_eq!(reader.steps(experiment, Scope::All).unwrap().len(), block as usize);
        writer.finish_trial(trial).unwrap();
        assert_eq!(reader.finished_trials(experiment).unwrap().len(), block as usize);
    }
    let error = reader.finish_experiment(experiment).unwrap_err();
    assert!(matches!(error, StoreError::Sqlite { .. }), "a reader cannot write: {error}");
}

#[test]
fn many_open_a_new_store_at_once_and_write() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let store = Store::open(folder.path()).unwrap();
                let (experiment, [variant, _]) = begin(&store);
                let trial = begin_trial(&store, experiment, variant, 1);
                store.record_step(trial, &full_step(1, "l.i0")).unwrap();
                store.finish_trial(trial).unwrap();
            });
        }
    });
    let store = Store::open_read_only(folder.path()).unwrap();
    let experiments = store.experiments().unwrap();
    assert_eq!(experiments.len(), 8);
    assert!(experiments.iter().all(|e| store.steps(e.id, Scope::Results).unwrap().len() == 1));
}

#[test]
fn whether_a_directory_can_be_written_is_seen_without_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    Store::check_writable(&folder.path().join("new/results")).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    fs::write(folder.path().join("file"), "").unwrap();
    for refused in ["file", "file/results"] {
        let error = Store::check_writable(&folder.path().join(refused)).unwrap_err();
        assert!(matches!(error, StoreError::Directory { .. }), "{error}");
        assert!(error.to_string().contains("--results"), "{error}");
    }
}

/// A published results directory belongs to someone else and cannot be written.
#[test]
fn a_directory_closed_to_us_can_only_be_read() {
    if let Some(folder) = testing::given() {
        let store = Store::open_read_only(&folder).unwrap();
        assert_eq!(store.experiments().unwrap().len(), 1);
        let error = Store::open(&folder).unwrap_err();
        assert!(matches!(error, StoreError::Directory { .. }), "{error}");
        assert!(error.is_request() && error.to_string().contains("--results"), "{error}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("odd ?#%é name");
    begin(&Store::open(&results).unwrap());
    as_nobody(folder.path(), &results, &[(&results, 0o555)]);
}

#[test]
fn what_cannot_be_read_is_named_with_the_reason() {
    if let Some(folder) = testing::given() {
        for (name, file) in [("directory", "steelyard.db"), ("database", "steelyard.db")] {
            let error = Store::open_read_only(&folder.join(name)).unwrap_err();
            assert!(matches!(error, StoreError::Unreadable { .. }), "{error}");
            let error = error.to_string();
            assert!(error.contains(file) && error.contains("Permission denied"), "{error}");
        }
        let store = Store::open_read_only(&folder.join("log")).unwrap();
        let error = store.content_hash(store.latest().unwrap().unwrap().id).unwrap_err();
        assert!(error.is_request() && error.to_string().contains("cannot read"), "{error}");
        assert!(error.to_string().contains("a.b1.t1.log: Permission denied"), "{error}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [directory, database, log] =
        ["directory", "database", "log"].map(|name| folder.path().join(name));
    for results in [&directory, &database, &log] {
        let store = Store::open(results).unwrap();
        let (experiment, [variant, _]) = begin(&store);
        begin_trial(&store, experiment, variant, 1);
    }
    let file = log.join("artifacts/logs/a.b1.t1.log");
    fs::create_dir(log.join("artifacts/logs")).unwrap();
    fs::write(&file, "").unwrap();
    let closed = [(&directory, 0), (&database.join("steelyard.db"), 0), (&file, 0)];
    as_nobody(folder.path(), folder.path(), &closed);
}
