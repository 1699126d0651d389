//! Kinds of statements whose cost is counted one by one, and the data they need.

use crate::class::Class;
use crate::draw::Cell;
use crate::request::{Expect, Statement};
use crate::step::Refresh;

/// What `steelyard count` needs from a workload: tables, rows, and the statements to count.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    /// Create the empty tables, one statement after another.
    pub setup: Vec<String>,
    /// Fills them: a statement and how often to run it. `None`: the setup does.
    pub load: Option<(Statement, u64)>,
    /// Run on the loaded tables for the kinds that need [`State::Indexed`].
    pub index: Vec<String>,
    /// Number of shared cells.
    pub cells: usize,
    /// Sets the cells before a kind is counted.
    pub refresh: Option<Refresh>,
    /// The kinds, in the order in which tables show them.
    pub kinds: Vec<Kind>,
}

/// One kind of statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Kind {
    /// Its name, such as `insert-100`.
    pub name: String,
    /// What its operations are.
    pub class: Class,
    /// The statement. The caller sets whether it is prepared.
    pub statement: Statement,
    /// Rows that one execution writes; 0 for a query.
    pub rows: u64,
    /// The data it needs.
    pub state: State,
    /// Whether it leaves the data unchanged, so other kinds may be counted on it too.
    pub reads_only: bool,
    /// A cell that grows with each execution, and by how much: rows deleted so far.
    pub adds: Option<(Cell, i64)>,
}

/// The data that a kind of statement needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// The loaded tables.
    Loaded,
    /// With the secondary indexes.
    Indexed,
}

/// The catalogue of a user's own statements.
pub fn own(statements: &plan::OwnStatements) -> Catalogue {
    let kinds = statements.statements.iter().map(|(name, text)| Kind {
        name: name.clone(),
        class: Class::QUERY,
        statement: Statement::plain(text.clone(), Expect::Success),
        rows: 0,
        state: State::Loaded,
        // Its effect is unknown.
        reads_only: false,
        adds: None,
    });
    Catalogue {
        setup: Some(&statements.setup)
            .filter(|setup| !setup.is_empty())
            .cloned()
            .into_iter()
            .collect(),
        load: None,
        index: Vec::new(),
        cells: 0,
        refresh: None,
        kinds: kinds.collect(),
    }
}
