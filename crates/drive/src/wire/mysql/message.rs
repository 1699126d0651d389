//! Messages built once, then patched per execution, or laid out anew if values vary in length.

use std::mem;
use std::ops::Range;

use workload::{Draw, Piece, Sampler, Source, Statement, Width};

use super::{HEADER, LONGEST};
use crate::clock::WallClock;
use crate::wire::layout::{Part, values};

/// Commands (MySQL's manual, "Command Phase").
mod command {
    pub const QUIT: u8 = 0x01;
    pub const QUERY: u8 = 0x03;
    pub const PREPARE: u8 = 0x16;
    pub const EXECUTE: u8 = 0x17;
}

/// Types of parameters (MySQL's manual, `enum_field_types`).
pub mod kind {
    pub const LONG: u8 = 3;
    pub const DOUBLE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const LONGLONG: u8 = 8;
    pub const DATETIME: u8 = 12;
    pub const VAR_STRING: u8 = 253;
}

/// The type that a drawn value is bound with.
fn kind_of(draw: &Draw) -> u8 {
    match (draw.width(), draw) {
        (Some(Width::Four), _) => kind::LONG,
        (Some(Width::Eight), _) => kind::LONGLONG,
        (None, Draw::Now) => kind::DATETIME,
        (None, _) => kind::VAR_STRING,
    }
}

/// Bytes of a bound value, if their number is fixed.
fn length_of(draw: &Draw) -> Option<usize> {
    match kind_of(draw) {
        kind::LONG => Some(4),
        kind::VAR_STRING => None,
        // A DATETIME: its own length, then seven bytes.
        _ => Some(8),
    }
}

/// A message ready to be sent after [`Template::draw`].
#[derive(Debug)]
pub struct Template {
    /// The last message, with the headers of its packets.
    bytes: Vec<u8>,
    layout: Layout,
    /// The numbers drawn so far.
    drawn: Vec<i64>,
    types: Types,
}

#[derive(Debug)]
enum Layout {
    /// All values have a fixed width: they are written over the old ones in place.
    Patched(Vec<(usize, Sampler)>),
    /// If a value varies in length, the message is laid out anew without allocating.
    Text(Vec<Part>),
    /// The same for parameters.
    Bound(Vec<Part>),
}

/// Where a message has the types of its parameters. The server remembers them, so only the first
/// execution has them.
#[derive(Debug)]
enum Types {
    Due(Range<usize>),
    Sent(Range<usize>),
    Left,
}

/// A message of one command.
fn one(command: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, 0, command];
    bytes.extend_from_slice(payload);
    frame(&mut bytes);
    bytes
}

/// The message that sends a text.
pub fn query(text: &[u8]) -> Vec<u8> {
    one(command::QUERY, text)
}

/// The message that has a statement parsed.
pub fn prepare(text: &str) -> Vec<u8> {
    one(command::PREPARE, text.as_bytes())
}

/// The beginning of the message that executes the statement of this number, without its length.
pub fn execute(number: u32) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, 0, command::EXECUTE];
    bytes.extend_from_slice(&number.to_le_bytes());
    // No cursor; one iteration.
    bytes.extend_from_slice(&[0, 1, 0, 0, 0]);
    bytes
}

/// The message that ends a connection.
pub fn quit() -> Vec<u8> {
    one(command::QUIT, &[])
}

/// The text with a `?` in place of each drawn value.
pub fn marked(statement: &Statement) -> String {
    let mut text = String::new();
    mark(&statement.pieces, &mut text);
    text
}

fn mark(pieces: &[Piece], text: &mut String) {
    for piece in pieces {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Value(_) => text.push('?'),
            Piece::Rows { count, row } => {
                for index in 0..*count {
                    if index > 0 {
                        text.push(',');
                    }
                    mark(row, text);
                }
            }
        }
    }
}

/// Completes a message whose payload follows the room for one header.
pub fn frame(bytes: &mut Vec<u8>) {
    let length = bytes.len() - HEADER;
    if length < LONGEST {
        bytes[..3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
    } else {
        split(bytes);
    }
}

/// Gives each part of a long message a header of its own. The last part is shorter than all others,
/// perhaps empty.
#[cold]
fn split(bytes: &mut Vec<u8>) {
    let payload = bytes.split_off(HEADER);
    bytes.clear();
    let parts = payload.len() / LONGEST + 1;
    for part in 0..parts {
        let part_of = &payload[part * LONGEST..payload.len().min((part + 1) * LONGEST)];
        bytes.extend_from_slice(&(part_of.len() as u32).to_le_bytes()[..3]);
        bytes.push(part as u8);
        bytes.extend_from_slice(part_of);
    }
}

impl Template {
    /// The message that sends the statement as text.
    pub fn query(statement: &Statement) -> Template {
        let layout =
            |bytes, layout| Template { bytes, layout, drawn: Vec::new(), types: Types::Left };
        if let [Piece::Text(text)] = statement.pieces.as_slice() {
            return layout(query(text.as_bytes()), Layout::Patched(Vec::new()));
        }
        let mut parts = vec![Part::Bytes(vec![0, 0, 0, 0, command::QUERY])];
        parts.extend(statement.pieces.iter().map(Part::from));
        layout(Vec::new(), Layout::Text(parts))
    }

    /// The message that executes the statement that the server knows by this number.
    pub fn execute(number: u32, statement: &Statement) -> Template {
        let draws = statement.draws();
        let mut bytes = execute(number);
        let mut types = Types::Left;
        if !draws.is_empty() {
            // None of the values is a NULL; types follow.
            bytes.resize(bytes.len() + draws.len().div_ceil(8), 0);
            bytes.push(1);
            let begin = bytes.len();
            bytes.extend(draws.iter().flat_map(|draw| [kind_of(draw), 0]));
            types = Types::Due(begin..bytes.len());
        }
        let layout = if let Some(lengths) =
            draws.iter().map(|draw| length_of(draw)).collect::<Option<Vec<_>>>()
        {
            let mut patches = Vec::new();
            for (draw, length) in draws.into_iter().zip(lengths) {
                patches.push((bytes.len(), Sampler::from(draw)));
                bytes.resize(bytes.len() + length, 0);
            }
            frame(&mut bytes);
            Layout::Patched(patches)
        } else {
            let mut parts = vec![Part::Bytes(mem::take(&mut bytes))];
            parts.extend(values(&statement.pieces));
            Layout::Bound(parts)
        };
        Template { bytes, layout, drawn: Vec::new(), types }
    }

    /// Draws new values into the message.
    #[inline]
    pub fn draw(&mut self, source: &mut Source<'_>, clock: &mut WallClock) {
        if !matches!(self.types, Types::Left) {
            self.introduce();
        }
        self.drawn.clear();
        let (bytes, drawn) = (&mut self.bytes, &mut self.drawn);
        match &self.layout {
            Layout::Patched(patches) => {
                for (at, sampler) in patches {
                    let at = *at;
                    match length_of(&sampler.draw) {
                        Some(4) => {
                            let value = number(sampler, source, drawn) as i32;
                            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
                        }
                        _ => {
                            bytes[at..at + 8].copy_from_slice(&eight(sampler, source, clock, drawn))
                        }
                    }
                }
            }
            Layout::Text(parts) => {
                clock.update();
                bytes.clear();
                for part in parts {
                    part.lay_text(bytes, source, clock, drawn);
                }
                frame(bytes);
            }
            Layout::Bound(parts) => {
                bytes.clear();
                for part in parts {
                    lay_bound(part, bytes, source, clock, drawn);
                }
                frame(bytes);
            }
        }
    }

    /// Leaves the types out once they were sent.
    #[cold]
    fn introduce(&mut self) {
        self.types = match mem::replace(&mut self.types, Types::Left) {
            Types::Due(range) => Types::Sent(range),
            Types::Sent(range) => {
                match &mut self.layout {
                    Layout::Patched(patches) => {
                        patches.iter_mut().for_each(|(at, _)| *at -= range.len());
                        forget(&mut self.bytes, range);
                        frame(&mut self.bytes);
                    }
                    Layout::Bound(parts) | Layout::Text(parts) => {
                        if let Some(Part::Bytes(head)) = parts.first_mut() {
                            forget(head, range);
                        }
                    }
                }
                Types::Left
            }
            Types::Left => Types::Left,
        };
    }

    /// The current message.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Removes the types from a message, and with them the sign before them that they follow.
fn forget(bytes: &mut Vec<u8>, types: Range<usize>) {
    bytes[types.start - 1] = 0;
    bytes.drain(types);
}

#[inline]
fn number(sampler: &Sampler, source: &mut Source<'_>, drawn: &mut Vec<i64>) -> i64 {
    let value = sampler.number(source, drawn);
    drawn.push(value);
    value
}

/// A bound value of eight bytes.
#[inline]
fn eight(
    sampler: &Sampler,
    source: &mut Source<'_>,
    clock: &mut WallClock,
    drawn: &mut Vec<i64>,
) -> [u8; 8] {
    if sampler.draw == Draw::Now {
        clock.update();
        drawn.push(0);
        return datetime(clock.text());
    }
    number(sampler, source, drawn).to_le_bytes()
}

/// A DATETIME in binary: its length, then year, month, day, hour, minute and second.
fn datetime(text: &[u8; 19]) -> [u8; 8] {
    let two = |at: usize| (text[at] - b'0') * 10 + (text[at + 1] - b'0');
    let [low, high] = (u16::from(two(0)) * 100 + u16::from(two(2))).to_le_bytes();
    [7, low, high, two(5), two(8), two(11), two(14), two(17)]
}

#[inline]
fn lay_bound(
    part: &Part,
    bytes: &mut Vec<u8>,
    source: &mut Source<'_>,
    clock: &mut WallClock,
    drawn: &mut Vec<i64>,
) {
    match part {
        Part::Bytes(text) => bytes.extend_from_slice(text),
        Part::Value(sampler) => match length_of(&sampler.draw) {
            Some(4) => {
                let value = number(sampler, source, drawn) as i32;
                bytes.extend_from_slice(&value.to_le_bytes());
            }
            Some(_) => bytes.extend_from_slice(&eight(sampler, source, clock, drawn)),
            None => {
                lay_string(sampler, bytes, source);
                drawn.push(0);
            }
        },
        Part::Rows { count, row, .. } => {
            for _ in 0..*count {
                for part in row {
                    lay_bound(part, bytes, source, clock, drawn);
                }
            }
        }
    }
}

/// Appends a text after its length.
pub fn string(text: &[u8], bytes: &mut Vec<u8>) {
    let length = (text.len() as u64).to_le_bytes();
    match text.len() {
        0..=0xfa => bytes.push(length[0]),
        0xfb..=0xffff => bytes.extend_from_slice(&[0xfc, length[0], length[1]]),
        _ => {
            bytes.push(0xfe);
            bytes.extend_from_slice(&length);
        }
    }
    bytes.extend_from_slice(text);
}

/// Appends drawn text after its length. The room for that depends on the longest text, so the text
/// never has to be moved.
#[inline]
fn lay_string(sampler: &Sampler, bytes: &mut Vec<u8>, source: &mut Source<'_>) {
    let at = bytes.len();
    let room = match sampler.draw.longest().unwrap_or(0) {
        0..=0xfa => 1,
        0xfb..=0xffff => 3,
        _ => 9,
    };
    bytes.resize(at + room, 0);
    sampler.text(source, bytes);
    let length = ((bytes.len() - at - room) as u64).to_le_bytes();
    match room {
        1 => bytes[at] = length[0],
        3 => bytes[at..at + 3].copy_from_slice(&[0xfc, length[0], length[1]]),
        _ => {
            bytes[at] = 0xfe;
            bytes[at + 1..at + 9].copy_from_slice(&length);
        }
    }
}

#[cfg(test)]
mod tests;
