//! Reading variants, trials and steps.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use plan::{Labels, StepKey};
use rusqlite::types::Type;
use rusqlite::{Params, Row, params};

use crate::error::{Result, StoreError};
use crate::intern::{HOST_FACTS, SETTINGS};
use crate::records::{
    Better, ExperimentId, FAILED, HostFact, Setting, StepId, StepKind, StepState, Trial, TrialId,
    TrialState, Variant, VariantId,
};
use crate::step::{Measure, Scope, Step, StepValues, StoredWarning, Warning};
use crate::store::Store;

/// Condition on `step s` and `trial t` for a [`Scope`].
fn condition(scope: Scope) -> &'static str {
    match scope {
        Scope::Results => "s.state = 'finished' AND t.state = 'finished'",
        Scope::Failed => "s.state = 'failed' AND t.state = 'finished'",
        Scope::All => "true",
    }
}

/// Variants, trials, machines, settings.
impl Store {
    /// The variants of an experiment, in the order of the plan.
    ///
    /// # Errors
    /// If the database cannot be read; this applies to all functions here.
    pub fn variants(&self, experiment: ExperimentId) -> Result<Vec<Variant>> {
        let sql = "SELECT id, position, name, dbms, source, version, build, config FROM variant \
                   WHERE experiment_id = ?1 ORDER BY position";
        self.rows(sql, [experiment.0], |row| {
            Ok(Variant {
                id: VariantId(row.get(0)?),
                position: row.get(1)?,
                name: row.get(2)?,
                dbms: row.get(3)?,
                source: row.get(4)?,
                version: row.get(5)?,
                build: json::<BTreeMap<_, _>>(row, 6)?,
                config: json::<BTreeMap<_, _>>(row, 7)?,
            })
        })
    }

    /// All attempts at trials of an experiment, in the order in which they began.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn trials(&self, experiment: ExperimentId) -> Result<Vec<Trial>> {
        let sql = "SELECT id, variant_id, block, position, sequence, attempt, state, started_ms, ended_ms, error FROM trial \
                   WHERE experiment_id = ?1 ORDER BY id";
        self.rows(sql, [experiment.0], |row| {
            Ok(Trial {
                id: TrialId(row.get(0)?),
                variant: VariantId(row.get(1)?),
                block: row.get(2)?,
                position: row.get(3)?,
                sequence: row.get(4)?,
                attempt: row.get(5)?,
                state: word(row, 6, TrialState::from_text)?,
                started_ms: row.get(7)?,
                ended_ms: row.get(8)?,
                error: row.get(9)?,
            })
        })
    }

    /// Trials that need not run again: block, name of the variant, sequence.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn finished_trials(
        &self,
        experiment: ExperimentId,
    ) -> Result<BTreeSet<(u32, String, u32)>> {
        let sql = "SELECT t.block, v.name, t.sequence FROM trial t JOIN variant v ON v.id = t.variant_id \
                   WHERE t.experiment_id = ?1 AND t.state = 'finished'";
        let rows =
            self.rows(sql, [experiment.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(rows.into_iter().collect())
    }

    /// The machine that an experiment runs on, as last recorded.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn host_facts(&self, experiment: ExperimentId) -> Result<Vec<HostFact>> {
        self.host_set("SELECT host_set_id FROM experiment WHERE id = ?1", experiment.0)
    }

    /// The machine that a trial ran on. It differs from the experiment's if that was resumed after
    /// a change.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn trial_host_facts(&self, trial: TrialId) -> Result<Vec<HostFact>> {
        self.host_set("SELECT host_set_id FROM trial WHERE id = ?1", trial.0)
    }

    /// The trials of an experiment, and the recorded facts of the machine of each: sets of facts,
    /// each with its trials. Equal sets are combined, so there are few.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn trial_hosts(
        &self,
        experiment: ExperimentId,
    ) -> Result<Vec<(Vec<HostFact>, Vec<TrialId>)>> {
        let sql = "SELECT id, host_set_id FROM trial WHERE experiment_id = ?1 ORDER BY id";
        let rows: Vec<(i64, Option<i64>)> =
            self.rows(sql, [experiment.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut sets: Vec<(Option<i64>, Vec<TrialId>)> = Vec::new();
        for (trial, set) in rows {
            match sets.iter_mut().find(|(known, _)| *known == set) {
                Some((_, trials)) => trials.push(TrialId(trial)),
                None => sets.push((set, vec![TrialId(trial)])),
            }
        }
        let facts = |(set, trials): (Option<i64>, Vec<TrialId>)| {
            Ok((set.map_or(Ok(Vec::new()), |set| self.host_rows(set))?, trials))
        };
        sets.into_iter().map(facts).collect()
    }

    fn host_rows(&self, set: i64) -> Result<Vec<HostFact>> {
        let rows = self.wrap(HOST_FACTS.rows(&self.connection, set))?;
        let facts = rows.into_iter().map(|[group, name, value]| HostFact { group, name, value });
        Ok(facts.collect())
    }

    fn host_set(&self, sql: &str, id: i64) -> Result<Vec<HostFact>> {
        let Some(Some(set)) = self.one(sql, [id], |row| row.get(0))? else {
            return Ok(Vec::new());
        };
        self.host_rows(set)
    }

    /// Settings of the server in a trial that differ from the default.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn settings(&self, trial: TrialId) -> Result<Vec<Setting>> {
        let sql = "SELECT setting_set_id FROM trial WHERE id = ?1";
        let Some(Some(set)) = self.one(sql, [trial.0], |row| row.get(0))? else {
            return Ok(Vec::new());
        };
        let rows = self.wrap(SETTINGS.rows(&self.connection, set))?;
        let settings = rows.into_iter().map(|[name, value, unit, source, boot_value]| Setting {
            name,
            value,
            unit,
            source,
            boot_value,
        });
        Ok(settings.collect())
    }

    /// Settings of the server in the last trial of a variant that recorded any; finished trials
    /// come first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn variant_settings(&self, variant: VariantId) -> Result<Vec<Setting>> {
        let sql = "SELECT id FROM trial WHERE variant_id = ?1 AND setting_set_id IS NOT NULL \
                   ORDER BY state = 'finished' DESC, id DESC LIMIT 1";
        match self.one(sql, [variant.0], |row| row.get(0))? {
            Some(trial) => self.settings(TrialId(trial)),
            None => Ok(Vec::new()),
        }
    }
}

/// Steps and their content.
impl Store {
    /// Steps of an experiment, in the order in which they ran.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn steps(&self, experiment: ExperimentId, scope: Scope) -> Result<Vec<Step>> {
        let measures = self.measures()?;
        let sql = format!(
            "SELECT s.id, s.trial_id, t.variant_id, t.block, s.ordinal, n.text, s.dop, s.kind, s.state, s.started_ms, \
             s.seconds, s.operations, s.measure_id, s.absent, s.notes \
             FROM trial t JOIN step s ON s.trial_id = t.id JOIN name n ON n.id = s.name_id \
             WHERE t.experiment_id = ?1 AND {} ORDER BY s.id",
            condition(scope)
        );
        self.rows(&sql, [experiment.0], |row| {
            let (measure, labels) = measure(&measures, row, 12)?;
            Ok(Step {
                id: StepId(row.get(0)?),
                trial: TrialId(row.get(1)?),
                variant: VariantId(row.get(2)?),
                block: row.get(3)?,
                ordinal: row.get(4)?,
                key: StepKey { name: row.get(5)?, dop: row.get(6)?, labels: labels.clone() },
                kind: word(row, 7, StepKind::from_text)?,
                state: word(row, 8, StepState::from_text)?,
                started_ms: row.get(9)?,
                seconds: row.get(10)?,
                operations: unsigned(row, 11)?,
                measure: Measure::clone(measure),
                absent: json::<Vec<_>>(row, 13)?,
                notes: json::<Vec<_>>(row, 14)?,
            })
        })
    }

    /// Names of the metrics that steps of an experiment have, in alphabetical order.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn metric_names(&self, experiment: ExperimentId) -> Result<Vec<String>> {
        let sql = "SELECT DISTINCT n.text FROM trial t JOIN step s ON s.trial_id = t.id \
                   JOIN metric m ON m.step_id = s.id JOIN name n ON n.id = m.name_id WHERE t.experiment_id = ?1 ORDER BY n.text";
        self.rows(sql, [experiment.0], |row| row.get(0))
    }

    /// Some metrics of all steps of an experiment, in the order in which the steps ran. Designed
    /// for 100,000 steps at once.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn step_values(
        &self,
        experiment: ExperimentId,
        metrics: &[&str],
        scope: Scope,
    ) -> Result<Vec<StepValues>> {
        // One snapshot for the three queries, since a run may be writing.
        let snapshot = self.wrap(self.connection.unchecked_transaction())?;
        let names: HashMap<i64, String> = self
            .rows("SELECT id, text FROM name", [], |row| Ok((row.get(0)?, row.get(1)?)))?
            .into_iter()
            .collect();
        let measures = self.measures()?;
        let columns: HashMap<i64, Vec<usize>> = names
            .iter()
            .map(|(id, name)| {
                let wanted = metrics.iter().enumerate().filter(|(_, m)| **m == name);
                (*id, wanted.map(|(column, _)| column).collect())
            })
            .filter(|(_, columns): &(i64, Vec<usize>)| !columns.is_empty())
            .collect();
        let sql = format!(
            "SELECT s.id, s.trial_id, t.variant_id, t.block, s.ordinal, s.name_id, s.dop, s.kind, s.seconds, \
             s.operations, s.measure_id \
             FROM trial t JOIN step s ON s.trial_id = t.id WHERE t.experiment_id = ?1 AND {}",
            condition(scope)
        );
        let mut keys: HashMap<(i64, u32, i64), Arc<StepKey>> = HashMap::new();
        let mut steps = self.rows(&sql, [experiment.0], |row| {
            let (measure, labels) = measure(&measures, row, 10)?;
            let (name, dop) = (row.get(5)?, row.get(6)?);
            let key = keys.entry((name, dop, row.get(10)?)).or_insert_with(|| {
                let name = names.get(&name).cloned().unwrap_or_default();
                Arc::new(StepKey { name, dop, labels: labels.clone() })
            });
            Ok(StepValues {
                step: StepId(row.get(0)?),
                trial: TrialId(row.get(1)?),
                variant: VariantId(row.get(2)?),
                block: row.get(3)?,
                ordinal: row.get(4)?,
                key: Arc::clone(key),
                kind: word(row, 7, StepKind::from_text)?,
                seconds: row.get(8)?,
                operations: unsigned(row, 9)?,
                measure: Arc::clone(measure),
                values: vec![f64::NAN; metrics.len()],
            })
        })?;
        // They nearly are in this order; SQLite would sort them as it sorts anything.
        steps.sort_by_key(|step| step.step);
        if let ([first, ..], [.., last]) = (&steps[..], &steps[..]) {
            // Both sides are in the order of steps; merging them is faster than a lookup per step.
            let (low, high) = (first.step.0, last.step.0);
            let mut rest = steps.iter_mut().peekable();
            // Most metrics are not asked for.
            let ids: Vec<String> = columns.keys().map(i64::to_string).collect();
            let sql = format!(
                "SELECT step_id, name_id, value FROM metric WHERE step_id BETWEEN ?1 AND ?2 \
                 AND name_id IN ({}) ORDER BY step_id",
                ids.join(", ")
            );
            let mut go = || -> rusqlite::Result<()> {
                let mut statement = self.connection.prepare(&sql)?;
                let mut rows = statement.query(params![low, high])?;
                while let Some(row) = rows.next()? {
                    let step: i64 = row.get(0)?;
                    while rest.next_if(|s| s.step.0 < step).is_some() {}
                    let Some(current) = rest.peek_mut().filter(|s| s.step.0 == step) else {
                        continue; // a step of another experiment or outside the scope
                    };
                    if let Some(columns) = columns.get(&row.get(1)?) {
                        let value = row.get(2)?;
                        for column in columns {
                            if let Some(cell) = current.values.get_mut(*column) {
                                *cell = value;
                            }
                        }
                    }
                }
                Ok(())
            };
            let filled = go();
            self.wrap(filled)?;
        }
        self.wrap(snapshot.finish())?;
        Ok(steps)
    }

    /// Every name in the database: of metrics, but also of steps, counters and more.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn names(&self) -> Result<Vec<String>> {
        self.rows("SELECT text FROM name", [], |row| row.get(0))
    }

    fn measures(&self) -> Result<Measures> {
        let sql = "SELECT id, class, unit, better, timed, labels FROM measure";
        let rows = self.rows(sql, [], |row| {
            let measure = Measure {
                class: row.get(1)?,
                unit: row.get(2)?,
                better: word(row, 3, Better::from_text)?,
                timed: row.get(4)?,
            };
            Ok((row.get(0)?, (Arc::new(measure), json::<Labels>(row, 5)?)))
        })?;
        Ok(rows.into_iter().collect())
    }

    /// All warnings of an experiment, its trials and their steps, in any state.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn warnings(&self, experiment: ExperimentId) -> Result<Vec<StoredWarning>> {
        let sql = "SELECT trial_id, step_id, code, text FROM warning WHERE experiment_id = ?1 ORDER BY id";
        self.rows(sql, [experiment.0], |row| {
            Ok(StoredWarning {
                trial: row.get::<_, Option<i64>>(0)?.map(TrialId),
                step: row.get::<_, Option<i64>>(1)?.map(StepId),
                warning: Warning { code: row.get(2)?, text: row.get(3)? },
            })
        })
    }

    /// Why the run of an experiment failed, if resuming it can't change that.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn failed(&self, experiment: ExperimentId) -> Result<Option<String>> {
        let sql = "SELECT text FROM warning WHERE experiment_id = ?1 AND code = ?2 ORDER BY id";
        Ok(self.rows(sql, params![experiment.0, FAILED], |row| row.get(0))?.pop())
    }

    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let go = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_map(values, read)?.collect()
        };
        go().map_err(|e| self.unreadable(e))
    }

    fn one<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.rows(sql, values, read)?.into_iter().next())
    }

    /// A value of the wrong kind means that another program wrote to the database.
    pub(crate) fn unreadable(&self, error: rusqlite::Error) -> StoreError {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType,
        };
        match error {
            FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) => {
                StoreError::Damaged { path: self.database().to_owned(), what: error.to_string() }
            }
            other => StoreError::from_sqlite(self.database(), other),
        }
    }
}

pub(crate) fn unreadable(column: usize, kind: Type, what: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, kind, format!("unreadable {what}").into())
}

/// A word for a state or kind.
pub(crate) fn word<T>(
    row: &Row,
    column: usize,
    from: fn(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    from(text).ok_or_else(|| unreadable(column, Type::Text, text))
}

/// Measures by id, each with the labels of its steps.
type Measures = HashMap<i64, (Arc<Measure>, Labels)>;

fn measure<'m>(
    measures: &'m Measures,
    row: &Row,
    column: usize,
) -> rusqlite::Result<&'m (Arc<Measure>, Labels)> {
    let found = measures.get(&row.get(column)?);
    found.ok_or_else(|| unreadable(column, Type::Integer, "measure of a step"))
}

fn json<T: serde::de::DeserializeOwned>(row: &Row, column: usize) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text)
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, e.into()))
}

pub(crate) fn unsigned(row: &Row, column: usize) -> rusqlite::Result<u64> {
    let n: i64 = row.get(column)?;
    u64::try_from(n).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, n))
}
