//! Reads the results database without steelyard.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, Row};

/// The database of a results directory.
pub struct Database(pub Connection);

/// A row of `trial`.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    pub id: i64,
    pub variant: String,
    pub block: i64,
    pub dop: i64,
    pub attempt: i64,
    pub state: String,
    pub started_ms: i64,
    pub ended_ms: Option<i64>,
    pub error: Option<String>,
}

impl Database {
    pub fn of(results: &Path) -> Self {
        let path = results.join("steelyard.db");
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE);
        Self(connection.unwrap())
    }

    pub fn list<T>(&self, sql: &str, read: impl Fn(&Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
        let mut statement = self.0.prepare(sql).unwrap();
        statement.query_map([], |row| read(row)).unwrap().map(Result::unwrap).collect()
    }

    pub fn texts(&self, sql: &str) -> Vec<String> {
        self.list(sql, |row| row.get(0))
    }

    pub fn number(&self, sql: &str) -> i64 {
        self.0.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    pub fn trials(&self) -> Vec<Trial> {
        self.list(
            "SELECT t.id, v.name, t.block, t.sequence, t.attempt, t.state, t.started_ms, t.ended_ms, t.error \
             FROM trial t JOIN variant v ON v.id = t.variant_id ORDER BY t.id",
            |row| {
                Ok(Trial {
                    id: row.get(0)?,
                    variant: row.get(1)?,
                    block: row.get(2)?,
                    dop: row.get(3)?,
                    attempt: row.get(4)?,
                    state: row.get(5)?,
                    started_ms: row.get(6)?,
                    ended_ms: row.get(7)?,
                    error: row.get(8)?,
                })
            },
        )
    }

    pub fn finished(&self) -> Vec<Trial> {
        self.trials().into_iter().filter(|trial| trial.state == "finished").collect()
    }

    /// Names and states of the steps of a trial, in order.
    pub fn steps(&self, trial: i64) -> Vec<(String, String)> {
        self.list(
            &format!(
                "SELECT n.text, s.state FROM step s JOIN name n ON n.id = s.name_id \
                 WHERE s.trial_id = {trial} ORDER BY s.ordinal"
            ),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// A metric of a step, in each trial that has it and was not measured again.
    pub fn metrics(&self, step: &str, metric: &str) -> Vec<f64> {
        self.list(
            &format!(
                "SELECT m.value FROM metric m JOIN name mn ON mn.id = m.name_id JOIN step s ON s.id = m.step_id \
                 JOIN name sn ON sn.id = s.name_id JOIN trial t ON t.id = s.trial_id \
                 WHERE sn.text = '{step}' AND mn.text = '{metric}' AND t.state <> 'polluted' ORDER BY s.id"
            ),
            |row| row.get(0),
        )
    }

    /// A metric of a step, in the first trial that has it.
    pub fn metric(&self, step: &str, metric: &str) -> Option<f64> {
        self.metrics(step, metric).first().copied()
    }

    /// The notes of a step as they are stored, in each trial that has it.
    pub fn notes_of(&self, step: &str) -> Vec<String> {
        self.texts(&format!(
            "SELECT coalesce(s.notes, '') FROM step s JOIN name n ON n.id = s.name_id \
             WHERE n.text = '{step}' ORDER BY s.id"
        ))
    }

    /// Change of a counter over a step, summed over its objects.
    pub fn counter(&self, step: &str, name: &str) -> f64 {
        self.list(
            &format!(
                "SELECT coalesce(sum(c.value), 0.0) FROM counter c JOIN name cn ON cn.id = c.name_id \
                 JOIN step s ON s.id = c.step_id JOIN name sn ON sn.id = s.name_id \
                 WHERE sn.text = '{step}' AND cn.text = '{name}'"
            ),
            |row| row.get(0),
        )[0]
    }

    /// The file is whole.
    pub fn assert_sound(&self) {
        assert_eq!(self.texts("PRAGMA integrity_check"), ["ok"]);
        assert_eq!(self.number("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    }
}
