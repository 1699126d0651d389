//! Reads the statement logs of database servers: who sent which statement, when, and how long it
//! took.
//!
//! Also reads tables in which servers count statements by their digests, and turns the statements
//! of either into scripts in pgbench's language.
//!
//! Pure functions over a reader: no files, no processes, no clock. [`read`] goes through a log once
//! and keeps no more of it than the latest statement of each open session.
//!
//! ```
//! use std::ops::ControlFlow;
//! let log = "2026-11-24T10:00:00.000000Z\t    8 Connect\tshop@localhost on shop using Socket\n\
//!            2026-11-24T10:00:00.001000Z\t    8 Query\tSELECT name FROM items WHERE id = 17\n";
//! let format = trace::detect(log).unwrap();
//! let mut texts = Vec::new();
//! let summary = trace::read(format, &Default::default(), &mut log.as_bytes(), &mut |statement| {
//!     texts.push(trace::normal_form(&statement.text, trace::Syntax::Backslashes));
//!     ControlFlow::Continue(())
//! });
//! assert_eq!(summary.unwrap().statements, 1);
//! assert_eq!(texts, ["select name from items where id = ?"]);
//! ```

mod anonymous;
mod databases;
mod detect;
mod digest;
mod digests;
mod effects;
mod error;
mod examples;
mod format;
mod held;
mod lines;
mod mysql;
mod normal;
mod plain;
mod postgres;
mod ranking;
mod scripts;
mod stamps;
mod statement;
mod tokens;

use std::io::BufRead;
use std::ops::ControlFlow;

pub use anonymous::Anonymizer;
pub use databases::Databases;
pub use detect::{detect, format_of};
pub use digest::Digest;
pub use digests::read_digests;
pub use effects::{Effects, effects};
pub use error::TraceError;
pub use examples::{Example, Examples, READS};
pub use format::{Format, UnknownFormat};
pub use normal::normal_form;
pub use plain::write;
pub use ranking::{Form, Ranking, moves_data};
pub use scripts::{FILL_IN, Script, Scripts};
pub use statement::{Bound, Options, Statement, Summary};
pub use tokens::Syntax;

/// Reads a log. `each` is called with every statement, in the order in which the log shows what
/// became of them, until it breaks off.
///
/// # Errors
/// The log can't be read, has no record of this format, more than half of its records are damaged,
/// or the format is one of digests.
pub fn read(
    format: Format,
    options: &Options,
    log: &mut dyn BufRead,
    each: &mut dyn FnMut(Statement) -> ControlFlow<()>,
) -> Result<Summary, TraceError> {
    let mut held = held::Held::new(each, matches!(format, Format::MysqlSlow | Format::Plain));
    match format {
        Format::PostgresCsv => postgres::tables::read(log, &mut held)?,
        Format::PostgresJson => lines::read(log, &mut held, postgres::record::json)?,
        Format::PostgresStderr => {
            let prefix = options.line_prefix.as_deref().unwrap_or(postgres::text::PREFIX);
            postgres::text::read(log, &mut held, &postgres::text::Prefix::new(prefix)?)?;
        }
        Format::MysqlGeneral => mysql::read(log, &mut held)?,
        Format::MysqlSlow => mysql::slow::read(log, &mut held)?,
        Format::Plain => lines::read(log, &mut held, plain::statement)?,
        Format::PostgresDigests | Format::MysqlDigests => {
            return Err(TraceError::Digests { format });
        }
    }
    held.finish(format)
}
