//! Writing during a run.

use std::collections::BTreeMap;
use std::collections::HashSet;

use plan::{Labels, StepKey};
use reference::{setting_without_passwords, without_passwords};
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::{Result, StoreError};
use crate::intern::{HOST_FACTS, Names, SETTINGS};
use crate::records::{
    ExperimentId, ExperimentState, HostFact, NewExperiment, NewTrial, NewVariant, Setting, StepId,
    TrialId, TrialState, VariantId,
};
use crate::series;
use crate::step::{Failure, LogEvent, Measure, StepRecord, Warning};
use crate::store::{Store, now_ms};

/// Every function here is one transaction, durable when it returns.
impl Store {
    /// Begins an experiment, in state running. Any passwords left in the plan are removed.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin_experiment(&self, new: &NewExperiment) -> Result<ExperimentId> {
        let sql = "INSERT INTO experiment (name, workload, base, seed, blocks, margin, plan, steelyard, created_ms, state, purpose) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'running', ?10)";
        self.transaction(|connection| {
            let id = connection.prepare_cached(sql).and_then(|mut statement| {
                statement.insert(params![
                    without_passwords(&new.name),
                    new.workload,
                    new.base,
                    new.seed.cast_signed(),
                    new.blocks,
                    new.margin,
                    without_passwords(&new.plan),
                    new.steelyard,
                    new.created_ms,
                    new.purpose.as_str()
                ])
            });
            self.wrap(id).map(ExperimentId)
        })
    }

    /// Adds a variant after the existing ones. One with the same name is updated and keeps its
    /// place and id. Passwords in its texts are removed.
    ///
    /// # Errors
    /// If it cannot be written, or there is no such experiment.
    pub fn add_variant(&self, experiment: ExperimentId, new: &NewVariant) -> Result<VariantId> {
        let sql = "INSERT INTO variant (experiment_id, position, name, dbms, source, version, build, config) \
                   VALUES (?1, (SELECT count(*) FROM variant WHERE experiment_id = ?1), ?2, ?3, ?4, ?5, ?6, ?7) \
                   ON CONFLICT (experiment_id, name) DO UPDATE SET dbms = excluded.dbms, source = excluded.source, \
                   version = excluded.version, build = excluded.build, config = excluded.config RETURNING id";
        self.transaction(|connection| {
            self.require(connection, "experiment", experiment.0)?;
            let id = connection.prepare_cached(sql).and_then(|mut statement| {
                statement.query_row(
                    params![
                        experiment.0,
                        new.name,
                        without_passwords(&new.dbms),
                        without_passwords(&new.source),
                        new.version,
                        object(&new.build),
                        object(&new.config)
                    ],
                    |row| row.get(0),
                )
            });
            self.wrap(id).map(VariantId)
        })
    }

    /// Records the machine that an experiment runs on. A second call, as after resuming, replaces
    /// the facts of the experiment; those of earlier trials stay.
    ///
    /// # Errors
    /// If they cannot be written, or there is no such experiment.
    pub fn record_host(&self, experiment: ExperimentId, facts: &[HostFact]) -> Result<()> {
        self.transaction(|connection| {
            self.require(connection, "experiment", experiment.0)?;
            let rows: Vec<[String; 3]> =
                facts.iter().map(|f| [f.group.clone(), f.name.clone(), f.value.clone()]).collect();
            let set = self.wrap(HOST_FACTS.id(connection, &rows))?;
            let sql = "UPDATE experiment SET host_set_id = ?2 WHERE id = ?1";
            self.wrap(connection.execute(sql, [experiment.0, set]))?;
            Ok(())
        })
    }

    /// Begins an attempt at a trial, in state running. It gets the last recorded facts of the
    /// machine.
    ///
    /// # Errors
    /// If it cannot be written, or there is no such experiment or variant.
    pub fn begin_trial(&self, new: &NewTrial) -> Result<TrialId> {
        let sql = "INSERT INTO trial (experiment_id, variant_id, block, position, sequence, attempt, state, started_ms, host_set_id) \
                   VALUES (?1, ?2, ?3, ?4, ?5, \
                   (SELECT 1 + coalesce(max(attempt), 0) FROM trial WHERE experiment_id = ?1 AND variant_id = ?2 AND block = ?3 AND sequence = ?5), \
                   'running', ?6, (SELECT host_set_id FROM experiment WHERE id = ?1))";
        self.transaction(|connection| {
            self.require(connection, "experiment", new.experiment.0)?;
            self.require(connection, "variant", new.variant.0)?;
            let id = connection.prepare_cached(sql).and_then(|mut statement| {
                statement.insert(params![
                    new.experiment.0,
                    new.variant.0,
                    new.block,
                    new.position,
                    new.sequence,
                    new.started_ms
                ])
            });
            self.wrap(id).map(TrialId)
        })
    }

    /// Records the settings of the server in a trial. Passwords in values are removed.
    ///
    /// # Errors
    /// If they cannot be written, or the trial is not running.
    pub fn record_settings(&self, trial: TrialId, settings: &[Setting]) -> Result<()> {
        self.transaction(|connection| {
            self.require_running(connection, trial)?;
            let rows: Vec<[String; 5]> = settings
                .iter()
                .map(|s| {
                    [
                        s.name.clone(),
                        setting_without_passwords(&s.name, &s.value),
                        s.unit.clone(),
                        s.source.clone(),
                        s.boot_value.clone(),
                    ]
                })
                .collect();
            let set = self.wrap(SETTINGS.id(connection, &rows))?;
            let sql = "UPDATE trial SET setting_set_id = ?2 WHERE id = ?1";
            self.wrap(connection.execute(sql, [trial.0, set]))?;
            Ok(())
        })
    }

    /// Stores a step of a running trial with all its measurements.
    ///
    /// # Errors
    /// If it cannot be written ([`StoreError::Full`] if the disk is full), the trial is not
    /// running, or the record has two metrics, series or histograms with the same name. Nothing is
    /// stored then.
    pub fn record_step(&self, trial: TrialId, record: &StepRecord) -> Result<StepId> {
        check_record(record)?;
        self.transaction(|connection| {
            self.require_running(connection, trial)?;
            self.wrap(insert_step(connection, trial, record))
        })
    }

    /// Adds a warning to an experiment or to one of its trials; those of a step are in its record.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn warn(
        &self,
        experiment: ExperimentId,
        trial: Option<TrialId>,
        warning: &Warning,
    ) -> Result<()> {
        self.transaction(|connection| {
            self.require(connection, "experiment", experiment.0)?;
            let sql =
                "INSERT INTO warning (experiment_id, trial_id, code, text) VALUES (?1, ?2, ?3, ?4)";
            let trial = trial.map(|t| t.0);
            let text = without_passwords(&warning.text);
            let values = params![experiment.0, trial, warning.code, text];
            self.wrap(connection.execute(sql, values))?;
            Ok(())
        })
    }

    /// Finishes a running trial: its steps become results.
    ///
    /// # Errors
    /// If it cannot be written, or the trial is not running.
    pub fn finish_trial(&self, trial: TrialId) -> Result<()> {
        self.finish_trials(&[trial])
    }

    /// Finishes trials that ran together: all of them or, if that fails, none.
    ///
    /// # Errors
    /// If it cannot be written, or one of the trials is not running.
    pub fn finish_trials(&self, trials: &[TrialId]) -> Result<()> {
        self.end_trials(trials, TrialState::Finished, None)
    }

    /// Ends a running trial that failed.
    ///
    /// # Errors
    /// If it cannot be written, or the trial is not running.
    pub fn fail_trial(&self, trial: TrialId, error: &str) -> Result<()> {
        self.end_trials(&[trial], TrialState::Failed, Some(error))
    }

    /// Ends trials that will be repeated for a reason outside the experiment. None of their steps
    /// is a result.
    ///
    /// # Errors
    /// If it cannot be written, or one of the trials is not running; none is ended then.
    pub fn pollute_trials(&self, trials: &[TrialId], reason: &str) -> Result<()> {
        self.end_trials(trials, TrialState::Polluted, Some(reason))
    }

    /// Takes back finished trials, which will be repeated: their steps are no longer results.
    ///
    /// # Errors
    /// If it cannot be written; none is taken back then.
    pub fn take_back_trials(&self, trials: &[TrialId], reason: &str) -> Result<()> {
        self.transaction(|connection| {
            let sql = "UPDATE trial SET state = ?2, error = ?3 WHERE id = ?1 AND state = ?4";
            let [polluted, finished] = [TrialState::Polluted, TrialState::Finished];
            for trial in trials {
                let values = params![trial.0, polluted.as_str(), reason, finished.as_str()];
                self.wrap(connection.execute(sql, values))?;
            }
            Ok(())
        })
    }

    fn end_trials(&self, trials: &[TrialId], state: TrialState, error: Option<&str>) -> Result<()> {
        let error = error.map(without_passwords);
        self.transaction(|connection| {
            for trial in trials {
                self.require_running(connection, *trial)?;
                let sql = "UPDATE trial SET state = ?2, ended_ms = ?3, error = ?4 WHERE id = ?1";
                let values = params![trial.0, state.as_str(), now_ms(), error];
                self.wrap(connection.execute(sql, values))?;
            }
            Ok(())
        })
    }

    /// Marks trials left running by a killed run as abandoned; returns how many.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn abandon_running(&self, experiment: ExperimentId) -> Result<usize> {
        self.transaction(|connection| {
            let sql = "UPDATE trial SET state = 'abandoned' WHERE experiment_id = ?1 AND state = 'running'";
            self.wrap(connection.execute(sql, [experiment.0]))
        })
    }

    /// Marks an experiment as finished.
    ///
    /// # Errors
    /// If it cannot be written, or there is no such experiment.
    pub fn finish_experiment(&self, experiment: ExperimentId) -> Result<()> {
        self.set_state(experiment, ExperimentState::Finished)
    }

    /// Marks an experiment as stopped before its end.
    ///
    /// # Errors
    /// If it cannot be written, or there is no such experiment.
    pub fn interrupt_experiment(&self, experiment: ExperimentId) -> Result<()> {
        self.set_state(experiment, ExperimentState::Interrupted)
    }

    /// Marks an experiment as running again.
    ///
    /// # Errors
    /// If it cannot be written, or there is no such experiment.
    pub fn resume_experiment(&self, experiment: ExperimentId) -> Result<()> {
        self.set_state(experiment, ExperimentState::Running)
    }

    fn set_state(&self, experiment: ExperimentId, state: ExperimentState) -> Result<()> {
        self.transaction(|connection| {
            self.require(connection, "experiment", experiment.0)?;
            let ended = (state != ExperimentState::Running).then(now_ms);
            let sql = "UPDATE experiment SET state = ?2, ended_ms = ?3 WHERE id = ?1";
            let values = params![experiment.0, state.as_str(), ended];
            self.wrap(connection.execute(sql, values))?;
            Ok(())
        })
    }

    /// Fails unless the table has this id.
    pub(crate) fn require(
        &self,
        connection: &Connection,
        table: &'static str,
        id: i64,
    ) -> Result<()> {
        let sql = format!("SELECT 1 FROM {table} WHERE id = ?1");
        let found =
            connection.prepare_cached(&sql).and_then(|mut statement| statement.exists([id]));
        if self.wrap(found)? {
            Ok(())
        } else {
            Err(StoreError::NotFound { path: self.database().to_owned(), what: table, id })
        }
    }

    fn require_running(&self, connection: &Connection, trial: TrialId) -> Result<()> {
        let state: rusqlite::Result<Option<String>> = connection
            .prepare_cached("SELECT state FROM trial WHERE id = ?1")
            .and_then(|mut statement| statement.query_row([trial.0], |row| row.get(0)).optional());
        match self.wrap(state)? {
            None => Err(StoreError::NotFound {
                path: self.database().to_owned(),
                what: "trial",
                id: trial.0,
            }),
            Some(state) if state == TrialState::Running.as_str() => Ok(()),
            Some(state) => Err(StoreError::NotRunning { trial: trial.0, state }),
        }
    }
}

/// A map as JSON, without passwords.
fn object(map: &BTreeMap<String, String>) -> String {
    let clean = map.iter().map(|(k, v)| (k.clone(), setting_without_passwords(k, v).into()));
    serde_json::Value::Object(clean.collect()).to_string()
}

/// A list of strings as JSON.
fn list(texts: &[String]) -> String {
    serde_json::Value::from(texts).to_string()
}

/// Numbers beyond 63 bits do not occur in measurements; SQLite could not hold them.
pub(crate) fn int(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn check_record(record: &StepRecord) -> Result<()> {
    let unfit = |what: String| StoreError::Unfit { step: record.key.name.clone(), what };
    if !record.seconds.is_finite() {
        return Err(unfit(format!("it took {} seconds", record.seconds)));
    }
    let metrics = record.metrics.iter().map(|(name, _)| name);
    twice(metrics).map_err(|n| unfit(format!("metric `{n}` is given twice")))?;
    let series = record.series.iter().map(|s| &s.name);
    twice(series).map_err(|n| unfit(format!("series `{n}` is given twice")))?;
    let histograms = record.histograms.iter().map(|h| &h.class);
    twice(histograms).map_err(|n| unfit(format!("histogram `{n}` is given twice")))
}

pub(crate) fn twice<'a>(
    names: impl Iterator<Item = &'a String>,
) -> std::result::Result<(), &'a str> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(name);
        }
    }
    Ok(())
}

/// The row of a measure with the labels of its step, created if there is none yet.
fn measure_id(
    connection: &Connection,
    measure: &Measure,
    labels: &Labels,
) -> rusqlite::Result<i64> {
    let Measure { class, unit, better, timed } = measure;
    let labels = serde_json::json!(labels).to_string();
    let values = params![class, unit, better.as_str(), timed, labels];
    let sql = "INSERT OR IGNORE INTO measure (class, unit, better, timed, labels) \
               VALUES (?1, ?2, ?3, ?4, ?5)";
    connection.prepare_cached(sql)?.execute(values)?;
    let sql = "SELECT id FROM measure WHERE class = ?1 AND unit = ?2 AND better = ?3 \
               AND timed = ?4 AND labels = ?5";
    connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))
}

fn insert_step(
    connection: &Connection,
    trial: TrialId,
    record: &StepRecord,
) -> rusqlite::Result<StepId> {
    // Destructured, so a new field cannot be forgotten here.
    let StepRecord {
        ordinal,
        key: StepKey { name, dop, labels },
        kind,
        state,
        started_ms,
        seconds,
        operations,
        measure,
        metrics,
        series,
        histograms,
        counters,
        absent,
        sizes,
        plans,
        events,
        warnings,
        failures,
        notes,
    } = record;
    let mut names = Names::new(connection);
    let name = names.id(name)?;
    let measure = measure_id(connection, measure, labels)?;
    let (kind, state, operations) = (kind.as_str(), state.as_str(), int(*operations));
    let (absent, notes) = (list(absent), list(notes));
    let sql = "INSERT INTO step (trial_id, ordinal, name_id, dop, kind, state, started_ms, seconds, operations, \
               measure_id, absent, notes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    let step = connection.prepare_cached(sql)?.insert(params![
        trial.0, ordinal, name, dop, kind, state, started_ms, seconds, operations, measure, absent,
        notes
    ])?;

    let sql = "INSERT INTO metric (step_id, name_id, value) VALUES (?1, ?2, ?3)";
    let mut insert = connection.prepare_cached(sql)?;
    for (name, value) in metrics.iter().filter(|(_, value)| value.is_finite()) {
        insert.execute(params![step, names.id(name)?, value])?;
    }
    let sql = "INSERT INTO series (step_id, name_id, label, unit, grp, encoding, \"values\") \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let mut insert = connection.prepare_cached(sql)?;
    for s in series {
        let (encoding, bytes) = series::encode(&s.values);
        let name = names.id(&s.name)?;
        insert.execute(params![step, name, s.label, s.unit, s.group, encoding, bytes])?;
    }
    let sql = "INSERT INTO histogram (step_id, class, count, hdr) VALUES (?1, ?2, ?3, ?4)";
    let mut insert = connection.prepare_cached(sql)?;
    for h in histograms {
        insert.execute(params![step, h.class, int(h.count), h.hdr])?;
    }
    let sql = "INSERT INTO counter (step_id, ordinal, view_id, object_id, name_id, value) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut insert = connection.prepare_cached(sql)?;
    let known = counters.iter().filter(|c| !c.value.is_nan());
    for (c, ordinal) in known.zip(0i64..) {
        let (view, object, name) = (names.id(&c.view)?, names.id(&c.object)?, names.id(&c.name)?);
        insert.execute(params![step, ordinal, view, object, name, c.value])?;
    }
    let sql =
        "INSERT INTO size (step_id, ordinal, object_id, name, bytes) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut insert = connection.prepare_cached(sql)?;
    for (s, ordinal) in sizes.iter().zip(0i64..) {
        insert.execute(params![step, ordinal, names.id(&s.object)?, s.name, int(s.bytes)])?;
    }
    let sql =
        "INSERT INTO query_plan (step_id, ordinal, statement_id, plan_id) VALUES (?1, ?2, ?3, ?4)";
    let mut insert = connection.prepare_cached(sql)?;
    for (one, ordinal) in plans.iter().zip(0i64..) {
        let (statement, plan) = (names.id(&one.statement)?, names.id(&one.plan)?);
        insert.execute(params![step, ordinal, statement, plan])?;
    }
    insert_texts(connection, trial, step, events, warnings, failures)?;
    Ok(StepId(step))
}

/// Inserts what systems and programs said during a step, without passwords.
fn insert_texts(
    connection: &Connection,
    trial: TrialId,
    step: i64,
    events: &[LogEvent],
    warnings: &[Warning],
    failures: &[Failure],
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO event (step_id, ordinal, at_ms, kind, text) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut insert = connection.prepare_cached(sql)?;
    for (event, ordinal) in events.iter().zip(0i64..) {
        let text = without_passwords(&event.text);
        insert.execute(params![step, ordinal, event.at_ms, event.kind, text])?;
    }
    let sql = "INSERT INTO warning (experiment_id, trial_id, step_id, code, text) \
               VALUES ((SELECT experiment_id FROM trial WHERE id = ?1), ?1, ?2, ?3, ?4)";
    let mut insert = connection.prepare_cached(sql)?;
    for w in warnings {
        insert.execute(params![trial.0, step, w.code, without_passwords(&w.text)])?;
    }
    let sql = "INSERT INTO failure (step_id, class, code, message, count, retried) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut insert = connection.prepare_cached(sql)?;
    for f in failures {
        let message = without_passwords(&f.message);
        insert.execute(params![step, f.class, f.code, message, int(f.count), f.retried])?;
    }
    Ok(())
}
