//! Experiments that were run in parts, of the same plan, put together.

use std::collections::{HashMap, HashSet};

use rusqlite::types::Value;

use super::NewIds;
use super::copy::{Fate, Row};
use crate::error::{Result, StoreError};
use crate::records::{ExperimentId, ExperimentState, Variant};
use crate::store::Store;

/// The facts about an experiment that was put together from parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    /// Name from the plan.
    pub name: String,
    /// The plan as text.
    pub plan: String,
    /// Seed of the seeds of the parts.
    pub seed: u64,
    /// Blocks of all parts that were planned.
    pub blocks: u32,
    /// When it began, milliseconds since 1970 (UTC).
    pub created_ms: i64,
    /// When the last part ended, milliseconds since 1970 (UTC).
    pub ended_ms: Option<i64>,
    /// Finished if no part is missing.
    pub state: ExperimentState,
}

impl Store {
    /// Adds the trials of an experiment to one of the same variants in another store, as blocks
    /// after the first `blocks`, in a single transaction. A load that several blocks share (block
    /// 0) stays behind if the other store has one. Returns the new ids; artifacts stay where they
    /// are.
    ///
    /// # Errors
    /// If the variants differ, and as for [`Store::copy_experiment`].
    pub fn append_trials(
        &self,
        experiment: ExperimentId,
        to: &Store,
        into: ExperimentId,
        blocks: u32,
    ) -> Result<NewIds> {
        let others = to.variants(into)?;
        let mut same = HashMap::new();
        for own in self.variants(experiment)? {
            let other = others.iter().find(|other| other.name == own.name);
            let Some(other) = other.filter(|other| is_same(&own, other)) else {
                let (path, name) = (self.database().to_owned(), &own.name);
                let what =
                    format!("its {name} has another version, build or setting than the others");
                return Err(StoreError::Damaged { path, what });
            };
            same.insert(own.id.0, other.id.0);
        }
        // By an index each, because the other store may have the trials of a thousand machines.
        let sql = "SELECT 1 FROM trial WHERE block = 0 AND experiment_id = ?1 \
                   AND variant_id IN (SELECT id FROM variant WHERE experiment_id = ?1) LIMIT 1";
        let has_loads = !to.rows(sql, [into.0], |_| Ok(()))?.is_empty();
        let sql = "SELECT code, text FROM warning \
                   WHERE trial_id IS NULL AND step_id IS NULL AND +experiment_id = ?1";
        let told: HashSet<(String, String)> =
            to.rows(sql, [into.0], |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect();
        let fate = |row: &mut Row<'_>| match row.table {
            "experiment" => Fate::Is(into.0),
            "variant" => same.get(&row.key).map_or(Fate::LeftOut, |id| Fate::Is(*id)),
            "trial" => match row.value("block") {
                Some(Value::Integer(0)) if has_loads => Fate::LeftOut,
                Some(Value::Integer(block)) if *block > 0 => {
                    *block += i64::from(blocks);
                    Fate::New
                }
                _ => Fate::New,
            },
            // Said of the whole by another part already.
            "warning" => {
                let of_all = row.value("trial_id") == Some(&mut Value::Null);
                let mut text = |column| match row.value(column) {
                    Some(Value::Text(text)) => text.clone(),
                    _ => String::new(),
                };
                match of_all && told.contains(&(text("code"), text("text"))) {
                    true => Fate::LeftOut,
                    false => Fate::New,
                }
            }
            _ => Fate::New,
        };
        self.copy_with(experiment, to, fate, |_| Ok(()))
    }

    /// Replaces the facts about an experiment by those of the whole that it has become.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn become_whole(&self, experiment: ExperimentId, whole: &Whole) -> Result<()> {
        self.transaction(|connection| {
            self.require(connection, "experiment", experiment.0)?;
            let sql = "UPDATE experiment SET name = ?2, plan = ?3, seed = ?4, blocks = ?5, \
                       created_ms = ?6, ended_ms = ?7, state = ?8 WHERE id = ?1";
            let Whole { name, plan, seed, blocks, created_ms, ended_ms, state } = whole;
            let state = state.as_str();
            let values = rusqlite::params![
                experiment.0,
                name,
                plan,
                seed.cast_signed(),
                blocks,
                created_ms,
                ended_ms,
                state
            ];
            self.wrap(connection.execute(sql, values)).map(drop)
        })
    }
}

/// True if it is the same program with the same settings, wherever its files came from.
fn is_same(one: &Variant, other: &Variant) -> bool {
    let build = |of: &Variant| {
        let mut build = of.build.clone();
        build.remove("obtained from");
        build
    };
    (&one.dbms, &one.version, &one.config, build(one))
        == (&other.dbms, &other.version, &other.config, build(other))
}
