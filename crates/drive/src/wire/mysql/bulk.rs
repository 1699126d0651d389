//! Rows sent in bulk. There is no COPY, so they go as multi-row INSERTs, in one transaction.

use workload::{Column, Content, Copy, Numbered, Source};

use super::message::{frame, query};

/// Bytes at which an INSERT is sent: far below the lowest usual limit on a message
/// (`max_allowed_packet`, 4 MB in MySQL 5.6).
const CHUNK: usize = 256 * 1024;

/// Rows to insert.
#[derive(Debug)]
pub struct Bulk {
    content: Content,
    /// The beginning of an INSERT, with room for its packet's header.
    head: Vec<u8>,
    /// The columns with the same text in all rows, as they stand in SQL.
    texts: Vec<Vec<u8>>,
}

impl Bulk {
    pub fn new(copy: &Copy) -> Bulk {
        let head = query(format!("INSERT INTO {} VALUES ", copy.table).as_bytes());
        let text = |column: &Column| match column {
            Column::Number { .. } => Vec::new(),
            Column::Text(text) => value(text).into_bytes(),
        };
        let texts = match &copy.content {
            Content::Numbered(rows) => rows.columns.iter().map(text).collect(),
            Content::Generated(_) => Vec::new(),
        };
        Bulk { content: copy.content.clone(), head, texts }
    }

    /// The INSERTs of one execution, one after another.
    pub fn inserts(&self, source: &Source<'_>) -> impl Iterator<Item = Vec<u8>> + use<'_> {
        let mut rows = self.rows(source).peekable();
        std::iter::from_fn(move || {
            rows.peek()?;
            let mut message = Vec::with_capacity(CHUNK + 1024);
            message.extend_from_slice(&self.head);
            while message.len() < CHUNK
                && let Some(row) = rows.next()
            {
                if message.len() > self.head.len() {
                    message.push(b',');
                }
                row.add(&mut message);
            }
            frame(&mut message);
            Some(message)
        })
    }

    fn rows(&self, source: &Source<'_>) -> Box<dyn Iterator<Item = Row<'_>> + '_> {
        match &self.content {
            Content::Numbered(rows) => {
                let row = |number| Row::Numbered(number, rows, &self.texts);
                Box::new(rows.numbers(source).map(row))
            }
            Content::Generated(rows) => Box::new(workload::lines(rows).map(Row::Line)),
        }
    }
}

/// A row to insert.
enum Row<'b> {
    /// By its number, with the columns that are alike in all.
    Numbered(u64, &'b Numbered, &'b [Vec<u8>]),
    /// In COPY's text format.
    Line(String),
}

impl Row<'_> {
    /// Appends its values.
    fn add(&self, message: &mut Vec<u8>) {
        let mut next = b'(';
        let mut value_follows = |message: &mut Vec<u8>| {
            message.push(next);
            next = b',';
        };
        match self {
            Row::Numbered(number, rows, texts) => {
                for (column, text) in rows.columns.iter().zip(*texts) {
                    value_follows(message);
                    match column {
                        Column::Number { every } => {
                            let value = number / (*every).max(1) + 1;
                            message.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
                        }
                        Column::Text(_) => message.extend_from_slice(text),
                    }
                }
            }
            Row::Line(line) => {
                for field in line.split('\t') {
                    value_follows(message);
                    message.extend_from_slice(value(field).as_bytes());
                }
            }
        }
        message.push(b')');
    }
}

/// A field of COPY's text format in SQL. A backslash means the same in both.
fn value(field: &str) -> String {
    if field == "\\N" { "NULL".to_owned() } else { format!("'{}'", field.replace('\'', "''")) }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicI64;

    use workload::{Cell, Padded, Rng};

    use super::*;
    use crate::wire::mysql::HEADER;

    fn copy(rows: u64) -> Copy {
        let number = |every| Column::Number { every };
        let text = |text: &str| Column::Text(text.to_owned());
        let columns = vec![number(1), number(10), text("\\N"), text("it's")];
        let rows = Numbered { rows, first: 20, sent: Cell(0), columns };
        Copy { table: "t (a, b, c, d)".to_owned(), content: Content::Numbered(rows) }
    }

    fn texts(copy: &Copy) -> Vec<String> {
        let cells = [Padded(AtomicI64::new(5))];
        let source = Source { rng: &mut Rng::new(1), cells: &cells, kept: &[] };
        let bulk = Bulk::new(copy);
        bulk.inserts(&source)
            .map(|message| {
                let length = u32::from_le_bytes([message[0], message[1], message[2], 0]) as usize;
                assert_eq!(length, message.len() - HEADER);
                assert_eq!(message[3..5], [0, 3]);
                String::from_utf8(message[5..].to_vec()).unwrap()
            })
            .collect()
    }

    #[test]
    fn rows_continue_where_the_last_ones_ended() {
        let wanted = "INSERT INTO t (a, b, c, d) VALUES (26,3,NULL,'it''s'),(27,3,NULL,'it''s')";
        assert_eq!(texts(&copy(2)), [wanted]);
        assert!(texts(&copy(0)).is_empty());
    }

    #[test]
    fn lines_become_values() {
        let mut message = Vec::new();
        Row::Line("1\t\\N\tit's\t".to_owned()).add(&mut message);
        assert_eq!(String::from_utf8(message).unwrap(), "('1',NULL,'it''s','')");
    }

    #[test]
    fn every_row_is_in_one_insert() {
        let texts = texts(&copy(50_000));
        assert!(texts.len() > 3);
        let numbers = texts.iter().flat_map(|text| {
            assert!(text.len() < CHUNK + 100);
            let rows = text.strip_prefix("INSERT INTO t (a, b, c, d) VALUES (").unwrap();
            rows.split("),(").map(|row| row.split(',').next().unwrap().parse::<u64>().unwrap())
        });
        assert!(numbers.eq(26..50_026));
    }
}
