//! The statements of scripts that a session knows.

use std::sync::Arc;

use script::{Slot, Sql, Symbols};

/// The state of scripts on a session.
#[derive(Debug, Default)]
pub struct Sayings {
    pub statements: Vec<Saying>,
    /// The one whose answer is outstanding.
    pub sent: usize,
    pub symbols: Option<Arc<Symbols>>,
}

/// A statement of a script.
#[derive(Debug)]
pub struct Saying {
    pub way: Way,
    /// For messages.
    pub shown: String,
}

/// How a statement is sent.
#[derive(Debug)]
pub enum Way {
    /// As text with values in it.
    Text { sql: Sql, symbols: Arc<Symbols>, literals: bool },
    /// The server parses it before it is first used.
    Unparsed { text: String, parameters: Vec<Slot> },
    /// With parameters, by the server's number of the statement.
    Prepared { number: u32, parameters: Vec<Slot> },
    /// Always the same message.
    Message(Vec<u8>),
}
