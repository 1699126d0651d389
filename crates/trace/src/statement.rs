//! Statements of a log.

/// One statement that a client sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statement {
    /// When it was sent, as far as the log says: microseconds since 1970, UTC.
    pub at_us: i64,
    /// The number of its session, in the order in which they appear, from 0.
    pub session: u32,
    /// Its text, with the values of its parameters in their places.
    pub text: String,
    /// How long it took, in microseconds, if the log says so.
    pub took_us: Option<u64>,
    /// The server answered with an error.
    pub failed: bool,
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
