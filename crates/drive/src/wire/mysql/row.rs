//! The values of a row, and its integers, in the text and in the binary protocol.

use mysql_common::constants::{ColumnFlags, ColumnType};
use mysql_common::io::ParseBuf;
use mysql_common::proto::MyDeserialize;
use mysql_common::value::{BinValue, Value, ValueDeserializer};

use super::lenenc;
use crate::error::Error;
use crate::wire::digest::Precision;

/// Types of columns (MySQL's manual, `enum_field_types`).
mod kind {
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    pub const LONGLONG: u8 = 8;
    pub const INT24: u8 = 9;
    pub const DATE: u8 = 10;
    pub const TIME: u8 = 11;
    pub const DATETIME: u8 = 12;
    pub const YEAR: u8 = 13;
}

/// A column's flag for integers without a sign.
const UNSIGNED: u16 = 32;

/// The facts about a column that are needed to read its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name, or that which the query gives it.
    pub name: String,
    kind: u8,
    unsigned: bool,
}

impl Column {
    /// Reads a column's definition. It begins with catalog, schema, two names of the table and one
    /// of the column. The length of its end is fixed: 0x0c, character set (2), length (4), type
    /// (1), flags (2), decimals (1), filler (2).
    pub fn parse(payload: &[u8]) -> Result<Column, Error> {
        let mut names = payload;
        for _ in 0..4 {
            string(&mut names)?;
        }
        let name = String::from_utf8_lossy(string(&mut names)?).into_owned();
        let Some([kind, low, high, ..]) = payload.last_chunk::<6>() else {
            return Err(Error::Protocol("a column's definition is too short".to_owned()));
        };
        let unsigned = u16::from_le_bytes([*low, *high]) & UNSIGNED != 0;
        Ok(Column { name, kind: *kind, unsigned })
    }

    /// Takes a value of a binary row from the front of `bytes`, as text.
    fn text(&self, bytes: &mut &[u8]) -> Result<Option<String>, Error> {
        let kind = ColumnType::try_from(self.kind)
            .map_err(|_| Error::Protocol(format!("a column of the unknown type {}", self.kind)))?;
        let flags = if self.unsigned { ColumnFlags::UNSIGNED_FLAG } else { ColumnFlags::empty() };
        let mut buffer = ParseBuf(bytes);
        let value = ValueDeserializer::<BinValue>::deserialize((kind, flags), &mut buffer);
        let value = value.map_err(|_| short())?.0;
        *bytes = buffer.0;
        Ok(match value {
            Value::NULL => None,
            Value::Bytes(text) => Some(String::from_utf8_lossy(&text).into_owned()),
            Value::Int(number) => Some(number.to_string()),
            Value::UInt(number) => Some(number.to_string()),
            Value::Float(number) => Some(number.to_string()),
            Value::Double(number) => Some(number.to_string()),
            time => Some(time.as_sql(true).trim_matches('\'').to_owned()),
        })
    }

    /// How its values are compared.
    pub fn precision(&self) -> Precision {
        match self.kind {
            kind::FLOAT => Precision::Single,
            kind::DOUBLE => Precision::Double,
            _ => Precision::Exact,
        }
    }
}

fn short() -> Error {
    Error::Protocol("a row is shorter than its values".to_owned())
}

/// Takes a string with its length from the front of `bytes`.
fn string<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], Error> {
    let length = lenenc(bytes).and_then(|length| usize::try_from(length).ok()).ok_or_else(short)?;
    let (text, rest) = bytes.split_at_checked(length).ok_or_else(short)?;
    *bytes = rest;
    Ok(text)
}

/// Takes an integer of `width` bytes from the front of `bytes`.
fn integer(bytes: &mut &[u8], width: usize, unsigned: bool) -> Result<i64, Error> {
    let (value, rest) = bytes.split_at_checked(width).ok_or_else(short)?;
    *bytes = rest;
    let negative = value.last().is_some_and(|high| *high >= 0x80) && !unsigned;
    let mut number = [if negative { 0xff } else { 0 }; 8];
    number[..width].copy_from_slice(value);
    let number = i64::from_le_bytes(number);
    if unsigned && number < 0 {
        return Err(not_an_integer(&number.cast_unsigned().to_string()));
    }
    Ok(number)
}

fn not_an_integer(found: &str) -> Error {
    Error::Protocol(format!("`{found}` where an integer of at most 8 bytes was expected"))
}

fn parse(text: &[u8]) -> Result<i64, Error> {
    let text = String::from_utf8_lossy(text);
    text.parse().map_err(|_| not_an_integer(&text))
}

/// Calls `take` with each value of a row as text; `None` is a NULL.
pub fn values(mut payload: &[u8], take: &mut dyn FnMut(Option<&[u8]>)) -> Result<(), Error> {
    while let Some(first) = payload.first() {
        if *first == 0xfb {
            payload = &payload[1..];
            take(None);
        } else {
            take(Some(string(&mut payload)?));
        }
    }
    Ok(())
}

/// The values of a row.
pub fn texts(payload: &[u8]) -> Result<Vec<Option<String>>, Error> {
    let mut texts = Vec::new();
    values(payload, &mut |value| {
        texts.push(value.map(|text| String::from_utf8_lossy(text).into_owned()));
    })?;
    Ok(texts)
}

/// The values of a binary row as text.
pub fn bound(payload: &[u8], columns: &[Column]) -> Result<Vec<Option<String>>, Error> {
    let (bitmap, mut rest) = nulls(payload, columns.len())?;
    let mut texts = Vec::new();
    for (place, column) in columns.iter().enumerate() {
        texts.push(match is_null(bitmap, place) {
            true => None,
            false => column.text(&mut rest)?,
        });
    }
    Ok(texts)
}

/// The bitmap of a binary row, and its values.
fn nulls(payload: &[u8], columns: usize) -> Result<(&[u8], &[u8]), Error> {
    // Two bits are reserved, and a byte precedes them.
    let rest = payload.get(1..).ok_or_else(short)?;
    rest.split_at_checked((columns + 9) / 8).ok_or_else(short)
}

fn is_null(bitmap: &[u8], place: usize) -> bool {
    bitmap[(place + 2) / 8] & (1 << ((place + 2) % 8)) != 0
}

/// The integers of a row as text; anything else is an error.
pub fn text(payload: &[u8], row: &mut Vec<Option<i64>>) -> Result<(), Error> {
    row.clear();
    let mut wrong = None;
    values(payload, &mut |value| match value.map(parse).transpose() {
        Ok(number) => row.push(number),
        Err(error) => wrong = wrong.take().or(Some(error)),
    })?;
    wrong.map_or(Ok(()), Err)
}

/// The integers of a binary row; anything else is an error, except decimals that are integers.
pub fn binary(payload: &[u8], columns: &[Column], row: &mut Vec<Option<i64>>) -> Result<(), Error> {
    row.clear();
    let (bitmap, mut rest) = nulls(payload, columns.len())?;
    for (place, column) in columns.iter().enumerate() {
        if column.kind == kind::NULL || is_null(bitmap, place) {
            row.push(None);
            continue;
        }
        let width = match column.kind {
            kind::TINY => 1,
            kind::SHORT | kind::YEAR => 2,
            kind::LONG | kind::INT24 => 4,
            kind::LONGLONG => 8,
            kind::FLOAT | kind::DOUBLE => return Err(not_an_integer("a floating-point number")),
            kind::TIMESTAMP | kind::DATE | kind::TIME | kind::DATETIME => {
                return Err(not_an_integer("a time"));
            }
            _ => {
                row.push(Some(parse(string(&mut rest)?)?));
                continue;
            }
        };
        row.push(Some(integer(&mut rest, width, column.unsigned)?));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn column(kind: u8, unsigned: bool) -> Column {
        Column { name: String::new(), kind, unsigned }
    }

    #[test]
    fn text_has_integers_and_nulls() {
        let mut row = vec![Some(1)];
        text(b"\x0217\xfb\x02-3", &mut row).unwrap();
        assert_eq!(row, [Some(17), None, Some(-3)]);
        assert!(text(b"\x03abc", &mut row).is_err());
        assert!(text(b"\x05abc", &mut row).is_err());
    }

    #[test]
    fn binary_rows_have_integers_of_all_widths() {
        let columns = [
            column(kind::TINY, false),
            column(kind::TINY, true),
            column(kind::SHORT, false),
            column(kind::YEAR, true),
            column(kind::LONG, false),
            column(kind::INT24, true),
            column(kind::LONGLONG, false),
            column(kind::LONGLONG, true),
            column(246, false),
            column(kind::LONG, false),
            column(kind::NULL, false),
        ];
        // The tenth column is a NULL: bit 11.
        let mut payload = vec![0, 0, 0b1000];
        payload.extend([0xfe, 0xfe]);
        payload.extend((-300i16).to_le_bytes());
        payload.extend(2022u16.to_le_bytes());
        payload.extend(i32::MIN.to_le_bytes());
        payload.extend(0x00ff_ffffu32.to_le_bytes());
        payload.extend(i64::MIN.to_le_bytes());
        payload.extend(i64::MAX.to_le_bytes());
        payload.extend(b"\x03800");
        let mut row = Vec::new();
        binary(&payload, &columns, &mut row).unwrap();
        let low = i64::from(i32::MIN);
        let numbers = [-2, 254, -300, 2022, low, 0xff_ffff, i64::MIN, i64::MAX, 800].map(Some);
        assert_eq!(row, [&numbers[..], &[None, None]].concat());
    }

    #[test]
    fn what_is_no_integer_is_an_error() {
        let mut row = Vec::new();
        let mut most = vec![0, 0];
        most.extend(u64::MAX.to_le_bytes());
        let error = binary(&most, &[column(kind::LONGLONG, true)], &mut row).unwrap_err();
        assert!(error.to_string().contains("18446744073709551615"), "{error}");
        for kind in [kind::DOUBLE, kind::DATETIME] {
            assert!(binary(&most, &[column(kind, false)], &mut row).is_err());
        }
    }

    proptest! {
        #[test]
        fn garbage_has_a_value_for_each_column_or_is_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..100),
            kinds in prop::collection::vec((any::<u8>(), any::<bool>()), 0..20),
        ) {
            let columns: Vec<_> =
                kinds.into_iter().map(|(kind, unsigned)| column(kind, unsigned)).collect();
            let mut row = Vec::new();
            if binary(&bytes, &columns, &mut row).is_ok() {
                prop_assert_eq!(row.len(), columns.len());
            }
            if text(&bytes, &mut row).is_ok() {
                prop_assert!(row.len() <= bytes.len());
            }
            prop_assert!(Column::parse(&bytes).is_err() || bytes.len() >= 6);
        }
    }
}
