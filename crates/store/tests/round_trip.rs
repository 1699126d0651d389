//! Written records can be read back; states decide what counts.

use crate::common::{
    begin, begin_trial, full_step, latest_unfinished, new_experiment, new_variant,
};
use store::{
    ExperimentState, HostFact, Scope, Setting, StepKind, StepRecord, StepState, Store, StoreError,
    TrialId, TrialState, Warning,
};

fn fresh() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("a/b")).unwrap();
    (folder, store)
}

#[test]
fn a_step_is_read_back_complete() {
    let (_folder, store) = fresh();
    let (experiment, [variant, _]) = begin(&store);
    let trial = begin_trial(&store, experiment, variant, 1);
    let record = full_step(3, "l.i0");
    let id = store.record_step(trial, &record).unwrap();
    store.finish_trial(trial).unwrap();

    let steps = store.steps(experiment, Scope::Results).unwrap();
    let step = steps.first().unwrap();
    assert_eq!((step.id, step.trial, step.variant, step.block), (id, trial, variant, 1));
    let again = StepRecord {
        ordinal: step.ordinal,
        key: step.key.clone(),
        kind: step.kind,
        state: step.state,
        started_ms: step.started_ms,
        seconds: step.seconds,
        operations: step.operations,
        measure: step.measure.clone(),
        metrics: store.metrics(id).unwrap().into_iter().collect(),
        series: store.series(id).unwrap(),
        histograms: store.histograms(id).unwrap(),
        counters: store.counters(id).unwrap(),
        absent: step.absent.clone(),
        sizes: store.sizes(id).unwrap(),
        plans: store.plans(id).unwrap(),
        events: store.events(id).unwrap(),
        warnings: store.warnings(experiment).unwrap().into_iter().map(|w| w.warning).collect(),
        failures: store.failures(id).unwrap(),
        notes: step.notes.clone(),
    };
    let mut expected = record;
    expected.metrics.sort_by(|a, b| a.0.cmp(&b.0)); // metrics have no order
    assert_eq!(again, expected);
    assert_eq!(store.metric_names(experiment).unwrap(), ["cpu/o", "o/s", "r/o"]);
    let warning = store.warnings(experiment).unwrap().remove(0);
    assert_eq!((warning.trial, warning.step), (Some(trial), Some(id)));
}

#[test]
fn experiments_and_variants_are_read_back() {
    let (_folder, store) = fresh();
    assert_eq!(store.latest().unwrap(), None);
    let (first, _) = begin(&store);
    let second = store.begin_experiment(&new_experiment("other")).unwrap();
    let stored = store.experiment(first).unwrap();
    assert_eq!((stored.name.as_str(), stored.seed, stored.blocks), ("load", u64::MAX - 1, 6));
    assert_eq!(
        (stored.state, stored.created_ms, stored.ended_ms),
        (ExperimentState::Running, 1_700_000_000_123, None)
    );
    let ids: Vec<_> = store.experiments().unwrap().iter().map(|e| e.id).collect();
    assert_eq!(ids, [second, first], "the newest first");
    assert_eq!(store.latest().unwrap().unwrap().id, second);
    assert_eq!(store.experiment_named("load").unwrap().unwrap().id, first);
    assert_eq!(store.experiment_named("none").unwrap(), None);

    let variants = store.variants(first).unwrap();
    let wanted = new_variant("pg14.3");
    let v = variants.get(1).unwrap();
    assert_eq!(
        (&v.name, &v.dbms, &v.build, &v.config),
        (&wanted.name, &wanted.dbms, &wanted.build, &wanted.config)
    );
    assert_eq!(v.position, 1);
    // Added again, as on resuming: updated in its place.
    let mut newer = new_variant("pg13.7");
    newer.version = "13.8".to_owned();
    let id = store.add_variant(first, &newer).unwrap();
    let variants = store.variants(first).unwrap();
    assert_eq!(variants.len(), 2);
    let v = variants.first().unwrap();
    assert_eq!((v.id, v.version.as_str(), v.position), (id, "13.8", 0));

    let missing = store.experiment(store::ExperimentId(99)).unwrap_err();
    assert!(
        matches!(missing, StoreError::NotFound { what: "experiment", id: 99, .. }),
        "{missing}"
    );
}

#[test]
fn no_password_reaches_the_disk() {
    let (folder, store) = fresh();
    let mut new = new_experiment("x");
    new.plan = "dbms = \"postgres://me:geheim@db/x\"".to_owned();
    let experiment = store.begin_experiment(&new).unwrap();
    let mut variant = new_variant("pg-db");
    variant.dbms = "postgres://me:geheim@db/x".to_owned();
    variant.source = variant.dbms.clone();
    variant.config.insert("primary_conninfo".to_owned(), "host=a password=geheim".to_owned());
    let variant = store.add_variant(experiment, &variant).unwrap();
    let trial = begin_trial(&store, experiment, variant, 1);
    let setting = Setting {
        name: "primary_conninfo".to_owned(),
        value: "password=geheim".to_owned(),
        unit: String::new(),
        source: String::new(),
        boot_value: String::new(),
    };
    store.record_settings(trial, &[setting]).unwrap();
    store.fail_trial(trial, "cannot connect to postgres://me:geheim@db/x").unwrap();
    drop(store);
    let bytes = std::fs::read(folder.path().join("a/b/steelyard.db")).unwrap();
    let found = bytes.windows(6).filter(|w| *w == b"geheim").count();
    assert_eq!(found, 0);
    assert!(bytes.windows(12).any(|w| w == b"postgres://m"));
}

#[test]
fn only_finished_steps_of_finished_trials_are_results() {
    let (_folder, store) = fresh();
    let (experiment, [a, b]) = begin(&store);
    let step = |trial: TrialId, ordinal: u32, state| {
        let record = StepRecord {
            state,
            metrics: vec![("o/s".into(), 1.0)],
            ..StepRecord::new(ordinal, "l.i0", 1)
        };
        store.record_step(trial, &record).unwrap()
    };
    let good = begin_trial(&store, experiment, a, 1);
    let result = step(good, 1, StepState::Finished);
    step(good, 2, StepState::Failed);
    store.finish_trial(good).unwrap();
    let failed = begin_trial(&store, experiment, b, 1);
    step(failed, 1, StepState::Finished);
    store.fail_trial(failed, "server died").unwrap();
    let running = begin_trial(&store, experiment, b, 1);
    step(running, 1, StepState::Finished);

    let ids =
        |scope| store.steps(experiment, scope).unwrap().iter().map(|s| s.id).collect::<Vec<_>>();
    assert_eq!(ids(Scope::Results), [result]);
    assert_eq!(ids(Scope::All).len(), 4);
    let values = |scope| store.step_values(experiment, &["o/s"], scope).unwrap().len();
    assert_eq!((values(Scope::Results), values(Scope::All)), (1, 4));

    // Trials left by a killed run are abandoned when it is resumed, and can be tried again.
    assert_eq!(store.abandon_running(experiment).unwrap(), 1);
    assert_eq!(store.abandon_running(experiment).unwrap(), 0);
    let again = begin_trial(&store, experiment, b, 1);
    step(again, 1, StepState::Finished);
    store.finish_trial(again).unwrap();
    let trials = store.trials(experiment).unwrap();
    let seen: Vec<_> = trials.iter().map(|t| (t.attempt, t.state)).collect();
    use TrialState::{Abandoned, Failed, Finished};
    assert_eq!(seen, [(1, Finished), (1, Failed), (2, Abandoned), (3, Finished)]);
    assert_eq!(trials.get(1).unwrap().error.as_deref(), Some("server died"));
    let finished: Vec<_> = store.finished_trials(experiment).unwrap().into_iter().collect();
    assert_eq!(finished, [(1, "pg13.7".to_owned(), 1), (1, "pg14.3".to_owned(), 1)]);
    assert_eq!(values(Scope::Results), 2);
}

#[test]
fn trials_that_ran_together_are_finished_together_or_not_at_all() {
    let (_folder, store) = fresh();
    let (experiment, [a, b]) = begin(&store);
    let (one, other) =
        (begin_trial(&store, experiment, a, 1), begin_trial(&store, experiment, b, 1));
    store.fail_trial(other, "server died").unwrap();
    assert!(matches!(store.finish_trials(&[one, other]), Err(StoreError::NotRunning { .. })));
    assert_eq!(store.finished_trials(experiment).unwrap().len(), 0);
    let again = begin_trial(&store, experiment, b, 1);
    store.finish_trials(&[one, again]).unwrap();
    assert_eq!(store.finished_trials(experiment).unwrap().len(), 2);
}

#[test]
fn polluted_trials_are_not_results_and_are_retried() {
    let (_folder, store) = fresh();
    let (experiment, [a, b]) = begin(&store);
    let both = [begin_trial(&store, experiment, a, 1), begin_trial(&store, experiment, b, 1)];
    store.record_step(both[0], &full_step(1, "l.i0")).unwrap();
    store.pollute_trials(&both, "steal").unwrap();
    assert!(matches!(store.pollute_trials(&both, "x"), Err(StoreError::NotRunning { .. })));
    assert_eq!(store.abandon_running(experiment).unwrap(), 0);
    assert_eq!(store.finished_trials(experiment).unwrap().len(), 0);
    assert_eq!(store.steps(experiment, Scope::Results).unwrap().len(), 0);
    let again = begin_trial(&store, experiment, a, 1);
    store.finish_trial(again).unwrap();
    let trials = store.trials(experiment).unwrap();
    let seen: Vec<_> = trials.iter().map(|t| (t.attempt, t.state.as_str())).collect();
    assert_eq!(seen, [(1, "polluted"), (1, "polluted"), (2, "finished")]);
    assert_eq!(trials[0].error.as_deref(), Some("steal"));
}

#[test]
fn an_ended_trial_takes_nothing_more() {
    let (_folder, store) = fresh();
    let (experiment, [variant, _]) = begin(&store);
    let trial = begin_trial(&store, experiment, variant, 1);
    store.finish_trial(trial).unwrap();
    let error = store.record_step(trial, &full_step(1, "l.i0")).unwrap_err();
    assert!(matches!(error, StoreError::NotRunning { .. }), "{error}");
    assert!(matches!(store.finish_trial(trial), Err(StoreError::NotRunning { .. })));
    assert!(matches!(store.fail_trial(trial, "x"), Err(StoreError::NotRunning { .. })));
    let none = store.record_step(TrialId(99), &full_step(1, "l.i0")).unwrap_err();
    assert!(matches!(none, StoreError::NotFound { what: "trial", .. }), "{none}");
    // A second result for the same block, variant and dop is impossible, too.
    let twin = begin_trial(&store, experiment, variant, 1);
    assert!(store.finish_trial(twin).is_err());
}

#[test]
fn a_step_that_cannot_be_stored_leaves_nothing_behind() {
    let (_folder, store) = fresh();
    let (experiment, [variant, _]) = begin(&store);
    let trial = begin_trial(&store, experiment, variant, 1);
    store.record_step(trial, &full_step(1, "l.i0")).unwrap();
    let mut twice = full_step(2, "l.x");
    twice.metrics.push(("o/s".to_owned(), 1.0));
    let error = store.record_step(trial, &twice).unwrap_err();
    assert_eq!(error.to_string(), "step `l.x` cannot be stored: metric `o/s` is given twice");
    let endless = StepRecord { seconds: f64::NAN, ..full_step(2, "l.x") };
    assert!(matches!(store.record_step(trial, &endless), Err(StoreError::Unfit { .. })));
    // The same ordinal again: SQLite refuses it in the middle of the transaction.
    assert!(store.record_step(trial, &full_step(1, "l.x")).is_err());
    assert_eq!(store.steps(experiment, Scope::All).unwrap().len(), 1);
    assert_eq!(store.warnings(experiment).unwrap().len(), 1);
}

#[test]
fn unknown_values_are_absent() {
    let (_folder, store) = fresh();
    let (experiment, [variant, _]) = begin(&store);
    let trial = begin_trial(&store, experiment, variant, 1);
    let mut record = full_step(1, "l.i0");
    record.metrics = vec![
        ("o/s".to_owned(), 5.0),
        ("dbms.cpu/o".to_owned(), f64::NAN),
        ("insert.rate".to_owned(), f64::INFINITY),
    ];
    record.series.truncate(1);
    record.series.iter_mut().for_each(|s| s.values = vec![1.0, f64::NAN, 3.0]);
    record.counters.iter_mut().for_each(|c| c.value = f64::NAN);
    let step = store.record_step(trial, &record).unwrap();
    store.finish_trial(trial).unwrap();
    let metrics: Vec<_> = store.metrics(step).unwrap().into_iter().collect();
    assert_eq!(metrics, [("o/s".to_owned(), 5.0)]);
    assert!(store.counters(step).unwrap().is_empty());
    let series = store.series(step).unwrap();
    let group = &series.first().unwrap().group;
    let of_group = store.series_of_group(step, group).unwrap();
    assert!(of_group.iter().all(|found| found.group == *group));
    assert_eq!(of_group.first().map(|s| &s.name), series.first().map(|s| &s.name));
    assert!(store.series_of_group(step, "none of that name").unwrap().is_empty());
    let values = &series.first().unwrap().values;
    assert!(values.len() == 3 && values.get(1).unwrap().is_nan());
    let asked = ["dbms.cpu/o", "o/s", "never", "o/s"];
    let rows = store.step_values(experiment, &asked, Scope::Results).unwrap();
    let row = rows.first().unwrap();
    let known: Vec<bool> = row.values.iter().map(|v| v.is_finite()).collect();
    assert_eq!(known, [false, true, false, true]);
    assert_eq!((&*row.key.name, row.kind, row.operations), ("l.i0", StepKind::Measured, 40_000));
}

#[test]
fn the_same_settings_are_stored_once() {
    let (folder, store) = fresh();
    let (experiment, [variant, _]) = begin(&store);
    let setting = |value: &str| Setting {
        name: "shared_buffers".to_owned(),
        value: value.to_owned(),
        unit: "8kB".to_owned(),
        source: "configuration file".to_owned(),
        boot_value: "1024".to_owned(),
    };
    let one = vec![setting("1GB"), setting("2")];
    for block in 1..=5 {
        let trial = begin_trial(&store, experiment, variant, block);
        store.record_settings(trial, &one).unwrap();
        assert_eq!(store.settings(trial).unwrap(), one);
        store.finish_trial(trial).unwrap();
    }
    let other = begin_trial(&store, experiment, variant, 6);
    assert!(store.settings(other).unwrap().is_empty());
    store.record_settings(other, &[setting("2GB")]).unwrap();
    assert_eq!(store.settings(other).unwrap(), [setting("2GB")]);
    assert_eq!(store.variant_settings(variant).unwrap(), one, "of a finished trial");
    let connection = rusqlite::Connection::open(folder.path().join("a/b/steelyard.db")).unwrap();
    let sets: i64 =
        connection.query_row("SELECT count(*) FROM setting_set", [], |r| r.get(0)).unwrap();
    assert_eq!(sets, 2);
}

#[test]
fn a_trial_keeps_the_machine_it_ran_on() {
    let (_folder, store) = fresh();
    let (experiment, [variant, _]) = begin(&store);
    assert!(store.host_facts(experiment).unwrap().is_empty());
    let kernel = |value: &str| {
        vec![HostFact {
            group: "kernel".to_owned(),
            name: "release".to_owned(),
            value: value.to_owned(),
        }]
    };
    store.record_host(experiment, &kernel("6.1")).unwrap();
    let before = begin_trial(&store, experiment, variant, 1);
    store.record_host(experiment, &kernel("6.2")).unwrap();
    let after = begin_trial(&store, experiment, variant, 2);
    assert_eq!(store.trial_host_facts(before).unwrap(), kernel("6.1"));
    assert_eq!(store.trial_host_facts(after).unwrap(), kernel("6.2"));
    assert_eq!(store.host_facts(experiment).unwrap(), kernel("6.2"));
    let hosts = store.trial_hosts(experiment).unwrap();
    assert_eq!(hosts, [(kernel("6.1"), vec![before]), (kernel("6.2"), vec![after])]);

    // The trial on the other machine is taken back; an unfinished trial can't be.
    store.finish_trial(before).unwrap();
    store.take_back_trials(&[before, after], "another machine").unwrap();
    let trials = store.trials(experiment).unwrap();
    let states: Vec<_> = trials.iter().map(|t| (t.state, t.error.as_deref())).collect();
    let expected = [(TrialState::Polluted, Some("another machine")), (TrialState::Running, None)];
    assert_eq!(states, expected);
    assert!(store.finished_trials(experiment).unwrap().is_empty());
}

#[test]
fn an_experiment_can_be_interrupted_and_resumed() {
    let (_folder, store) = fresh();
    let (experiment, _) = begin(&store);
    let state = || store.experiment(experiment).unwrap();
    assert_eq!(latest_unfinished(&store).unwrap().unwrap().id, experiment);
    store.interrupt_experiment(experiment).unwrap();
    assert_eq!(state().state, ExperimentState::Interrupted);
    assert!(state().ended_ms.is_some());
    assert_eq!(latest_unfinished(&store).unwrap().unwrap().id, experiment);
    store.resume_experiment(experiment).unwrap();
    assert_eq!((state().state, state().ended_ms), (ExperimentState::Running, None));
    let warning = Warning { code: "few-blocks".to_owned(), text: "only 2 blocks".to_owned() };
    store.warn(experiment, None, &warning).unwrap();
    let stored = store.warnings(experiment).unwrap().remove(0);
    assert_eq!((stored.trial, stored.step, stored.warning), (None, None, warning));
    store.finish_experiment(experiment).unwrap();
    assert_eq!(latest_unfinished(&store).unwrap(), None);
}

#[test]
fn marks_change_with_results_and_only_with_those_of_their_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let reader = Store::open_read_only(folder.path()).unwrap();
    let (one, [variant, _]) = begin(&store);
    let (other, _) = begin(&store);
    let mut counter = reader.change_counter().unwrap();
    let mut marks = reader.marks().unwrap();
    let mut changed = |what: &str| {
        let (next, now) = (reader.change_counter().unwrap(), reader.marks().unwrap());
        assert_ne!(counter, next, "{what}");
        assert_eq!(reader.change_counter().unwrap(), next, "nothing has changed since");
        assert_eq!(marks[&other], now[&other], "{what}");
        let differs = marks[&one] != now[&one];
        (counter, marks) = (next, now);
        differs
    };
    let trial = begin_trial(&store, one, variant, 1);
    assert!(changed("a trial began"));
    store.record_step(trial, &full_step(0, "l.i0")).unwrap();
    assert!(changed("a step with a warning"));
    store.finish_trial(trial).unwrap();
    assert!(changed("its steps are results now"));
    store.finish_experiment(one).unwrap();
    assert!(changed("it is finished"));
    store.remove_experiment(other).unwrap();
    assert!(!reader.marks().unwrap().contains_key(&other));
}
