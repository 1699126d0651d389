//! Reading runs and counts, which are both experiments.

use rusqlite::{Params, Row};

use crate::error::{Result, StoreError};
use crate::read::word;
use crate::records::{Experiment, ExperimentId, ExperimentState, Purpose};
use crate::store::Store;

const EXPERIMENT: &str = "SELECT id, name, workload, base, seed, blocks, margin, plan, steelyard, \
                          created_ms, ended_ms, state, purpose FROM experiment";

impl Store {
    /// All runs, newest first. For counts, see [`Store::all_experiments`].
    ///
    /// # Errors
    /// If the database cannot be read; this applies to all functions here.
    pub fn experiments(&self) -> Result<Vec<Experiment>> {
        self.experiments_where("WHERE purpose = 'run' ORDER BY id DESC", [])
    }

    /// All runs and counts, newest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn all_experiments(&self) -> Result<Vec<Experiment>> {
        self.experiments_where("ORDER BY id DESC", [])
    }

    /// A run or a count by its id.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if there is none.
    pub fn experiment(&self, id: ExperimentId) -> Result<Experiment> {
        let found = self.experiments_where("WHERE id = ?1", [id.0])?.pop();
        found.ok_or_else(|| StoreError::NotFound {
            path: self.database().to_owned(),
            what: "experiment",
            id: id.0,
        })
    }

    /// The newest run of this name.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn experiment_named(&self, name: &str) -> Result<Option<Experiment>> {
        let rest = "WHERE purpose = 'run' AND name = ?1 ORDER BY id DESC LIMIT 1";
        Ok(self.experiments_where(rest, [name])?.pop())
    }

    /// The newest run.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn latest(&self) -> Result<Option<Experiment>> {
        let rest = "WHERE purpose = 'run' ORDER BY id DESC LIMIT 1";
        Ok(self.experiments_where(rest, [])?.pop())
    }

    /// The newest count of this name.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn count_named(&self, name: &str) -> Result<Option<Experiment>> {
        let rest = "WHERE purpose = 'count' AND name = ?1 ORDER BY id DESC LIMIT 1";
        Ok(self.experiments_where(rest, [name])?.pop())
    }

    /// The newest count.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn latest_count(&self) -> Result<Option<Experiment>> {
        let rest = "WHERE purpose = 'count' ORDER BY id DESC LIMIT 1";
        Ok(self.experiments_where(rest, [])?.pop())
    }

    fn experiments_where(&self, rest: &str, values: impl Params) -> Result<Vec<Experiment>> {
        self.rows(&format!("{EXPERIMENT} {rest}"), values, experiment)
    }
}

fn experiment(row: &Row) -> rusqlite::Result<Experiment> {
    Ok(Experiment {
        id: ExperimentId(row.get(0)?),
        name: row.get(1)?,
        workload: row.get(2)?,
        base: row.get(3)?,
        seed: row.get::<_, i64>(4)?.cast_unsigned(),
        blocks: row.get(5)?,
        margin: row.get(6)?,
        plan: row.get(7)?,
        steelyard: row.get(8)?,
        created_ms: row.get(9)?,
        ended_ms: row.get(10)?,
        state: word(row, 11, ExperimentState::from_text)?,
        purpose: word(row, 12, Purpose::from_text)?,
    })
}
