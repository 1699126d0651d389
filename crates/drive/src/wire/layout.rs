//! Messages that are laid out anew for each execution, because a value in them varies in length.

use workload::{Draw, Piece, Sampler, Source};

use crate::clock::WallClock;

/// A part of a message.
#[derive(Debug)]
pub enum Part {
    Bytes(Vec<u8>),
    Value(Sampler),
    Rows { count: u32, separator: &'static [u8], row: Vec<Part> },
}

impl From<&Piece> for Part {
    /// As part of a text message.
    fn from(piece: &Piece) -> Part {
        match piece {
            Piece::Text(text) => Part::Bytes(text.as_bytes().to_vec()),
            Piece::Value(draw) => Part::Value(draw.into()),
            Piece::Rows { count, row } => Part::Rows {
                count: *count,
                separator: b",",
                row: row.iter().map(Part::from).collect(),
            },
        }
    }
}

/// The values among the pieces, as parts of a message without text.
pub fn values(pieces: &[Piece]) -> Vec<Part> {
    let value = |piece: &Piece| match piece {
        Piece::Text(_) => None,
        Piece::Value(draw) => Some(Part::Value(draw.into())),
        Piece::Rows { count, row } => {
            Some(Part::Rows { count: *count, separator: b"", row: values(row) })
        }
    };
    pieces.iter().filter_map(value).collect()
}

impl Part {
    /// Appends this part as it stands in SQL, with newly drawn values.
    #[inline]
    pub fn lay_text(
        &self,
        bytes: &mut Vec<u8>,
        source: &mut Source<'_>,
        clock: &WallClock,
        drawn: &mut Vec<i64>,
    ) {
        match self {
            Part::Bytes(text) => bytes.extend_from_slice(text),
            Part::Value(sampler) if sampler.draw.width().is_some() => {
                let value = sampler.number(source, drawn);
                drawn.push(value);
                bytes.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            }
            Part::Value(sampler) => {
                bytes.push(b'\'');
                if sampler.draw == Draw::Now {
                    bytes.extend_from_slice(clock.text());
                } else {
                    sampler.text(source, bytes);
                }
                drawn.push(0);
                bytes.push(b'\'');
            }
            Part::Rows { count, separator, row } => {
                for index in 0..*count {
                    if index > 0 {
                        bytes.extend_from_slice(separator);
                    }
                    for part in row {
                        part.lay_text(bytes, source, clock, drawn);
                    }
                }
            }
        }
    }
}
