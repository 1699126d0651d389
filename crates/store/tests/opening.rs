//! Opening results directories: their content, and other processes using them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use crate::common::{begin, begin_trial, count_of, full_step, latest_unfinished};
use store::{Purpose, Scope, Store, StoreError};

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
}

#[test]
fn a_newer_schema_is_refused_with_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path()).unwrap());
    let connection = rusqlite::Connection::open(folder.path().join("steelyard.db")).unwrap();
    connection.pragma_update(None, "user_version", 7).unwrap();
    drop(connection);
    for error in refused(folder.path()) {
        assert!(matches!(error, StoreError::Newer { found: 7, known: 6, .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("version 7") && text.contains("up to 6") && text.contains("update"),
            "{text}"
        );
    }
}

/// Version 1, as created by the first release: read as it is, upgraded when written.
#[test]
fn an_older_schema_is_read_and_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let connection = rusqlite::Connection::open(folder.path().join("steelyard.db")).unwrap();
    connection.execute_batch(include_str!("../src/migrations/001.sql")).unwrap();
    connection.pragma_update(None, "application_id", 0x5354_4C59).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    drop(connection);
    let version = || {
        let connection = rusqlite::Connection::open(folder.path().join("steelyard.db")).unwrap();
        connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)).unwrap()
    };
    assert!(Store::open_read_only(folder.path()).unwrap().experiments().unwrap().is_empty());
    assert_eq!(version(), 1);
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(version(), 6);
    let (experiment, [variant, _]) = begin(&store);
    let trial = begin_trial(&store, experiment, variant, 1);
    store.pollute_trials(&[trial], "steal").unwrap();
}

/// Experiments in an older database are runs, whether it is read as it is or upgraded.
#[test]
fn experiments_of_older_schemas_are_runs() {
    let migrations =
        [include_str!("../src/migrations/001.sql"), include_str!("../src/migrations/002.sql")];
    for version in 1..=migrations.len() {
        let folder = tempfile::tempdir().unwrap();
        let connection = rusqlite::Connection::open(folder.path().join("steelyard.db")).unwrap();
        for sql in migrations.iter().take(version) {
            connection.execute_batch(sql).unwrap();
        }
        connection.pragma_update(None, "application_id", 0x5354_4C59).unwrap();
        connection.pragma_update(None, "user_version", version as i64).unwrap();
        connection
            .execute_batch(
                "INSERT INTO experiment (id, name, workload, base, seed, blocks, margin, plan, steelyard, created_ms, state) \
                 VALUES (3, 'old', 'insert', 'a', 1, 1, 0.02, '', '0', 0, 'interrupted'); \
                 INSERT INTO variant (id, experiment_id, position, name, dbms, source, version, build, config) \
                 VALUES (4, 3, 0, 'a', 'postgres@14', '', '14', '{}', '{}')",
            )
            .unwrap();
        drop(connection);
        let check = |store: &Store| {
            let stored = store.experiment(store::ExperimentId(3)).unwrap();
            assert_eq!((stored.purpose, stored.name.as_str()), (Purpose::Run, "old"));
            for found in [store.latest(), latest_unfinished(store), store.experiment_named("old")] {
                assert_eq!(found.unwrap().as_ref(), Some(&stored));
            }
            assert_eq!(store.experiments().unwrap(), std::slice::from_ref(&stored));
            assert_eq!(store.all_experiments().unwrap(), [stored]);
            assert_eq!(store.latest_count().unwrap(), None);
            assert!(store.counts(store::ExperimentId(3)).unwrap().is_empty());
        };
        check(&Store::open_read_only(folder.path()).unwrap());
        let store = Store::open(folder.path()).unwrap();
        check(&store);
        store.record_count(store::VariantId(4), &count_of("point", 10, 7)).unwrap();
        assert_eq!(store.counts(store::ExperimentId(3)).unwrap().len(), 1);
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
    let mode =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    // A copy, because another user may not be able to reach the directory where tests are built.
    let exe = folder.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    mode(folder.path(), 0o755);
    mode(&results, 0o555);
    let same = testing::again(&[], &results);
    let mut child = Command::new(&exe);
    child.args(same.get_args()).current_dir("/");
    child.envs(same.get_envs().filter_map(|(name, value)| Some((name, value?))));
    // Root can write to every directory, so become nobody.
    if fs::File::create(results.join("probe")).is_ok() {
        fs::remove_file(results.join("probe")).unwrap();
        child.uid(65534).gid(65534);
    }
    let output = child.output().unwrap();
    mode(&results, 0o755);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Version 3 kept two counts. They are read as they are, and stay when the database is upgraded.
#[test]
fn the_two_counts_of_an_older_schema_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let connection = rusqlite::Connection::open(folder.path().join("steelyard.db")).unwrap();
    for sql in [
        include_str!("../src/migrations/001.sql"),
        include_str!("../src/migrations/002.sql"),
        include_str!("../src/migrations/003.sql"),
        "PRAGMA application_id = 0x53544C59; PRAGMA user_version = 3; \
         INSERT INTO experiment (id, name, workload, base, seed, blocks, margin, plan, steelyard, created_ms, state, purpose) \
         VALUES (3, 'old', 'insert', 'a', 1, 1, 0.02, '', '0', 0, 'finished', 'count'); \
         INSERT INTO variant (id, experiment_id, position, name, dbms, source, version, build, config) \
         VALUES (4, 3, 0, 'a', 'postgres@14', '', '14', '{}', '{}'); \
         INSERT INTO name (id, text) VALUES (1, 'point'); \
         INSERT INTO count (id, variant_id, kind_id, protocol, place, statements, row_count, instructions, repeated) \
         VALUES (7, 4, 1, 'simple', 'backend', 10, 0, 1000, 1003)",
    ] {
        connection.execute_batch(sql).unwrap();
    }
    drop(connection);
    let check = |store: &Store| {
        let counts = store.counts(store::ExperimentId(3)).unwrap();
        let [(_, count)] = &counts[..] else { panic!("{counts:?}") };
        assert_eq!((count.instructions, &count.counts[..]), (1000, &[1000, 1003][..]));
    };
    check(&Store::open_read_only(folder.path()).unwrap());
    check(&Store::open(folder.path()).unwrap());
}

/// A version 4 database of two real trials per variant reads the same before and after the upgrade.
#[test]
fn results_of_version_4_are_read_as_they_are_and_migrated() {
    use store::Scope;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("steelyard.db"), include_bytes!("fixtures/version4.db")).unwrap();
    let read = |store: &Store| {
        let experiment = store.latest().unwrap().unwrap().id;
        let trials = store.trials(experiment).unwrap();
        assert!(trials.len() == 4 && trials.iter().all(|trial| trial.sequence == 1));
        let steps = store.steps(experiment, Scope::Results).unwrap();
        let of_trial = steps.iter().filter(|step| step.trial == trials[0].id);
        let measures: Vec<_> = of_trial
            .map(|step| {
                let m = &step.measure;
                (&*step.name, &*m.class, &*m.unit, m.better.as_str(), m.timed)
            })
            .collect();
        assert_eq!(
            measures,
            [
                ("l.i0", "insert", "rows", "more", false),
                ("l.x", "define", "rows", "more", false),
                ("l.i1", "insert", "rows", "more", false),
                ("qr100", "query", "queries", "more", true),
            ]
        );
        let values = store.step_values(experiment, &["o/s"], Scope::Results).unwrap();
        assert!(values.iter().all(|v| v.values[0] > 0.0 && v.measure.labels.is_empty()));
        let sizes = store.sizes(steps[0].id).unwrap();
        let names: Vec<_> = sizes.iter().map(|s| (&*s.object, &*s.name)).collect();
        assert_eq!(names, [("pi1", "index"), ("pi1", "rel"), ("pi1", "total")]);
        assert!(sizes[2].bytes >= sizes[0].bytes + sizes[1].bytes);
        assert!(steps.iter().all(|step| store.failures(step.id).unwrap().is_empty()));
        (trials, steps, sizes)
    };
    let before = read(&Store::open_read_only(folder.path()).unwrap());
    assert_eq!(before, read(&Store::open(folder.path()).unwrap()));
}
