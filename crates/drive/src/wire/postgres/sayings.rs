//! The statements of scripts that a session knows.

use std::sync::Arc;

use script::{Slot, Sql, Symbols};

/// A statement of a script.
#[derive(Debug)]
pub struct Saying {
    pub form: Form,
    /// For messages.
    pub shown: String,
}

/// How it is sent.
#[derive(Debug)]
pub enum Form {
    /// Sent as text with values in it.
    Simple { sql: Sql, symbols: Arc<Symbols>, literals: bool },
    /// Sent with parameters.
    Bound {
        /// The message that has it parsed.
        parse: Vec<u8>,
        /// Its name at the server; empty: it is parsed each time.
        name: String,
        parameters: Vec<Slot>,
        /// True if the server has parsed it.
        parsed: bool,
    },
}

/// The state of scripts on a session.
#[derive(Debug, Default)]
pub struct Sayings {
    pub statements: Vec<Saying>,
    /// Bytes waiting to be sent.
    pub out: Vec<u8>,
    /// The statements whose results are outstanding.
    pub sent: Vec<usize>,
    pub symbols: Option<Arc<Symbols>>,
}
