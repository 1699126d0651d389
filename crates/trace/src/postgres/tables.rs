//! PostgreSQL's `csvlog`.

use std::io::BufRead;

use csv::{ByteRecord, ReaderBuilder};

use super::record::{HELPER, Record};
use crate::error::TraceError;
use crate::held::Held;
use crate::stamps;

/// Columns of `csvlog`, from 0.
const TIME: usize = 0;
const DATABASE: usize = 2;
const SESSION: usize = 5;
const SEVERITY: usize = 11;
const MESSAGE: usize = 13;
const DETAIL: usize = 14;
const CONTEXT: usize = 18;
const QUERY: usize = 19;
/// From PostgreSQL 13 on.
const BACKEND: usize = 23;
/// Their number up to PostgreSQL 8.4; later versions add some.
const FEWEST: usize = 22;

/// Reads a log.
pub(crate) fn read(log: &mut dyn BufRead, held: &mut Held<'_>) -> Result<(), TraceError> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(1 << 16)
        .from_reader(log);
    let mut record = ByteRecord::new();
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(false) => return Ok(()),
            Ok(true) => {}
            Err(error) => match error.into_kind() {
                csv::ErrorKind::Io(error) => return Err(error.into()),
                _ => continue,
            },
        }
        if !take(&record, held) {
            return Ok(());
        }
    }
}

/// Takes a record; false if nothing more is wanted.
fn take(record: &ByteRecord, held: &mut Held<'_>) -> bool {
    let field = |at: usize| record.get(at).map(String::from_utf8_lossy).unwrap_or_default();
    let at_us = stamps::micros(&field(TIME)).filter(|_| record.len() >= FEWEST);
    let session = field(SESSION);
    match at_us.filter(|_| is_session(&session)) {
        None => {
            held.damaged(&field(TIME));
            true
        }
        Some(at_us) => {
            let (severity, message) = (field(SEVERITY), field(MESSAGE));
            let (detail, context, query) = (field(DETAIL), field(CONTEXT), field(QUERY));
            let record = Record {
                at_us,
                severity: &severity,
                message: &message,
                detail: &detail,
                context: &context,
                query: &query,
                own: record.get(BACKEND) == Some(HELPER.as_bytes()),
            };
            held.take(&session, &field(DATABASE), record.event())
        }
    }
}

/// True for the id of a session: `6924500a.1a2b`.
fn is_session(text: &str) -> bool {
    let hexadecimal =
        |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_hexdigit());
    text.split_once('.').is_some_and(|(start, pid)| hexadecimal(start) && hexadecimal(pid))
}

/// True if a line begins like a record of this format.
pub(crate) fn is_one(line: &str) -> bool {
    let mut fields = line.split(',');
    let time = fields.next().and_then(stamps::micros);
    let session = fields.nth(SESSION - TIME - 1);
    time.is_some() && session.is_some_and(is_session)
}
