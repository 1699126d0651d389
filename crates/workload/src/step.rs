//! What a benchmark is made of: phases, steps, streams, statements.

use crate::draw::{Cell, Draw};

/// A whole benchmark for one number of clients on one dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct Benchmark {
    /// Statements that create the empty tables, run one after another before the first phase.
    pub setup: Vec<String>,
    /// The tables, for sizes, counters and settling.
    pub tables: Vec<String>,
    /// What runs, in order.
    pub phases: Vec<Phase>,
}

/// One phase of a benchmark.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // few exist, none is moved in a hot path
pub enum Phase {
    /// A measured step.
    Step(Step),
    /// Pay off the debt that the steps before have left, in all tables.
    Settle {
        /// Rows in all tables by then; the rest pause grows with them.
        rows: u64,
    },
}

/// One measured phase at one number of clients.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The field's name for it, for example `l.i0`.
    pub name: String,
    /// Number of concurrent clients.
    pub dop: u32,
    /// What one operation is.
    pub unit: Unit,
    /// The class of statements whose operations are the step's throughput.
    pub counted: Class,
    /// What each connection does.
    pub streams: Vec<Stream>,
    /// Number of shared cells the streams use.
    pub cells: usize,
    /// Measured seconds; `None`: until the leading streams have done their work.
    pub seconds: Option<f64>,
    /// Operations the step stands for where that is not what its statements count: index creation
    /// counts the rows indexed.
    pub operations: Option<u64>,
    /// Inserted rows per second wanted, over all clients, in a read+write step.
    pub insert_target: Option<f64>,
}

/// What one operation is, for tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Rows inserted or indexed.
    Rows,
    /// Queries answered.
    Queries,
}

impl Unit {
    /// The word tables use.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Rows => "rows",
            Unit::Queries => "queries",
        }
    }
}

/// Kinds of statements that are counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Inserts, counted in rows.
    Insert,
    /// Deletes, counted in rows.
    Delete,
    /// Queries, counted in statements.
    Query,
    /// Definitions such as `CREATE INDEX`, counted in statements.
    Define,
    /// A transaction held open; its statements are no throughput.
    Hold,
}

impl Class {
    /// The word results use.
    pub fn name(self) -> &'static str {
        match self {
            Class::Insert => "insert",
            Class::Delete => "delete",
            Class::Query => "query",
            Class::Define => "define",
            Class::Hold => "hold",
        }
    }
}

/// What one connection does in a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    /// The client it belongs to, from 0.
    pub client: u32,
    /// What its operations count as.
    pub class: Class,
    /// Whether the step waits for it.
    pub role: Role,
    /// Statements that [`Action`]s name by index.
    pub statements: Vec<Statement>,
    /// One round of the stream, repeated until its end.
    pub script: Vec<Action>,
    /// Operations that one round counts (rows of a multi-row insert, 1 for a query).
    pub operations_per_round: u64,
    /// When the next round may start.
    pub pace: Pace,
    /// When the stream is done.
    pub end: End,
    /// A query on the side that keeps shared cells current; it is not counted.
    pub refresh: Option<Refresh>,
    /// A shared cell to which the operations of each finished round are added.
    pub adds_to: Option<Cell>,
    /// What its queries have to find over the whole step, where fewer rows would say that they
    /// looked in the wrong place.
    pub finds: Option<Finds>,
}

/// The rows that queries have to find over a whole step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Finds {
    /// At least so many per query in the mean.
    Mean(f64),
    /// What follows from the rows in the table, for queries that ask for ids drawn uniformly between
    /// two cells. Not every id there needs to be in the table: clients that share a sequence each
    /// take a number of ids at once, and leave gaps.
    Ids {
        /// Ids that one query asks for.
        ids: u32,
        /// Rows that were in the table when the step began, at least.
        rows: u64,
        /// The lowest id.
        low: Cell,
        /// The highest id.
        high: Cell,
        /// A cell with the number of rows inserted since the step began, where as many of the oldest
        /// are deleted.
        deleted: Option<Cell>,
    },
}

impl Finds {
    /// The fewest rows that a query can be expected to find now, in the mean over what it draws.
    pub fn least(&self, cell: impl Fn(Cell) -> i64) -> f64 {
        match *self {
            Finds::Mean(rows) => rows,
            Finds::Ids { ids, rows, low, high, deleted } => {
                let width = (cell(high).saturating_sub(cell(low)).saturating_add(1)).max(1) as f64;
                let deleted = deleted.map_or(0.0, |deleted| cell(deleted) as f64);
                // More rows than there are ids say as well that some are missing.
                let rows = (rows as f64 - deleted).max(0.0);
                // Each row is found unless none of the ids is its own; one drawn twice is found once.
                rows * (1.0 - (1.0 - 1.0 / width).powi(ids as i32))
            }
        }
    }

    /// How far the rows of one query scatter about their expectation: at most this standard deviation.
    pub fn scatter(&self) -> f64 {
        match *self {
            Finds::Mean(_) => 0.0,
            Finds::Ids { ids, .. } => f64::from(ids).sqrt() / 2.0,
        }
    }
}

/// Whether a step waits for a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The step ends when all of these have ended.
    Lead,
    /// Runs beside and is stopped at the step's end.
    Background,
}

/// One action of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Run the statement with this index.
    Run(usize),
    /// Run one of the statements with these indexes, chosen uniformly.
    Choose(Vec<usize>),
    /// Wait this many milliseconds, or until the step ends.
    Rest(u64),
}

/// When the next round of a stream may start.
#[derive(Debug, Clone, PartialEq)]
pub enum Pace {
    /// As fast as the answers come.
    Free,
    /// By a schedule with this many rounds per second. Latency counts from the scheduled time.
    Rate(f64),
    /// Whenever `leader` is ahead of this stream's own operations by at least one round.
    Follow(Cell),
}

/// When a stream is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// After this many rounds.
    Rounds(u64),
    /// When the step's time is over.
    Time,
    /// When the leading streams have ended and it has caught up with the cell it follows.
    CaughtUp,
}

/// A query whose single row sets shared cells: before the first round, then every so many rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Refresh {
    /// Rounds between two refreshes.
    pub every: u32,
    /// The query; one row with as many integers as there are cells.
    pub statement: Statement,
    /// The cells its columns set, in order. A NULL leaves its cell as it is.
    pub into: Vec<Cell>,
}

/// A statement with places for drawn values.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The text and its values, in order.
    pub pieces: Vec<Piece>,
    /// Parsed once by the server and then bound, or sent as text each time.
    pub prepared: bool,
    /// The answer that is right.
    pub expect: Expect,
}

impl Statement {
    /// A statement without parameters, sent as text.
    pub fn plain(text: impl Into<String>, expect: Expect) -> Statement {
        Statement { pieces: vec![Piece::Text(text.into())], prepared: false, expect }
    }

    /// The text with `$1`, `$2`, … where values are drawn, as the server parses it.
    pub fn numbered(&self) -> String {
        fn add(pieces: &[Piece], next: &mut usize, text: &mut String) {
            for piece in pieces {
                match piece {
                    Piece::Text(part) => text.push_str(part),
                    Piece::Value(_) => {
                        text.push('$');
                        text.push_str(&next.to_string());
                        *next += 1;
                    }
                    Piece::Rows { count, row } => {
                        for index in 0..*count {
                            if index > 0 {
                                text.push(',');
                            }
                            add(row, next, text);
                        }
                    }
                }
            }
        }
        let mut text = String::new();
        add(&self.pieces, &mut 1, &mut text);
        text
    }

    /// The draws of one execution, in the order of the parameters.
    pub fn draws(&self) -> Vec<&Draw> {
        fn add<'a>(pieces: &'a [Piece], draws: &mut Vec<&'a Draw>) {
            for piece in pieces {
                match piece {
                    Piece::Text(_) => {}
                    Piece::Value(draw) => draws.push(draw),
                    Piece::Rows { count, row } => {
                        for _ in 0..*count {
                            add(row, draws);
                        }
                    }
                }
            }
        }
        let mut draws = Vec::new();
        add(&self.pieces, &mut draws);
        draws
    }
}

/// A part of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text as it stands.
    Text(String),
    /// A value drawn for each execution.
    Value(Draw),
    /// The same pieces `count` times, separated by commas: the rows of a multi-row insert.
    Rows {
        /// Number of rows.
        count: u32,
        /// The pieces of one row.
        row: Vec<Piece>,
    },
}

/// The answer to a statement that is right; anything else fails the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// A result with this many rows.
    Rows {
        /// The fewest.
        min: u32,
        /// The most.
        max: u32,
    },
    /// Exactly this many rows affected.
    Affected(u64),
    /// Success is enough.
    Success,
}
