//! The requests of a client: SQL statements or key-value operations, with places for drawn values.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use trace::Bound;

use crate::copy::Copy;
use crate::draw::{Draw, Sampler, Source};
use crate::rng::Rng;
use crate::scripts::Scripts;
use crate::sent::Sent;

/// A request from a client to a system under test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// A statement for a system that speaks SQL.
    Sql(Statement),
    /// The same statement several times, each with values of its own, before an answer is awaited.
    Pipeline {
        /// The statement.
        statement: Statement,
        /// How often, at least 1.
        depth: u32,
    },
    /// Rows for a system that speaks SQL, in bulk.
    Copy(Copy),
    /// A run of a pgbench script, to be counted.
    Script(Arc<Scripts>),
    /// An operation for a system that stores values by key.
    KeyValue(KeyValue),
    /// A statement of a log whose values were sent apart, for PostgreSQL.
    Bound(Bound),
}

impl Request {
    /// The right answer.
    pub fn expect(&self) -> Expect {
        match self {
            Request::Sql(statement) => statement.expect,
            Request::Pipeline { statement, depth } => statement.expect.times(*depth),
            Request::Copy(copy) => copy.rows().map_or(Expect::Success, Expect::affected),
            Request::Script(_) | Request::Bound(_) => Expect::Success,
            Request::KeyValue(operation) => operation.expect,
        }
    }

    /// Its statement, if it is one with places for values.
    pub fn statement(&self) -> Option<&Statement> {
        match self {
            Request::Sql(statement) | Request::Pipeline { statement, .. } => Some(statement),
            Request::Copy(_) | Request::Script(_) | Request::KeyValue(_) | Request::Bound(_) => {
                None
            }
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Sql(statement) | Request::Pipeline { statement, .. } => {
                f.write_str(&statement.numbered())
            }
            Request::Copy(copy) => f.write_str(&copy.statement()),
            Request::Script(scripts) => {
                scripts.scripts.iter().try_for_each(|(script, _)| f.write_str(&script.name))
            }
            Request::KeyValue(operation) => write!(f, "{:?}", operation.action),
            Request::Bound(bound) => f.write_str(&bound.text),
        }
    }
}

impl From<Statement> for Request {
    fn from(statement: Statement) -> Request {
        Request::Sql(statement)
    }
}

impl From<KeyValue> for Request {
    fn from(operation: KeyValue) -> Request {
        Request::KeyValue(operation)
    }
}

/// An operation on keys, which are numbers, laid out by the engine's session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeyValue {
    /// The action.
    pub action: KeyAction,
    /// The key, drawn for each execution.
    pub key: Draw,
    /// The right answer: rows are pairs found, affected are pairs written.
    pub expect: Expect,
}

/// An action on keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum KeyAction {
    /// Reads the value of one key, or of several in one call, each drawn separately.
    Get {
        /// How many.
        keys: u32,
    },
    /// Writes the values of one key, or of several at once, each drawn separately.
    Put {
        /// How many.
        keys: u32,
        /// A value.
        value: Draw,
        /// True if it survives a crash of the system.
        logged: bool,
    },
    /// Removes a key.
    Delete,
    /// Seeks to the key and reads the pairs from there.
    Scan(Scan),
}

/// The pairs that a scan reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scan {
    /// How many.
    pub pairs: u32,
    /// True if it goes toward smaller keys.
    pub reverse: bool,
}

/// A statement with places for drawn values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// The text and its values, in order.
    pub pieces: Vec<Piece>,
    /// How it is sent.
    pub sent: Sent,
    /// The right answer.
    pub expect: Expect,
}

impl Statement {
    /// A statement without parameters, sent as text.
    pub fn plain(text: impl Into<String>, expect: Expect) -> Statement {
        Statement { pieces: vec![Piece::Text(text.into())], sent: Sent::Text, expect }
    }

    /// The text with `$1`, `$2`, … in place of drawn values, as the server parses it.
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

    /// The text with drawn values in their places, as a session sends a statement that is not
    /// prepared. Cells are 0.
    pub fn example(&self, keeps: &[Draw], seed: u64) -> String {
        let mut rng = Rng::new(seed);
        let mut kept = Vec::new();
        for draw in keeps {
            let mut source = Source { rng: &mut rng, cells: &[], kept: &[] };
            let number = Sampler::from(draw).number(&mut source, &kept);
            kept.push(number);
        }
        let mut example = Example { rng, kept, numbers: Vec::new(), text: String::new() };
        example.add(&self.pieces);
        example.text
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

/// A statement's text as it grows.
struct Example {
    rng: Rng,
    kept: Vec<i64>,
    numbers: Vec<i64>,
    text: String,
}

impl Example {
    fn add(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            match piece {
                Piece::Text(part) => self.text.push_str(part),
                Piece::Value(draw) => self.value(draw),
                Piece::Rows { count, row } => {
                    for index in 0..*count {
                        if index > 0 {
                            self.text.push(',');
                        }
                        self.add(row);
                    }
                }
            }
        }
    }

    fn value(&mut self, draw: &Draw) {
        let sampler = Sampler::from(draw);
        if draw.width().is_some() {
            let mut source = Source { rng: &mut self.rng, cells: &[], kept: &self.kept };
            let number = sampler.number(&mut source, &self.numbers);
            self.numbers.push(number);
            self.text.push_str(&number.to_string());
        } else {
            let mut bytes = Vec::new();
            let mut source = Source { rng: &mut self.rng, cells: &[], kept: &self.kept };
            sampler.text(&mut source, &mut bytes);
            // Drawn text needs no quoting.
            self.text.push_str(&format!("'{}'", String::from_utf8_lossy(&bytes)));
        }
    }
}

/// A part of a statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Piece {
    /// Constant text.
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

/// The right answer to a statement; anything else fails the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expect {
    /// A result with this many rows.
    Rows {
        /// The fewest.
        min: u32,
        /// The most.
        max: u32,
    },
    /// This many rows affected; fewer than `max` where some may be gone.
    Affected {
        /// The fewest.
        min: u64,
        /// The most.
        max: u64,
    },
    /// Success is enough.
    Success,
}

impl Expect {
    /// Exactly this many rows affected.
    pub const fn affected(rows: u64) -> Expect {
        Expect::Affected { min: rows, max: rows }
    }

    /// The right answer to as many requests, taken together.
    fn times(self, requests: u32) -> Expect {
        let many = u64::from(requests);
        match self {
            Expect::Rows { min, max } => Expect::Rows {
                min: min.saturating_mul(requests),
                max: max.saturating_mul(requests),
            },
            Expect::Affected { min, max } => Expect::Affected { min: min * many, max: max * many },
            Expect::Success => Expect::Success,
        }
    }
}
