//! Reading the content of a step.

use std::collections::BTreeMap;

use rusqlite::types::Type;
use rusqlite::{Row, params};

use crate::error::Result;
use crate::read::{unreadable, unsigned};
use crate::records::StepId;
use crate::series;
use crate::step::{Counter, Failure, Histogram, LogEvent, QueryPlan, Series, Size};
use crate::store::Store;

const SERIES: &str = "SELECT n.text, r.label, r.unit, r.grp, r.encoding, r.\"values\" FROM series r \
                      JOIN name n ON n.id = r.name_id WHERE r.step_id = ?1";

/// Access to the measurements of a step.
impl Store {
    /// All metrics of a step, by name.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn metrics(&self, step: StepId) -> Result<BTreeMap<String, f64>> {
        let sql = "SELECT n.text, m.value FROM metric m JOIN name n ON n.id = m.name_id WHERE m.step_id = ?1";
        let rows = self.rows(sql, [step.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.into_iter().collect())
    }

    /// The series of a step, in the order in which they were given.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn series(&self, step: StepId) -> Result<Vec<Series>> {
        self.rows(&format!("{SERIES} ORDER BY r.id"), [step.0], series)
    }

    /// The series of one group of a step, in the order in which they were given.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn series_of_group(&self, step: StepId, group: &str) -> Result<Vec<Series>> {
        self.rows(&format!("{SERIES} AND r.grp = ?2 ORDER BY r.id"), params![step.0, group], series)
    }

    /// The labels of a step's series of one group, by name.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn labels(&self, step: StepId, group: &str) -> Result<BTreeMap<String, String>> {
        let sql = "SELECT n.text, r.label FROM series r JOIN name n ON n.id = r.name_id \
                   WHERE r.step_id = ?1 AND r.grp = ?2";
        let rows = self.rows(sql, params![step.0, group], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.into_iter().collect())
    }

    /// The histograms of a step, in the order in which they were given.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn histograms(&self, step: StepId) -> Result<Vec<Histogram>> {
        let sql = "SELECT class, count, hdr FROM histogram WHERE step_id = ?1 ORDER BY rowid";
        self.rows(sql, [step.0], |row| {
            Ok(Histogram { class: row.get(0)?, count: unsigned(row, 1)?, hdr: row.get(2)? })
        })
    }

    /// The counters of a step, in the order in which they were given.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn counters(&self, step: StepId) -> Result<Vec<Counter>> {
        let sql = "SELECT v.text, o.text, n.text, c.value FROM counter c JOIN name v ON v.id = c.view_id \
                   JOIN name o ON o.id = c.object_id JOIN name n ON n.id = c.name_id WHERE c.step_id = ?1 ORDER BY c.ordinal";
        self.rows(sql, [step.0], |row| {
            Ok(Counter {
                view: row.get(0)?,
                object: row.get(1)?,
                name: row.get(2)?,
                value: row.get(3)?,
            })
        })
    }

    /// Sizes of tables and the like at the end of a step, in the order in which they were given.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn sizes(&self, step: StepId) -> Result<Vec<Size>> {
        let sql = "SELECT n.text, z.name, z.bytes FROM size z \
                   JOIN name n ON n.id = z.object_id WHERE z.step_id = ?1 ORDER BY z.ordinal";
        self.rows(sql, [step.0], |row| {
            Ok(Size { object: row.get(0)?, name: row.get(1)?, bytes: unsigned(row, 2)? })
        })
    }

    /// The plans of a step's statements, in the order in which they were given.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn plans(&self, step: StepId) -> Result<Vec<QueryPlan>> {
        let sql = "SELECT s.text, p.text FROM query_plan q JOIN name s ON s.id = q.statement_id \
                   JOIN name p ON p.id = q.plan_id WHERE q.step_id = ?1 ORDER BY q.ordinal";
        self.rows(sql, [step.0], |row| Ok(QueryPlan { statement: row.get(0)?, plan: row.get(1)? }))
    }

    /// The DBMS's own events during a step, in the order in which they were given.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn events(&self, step: StepId) -> Result<Vec<LogEvent>> {
        let sql = "SELECT at_ms, kind, text FROM event WHERE step_id = ?1 ORDER BY ordinal";
        self.rows(sql, [step.0], |row| {
            Ok(LogEvent { at_ms: row.get(0)?, kind: row.get(1)?, text: row.get(2)? })
        })
    }

    /// The errors of a step's statements.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn failures(&self, step: StepId) -> Result<Vec<Failure>> {
        let sql = "SELECT class, code, message, count, retried FROM failure WHERE step_id = ?1 ORDER BY id";
        self.rows(sql, [step.0], |row| {
            Ok(Failure {
                class: row.get(0)?,
                code: row.get(1)?,
                message: row.get(2)?,
                count: unsigned(row, 3)?,
                retried: row.get(4)?,
            })
        })
    }
}

fn series(row: &Row) -> rusqlite::Result<Series> {
    let encoding = row.get_ref(4)?.as_str()?;
    let values = series::decode(encoding, row.get_ref(5)?.as_blob()?)
        .ok_or_else(|| unreadable(5, Type::Blob, "values of a series"))?;
    Ok(Series {
        name: row.get(0)?,
        label: row.get(1)?,
        unit: row.get(2)?,
        group: row.get(3)?,
        values,
    })
}
