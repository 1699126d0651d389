//! Rows sent in bulk. There is no COPY, so they go as multi-row INSERTs, in one transaction.

use std::sync::atomic::Ordering;

use workload::{Column, Copy, Source};

use super::message::{frame, query};

/// Bytes at which an INSERT is sent: far below the lowest usual limit on a message
/// (`max_allowed_packet`, 4 MB in MySQL 5.6).
const CHUNK: usize = 256 * 1024;

/// Rows to insert.
#[derive(Debug)]
pub struct Bulk {
    copy: Copy,
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
            Column::Text(text) if text == "\\N" => b"NULL".to_vec(),
            // The backslash means the same in COPY's text.
            Column::Text(text) => format!("'{}'", text.replace('\'', "''")).into_bytes(),
        };
        Bulk { head, texts: copy.columns.iter().map(text).collect(), copy: copy.clone() }
    }

    /// The INSERTs of one execution, one after another.
    pub fn inserts(&self, source: &Source<'_>) -> impl Iterator<Item = Vec<u8>> + use<'_> {
        let sent = source.cells.get(self.copy.sent.0);
        let sent = sent.map_or(0, |cell| cell.0.load(Ordering::Relaxed));
        let mut next = self.copy.first + sent.unsigned_abs();
        let end = next + self.copy.rows;
        std::iter::from_fn(move || {
            if next == end {
                return None;
            }
            let mut message = Vec::with_capacity(CHUNK + 1024);
            message.extend_from_slice(&self.head);
            while next < end && message.len() < CHUNK {
                if message.len() > self.head.len() {
                    message.push(b',');
                }
                self.row(next, &mut message);
                next += 1;
            }
            frame(&mut message);
            Some(message)
        })
    }

    fn row(&self, number: u64, message: &mut Vec<u8>) {
        message.push(b'(');
        for (place, (column, text)) in self.copy.columns.iter().zip(&self.texts).enumerate() {
            if place > 0 {
                message.push(b',');
            }
            match column {
                Column::Number { every } => {
                    let value = number / (*every).max(1) + 1;
                    message.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
                }
                Column::Text(_) => message.extend_from_slice(text),
            }
        }
        message.push(b')');
    }
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
        Copy {
            table: "t (a, b, c, d)".to_owned(),
            rows,
            first: 20,
            sent: Cell(0),
            columns: vec![number(1), number(10), text("\\N"), text("it's")],
        }
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
