//! Kinds of requests whose cost is counted one by one, and the data they need.

use std::collections::BTreeMap;

use crate::class::Class;
use crate::draw::Cell;
use crate::request::{Expect, Request, Statement};
use crate::step::{End, Refresh, Step};

/// Everything that `steelyard count` needs from a workload: tables, rows, and the requests to
/// count.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    /// Create the empty tables, one statement after another.
    pub setup: Vec<String>,
    /// Fills them, if the setup does not.
    pub load: Vec<Load>,
    /// Run on the loaded tables for the kinds that need [`State::Indexed`].
    pub index: Vec<String>,
    /// Number of shared cells.
    pub cells: usize,
    /// Sets the cells before a kind is counted.
    pub refresh: Option<Refresh>,
    /// Settings of the system, as in [`crate::Benchmark`].
    pub config: BTreeMap<String, String>,
    /// The kinds, in the order in which tables show them.
    pub kinds: Vec<Kind>,
}

/// A request that fills tables.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// The request.
    pub request: Request,
    /// How often to run it.
    pub times: u64,
    /// A cell that grows with each run, and by how much.
    pub adds: Option<(Cell, i64)>,
}

impl Load {
    /// The requests of a step's streams, one after another.
    pub fn of(step: &Step) -> impl Iterator<Item = Load> {
        step.streams.iter().flat_map(|stream| {
            let times = if let End::Rounds(rounds) = stream.end { rounds } else { 1 };
            let adds = stream.adds_to.map(|cell| (cell, stream.operations_per_round as i64));
            stream.requests.iter().map(move |request| Load {
                request: request.clone(),
                times,
                adds,
            })
        })
    }
}

/// One kind of request.
#[derive(Debug, Clone, PartialEq)]
pub struct Kind {
    /// Its name, such as `insert-100`.
    pub name: String,
    /// The class of its operations.
    pub class: Class,
    /// The request. For a statement, the caller sets whether it is prepared.
    pub request: Request,
    /// Rows that one execution writes; 0 for a query.
    pub rows: u64,
    /// The data it needs.
    pub state: State,
    /// True if it leaves the data unchanged, so other kinds may be counted on it too.
    pub reads_only: bool,
    /// A cell that grows with each execution, and by how much: rows deleted so far.
    pub adds: Option<(Cell, i64)>,
}

/// The data that a kind needs.
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
        request: Statement::plain(text.clone(), Expect::Success).into(),
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
        load: Vec::new(),
        index: Vec::new(),
        cells: 0,
        refresh: None,
        config: BTreeMap::new(),
        kinds: kinds.collect(),
    }
}
