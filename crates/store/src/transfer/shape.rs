//! The tables that make up an experiment, as the schema itself declares them.
//!
//! Nothing here names a table except `experiment`. A table belongs to an experiment if a column
//! that must not be NULL refers, with `ON DELETE CASCADE`, to `experiment` or to a table that
//! belongs to it. A table that refers to nothing is shared by experiments (`name`, `host_set`, …).
//! A table whose key begins with a reference to a shared one holds its parts (`host_fact`, …). A
//! table of another kind fails this crate's tests.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::schema;

/// The table of experiments.
const ROOT: &str = "experiment";

/// A table.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) name: String,
    /// Without the column `id`.
    pub(super) columns: Vec<Column>,
    /// True if it has a column `id`, its key.
    pub(super) has_id: bool,
    /// True if its rows have an order of their own: the one in which they were written.
    has_rowid: bool,
    pub(super) kind: Ownership,
}

/// The relation of a table to an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ownership {
    /// `experiment`.
    Root,
    /// Its rows belong to rows of another table, through the column with this index.
    Owned(usize),
    /// Its rows are shared by experiments.
    Shared,
    /// Its rows are parts of shared ones, through the column with this index.
    Part(usize),
}

/// A column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    /// The value of a row that does not mention it.
    pub(super) default: Value,
    /// Index in [`Shape::tables`] of the table whose `id` it holds.
    pub(super) refers: Option<usize>,
}

/// All tables, in an order in which each comes after those it refers to.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) tables: Vec<Table>,
}

/// A table as SQLite describes it.
struct Declared {
    has_id: bool,
    has_rowid: bool,
    columns: Vec<(String, Value, bool)>,
    /// Column, table, whether rows are deleted along.
    references: Vec<(String, String, bool)>,
}

impl Shape {
    /// The shape of the schema that this crate writes.
    pub(super) fn current() -> rusqlite::Result<&'static Self> {
        static CURRENT: OnceLock<Shape> = OnceLock::new();
        if let Some(shape) = CURRENT.get() {
            return Ok(shape);
        }
        let connection = Connection::open_in_memory()?;
        schema::create(&connection)?;
        let shape = Self::of(&connection)?;
        Ok(CURRENT.get_or_init(|| shape))
    }

    pub(super) fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let mut left = BTreeMap::new();
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' \
                   AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
        let mut statement = connection.prepare(sql)?;
        for name in statement.query_map([], |row| row.get::<_, String>(0))? {
            let name = name?;
            left.insert(name.clone(), declared(connection, &name)?);
        }
        let mut shape = Shape { tables: Vec::new() };
        while !left.is_empty() {
            let ready = |declared: &Declared| {
                declared.references.iter().all(|(_, to, _)| shape.place(to).is_some())
            };
            let next = left.iter().find(|(_, declared)| ready(declared));
            let Some(name) = next.map(|(name, _)| name.clone()) else {
                return Err(unknown("the tables refer to each other in a circle"));
            };
            if let Some(declared) = left.remove(&name) {
                shape.add(name, declared)?;
            }
        }
        Ok(shape)
    }

    fn add(&mut self, name: String, declared: Declared) -> rusqlite::Result<()> {
        let refers = |column: &str| {
            declared.references.iter().find(|(from, ..)| from == column).map(|(_, to, _)| to)
        };
        let columns: Vec<Column> = declared
            .columns
            .iter()
            .map(|(column, default, _)| Column {
                name: column.clone(),
                default: default.clone(),
                refers: refers(column).and_then(|to| self.place(to)),
            })
            .collect();
        let leads = |place: usize, cascade: bool| {
            let (column, _, not_null) = &declared.columns[place];
            let deleted = |(from, _, deleted): &(String, String, bool)| from == column && *deleted;
            *not_null && (!cascade || declared.references.iter().any(deleted))
        };
        let to = |place: usize| columns[place].refers.map(|table| &self.tables[table].kind);
        let owner = (0..columns.len()).find(|place| {
            matches!(to(*place), Some(Ownership::Root | Ownership::Owned(_))) && leads(*place, true)
        });
        let kind = match owner {
            _ if name == ROOT => Ownership::Root,
            Some(owner) => Ownership::Owned(owner),
            None if declared.references.is_empty() && declared.has_id => Ownership::Shared,
            None if to(0) == Some(&Ownership::Shared) && leads(0, false) && !declared.has_id => {
                Ownership::Part(0)
            }
            None => {
                return Err(unknown(&format!(
                    "table {name} neither belongs to an experiment nor is shared by experiments"
                )));
            }
        };
        let Declared { has_id, has_rowid, .. } = declared;
        self.tables.push(Table { name, columns, has_id, has_rowid, kind });
        Ok(())
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.name == name)
    }

    /// The table of experiments.
    pub(super) fn root(&self) -> usize {
        self.place(ROOT).unwrap_or(0)
    }

    /// The tables whose rows belong to an experiment, with their indexes.
    pub(super) fn owned(&self) -> impl Iterator<Item = (usize, &Table)> {
        let belongs = |kind: &Ownership| matches!(kind, Ownership::Root | Ownership::Owned(_));
        self.tables.iter().enumerate().filter(move |(_, table)| belongs(&table.kind))
    }

    /// The table of the parts of a shared table's rows.
    pub(super) fn parts(&self, shared: usize) -> impl Iterator<Item = (&Table, usize)> {
        self.tables.iter().filter_map(move |table| match table.kind {
            Ownership::Part(column) if table.columns[column].refers == Some(shared) => {
                Some((table, column))
            }
            _ => None,
        })
    }

    /// SQL for the `id`s of the rows that belong to experiment `?1`.
    fn ids(&self, table: usize) -> String {
        let Table { name, .. } = &self.tables[table];
        format!("SELECT id FROM \"{name}\" WHERE {}", self.condition(table))
    }

    /// SQL that is true for the rows that belong to experiment `?1`.
    fn condition(&self, table: usize) -> String {
        let Table { columns, kind, .. } = &self.tables[table];
        match kind {
            Ownership::Owned(owner) => {
                let Column { name, refers, .. } = &columns[*owner];
                let of = self.ids(refers.unwrap_or_default());
                format!("\"{name}\" IN ({of})")
            }
            _ => "id = ?1".to_owned(),
        }
    }

    /// SQL for all rows of experiment `?1` in a table: `id` (or the owner's, if it has none), then
    /// the columns. In the order of `id`, or of the owners.
    pub(super) fn select(&self, table: usize) -> String {
        let Table { name, columns, has_id, has_rowid, kind } = &self.tables[table];
        let key = match kind {
            Ownership::Owned(owner) if !has_id => columns[*owner].name.as_str(),
            _ => "id",
        };
        let condition = self.condition(table);
        let columns = names(columns);
        let then = if *has_rowid && !has_id { ", rowid" } else { "" };
        format!(
            "SELECT \"{key}\", {columns} FROM \"{name}\" WHERE {condition} ORDER BY \"{key}\"{then}"
        )
    }
}

/// The names of columns, for SQL.
pub(super) fn names(columns: &[Column]) -> String {
    let quoted: Vec<String> = columns.iter().map(|c| format!("\"{}\"", c.name)).collect();
    quoted.join(", ")
}

fn declared(connection: &Connection, table: &str) -> rusqlite::Result<Declared> {
    let sql = "SELECT name, dflt_value, \"notnull\" OR pk > 0 FROM pragma_table_info(?1)";
    let mut statement = connection.prepare(sql)?;
    let list = "SELECT NOT wr FROM pragma_table_list(?1) WHERE schema = 'main'";
    let mut declared = Declared {
        has_id: false,
        has_rowid: connection.query_row(list, [table], |row| row.get(0))?,
        columns: Vec::new(),
        references: Vec::new(),
    };
    let mut rows = statement.query([table])?;
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        if name == "id" {
            declared.has_id = true;
            continue;
        }
        let default = match row.get::<_, Option<String>>(1)? {
            Some(sql) => connection.query_row(&format!("SELECT {sql}"), [], |row| row.get(0))?,
            None => Value::Null,
        };
        declared.columns.push((name, default, row.get(2)?));
    }
    let sql = "SELECT \"from\", \"table\", on_delete = 'CASCADE' FROM pragma_foreign_key_list(?1)";
    let mut statement = connection.prepare(sql)?;
    let references = statement.query_map([table], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
    declared.references = references.collect::<rusqlite::Result<_>>()?;
    Ok(declared)
}

fn unknown(what: &str) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(what.to_owned().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_a_place() {
        let shape = Shape::current().unwrap();
        let kind = |name: &str| shape.tables[shape.place(name).unwrap()].kind.clone();
        assert_eq!(kind("experiment"), Ownership::Root);
        assert!(matches!(kind("count_total"), Ownership::Owned(_)));
        assert_eq!((kind("name"), kind("host_set")), (Ownership::Shared, Ownership::Shared));
        assert_eq!(kind("setting"), Ownership::Part(0));
        assert_eq!(shape.parts(shape.place("host_set").unwrap()).count(), 1);
        // A warning refers to three tables, and belongs to the one it always refers to.
        let warning = &shape.tables[shape.place("warning").unwrap()];
        let Ownership::Owned(owner) = warning.kind else { panic!("{warning:?}") };
        assert_eq!(warning.columns[owner].name, "experiment_id");
    }

    #[test]
    fn a_table_that_belongs_nowhere_is_refused() {
        let connection = Connection::open_in_memory().unwrap();
        schema::create(&connection).unwrap();
        let lost = "CREATE TABLE lost (step_id INTEGER REFERENCES step (id), x TEXT)";
        connection.execute_batch(lost).unwrap();
        let said = Shape::of(&connection).unwrap_err().to_string();
        assert!(said.contains("table lost neither belongs"), "{said}");
    }
}
