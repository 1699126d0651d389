//! Rows sent in bulk, made from their numbers.

use serde::{Deserialize, Serialize};

use crate::draw::Cell;

/// Rows sent with one `COPY … FROM STDIN`, or as INSERTs of many rows where COPY does not exist.
/// Each execution continues where the last one ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copy {
    /// The table, with its columns in parentheses if they aren't all.
    pub table: String,
    /// Rows of one execution.
    pub rows: u64,
    /// Number of the stream's first row.
    pub first: u64,
    /// The cell with the number of rows that the stream has sent ([`crate::Stream::adds_to`]).
    pub sent: Cell,
    /// The columns of a row.
    pub columns: Vec<Column>,
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

    /// Appends a row in COPY's text format.
    pub fn row(&self, number: u64, bytes: &mut Vec<u8>) {
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
    use super::*;

    #[test]
    fn rows_follow_from_their_numbers() {
        let columns = vec![
            Column::Number { every: 1 },
            Column::Number { every: 10 },
            Column::Text("\\N".to_owned()),
        ];
        let copy = Copy { table: "t".to_owned(), rows: 2, first: 0, sent: Cell(0), columns };
        let mut bytes = Vec::new();
        for number in [0, 9, 10] {
            copy.row(number, &mut bytes);
        }
        assert_eq!(String::from_utf8(bytes).unwrap(), "1\t1\t\\N\n10\t1\t\\N\n11\t2\t\\N\n");
    }
}
