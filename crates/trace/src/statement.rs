//! Statements of a log.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::postgres::parameters;

/// One statement that a client sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statement {
    /// When it was sent, as far as the log says: microseconds since 1970, UTC.
    pub at_us: i64,
    /// The number of its session, in the order in which they appear, from 0.
    pub session: u32,
    /// The database that it went to, if the log says so and one was chosen.
    pub database: Option<Arc<str>>,
    /// Its text, with the values of its parameters in their places.
    pub text: String,
    /// How long it took, in microseconds, if the log says so.
    pub took_us: Option<u64>,
    /// The server answered with an error.
    pub failed: bool,
    /// How it was sent, if its values were sent apart.
    pub bound: Option<Bound>,
}

/// A statement and its values, which a client sent apart: PostgreSQL's extended protocol.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Bound {
    /// The text, with `$1`, `$2`, … for the values.
    pub text: String,
    /// The values as text; `None` stands for NULL.
    pub values: Vec<Option<String>>,
    /// The client had given it a name, so it was parsed once; otherwise, each time.
    pub named: bool,
    /// Parameters, from 0, that had values with a fraction in other statements with this text, too:
    /// their client had named a type for them that no log shows.
    #[serde(default)]
    pub fractions: Vec<u16>,
}

impl Bound {
    /// The parameters, from 0, whose values are numbers with a fraction.
    pub fn fractional(&self) -> impl Iterator<Item = u16> {
        let is_fractional = |value: &Option<String>| {
            value.as_deref().is_some_and(|value| {
                value.contains(['.', 'e', 'E'])
                    && value.bytes().all(|it| it.is_ascii_digit() || b"+-.eE".contains(&it))
                    && value.parse::<f64>().is_ok()
            })
        };
        let places =
            (0..=u16::MAX).zip(&self.values).filter(move |(_, value)| is_fractional(value));
        places.map(|(place, _)| place)
    }

    /// The text with its values, as literals, in their places.
    pub fn filled(&self) -> String {
        parameters::filled(&self.text, &self.values)
    }
}

/// What a log has in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// Records of any kind.
    pub records: u64,
    /// Statements.
    pub statements: u64,
    /// Sessions with statements.
    pub sessions: u32,
    /// Statements that failed.
    pub failed: u64,
    /// Statements that failed, and are not counted above because the log lacks their values.
    pub without_values: u64,
    /// Records without a statement.
    pub other: u64,
    /// Records that could not be read.
    pub damaged: u64,
    /// The number of the first damaged record, from 1, and its beginning.
    pub first_damaged: Option<(u64, String)>,
}

/// What is known of the server that wrote a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// PostgreSQL's `log_line_prefix`; `None`: its default, `%m [%p] `, or
    /// Debian's, `%m [%p] %q%u@%d `.
    pub line_prefix: Option<String>,
}
