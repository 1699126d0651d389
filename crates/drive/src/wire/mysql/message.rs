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
mod kind {
    pub const LONG: u8 = 3;
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

/// Bytes of a bound value, if they are always as many.
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
pub fn prepare(statement: &Statement) -> Vec<u8> {
    let mut text = String::new();
    marked(&statement.pieces, &mut text);
    one(command::PREPARE, text.as_bytes())
}

/// The message that ends a connection.
pub fn quit() -> Vec<u8> {
    one(command::QUIT, &[])
}

/// Appends the text with a `?` in place of each drawn value.
fn marked(pieces: &[Piece], text: &mut String) {
    for piece in pieces {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Value(_) => text.push('?'),
            Piece::Rows { count, row } => {
                for index in 0..*count {
                    if index > 0 {
                        text.push(',');
                    }
                    marked(row, text);
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
        let mut bytes = vec![0, 0, 0, 0, command::EXECUTE];
        bytes.extend_from_slice(&number.to_le_bytes());
        // No cursor; one iteration.
        bytes.extend_from_slice(&[0, 1, 0, 0, 0]);
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

/// Appends drawn text after its length. The room for that depends on the longest text, so the text
/// never has to be moved.
#[inline]
fn lay_string(sampler: &Sampler, bytes: &mut Vec<u8>, source: &mut Source<'_>) {
    let longest = match sampler.draw {
        Draw::Text { max, .. } => max,
        Draw::Digits { groups, digits } => groups.saturating_mul(digits.saturating_add(1)),
        _ => 0,
    };
    let at = bytes.len();
    let room = match longest {
        0..=0xfa => 1,
        0xfb..=0xffff => 3,
        _ => 9,
    };
    bytes.resize(at + room, 0);
    sampler.text(source.rng, bytes);
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
mod tests {
    use std::sync::atomic::AtomicI64;

    use mysql_common::packets::ComStmtExecuteRequestBuilder;
    use mysql_common::proto::MySerialize;
    use mysql_common::value::Value;
    use proptest::prelude::*;
    use workload::{Cell, Expect, Padded, Rng, Sent};

    use super::*;

    fn draw(template: &mut Template, seed: u64, cells: &[i64]) -> Vec<u8> {
        let cells: Vec<_> = cells.iter().map(|value| Padded(AtomicI64::new(*value))).collect();
        let mut rng = Rng::new(seed);
        let mut source = Source { rng: &mut rng, cells: &cells, kept: &[] };
        template.draw(&mut source, &mut WallClock::stopped(1_655_373_601));
        template.bytes().to_vec()
    }

    fn statement(pieces: Vec<Piece>) -> Statement {
        Statement { pieces, sent: Sent::Prepared, expect: Expect::Success }
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    fn fixed(value: i64, width: Width) -> Piece {
        Piece::Value(Draw::Uniform { low: value, high: value + 1, width })
    }

    fn select() -> Statement {
        statement(vec![
            text("SELECT a FROM t WHERE b = "),
            fixed(-5, Width::Eight),
            text(" AND c BETWEEN "),
            Piece::Value(Draw::Value(Cell(0))),
            text(" AND "),
            Piece::Value(Draw::Earlier { back: 1, plus: 99, width: Width::Eight }),
        ])
    }

    /// The payload of a message of one packet.
    fn payload(bytes: &[u8]) -> &[u8] {
        assert_eq!(bytes[..4], ((bytes.len() - 4) as u32).to_le_bytes());
        &bytes[4..]
    }

    /// What `mysql_common` sends: values always follow their types.
    fn common(number: u32, values: &[Value]) -> Vec<u8> {
        let mut bytes = Vec::new();
        ComStmtExecuteRequestBuilder::new(number).build(values).0.serialize(&mut bytes);
        bytes
    }

    /// The same without the types.
    fn untyped(mut bytes: Vec<u8>, values: usize) -> Vec<u8> {
        let sign = 10 + values.div_ceil(8);
        assert_eq!(bytes[sign], 1);
        bytes[sign] = 0;
        bytes.drain(sign + 1..sign + 1 + 2 * values);
        bytes
    }

    #[test]
    fn an_execution_is_what_mysql_common_builds() {
        let mut template = Template::execute(0x0102_0304, &select());
        let wanted = |cell: i64| common(0x0102_0304, &[-5, cell, cell + 99].map(Value::from));
        assert_eq!(payload(&draw(&mut template, 1, &[-9])), wanted(-9));
        for cell in [1, i64::MAX - 99, i64::MIN] {
            assert_eq!(payload(&draw(&mut template, 1, &[cell])), untyped(wanted(cell), 3));
        }
        let mut none = Template::execute(7, &statement(vec![text("SELECT 1")]));
        assert_eq!(payload(&draw(&mut none, 1, &[])), common(7, &[]));
        assert_eq!(payload(&draw(&mut none, 1, &[])), common(7, &[]));
    }

    #[test]
    fn short_integers_take_four_bytes() {
        let update = statement(vec![text("SELECT "), fixed(-2, Width::Four)]);
        let mut template = Template::execute(1, &update);
        let head = [0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0];
        let wanted = [&head[..], &[1, 3, 0, 0xfe, 0xff, 0xff, 0xff]].concat();
        assert_eq!(payload(&draw(&mut template, 1, &[])), wanted);
        let wanted = [&head[..], &[0, 0xfe, 0xff, 0xff, 0xff]].concat();
        assert_eq!(payload(&draw(&mut template, 1, &[])), wanted);
    }

    #[test]
    fn times_and_texts_are_what_mysql_common_builds() {
        let time = Value::Date(2022, 6, 16, 10, 0, 1, 0);
        let fixed_width = statement(vec![fixed(1, Width::Eight), Piece::Value(Draw::Now)]);
        let mut template = Template::execute(1, &fixed_width);
        let wanted = common(1, &[Value::from(1), time.clone()]);
        assert_eq!(payload(&draw(&mut template, 1, &[])), wanted);
        assert_eq!(payload(&draw(&mut template, 1, &[])), untyped(wanted, 2));

        for max in [0, 10, 250] {
            let row = vec![
                Piece::Value(Draw::Now),
                text(","),
                Piece::Value(Draw::Text { min: max, max }),
                Piece::Value(Draw::Digits { groups: 2, digits: 3 }),
            ];
            let insert = statement(vec![text("INSERT "), Piece::Rows { count: 2, row }]);
            let mut template = Template::execute(1, &insert);
            let mut rng = Rng::new(3);
            let mut string = |draw: Draw| {
                let mut bytes = Vec::new();
                Sampler::from(&draw).text(&mut rng, &mut bytes);
                Value::Bytes(bytes)
            };
            let mut row = || {
                let text = string(Draw::Text { min: max, max });
                [time.clone(), text, string(Draw::Digits { groups: 2, digits: 3 })]
            };
            let wanted = common(1, &[row(), row()].concat());
            assert_eq!(payload(&draw(&mut template, 3, &[])), wanted, "{max}");
            assert_eq!(payload(&draw(&mut template, 3, &[])), untyped(wanted, 6), "{max}");
        }
    }

    #[test]
    fn long_texts_have_longer_lengths() {
        for (max, room) in [(251, 3), (65_535, 3), (65_536, 9)] {
            let long = statement(vec![Piece::Value(Draw::Text { min: 7, max })]);
            let mut template = Template::execute(1, &long);
            let bytes = draw(&mut template, 1, &[]);
            let mut rest = &payload(&bytes)[10 + 1 + 1 + 2..];
            let before = rest.len();
            let length = crate::wire::mysql::lenenc(&mut rest).unwrap() as usize;
            assert_eq!((before - rest.len(), rest.len()), (room, length));
        }
    }

    #[test]
    fn text_has_the_values_in_their_places() {
        let mut template = Template::query(&select());
        for _ in 0..2 {
            let bytes = draw(&mut template, 1, &[-9]);
            let text = b"\x03SELECT a FROM t WHERE b = -5 AND c BETWEEN -9 AND 90";
            assert_eq!(payload(&bytes), text);
        }
        let row = vec![
            text("("),
            Piece::Value(Draw::Now),
            text(","),
            Piece::Value(Draw::Digits { groups: 1, digits: 0 }),
            text(")"),
        ];
        let insert = statement(vec![text("INSERT "), Piece::Rows { count: 2, row }]);
        let row = "('2022-06-16 10:00:01','')";
        let bytes = draw(&mut Template::query(&insert), 1, &[]);
        assert_eq!(payload(&bytes), format!("\x03INSERT {row},{row}").as_bytes());
        assert_eq!(payload(&prepare(&insert)), b"\x16INSERT (?,?),(?,?)");
        assert_eq!(payload(&query(b"SELECT 1")), b"\x03SELECT 1");
        assert_eq!(quit(), [1, 0, 0, 0, 1]);
    }

    #[test]
    fn long_messages_continue_in_packets() {
        for (length, last) in [(LONGEST - 1, None), (LONGEST, Some(0)), (2 * LONGEST + 9, Some(9))]
        {
            let bytes = query(&vec![b'x'; length - 1]);
            let mut rest = &bytes[..];
            let mut packets = Vec::new();
            while let Some((header, more)) = rest.split_first_chunk::<4>() {
                let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
                assert_eq!(usize::from(header[3]), packets.len());
                packets.push(&more[..length]);
                rest = &more[length..];
            }
            let whole = packets.concat();
            assert!(whole[0] == 3 && whole[1..].iter().all(|byte| *byte == b'x'));
            assert_eq!(whole.len(), length);
            assert_eq!(packets[1..].last().map(|part| part.len()), last);
        }
    }

    proptest! {
        #[test]
        fn all_executions_are_what_mysql_common_builds(
            numbers in prop::collection::vec(any::<i64>(), 0..40), seed: u64,
        ) {
            let pieces = numbers.iter().enumerate();
            let pieces = pieces.map(|(cell, _)| Piece::Value(Draw::Value(Cell(cell)))).collect();
            let mut template = Template::execute(9, &statement(pieces));
            let wanted = common(9, &numbers.iter().map(|value| Value::from(*value)).collect::<Vec<_>>());
            prop_assert_eq!(&draw(&mut template, seed, &numbers)[4..], &wanted);
            if !numbers.is_empty() {
                let wanted = untyped(wanted, numbers.len());
                prop_assert_eq!(&draw(&mut template, seed, &numbers)[4..], &wanted);
                prop_assert_eq!(&draw(&mut template, seed, &numbers)[4..], &wanted);
            }
        }
    }
}
