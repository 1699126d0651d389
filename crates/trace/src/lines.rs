//! Logs with one record per line.

use std::io::BufRead;

use crate::error::TraceError;
use crate::held::{Event, Held};

/// Longest line that is read, in bytes; the rest of a longer one is damaged.
pub(crate) const LONGEST: usize = 64 << 20;

/// What a line says: the session, its database, which is empty if it is not known, and the event.
pub(crate) type Line = (String, String, Event);

/// Reads a log whose lines are records.
pub(crate) fn read(
    log: &mut dyn BufRead,
    held: &mut Held<'_>,
    record: fn(&str) -> Option<Line>,
) -> Result<(), TraceError> {
    let mut line = Vec::new();
    while next(log, &mut line)?.is_some() {
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        match record(&text) {
            Some((session, database, event)) => {
                if !held.take(&session, &database, event) {
                    break;
                }
            }
            None => held.damaged(&text),
        }
    }
    Ok(())
}

/// Reads the next line, without its end; `None` at the end of the log. False for a line that the
/// log ends in, and for one that is too long: it is not whole.
pub(crate) fn next(log: &mut dyn BufRead, line: &mut Vec<u8>) -> Result<Option<bool>, TraceError> {
    line.clear();
    let (mut any, mut whole) = (false, true);
    loop {
        let part = log.fill_buf()?;
        if part.is_empty() {
            return Ok(any.then_some(false));
        }
        any = true;
        let end = part.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(part.len(), |end| end + 1);
        let room = LONGEST.saturating_sub(line.len());
        line.extend_from_slice(&part[..length.min(room)]);
        whole &= length <= room;
        log.consume(length);
        if end.is_some() {
            while line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
                line.pop();
            }
            return Ok(Some(whole));
        }
    }
}
