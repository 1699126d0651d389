//! The interface of a session for scripts: statements with values as text, and results by name.

use script::{Sql, Symbols, Value};
use workload::Scripts;

use super::reply::Reply;
use crate::error::Error;

/// Length of the part of a statement that an error shows.
const SHOWN: usize = 120;

/// A statement without values, as errors show it.
pub fn shown(sql: &Sql, symbols: &Symbols) -> String {
    let mut text = Vec::new();
    sql.simple(symbols, &[], false, &mut text);
    String::from_utf8_lossy(&text).chars().take(SHOWN).collect()
}

/// A session that runs the statements of scripts.
pub trait Scripted {
    /// Registers a statement; returns its number.
    ///
    /// # Errors
    /// [`Error::Script`] if it can't be sent in the way that the scripts want.
    fn add(&mut self, sql: &Sql, scripts: &Scripts) -> Result<usize, Error>;

    /// Has the server parse a statement, if that is still to be done.
    ///
    /// # Errors
    /// [`Error::Broken`], or the system's error.
    fn parse(&mut self, statement: usize) -> Result<(), Error>;

    /// Sends a statement with these variables; in a pipeline it waits until [`Scripted::send`].
    ///
    /// # Errors
    /// As for [`Scripted::parse`].
    fn push(&mut self, statement: usize, variables: &[Value], pipeline: bool) -> Result<(), Error>;

    /// Ends the part of a pipeline that fails or succeeds together.
    fn sync(&mut self);

    /// Sends the waiting messages.
    ///
    /// # Errors
    /// [`Error::Broken`]
    fn send(&mut self) -> Result<(), Error>;

    /// Reads the answers up to the next end of a part. `kept` gets the results by name.
    ///
    /// # Errors
    /// [`Error::Broken`], or the system's error.
    fn results(&mut self, kept: Option<&mut Kept>) -> Result<Reply, Error>;

    /// True if a transaction is open.
    fn in_transaction(&self) -> bool;
}

/// The results of a command's statements.
#[derive(Debug, Default)]
pub struct Kept {
    /// Those that have columns, in their order.
    pub results: Vec<Rows>,
}

/// A result.
#[derive(Debug, Default)]
pub struct Rows {
    /// The names of its columns.
    pub columns: Vec<String>,
    /// How many rows it has.
    pub rows: u64,
    /// The last row, as text; `None` is a null.
    pub last: Vec<Option<String>>,
}

impl Kept {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.results.clear();
    }

    /// A result begins, with these columns.
    pub fn columns(&mut self, columns: Vec<String>) {
        self.results.push(Rows { columns, ..Rows::default() });
    }

    /// The next row of the current result.
    pub fn row(&mut self, values: Vec<Option<String>>) {
        if let Some(result) = self.results.last_mut() {
            result.rows += 1;
            result.last = values;
        }
    }
}
