//! Why a log can't be read.

use std::io;

use crate::format::Format;

/// Why a log can't be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// Reading failed.
    #[error("cannot read the log: {0}")]
    Io(#[from] io::Error),
    /// It looks like no format.
    #[error("the log has no format that is known by looking; name one of {known}")]
    Undetected {
        /// The formats there are.
        known: String,
    },
    /// Nothing in it looks like this format.
    #[error("expected records of a log in the format {format}, found none; give another format")]
    NoRecords {
        /// The format.
        format: Format,
    },
    /// Digests in place of a log.
    #[error(
        "{format} has how often statements ran, but not their order, sessions and times, so it can't \
         be sent again as a log; `steelyard trace FILE --scripts DIR` writes scripts for `steelyard \
         run script`, which send its statements as a mix"
    )]
    Digests {
        /// The format.
        format: Format,
    },
    /// A table of digests without a column that is needed.
    #[error(
        "expected a first line with the names of columns, `{missing}` among them, for the format \
         {format}, found {found:?}; export all columns with their names"
    )]
    Columns {
        /// The format.
        format: Format,
        /// The column.
        missing: &'static str,
        /// The first line, or its beginning.
        found: String,
    },
    /// Most of it is not of this format.
    #[error(
        "{damaged} of {records} records of the log are damaged, the first of them record {first} \
         (`{text}`); give another format, or the line prefix of the server"
    )]
    Damaged {
        /// Damaged records.
        damaged: u64,
        /// All records.
        records: u64,
        /// The number of the first damaged record, from 1.
        first: u64,
        /// Its beginning.
        text: String,
    },
    /// The server left out statements.
    #[error(
        "record {record} says that the server logged one of {limit} statements or sessions; \
         set log_slow_rate_limit = 1 and log anew"
    )]
    Sampled {
        /// The number of the record, from 1.
        record: u64,
        /// The server's setting.
        limit: String,
    },
    /// A log goes on with that of another server.
    #[error(
        "record {record} begins the log of another server: {found}, not {expected}; split the file"
    )]
    AnotherServer {
        /// The number of the record, from 1.
        record: u64,
        /// The first server, as the log names it.
        expected: String,
        /// The other.
        found: String,
    },
    /// A line prefix that can't be read back.
    #[error(
        "expected a line prefix with a session or process (`%c`, `%p`) and a time (`%m`, `%t`, `%n`), \
         found `{prefix}`"
    )]
    Prefix {
        /// The prefix.
        prefix: String,
    },
}
