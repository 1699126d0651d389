//! Tables in which servers count statements by their digests: how often each ran, and how long all
//! of them took. They are no logs, as they have no order, sessions or times.

use std::io::{BufRead, Read};
use std::ops::ControlFlow;

use csv::{ByteRecord, ReaderBuilder};

use crate::digest::{Digest, NULLS, Row};
use crate::error::TraceError;
use crate::format::Format;
use crate::held::{Event, Held};
use crate::statement::Summary;
use crate::{lines, mysql, postgres};

/// So many characters of a first line are shown.
const SHOWN: usize = 60;

/// The columns that a format needs, each with its names.
fn needed(format: Format) -> [&'static [&'static str]; 3] {
    match format {
        Format::PostgresDigests => postgres::digests::COLUMNS,
        _ => mysql::digests::COLUMNS,
    }
}

/// The column that a table with these names lacks.
fn missing(format: Format, names: &[String]) -> Option<&'static str> {
    let has = |any: &&[&str]| any.iter().any(|name| names.iter().any(|known| known == name));
    needed(format).iter().find(|any| !has(any)).and_then(|any| any.first().copied())
}

/// The names of columns in a first line.
fn names(line: &str) -> Vec<String> {
    // Some clients begin files with a mark of their encoding.
    let line = line.trim_start_matches('\u{feff}');
    let delimiter = if line.contains('\t') { b'\t' } else { b',' };
    let mut record = csv::StringRecord::new();
    let mut builder = ReaderBuilder::new();
    let builder = builder.has_headers(false).delimiter(delimiter);
    // A line in memory can be read; without quotes that end, it has no known names.
    let _ = builder.from_reader(line.as_bytes()).read_record(&mut record);
    record.iter().map(|name| name.trim().to_lowercase()).collect()
}

/// The format of a table with this first line.
pub(crate) fn format_of(line: &str) -> Option<Format> {
    let names = names(line);
    let formats = [Format::PostgresDigests, Format::MysqlDigests];
    formats.into_iter().find(|format| missing(*format, &names).is_none())
}

/// Reads a table of digests, and calls `each` with every one. Its rows are the records of the
/// summary, which has no statements and sessions.
///
/// # Errors
/// The table can't be read, lacks a column, has no rows, or more than half of them are damaged; or
/// the format is one of logs.
pub fn read_digests(
    format: Format,
    table: &mut dyn BufRead,
    each: &mut dyn FnMut(Digest),
) -> Result<Summary, TraceError> {
    if !format.is_digests() {
        return Err(TraceError::NoRecords { format });
    }
    let mut line = Vec::new();
    while lines::next(table, &mut line)?.is_some() && line.trim_ascii().is_empty() {}
    let first = String::from_utf8_lossy(&line).into_owned();
    let names = names(&first);
    if let Some(missing) = missing(format, &names) {
        let found = first.chars().take(SHOWN).collect();
        return Err(TraceError::Columns { format, missing, found });
    }
    let mut none = |_| ControlFlow::Continue(());
    let mut held = Held::new(&mut none, true);
    let mut take = |values: &[String], whole: bool| {
        let row = Row { names: &names, values };
        let read = match format {
            Format::PostgresDigests => postgres::digests::digest,
            _ => mysql::digests::digest,
        };
        match read(&row).filter(|_| whole && values.len() == names.len()) {
            Some(digest) => {
                each(digest);
                held.take("", "", Event::Other);
            }
            None => held.damaged(&values.join(",")),
        }
    };
    match first.contains('\t') {
        true => tabs(table, &mut take)?,
        false => commas(table, &mut take)?,
    }
    held.finish(format)
}

/// Reads rows as `mysql --batch` prints them: a line each, with tabs between values and escapes.
fn tabs(table: &mut dyn BufRead, take: &mut dyn FnMut(&[String], bool)) -> Result<(), TraceError> {
    let mut line = Vec::new();
    while let Some(whole) = lines::next(table, &mut line)? {
        let text = String::from_utf8_lossy(&line);
        if !text.trim().is_empty() {
            take(&text.split('\t').map(unescaped).collect::<Vec<_>>(), whole);
        }
    }
    Ok(())
}

/// A value without the escapes of `mysql --batch`.
fn unescaped(value: &str) -> String {
    if NULLS.contains(&value) {
        return value.to_owned();
    }
    let (mut text, mut rest) = (String::with_capacity(value.len()), value.chars());
    while let Some(c) = rest.next() {
        text.push(match c {
            '\\' => match rest.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('0') => '\0',
                Some(other) => other,
                None => '\\',
            },
            c => c,
        });
    }
    text
}

/// Reads rows of CSV.
fn commas(
    table: &mut dyn BufRead,
    take: &mut dyn FnMut(&[String], bool),
) -> Result<(), TraceError> {
    let ended = Ended { inner: table, last: b'\n' };
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(ended);
    let (mut record, mut before): (_, Option<Vec<String>>) = (ByteRecord::new(), None);
    loop {
        let more =
            reader.read_byte_record(&mut record).map_err(|error| match error.into_kind() {
                csv::ErrorKind::Io(error) => TraceError::from(error),
                other => std::io::Error::other(format!("{other:?}")).into(),
            })?;
        if let Some(values) = before.take() {
            // The file may end inside of the last row.
            take(&values, more || reader.get_ref().last == b'\n');
        }
        if !more {
            return Ok(());
        }
        before = Some(record.iter().map(|it| String::from_utf8_lossy(it).into_owned()).collect());
    }
}

/// Knows the last byte that was read.
struct Ended<'t> {
    inner: &'t mut dyn BufRead,
    last: u8,
}

impl Read for Ended<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let length = self.inner.read(to)?;
        if let Some(last) = to[..length].last() {
            self.last = *last;
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: Format, text: &str) -> Result<(Vec<Digest>, Summary), TraceError> {
        let mut found = Vec::new();
        let summary = read_digests(format, &mut text.as_bytes(), &mut |it| found.push(it))?;
        Ok((found, summary))
    }

    #[test]
    fn columns_have_any_order_and_old_names() {
        let text = "rows,total_time,\"calls\",query\n1,2.5,7,\"SELECT $1,\n \"\"a\"\"\"\n\
                    1,3,1,<insufficient privilege>\n1,3,1,\n1,NaN,1,x\n1,3,1\n1,3,1.5,x\n1,3,4,SEL";
        assert_eq!(format_of(text.lines().next().unwrap()), Some(Format::PostgresDigests));
        let (found, summary) = read(Format::PostgresDigests, text).unwrap();
        assert_eq!((found[0].text.as_str(), found[0].calls), ("SELECT $1,\n \"a\"", 7));
        assert_eq!((found[0].took_us, found[0].lacks), (2500, None));
        assert!(found[1].lacks.unwrap().contains("hidden") && found[2].lacks.is_some());
        // A time that is none, a row that is too short, half a call, and one that is cut.
        assert_eq!((found.len(), summary.records, summary.damaged), (3, 7, 4), "{summary:?}");
        assert_eq!(summary.first_damaged, Some((4, "1,NaN,1,x".to_owned())));
    }

    #[test]
    fn rows_with_tabs_have_escapes() {
        let text = "SCHEMA_NAME\tdigest_text\tCount_Star\tSUM_TIMER_WAIT\tSUM_ERRORS\tQUERY_SAMPLE_TEXT\n\
                    shop\tSELECT ?\t3\t2000000\t1\tSELECT 'a\\tb\\n\\\\n'\n\
                    NULL\tNULL\t3\t2000000\t0\tNULL\n\
                    shop\tSELECT ?\t3\t2000000\t0\tSELECT 1, ...\n\
                    shop\tSELECT ( SELECT `a` \t3\t2000000\t0\tNULL\n";
        assert_eq!(format_of(text.lines().next().unwrap()), Some(Format::MysqlDigests));
        let (found, summary) = read(Format::MysqlDigests, text).unwrap();
        assert_eq!(found[0].sample.as_deref(), Some("SELECT 'a\tb\n\\n'"));
        assert_eq!((found[0].took_us, found[0].failed, summary.damaged), (2, 1, 0));
        let lacks: Vec<bool> = found.iter().map(|it| it.lacks.is_some()).collect();
        assert_eq!(lacks, [false, true, false, true]);
        assert_eq!(found[2].sample, None);
    }

    #[test]
    fn a_table_without_a_column_is_told() {
        for text in ["query,calls\nx,1\n", "", "\n"] {
            let error = read(Format::PostgresDigests, text).unwrap_err().to_string();
            assert!(error.contains("names of columns"), "{text}: {error}");
        }
        let none = read(Format::PostgresDigests, "query,calls,total_time\n").unwrap_err();
        assert!(matches!(none, TraceError::NoRecords { .. }), "{none}");
        assert_eq!(format_of("query,calls"), None);
        assert!(read(Format::Plain, "query,calls,total_time\nx,1,1\n").is_err());
    }
}
