//! Storing repeated strings and sets of rows once.

use std::collections::HashMap;

use rusqlite::types::ToSql;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

/// Ids of names, found or created within one transaction.
pub(crate) struct Names<'c> {
    connection: &'c Connection,
    known: HashMap<String, i64>,
}

impl<'c> Names<'c> {
    pub(crate) fn new(connection: &'c Connection) -> Self {
        Names { connection, known: HashMap::new() }
    }

    /// Reads all names at once, which is cheaper than a thousand queries.
    pub(crate) fn loaded(connection: &'c Connection) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare_cached("SELECT text, id FROM name")?;
        let known = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let known = known.collect::<rusqlite::Result<_>>()?;
        Ok(Names { connection, known })
    }

    pub(crate) fn id(&mut self, text: &str) -> rusqlite::Result<i64> {
        if let Some(id) = self.known.get(text) {
            return Ok(*id);
        }
        let found = self
            .connection
            .prepare_cached("SELECT id FROM name WHERE text = ?1")?
            .query_row([text], |row| row.get(0))
            .optional()?;
        let id = match found {
            Some(id) => id,
            None => self
                .connection
                .prepare_cached("INSERT INTO name (text) VALUES (?1)")?
                .insert([text])?,
        };
        self.known.insert(text.to_owned(), id);
        Ok(id)
    }
}

/// A table of sets and a table of their rows, with `N` strings each.
pub(crate) struct Sets<const N: usize> {
    /// Table of the sets.
    pub(crate) sets: &'static str,
    /// Table of the rows.
    pub(crate) rows: &'static str,
    /// Columns of the rows.
    pub(crate) columns: [&'static str; N],
}

pub(crate) const HOST_FACTS: Sets<3> =
    Sets { sets: "host_set", rows: "host_fact", columns: ["grp", "name", "value"] };

pub(crate) const SETTINGS: Sets<5> = Sets {
    sets: "setting_set",
    rows: "setting",
    columns: ["name", "value", "unit", "source", "boot_value"],
};

impl<const N: usize> Sets<N> {
    /// The id of the set with exactly these rows, found or created.
    pub(crate) fn id(
        &self,
        connection: &Connection,
        rows: &[[String; N]],
    ) -> rusqlite::Result<i64> {
        let digest = digest(rows);
        let sql = format!("SELECT id FROM {} WHERE digest = ?1", self.sets);
        let candidates: Vec<i64> = connection
            .prepare_cached(&sql)?
            .query_map([digest], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for id in candidates {
            if self.rows(connection, id)? == rows {
                return Ok(id);
            }
        }
        let sql = format!("INSERT INTO {} (digest) VALUES (?1)", self.sets);
        let id = connection.prepare_cached(&sql)?.insert(params![digest])?;
        let marks: String = (0..N).map(|i| format!(", ?{}", i + 3)).collect();
        let sql = format!(
            "INSERT INTO {} (set_id, ordinal, {}) VALUES (?1, ?2{marks})",
            self.rows,
            self.columns.join(", ")
        );
        let mut statement = connection.prepare_cached(&sql)?;
        for (row, ordinal) in rows.iter().zip(0i64..) {
            let head: [&dyn ToSql; 2] = [&id, &ordinal];
            let cells = row.iter().map(|cell| cell as &dyn ToSql);
            statement.execute(params_from_iter(head.into_iter().chain(cells)))?;
        }
        Ok(id)
    }

    /// The rows of a set, in the order in which they were given.
    pub(crate) fn rows(
        &self,
        connection: &Connection,
        id: i64,
    ) -> rusqlite::Result<Vec<[String; N]>> {
        let sql = format!(
            "SELECT {} FROM {} WHERE set_id = ?1 ORDER BY ordinal",
            self.columns.join(", "),
            self.rows
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let rows = statement.query_map([id], |row| {
            let mut cells = [const { String::new() }; N];
            for (i, cell) in cells.iter_mut().enumerate() {
                *cell = row.get(i)?;
            }
            Ok(cells)
        })?;
        rows.collect()
    }
}

/// FNV-1a, 64 bits (RFC 9923), over the lengths and bytes of all cells. It only narrows the search;
/// contents are compared.
fn digest<const N: usize>(rows: &[[String; N]]) -> i64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for cell in rows.iter().flatten() {
        add(&(cell.len() as u64).to_le_bytes());
        add(cell.as_bytes());
    }
    hash.cast_signed()
}
