//! Rows sent in bulk.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::draw::{Cell, Source};

/// Rows sent with one `COPY … FROM STDIN`, or `LOAD DATA LOCAL` where COPY does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copy {
    /// The table.
    pub table: String,
    /// The rows.
    pub content: Content,
}

/// The rows of one execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Content {
    /// Rows made from their numbers.
    Numbered(Numbered),
    /// Rows made by a workload's generator.
    Generated(Generated),
}

/// Rows made from their numbers. Each execution continues where the last one ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbered {
    /// Rows of one execution.
    pub rows: u64,
    /// Number of the stream's first row.
    pub first: u64,
    /// The cell with the number of rows that the stream has sent ([`crate::Stream::adds_to`]).
    pub sent: Cell,
    /// The columns of a row.
    pub columns: Vec<Column>,
}

/// One of the equal parts of a table that a workload's generator fills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generated {
    /// Which generator.
    pub by: Generator,
    /// The table.
    pub table: String,
    /// The size of the data, as the generator means it.
    pub scale: u32,
    /// Which part, from 1.
    pub part: u32,
    /// How many there are.
    pub parts: u32,
}

/// What makes rows that are sent in bulk.
#[derive(Debug, Clone, std::marker::Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Generator {
    /// TPC-C's, whose scale is warehouses.
    Tpcc,
    /// TPC-H's dbgen, whose scale is hundredths of the scale factor.
    Tpch,
}

/// A column of a row with a number, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Column {
    /// The row's number divided by `every`, rounded down, counted from 1.
    Number {
        /// Rows with the same value, at least 1.
        every: u64,
    },
    /// The same text in all rows, as COPY's text format writes it: `\N` is a null.
    Text(String),
}

impl Copy {
    /// PostgreSQL's statement.
    pub fn statement(&self) -> String {
        format!("COPY {} FROM STDIN", self.table)
    }

    /// Rows of one execution, if that is known before they are made.
    pub fn rows(&self) -> Option<u64> {
        match &self.content {
            Content::Numbered(numbered) => Some(numbered.rows),
            Content::Generated(_) => None,
        }
    }
}

impl Numbered {
    /// The numbers of the rows of the next execution.
    pub(crate) fn numbers(&self, source: &Source<'_>) -> Range<u64> {
        let first = self.first + source.cell(self.sent).unsigned_abs();
        first..first + self.rows
    }

    /// Appends a row in COPY's text format.
    pub(crate) fn row(&self, number: u64, bytes: &mut Vec<u8>) {
        for (place, column) in self.columns.iter().enumerate() {
            if place > 0 {
                bytes.push(b'\t');
            }
            match column {
                Column::Number { every } => {
                    let value = number / (*every).max(1) + 1;
                    bytes.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
                }
                Column::Text(text) => bytes.extend_from_slice(text.as_bytes()),
            }
        }
        bytes.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicI64;

    use super::*;
    use crate::{Padded, Rng};

    #[test]
    fn rows_follow_from_their_numbers() {
        let columns = vec![
            Column::Number { every: 1 },
            Column::Number { every: 10 },
            Column::Text("\\N".to_owned()),
        ];
        let numbered = Numbered { rows: 2, first: 5, sent: Cell(0), columns };
        let cells = [Padded(AtomicI64::new(3))];
        let source = Source { rng: &mut Rng::new(1), cells: &cells, kept: &[] };
        assert_eq!(numbered.numbers(&source), 8..10);
        let mut bytes = Vec::new();
        for number in [0, 9, 10] {
            numbered.row(number, &mut bytes);
        }
        assert_eq!(String::from_utf8(bytes).unwrap(), "1\t1\t\\N\n10\t1\t\\N\n11\t2\t\\N\n");
    }
}
