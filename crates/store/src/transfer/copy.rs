//! Copying the rows of an experiment from one store into another.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params_from_iter};

use super::NewIds;
use super::shape::{Column, Ownership, Shape, Table, names};
use crate::error::{Result, StoreError};
use crate::records::{ExperimentId, TrialId};
use crate::store::Store;

/// An experiment as a unit.
impl Store {
    /// Copies an experiment into another store, in a single transaction: every row of every table
    /// that belongs to it, with new ids in the same order. It gets the id `wanted` if that is
    /// free. Artifacts stay where they are.
    ///
    /// # Errors
    /// If the experiment does not exist, its rows contradict each other or the other schema, or the
    /// other store cannot be written.
    pub fn copy_experiment(
        &self,
        experiment: ExperimentId,
        to: &Store,
        wanted: Option<ExperimentId>,
    ) -> Result<NewIds> {
        self.copy_then(experiment, to, wanted, |_| Ok(()))
    }

    /// As [`Store::copy_experiment`], but `last` is called before the transaction ends; if it
    /// fails, nothing is copied.
    pub(super) fn copy_then(
        &self,
        experiment: ExperimentId,
        to: &Store,
        wanted: Option<ExperimentId>,
        last: impl FnOnce(&NewIds) -> Result<()>,
    ) -> Result<NewIds> {
        let fate = |row: &mut Row<'_>| {
            let free = |id: &ExperimentId| to.require(row.writing, "experiment", id.0).is_err();
            if row.table == "experiment"
                && let Some(id) = wanted.filter(free)
            {
                row.id = Value::Integer(id.0);
            }
            Fate::New
        };
        self.copy_with(experiment, to, fate, last)
    }

    /// Copies what belongs to an experiment, in a single transaction; `fate` says what becomes of
    /// each row. Otherwise as [`Store::copy_then`].
    pub(super) fn copy_with(
        &self,
        experiment: ExperimentId,
        to: &Store,
        mut fate: impl FnMut(&mut Row<'_>) -> Fate,
        last: impl FnOnce(&NewIds) -> Result<()>,
    ) -> Result<NewIds> {
        let shape = to.wrap(Shape::current())?;
        // All of it is read as it was at one moment.
        let behavior = TransactionBehavior::Deferred;
        let reading = self.wrap(Transaction::new_unchecked(&self.connection, behavior))?;
        self.require(&reading, "experiment", experiment.0)?;
        to.transaction(|connection| {
            let mut copier = Copier {
                from: self,
                reading: &reading,
                to,
                writing: connection,
                shape,
                ids: HashMap::new(),
                left_out: HashSet::new(),
            };
            for (table, _) in shape.owned() {
                copier.table(table, experiment, &mut fate)?;
            }
            let ids = copier.new_ids(experiment)?;
            last(&ids)?;
            Ok(ids)
        })
    }
}

/// A row that is about to be copied.
pub(super) struct Row<'a> {
    /// The other store.
    writing: &'a Connection,
    pub(super) table: &'a str,
    /// Its old id, or its owner's.
    pub(super) key: i64,
    /// Its new id; null for the next free one.
    id: Value,
    columns: &'a [Column],
    values: &'a mut [Value],
}

impl Row<'_> {
    /// The value of a column, to be changed.
    pub(super) fn value(&mut self, column: &str) -> Option<&mut Value> {
        let place = self.columns.iter().position(|it| it.name == column)?;
        self.values.get_mut(place)
    }
}

/// What becomes of a row.
pub(super) enum Fate {
    /// It is copied.
    New,
    /// It is there already, with this id.
    Is(i64),
    /// Neither it nor anything that refers to it is copied.
    LeftOut,
}

struct Copier<'a> {
    from: &'a Store,
    reading: &'a Connection,
    to: &'a Store,
    writing: &'a Connection,
    shape: &'a Shape,
    /// New ids, by table and old id.
    ids: HashMap<(usize, i64), i64>,
    /// Rows that are not copied, by table and old id.
    left_out: HashSet<(usize, i64)>,
}

impl Copier<'_> {
    /// Copies the rows of a table that belong to the experiment.
    fn table(
        &mut self,
        table: usize,
        experiment: ExperimentId,
        fate: &mut dyn FnMut(&mut Row<'_>) -> Fate,
    ) -> Result<()> {
        let Table { name, columns, has_id, .. } = &self.shape.tables[table];
        self.require_table(name)?;
        let mut select = self.from.wrap(self.reading.prepare(&self.shape.select(table)))?;
        let insert = insert(name, columns, *has_id);
        let mut insert = self.to.wrap(self.writing.prepare(&insert))?;
        let mut rows = self.from.wrap(select.query([experiment.0]))?;
        while let Some(row) = self.from.wrap(rows.next())? {
            let key: i64 = self.from.wrap(row.get(0))?;
            let old = (1..=columns.len()).map(|place| row.get(place));
            let mut values: Vec<Value> = self.from.wrap(old.collect())?;
            let refers_to_left_out = columns.iter().zip(&values).any(|(column, value)| {
                let (Some(to), Value::Integer(old)) = (column.refers, value) else { return false };
                self.left_out.contains(&(to, *old))
            });
            let (writing, id) = (self.writing, Value::Null);
            let mut row = Row { writing, table: name, key, id, columns, values: &mut values };
            let fate = if refers_to_left_out { Fate::LeftOut } else { fate(&mut row) };
            let id = row.id;
            match fate {
                Fate::New => {}
                Fate::Is(new) => {
                    self.ids.insert((table, key), new);
                    continue;
                }
                Fate::LeftOut => {
                    self.left_out.extend(has_id.then_some((table, key)));
                    continue;
                }
            }
            let mut moved = Vec::with_capacity(columns.len() + 1);
            moved.extend(has_id.then_some(id));
            for (column, value) in columns.iter().zip(values) {
                moved.push(self.moved(name, column, value)?);
            }
            self.to.wrap(insert.execute(params_from_iter(moved)))?;
            if *has_id {
                self.ids.insert((table, key), self.writing.last_insert_rowid());
            }
        }
        Ok(())
    }

    /// A value as it is in the other store.
    fn moved(&mut self, table: &str, column: &Column, value: Value) -> Result<Value> {
        let (Some(to), Value::Integer(old)) = (column.refers, &value) else { return Ok(value) };
        if let Some(new) = self.ids.get(&(to, *old)) {
            return Ok(Value::Integer(*new));
        }
        if self.shape.tables[to].kind != Ownership::Shared {
            let to = &self.shape.tables[to].name;
            let what = format!(
                "a row of {table} refers to {to} {old}, which is not of the same experiment"
            );
            return Err(self.damaged(what));
        }
        let new = self.shared(to, *old)?;
        self.ids.insert((to, *old), new);
        Ok(Value::Integer(new))
    }

    /// The id in the other store of a shared row with the same content, found or created.
    fn shared(&self, table: usize, old: i64) -> Result<i64> {
        let Table { name, columns, .. } = &self.shape.tables[table];
        self.require_table(name)?;
        let row = self.from.wrap(shared_row(self.reading, name, columns, old))?;
        let Some(row) = row else {
            return Err(self.damaged(format!("a row refers to {name} {old}, which is missing")));
        };
        let parts = |store: &Store, connection: &Connection, id: i64| {
            let all =
                self.shape.parts(table).map(|(part, owner)| part_rows(connection, part, owner, id));
            store.wrap(all.collect::<rusqlite::Result<Vec<_>>>())
        };
        let wanted = parts(self.from, self.reading, old)?;
        let equal: Vec<String> =
            columns.iter().zip(1..).map(|(c, n)| format!("\"{}\" IS ?{n}", c.name)).collect();
        let sql = format!("SELECT id FROM \"{name}\" WHERE {} ORDER BY id", equal.join(" AND "));
        let candidates = self.writing.prepare_cached(&sql).and_then(|mut statement| {
            let ids = statement.query_map(params_from_iter(&row), |row| row.get(0))?;
            ids.collect::<rusqlite::Result<Vec<i64>>>()
        });
        for candidate in self.to.wrap(candidates)? {
            if parts(self.to, self.writing, candidate)? == wanted {
                return Ok(candidate);
            }
        }
        let values = [Value::Null].into_iter().chain(row);
        let sql = insert(name, columns, true);
        self.to.wrap(self.writing.execute(&sql, params_from_iter(values)))?;
        let new = self.writing.last_insert_rowid();
        for ((part, owner), rows) in self.shape.parts(table).zip(wanted) {
            let sql = insert(&part.name, &part.columns, false);
            for mut row in rows {
                row[owner] = Value::Integer(new);
                self.to.wrap(self.writing.execute(&sql, params_from_iter(row)))?;
            }
        }
        Ok(new)
    }

    fn require_table(&self, name: &str) -> Result<()> {
        let sql = "SELECT 1 FROM sqlite_schema WHERE name = ?1 AND type = 'table'";
        let found =
            self.reading.prepare_cached(sql).and_then(|mut statement| statement.exists([name]));
        if self.from.wrap(found)? {
            return Ok(());
        }
        Err(self.damaged(format!("it has no table `{name}`")))
    }

    fn new_ids(&self, experiment: ExperimentId) -> Result<NewIds> {
        let find = |name: &str| self.shape.tables.iter().position(|table| table.name == name);
        let trials = find("trial");
        let trials: BTreeMap<TrialId, TrialId> = self
            .ids
            .iter()
            .filter(|((table, _), _)| Some(*table) == trials)
            .map(|((_, old), new)| (TrialId(*old), TrialId(*new)))
            .collect();
        let new = self.ids.get(&(self.shape.root(), experiment.0)).copied().ok_or_else(|| {
            StoreError::NotFound {
                path: self.from.database().to_owned(),
                what: "experiment",
                id: experiment.0,
            }
        })?;
        Ok(NewIds { experiment: (experiment, ExperimentId(new)), trials })
    }

    fn damaged(&self, what: String) -> StoreError {
        StoreError::Damaged { path: self.from.database().to_owned(), what }
    }
}

/// The columns of a shared row.
pub(super) fn shared_row(
    connection: &Connection,
    table: &str,
    columns: &[Column],
    id: i64,
) -> rusqlite::Result<Option<Vec<Value>>> {
    let sql = format!("SELECT {} FROM \"{table}\" WHERE id = ?1", names(columns));
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_row([id], |row| (0..columns.len()).map(|n| row.get(n)).collect()).optional()
}

/// The parts of a shared row, in the order of their other columns; in place of the reference to it
/// is NULL.
pub(super) fn part_rows(
    connection: &Connection,
    part: &Table,
    owner: usize,
    id: i64,
) -> rusqlite::Result<Vec<Vec<Value>>> {
    let (name, key) = (&part.name, &part.columns[owner].name);
    let columns = names(&part.columns);
    let sql = format!("SELECT {columns} FROM \"{name}\" WHERE \"{key}\" = ?1 ORDER BY {columns}");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([id], |row| {
        let value = |n| if n == owner { Ok(Value::Null) } else { row.get(n) };
        (0..part.columns.len()).map(value).collect()
    })?;
    rows.collect()
}

/// SQL that inserts a row.
fn insert(table: &str, columns: &[Column], with_id: bool) -> String {
    let id = if with_id { "id, " } else { "" };
    let count = columns.len() + usize::from(with_id);
    let marks = vec!["?"; count].join(", ");
    format!("INSERT INTO \"{table}\" ({id}{}) VALUES ({marks})", names(columns))
}
