//! Writing and reading exact counts of instructions and other events.

use std::collections::HashMap;

use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};

use crate::error::{Result, StoreError};
use crate::intern::Names;
use crate::read::unsigned;
use crate::records::{ExperimentId, VariantId};
use crate::store::Store;
use crate::write::{int, twice};

/// The event of a count that every kind of statement has.
pub const INSTRUCTIONS: &str = "instructions";

/// How many instructions the statements of one kind took in a variant's server, or how many of
/// another event there were, counted at least twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountRecord {
    /// Kind of statement, such as `insert-100` or a name from a file of statements.
    pub kind: String,
    /// How they were sent: `simple` or `prepared`.
    pub protocol: String,
    /// The place that was counted: `backend`, the process that serves a connection.
    pub place: String,
    /// What was counted in it: [`INSTRUCTIONS`], or another event such as `L1 misses`.
    pub event: String,
    /// Number of statements counted, at least 1.
    pub statements: u64,
    /// Rows that all of them wrote or asked for; 0 if the kind has no rows.
    pub rows: u64,
    /// Events in all statements in the count that `phases` and `functions` come from; one of
    /// `counts`.
    pub total: u64,
    /// Events in all statements in each count, in the order in which they were made.
    pub counts: Vec<u64>,
    /// Phases in order (`parse`, `analyze`, …). They add up to `total`. Empty if unknown.
    pub phases: Vec<CountPhase>,
    /// Every function that was executed in that count, in the order given.
    pub functions: Vec<CountFunction>,
}

/// The events in one phase of all statements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountPhase {
    /// Such as `parse`; unique in the record.
    pub name: String,
    /// Events in it, in all statements.
    pub total: u64,
}

/// The events in one function in all statements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountFunction {
    /// Its name.
    pub name: String,
    /// The program or library it is in.
    pub object: String,
    /// Events in the function itself.
    pub own: u64,
    /// Events in the function and everything it called.
    pub inclusive: u64,
    /// Number of calls.
    pub calls: u64,
}

impl Store {
    /// Stores a count of a variant; durable when it returns.
    ///
    /// # Errors
    /// If it cannot be written, there is no such variant, the variant already has a count of this
    /// kind, protocol, place and event, or the record contradicts itself
    /// ([`StoreError::UnfitCount`]). Nothing is stored then.
    pub fn record_count(&self, variant: VariantId, record: &CountRecord) -> Result<()> {
        let unfit = |what| StoreError::UnfitCount { kind: record.kind.clone(), what };
        check(record).map_err(unfit)?;
        self.transaction(|connection| {
            self.require(connection, "variant", variant.0)?;
            if self.wrap(is_there(connection, variant, record))? {
                return Err(unfit(format!(
                    "this variant already has one of {} with protocol {} in {}",
                    record.event, record.protocol, record.place
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
            "SELECT c.id, c.variant_id, n.text, c.protocol, c.place, c.event, c.statements, c.row_count, c.total \
             FROM count c JOIN variant v ON v.id = c.variant_id JOIN name n ON n.id = c.kind_id \
             WHERE v.experiment_id = ?1 ORDER BY c.id",
            [experiment.0],
            |row| {
                let record = CountRecord {
                    kind: row.get(2)?,
                    protocol: row.get(3)?,
                    place: row.get(4)?,
                    event: row.get(5)?,
                    statements: unsigned(row, 6)?,
                    rows: unsigned(row, 7)?,
                    total: unsigned(row, 8)?,
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
        each("total FROM count_total", &|record, row| {
            record.counts.push(unsigned(row, 1)?);
            Ok(())
        })?;
        each("name_id, total FROM count_phase", &|record, row| {
            let total = unsigned(row, 2)?;
            record.phases.push(CountPhase { name: name(row.get(1)?), total });
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
    let phases = record.phases.iter().map(|phase| phase.total);
    let sum = phases.fold(0, u64::saturating_add);
    if !record.phases.is_empty() && sum != record.total {
        return Err(format!(
            "its phases have {sum} {}, expected the {} of all statements",
            record.event, record.total
        ));
    }
    if !record.counts.contains(&record.total) {
        return Err(format!("its {} {} match none of its counts", record.total, record.event));
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
             WHERE c.variant_id = ?1 AND n.text = ?2 AND c.protocol = ?3 AND c.place = ?4 AND c.event = ?5",
        )?
        .exists(params![variant.0, record.kind, record.protocol, record.place, record.event])
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
        event,
        statements,
        rows,
        total,
        counts,
        phases,
        functions,
    } = record;
    let mut names = Names::loaded(connection)?;
    let kind = names.id(kind)?;
    let count = connection
        .prepare_cached(
            "INSERT INTO count (variant_id, kind_id, protocol, place, event, statements, row_count, total) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .insert(params![
            variant.0,
            kind,
            protocol,
            place,
            event,
            int(*statements),
            int(*rows),
            int(*total)
        ])?;
    let mut insert = connection
        .prepare_cached("INSERT INTO count_total (count_id, ordinal, total) VALUES (?1, ?2, ?3)")?;
    for (total, ordinal) in counts.iter().zip(0i64..) {
        insert.execute(params![count, ordinal, int(*total)])?;
    }
    let mut insert = connection.prepare_cached(
        "INSERT INTO count_phase (count_id, ordinal, name_id, total) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (phase, ordinal) in phases.iter().zip(0i64..) {
        let name = names.id(&phase.name)?;
        insert.execute(params![count, ordinal, name, int(phase.total)])?;
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
