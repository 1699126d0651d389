//! Writing and reading exact instruction counts.

use std::collections::HashMap;

use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};

use crate::error::{Result, StoreError};
use crate::intern::Names;
use crate::read::unsigned;
use crate::records::{ExperimentId, VariantId};
use crate::store::Store;
use crate::write::{int, twice};

/// How many instructions the statements of one kind took in a variant's server, counted at least
/// twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountRecord {
    /// Kind of statement, such as `insert-100` or a name from a file of statements.
    pub kind: String,
    /// How they were sent: `simple` or `prepared`.
    pub protocol: String,
    /// The place that was counted: `backend`, the process that serves a connection.
    pub place: String,
    /// Number of statements counted, at least 1.
    pub statements: u64,
    /// Rows that all of them wrote or asked for; 0 if the kind has no rows.
    pub rows: u64,
    /// Instructions of all statements in the count that `phases` and `functions` come from; one of
    /// `counts`.
    pub instructions: u64,
    /// Instructions of all statements in each count, in the order in which they were made.
    pub counts: Vec<u64>,
    /// Phases in order (`parse`, `analyze`, …). They add up to `instructions`. Empty if unknown.
    pub phases: Vec<CountPhase>,
    /// Every function that was executed in that count, in the order given.
    pub functions: Vec<CountFunction>,
}

/// The instructions of one phase of all statements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountPhase {
    /// Such as `parse`; unique in the record.
    pub name: String,
    /// Instructions of all statements in it.
    pub instructions: u64,
}

/// The instructions of one function in all statements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountFunction {
    /// Its name.
    pub name: String,
    /// The program or library it is in.
    pub object: String,
    /// Instructions in the function itself.
    pub own: u64,
    /// Instructions in the function and everything it called.
    pub inclusive: u64,
    /// Number of calls.
    pub calls: u64,
}

impl Store {
    /// Stores a count of a variant; durable when it returns.
    ///
    /// # Errors
    /// If it cannot be written, there is no such variant, the variant already has a count of this
    /// kind, protocol and place, or the record contradicts itself ([`StoreError::UnfitCount`]).
    /// Nothing is stored then.
    pub fn record_count(&self, variant: VariantId, record: &CountRecord) -> Result<()> {
        let unfit = |what| StoreError::UnfitCount { kind: record.kind.clone(), what };
        check(record).map_err(unfit)?;
        self.transaction(|connection| {
            self.require(connection, "variant", variant.0)?;
            if self.wrap(is_there(connection, variant, record))? {
                return Err(unfit(format!(
                    "this variant already has one with protocol {} in {}",
                    record.protocol, record.place
                )));
            }
            self.wrap(insert(connection, variant, record))
        })
    }

    /// The counts of an experiment with the variants they belong to, in the order in which they
    /// were stored. Designed for the functions of a hundred counts at once.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn counts(&self, experiment: ExperimentId) -> Result<Vec<(VariantId, CountRecord)>> {
        // One snapshot for all queries, since a count may be in progress.
        let snapshot = self.wrap(self.connection.unchecked_transaction())?;
        let mut found = self.rows(
            "SELECT c.id, c.variant_id, n.text, c.protocol, c.place, c.statements, c.row_count, c.instructions \
             FROM count c JOIN variant v ON v.id = c.variant_id JOIN name n ON n.id = c.kind_id \
             WHERE v.experiment_id = ?1 ORDER BY c.id",
            [experiment.0],
            |row| {
                let record = CountRecord {
                    kind: row.get(2)?,
                    protocol: row.get(3)?,
                    place: row.get(4)?,
                    statements: unsigned(row, 5)?,
                    rows: unsigned(row, 6)?,
                    instructions: unsigned(row, 7)?,
                    counts: Vec::new(),
                    phases: Vec::new(),
                    functions: Vec::new(),
                };
                Ok((row.get::<_, i64>(0)?, VariantId(row.get(1)?), record))
            },
        )?;
        if let ([(low, ..), ..], [.., (high, ..)]) = (&found[..], &found[..]) {
            let (low, high) = (*low, *high);
            let filled = self.fill(low, high, &mut found);
            filled.map_err(|e| self.unreadable(e))?;
        }
        self.wrap(snapshot.finish())?;
        Ok(found.into_iter().map(|(_, variant, record)| (variant, record)).collect())
    }

    /// Reads phases and functions of the counts from `low` to `high`; some may belong to other
    /// experiments.
    fn fill(
        &self,
        low: i64,
        high: i64,
        found: &mut [(i64, VariantId, CountRecord)],
    ) -> rusqlite::Result<()> {
        // Ids are small and dense, so a table is faster than a hash lookup per function.
        let mut names: Vec<String> = Vec::new();
        let mut statement = self.connection.prepare_cached("SELECT id, text FROM name")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let place = usize::try_from(row.get::<_, i64>(0)?).unwrap_or(0);
            if names.len() <= place {
                names.resize(place + 1, String::new());
            }
            if let Some(name) = names.get_mut(place) {
                *name = row.get(1)?;
            }
        }
        let name = |id: i64| {
            usize::try_from(id).ok().and_then(|id| names.get(id)).cloned().unwrap_or_default()
        };
        let places: HashMap<i64, usize> =
            found.iter().enumerate().map(|(place, (id, ..))| (*id, place)).collect();

        let span = "WHERE count_id BETWEEN ?1 AND ?2 ORDER BY count_id, ordinal";
        type Take<'a> = &'a dyn Fn(&mut CountRecord, &Row) -> rusqlite::Result<()>;
        let mut each = |columns: &str, take: Take<'_>| -> rusqlite::Result<()> {
            let mut statement =
                self.connection.prepare_cached(&format!("SELECT count_id, {columns} {span}"))?;
            let mut rows = statement.query([low, high])?;
            while let Some(row) = rows.next()? {
                let place = places.get(&row.get(0)?);
                if let Some((_, _, record)) = place.and_then(|place| found.get_mut(*place)) {
                    take(record, row)?;
                }
            }
            Ok(())
        };
        each("instructions FROM count_total", &|record, row| {
            record.counts.push(unsigned(row, 1)?);
            Ok(())
        })?;
        each("name_id, instructions FROM count_phase", &|record, row| {
            let instructions = unsigned(row, 2)?;
            record.phases.push(CountPhase { name: name(row.get(1)?), instructions });
            Ok(())
        })?;
        each("name_id, object_id, own, inclusive, calls FROM count_function", &|record, row| {
            record.functions.push(CountFunction {
                name: name(row.get(1)?),
                object: name(row.get(2)?),
                own: unsigned(row, 3)?,
                inclusive: unsigned(row, 4)?,
                calls: unsigned(row, 5)?,
            });
            Ok(())
        })
    }
}

/// Describes the error in a record, if there is one.
fn check(record: &CountRecord) -> std::result::Result<(), String> {
    if record.statements == 0 {
        return Err("it has no statements".to_owned());
    }
    let phases = record.phases.iter().map(|phase| &phase.name);
    twice(phases).map_err(|name| format!("phase `{name}` is given twice"))?;
    let phases = record.phases.iter().map(|phase| phase.instructions);
    let sum = phases.fold(0, u64::saturating_add);
    if !record.phases.is_empty() && sum != record.instructions {
        return Err(format!(
            "its phases have {sum} instructions, expected the {} of all statements",
            record.instructions
        ));
    }
    if !record.counts.contains(&record.instructions) {
        return Err(format!("its {} instructions match none of its counts", record.instructions));
    }
    let counts = record.counts.iter().copied();
    let figures = [record.statements, record.rows].into_iter().chain(counts);
    let of_functions = record.functions.iter().flat_map(|f| [f.own, f.inclusive, f.calls]);
    match figures.chain(of_functions).find(|figure| i64::try_from(*figure).is_err()) {
        Some(large) => Err(format!("{large} is larger than can be stored")),
        None => Ok(()),
    }
}

fn is_there(
    connection: &Connection,
    variant: VariantId,
    record: &CountRecord,
) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT 1 FROM count c JOIN name n ON n.id = c.kind_id \
             WHERE c.variant_id = ?1 AND n.text = ?2 AND c.protocol = ?3 AND c.place = ?4",
        )?
        .exists(params![variant.0, record.kind, record.protocol, record.place])
}

fn insert(
    connection: &Connection,
    variant: VariantId,
    record: &CountRecord,
) -> rusqlite::Result<()> {
    // Destructured, so a new field cannot be forgotten here.
    let CountRecord {
        kind,
        protocol,
        place,
        statements,
        rows,
        instructions,
        counts,
        phases,
        functions,
    } = record;
    let mut names = Names::loaded(connection)?;
    let kind = names.id(kind)?;
    let count = connection
        .prepare_cached(
            "INSERT INTO count (variant_id, kind_id, protocol, place, statements, row_count, instructions) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .insert(params![
            variant.0,
            kind,
            protocol,
            place,
            int(*statements),
            int(*rows),
            int(*instructions)
        ])?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO count_total (count_id, ordinal, instructions) VALUES (?1, ?2, ?3)",
    )?;
    for (total, ordinal) in counts.iter().zip(0i64..) {
        insert.execute(params![count, ordinal, int(*total)])?;
    }
    let mut insert = connection.prepare_cached(
        "INSERT INTO count_phase (count_id, ordinal, name_id, instructions) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (phase, ordinal) in phases.iter().zip(0i64..) {
        let name = names.id(&phase.name)?;
        insert.execute(params![count, ordinal, name, int(phase.instructions)])?;
    }
    let mut insert = connection.prepare_cached(
        "INSERT INTO count_function (count_id, ordinal, name_id, object_id, own, inclusive, calls) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (function, ordinal) in functions.iter().zip(0i64..) {
        let (name, object) = (names.id(&function.name)?, names.id(&function.object)?);
        insert.execute(params![
            count,
            ordinal,
            name,
            object,
            int(function.own),
            int(function.inclusive),
            int(function.calls)
        ])?;
    }
    Ok(())
}
