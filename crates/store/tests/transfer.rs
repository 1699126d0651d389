//! An experiment copied into another store is the same, and every reader sees all of it or none.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, params};

use crate::common::{begin, begin_trial, count_of, full_step, new_experiment, new_variant};
use store::{ExperimentId, HostFact, Setting, StepRecord, Store, Warning};

fn open(folder: &tempfile::TempDir) -> Store {
    Store::open(folder.path()).unwrap()
}

fn raw(store: &Store) -> Connection {
    Connection::open(store.database()).unwrap()
}

/// An experiment with a value in every column of every table. `salt` makes texts differ.
fn full(store: &Store, salt: &str) -> ExperimentId {
    let (experiment, [one, other]) = begin(store);
    let fact = HostFact { group: "cpu".into(), name: "model".into(), value: salt.to_owned() };
    store.record_host(experiment, std::slice::from_ref(&fact)).unwrap();
    for (block, variant) in [(1, one), (1, other), (2, other)] {
        let trial = begin_trial(store, experiment, variant, block);
        let setting = Setting {
            name: "work_mem".into(),
            value: salt.to_owned(),
            unit: "kB".into(),
            source: "file".into(),
            boot_value: "4096".into(),
        };
        store.record_settings(trial, &[setting]).unwrap();
        store.record_step(trial, &full_step(0, &format!("{salt}.i0"))).unwrap();
        store.record_step(trial, &full_step(1, "l.x")).unwrap();
        if block == 1 {
            store.finish_trial(trial).unwrap();
        } else {
            store.fail_trial(trial, "why").unwrap();
        }
        let logs = store.artifacts().join("logs");
        fs::create_dir_all(&logs).unwrap();
        fs::write(logs.join(format!("pg.b{block}.dop1.t{trial}.log")), salt).unwrap();
        let profiles = store.artifacts().join(format!("profiles/{experiment}/l.x.dop1"));
        fs::create_dir_all(&profiles).unwrap();
        fs::write(profiles.join(format!("pg.b{block}.t{trial}.folded")), salt).unwrap();
        fs::write(profiles.join("pg.svg"), salt).unwrap();
    }
    let warning = Warning { code: "steal".into(), text: salt.to_owned() };
    store.warn(experiment, None, &warning).unwrap();
    store.record_count(one, &count_of("insert-100", 10, 4)).unwrap();
    store.finish_experiment(experiment).unwrap();
    experiment
}

/// All rows of all tables.
fn dump(connection: &Connection) -> Vec<(String, Vec<Value>)> {
    let mut all = Vec::new();
    for table in tables(connection) {
        let mut statement = connection.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let count = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            all.push((table.clone(), (0..count).map(|n| row.get(n).unwrap()).collect()));
        }
    }
    all
}

fn tables(connection: &Connection) -> Vec<String> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' \
               AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let mut statement = connection.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn columns(connection: &Connection, table: &str) -> Vec<String> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
    statement.query_map([table], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// A copy with its artifacts, as an archive makes one.
fn copy_out(store: &Store, experiment: ExperimentId, to: &Path) -> ExperimentId {
    let copy = Store::open(to).unwrap();
    let ids = store.copy_experiment(experiment, &copy, None).unwrap();
    for (name, file) in store.artifacts_of(experiment, &ids).unwrap() {
        let place = copy.artifacts().join(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::copy(file, place).unwrap();
    }
    ids.experiment.1
}

fn admit(store: &Store, from: &Store, experiment: ExperimentId) -> ExperimentId {
    let incoming = store.incoming().unwrap();
    let staged = copy_out(from, experiment, &incoming.results());
    store.admit(&incoming, staged, None).unwrap()
}

#[test]
fn every_row_is_copied_whatever_the_ids() {
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [first, busy, last] = folders.each_ref().map(open);
    full(&first, "before");
    let original = full(&first, "this");
    full(&busy, "that");
    full(&busy, "this other");
    let hash = first.content_hash(original).unwrap();
    assert_ne!(first.content_hash(ExperimentId(1)).unwrap(), hash);

    let copied = admit(&busy, &first, original);
    assert_eq!(copied, ExperimentId(3));
    assert_eq!(busy.content_hash(copied).unwrap(), hash);
    let back = admit(&last, &busy, copied);
    assert_eq!(last.content_hash(back).unwrap(), hash);
    assert_eq!(busy.begun_like(&busy.experiment(copied).unwrap()).unwrap().len(), 3);

    // Row by row, the copy of a copy equals a copy of the original.
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [direct, other] = folders.each_ref().map(open);
    let same = full(&direct, "this");
    direct.copy_experiment(same, &other, None).unwrap();
    let dumps = [&other, &last].map(|store| {
        // Except for when it ended.
        raw(store).execute("UPDATE experiment SET ended_ms = 1", []).unwrap();
        raw(store).execute("UPDATE trial SET ended_ms = 1", []).unwrap();
        dump(&raw(store))
    });
    assert_eq!(dumps[0].len(), dumps[1].len());
    for (one, other) in dumps[0].iter().zip(&dumps[1]) {
        assert_eq!(one, other);
    }
    let files = |store: &Store, experiment| {
        let ids = copy_ids(store, experiment);
        let names = store.artifacts_of(experiment, &ids).unwrap();
        names.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(files(&first, original).len(), 7);
    assert_eq!(files(&first, original), files(&last, back));
    assert!(last.artifacts().join("profiles/1/l.x.dop1/pg.b2.t3.folded").is_file());
}

fn copy_ids(store: &Store, experiment: ExperimentId) -> store::NewIds {
    let folder = tempfile::tempdir().unwrap();
    store.copy_experiment(experiment, &open(&folder), None).unwrap()
}

#[test]
fn the_experiment_of_these_tests_lacks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    full(&store, "this");
    let connection = raw(&store);
    for table in tables(&connection) {
        for column in columns(&connection, &table) {
            let sql = format!("SELECT count(\"{column}\") FROM \"{table}\"");
            let count: i64 = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
            assert!(count > 0, "fill {table}.{column} in `full`, so that copying it is tested");
        }
    }
}

#[test]
fn every_column_is_part_of_the_identity() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let experiment = full(&store, "this");
    let hash = store.content_hash(experiment).unwrap();
    let connection = raw(&store);
    connection
        .execute_batch("PRAGMA foreign_keys = off; PRAGMA ignore_check_constraints = on")
        .unwrap();
    for table in tables(&connection) {
        let refer = "SELECT count(*) FROM pragma_foreign_key_list(?1) WHERE \"from\" = ?2";
        for column in columns(&connection, &table) {
            let refers: i64 =
                connection.query_row(refer, params![table, column], |row| row.get(0)).unwrap();
            if column == "id" || refers > 0 {
                continue;
            }
            connection.execute_batch("BEGIN").unwrap();
            let sql = format!(
                "UPDATE \"{table}\" SET \"{column}\" = CASE typeof(\"{column}\") WHEN 'text' \
                 THEN \"{column}\" || 'x' WHEN 'blob' THEN x'00112233' ELSE \"{column}\" + 100 END"
            );
            assert!(connection.execute(&sql, []).unwrap() > 0);
            connection.execute_batch("COMMIT").unwrap();
            assert_ne!(store.content_hash(experiment).unwrap(), hash, "{table}.{column}");
            let sql = format!(
                "UPDATE \"{table}\" SET \"{column}\" = CASE typeof(\"{column}\") WHEN 'text' \
                 THEN substr(\"{column}\", 1, length(\"{column}\") - 1) ELSE \"{column}\" - 100 END"
            );
            if column == "hdr" || column == "values" {
                // Cannot be undone by a formula; the last of their table.
                return_to(&store, &connection, &table, &column);
            } else {
                connection.execute(&sql, []).unwrap();
            }
        }
    }
    let logs = store.artifacts().join("logs/pg.b1.dop1.t1.log");
    let before = store.content_hash(experiment).unwrap();
    fs::write(logs, "another log").unwrap();
    assert_ne!(store.content_hash(experiment).unwrap(), before);
}

/// Puts back the rows that `full` wrote.
fn return_to(store: &Store, connection: &Connection, table: &str, column: &str) {
    let folder = tempfile::tempdir().unwrap();
    let again = open(&folder);
    full(&again, "this");
    let attach = "ATTACH ?1 AS again";
    connection.execute(attach, [again.database().to_str().unwrap()]).unwrap();
    let key = if table == "histogram" {
        "a.step_id = b.step_id AND a.class = b.class"
    } else {
        "a.id = b.id"
    };
    let sql = format!(
        "UPDATE \"{table}\" AS b SET \"{column}\" = (SELECT a.\"{column}\" FROM again.\"{table}\" a WHERE {key})"
    );
    connection.execute(&sql, []).unwrap();
    connection.execute_batch("DETACH again").unwrap();
    let _ = store;
}

#[test]
fn what_is_damaged_is_not_copied() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [from, to] = folders.each_ref().map(open);
    let experiment = full(&from, "this");
    let damage = |sql: &str, said: &str| {
        let connection = raw(&from);
        connection
            .execute_batch(&format!("PRAGMA foreign_keys = off; SAVEPOINT x; {sql}; RELEASE x"))
            .unwrap();
        let error = from.copy_experiment(experiment, &to, None).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
        assert!(to.all_experiments().unwrap().is_empty());
    };
    damage("UPDATE warning SET step_id = 99 WHERE step_id = 1", "refers to step 99");
    damage("DELETE FROM name WHERE text = 'o/s'", "is missing");
    damage("DROP TABLE event", "no table `event`");
    let none = from.copy_experiment(ExperimentId(9), &to, None).unwrap_err();
    assert!(none.to_string().contains("experiment 9"), "{none}");
}

#[test]
fn an_experiment_may_keep_its_number_if_that_is_free() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [from, to] = folders.each_ref().map(open);
    let experiment = full(&from, "this");
    let wanted = Some(ExperimentId(7));
    for id in [7, 8] {
        let ids = from.copy_experiment(experiment, &to, wanted).unwrap();
        assert_eq!(ids.experiment, (experiment, ExperimentId(id)));
    }
}

#[test]
fn what_a_killed_process_left_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let kept = full(&store, "this");
    let (logs, dead) = (store.artifacts().join("logs"), folder.path().join(".incoming-dead"));
    let lists =
        [("99", "pg.b1.dop1.t77.log", false), (&*kept.to_string(), "pg.b1.dop1.t78.log", true)];
    for (id, file, stays) in lists {
        fs::create_dir_all(dead.join("results")).unwrap();
        fs::write(logs.join(file), "x").unwrap();
        fs::write(dead.join("list"), format!("{id}\nartifacts/logs/{file}\n../precious\n"))
            .unwrap();
        drop(open(&folder));
        assert!(!dead.exists());
        assert_eq!(logs.join(file).exists(), stays, "{file}");
    }
    let alive = store.incoming().unwrap();
    drop(open(&folder));
    // Another process at work keeps its directory.
    assert!(alive.results().parent().unwrap().is_dir());
    drop(alive);
    let left: BTreeSet<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_str().unwrap().starts_with(".incoming")), "{left:?}");
}

#[test]
fn a_file_that_cannot_be_placed_leaves_nothing() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [from, to] = folders.each_ref().map(open);
    let experiment = full(&from, "this");
    // Where a directory has to be, there is a file.
    fs::write(to.artifacts().join("profiles"), "x").unwrap();
    let incoming = to.incoming().unwrap();
    let staged = copy_out(&from, experiment, &incoming.results());
    to.admit(&incoming, staged, None).unwrap_err();
    drop(incoming); // nobody else may take anything in before
    assert!(to.all_experiments().unwrap().is_empty());
    let logs = to.artifacts().join("logs");
    assert!(!logs.exists() || fs::read_dir(logs).unwrap().next().is_none());
    fs::remove_file(to.artifacts().join("profiles")).unwrap();
    admit(&to, &from, experiment);
}

#[test]
fn a_removed_experiment_leaves_the_others_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    full(&store, "this");
    let artifacts = store.artifacts();
    let files = || {
        let listed = |directory: &str| {
            let entries = fs::read_dir(artifacts.join(directory)).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            names.map(|name| format!("{directory}/{name}")).collect::<BTreeSet<_>>()
        };
        ["logs", "profiles"].map(listed)
    };
    let before = (dump(&raw(&store)), files());
    // The same texts and facts, so that nothing shared is added.
    let removed = full(&store, "this");
    assert_ne!((dump(&raw(&store)), files()), before);
    store.remove_experiment(removed).unwrap();
    assert_eq!((dump(&raw(&store)), files()), before);
    assert!(artifacts.join("profiles/1/l.x.dop1/pg.svg").is_file());
    let error = store.remove_experiment(removed).unwrap_err();
    assert!(error.is_request(), "{error}");
}

#[test]
fn the_number_of_a_removed_experiment_is_not_used_again() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [store, other] = folders.each_ref().map(open);
    let (first, last) = (full(&store, "first"), full(&store, "last"));
    store.remove_experiment(last).unwrap();
    let next = store.begin_experiment(&new_experiment("next")).unwrap();
    assert_eq!((first.0, last.0, next.0), (1, 2, 3));
    store.remove_experiment(next).unwrap();
    assert_eq!(admit(&store, &other, full(&other, "from elsewhere")).0, 4);
}

/// Its table of experiments counts in another way.
#[test]
fn a_store_made_before_numbers_were_kept_is_used_as_before() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let schema = include_str!("../src/schema.sql");
    let before = schema.replace(" AUTOINCREMENT", "");
    assert_ne!(before, schema);
    let current = raw(&open(&folders[1]));
    let connection = Connection::open(folders[0].path().join("steelyard.db")).unwrap();
    connection.execute_batch(&before).unwrap();
    for name in ["application_id", "user_version"] {
        let value: i64 = current.pragma_query_value(None, name, |row| row.get(0)).unwrap();
        connection.pragma_update(None, name, value).unwrap();
    }
    drop(connection);
    let [old, new] = folders.each_ref().map(open);
    let experiment = full(&old, "this");
    let copy = admit(&new, &old, experiment);
    assert_eq!(new.content_hash(copy).unwrap(), old.content_hash(experiment).unwrap());
    let back = admit(&old, &new, copy);
    assert_eq!(old.content_hash(back).unwrap(), new.content_hash(copy).unwrap());
    old.remove_experiment(back).unwrap();
    assert_eq!(old.experiments().unwrap().len(), 1);
}

#[test]
fn a_trial_without_steps_and_an_empty_experiment_are_copied_too() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [from, to] = folders.each_ref().map(open);
    let empty = from.begin_experiment(&new_experiment("empty")).unwrap();
    let (running, [variant, _]) = begin(&from);
    let trial = begin_trial(&from, running, variant, 1);
    from.record_step(trial, &StepRecord::new(0, "l.i0", 1)).unwrap();
    from.add_variant(empty, &new_variant("pg9")).unwrap();
    for experiment in [empty, running] {
        let new = admit(&to, &from, experiment);
        assert_eq!(to.content_hash(new).unwrap(), from.content_hash(experiment).unwrap());
    }
}
