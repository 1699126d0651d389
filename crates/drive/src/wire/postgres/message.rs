//! Messages built once, then patched per execution, or laid out anew if values vary in length.

use workload::{Draw, Piece, Sampler, Sent, Source, Statement, Width};

use super::oid;
use crate::clock::WallClock;
use crate::wire::layout::{Part, values};

/// The type a drawn value is declared with.
pub fn type_oid(draw: &Draw) -> u32 {
    match (draw.width(), draw) {
        (Some(Width::Four), _) => oid::INT4,
        (Some(Width::Eight), _) => oid::INT8,
        (None, Draw::Now) => oid::TIMESTAMP,
        (None, _) => oid::VARCHAR,
    }
}

/// A message ready to be sent after [`Template::draw`].
#[derive(Debug)]
pub enum Template {
    /// All values have a fixed width: they are written over the old ones in place.
    Patched {
        /// The message.
        bytes: Vec<u8>,
        /// Where each value is.
        patches: Vec<(usize, Sampler)>,
        /// The numbers drawn so far.
        drawn: Vec<i64>,
    },
    /// If a value varies in length, the message is laid out anew without allocating.
    Laid {
        /// The parts of the message.
        parts: Vec<Part>,
        /// The form of its values.
        form: Form,
        /// Bytes that follow the message of varying length.
        tail: Vec<u8>,
        /// The last message.
        bytes: Vec<u8>,
        /// The numbers drawn so far.
        drawn: Vec<i64>,
    },
}

/// The form of values in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As they stand in SQL.
    Sql,
    /// With a length before each, in binary.
    Binary,
    /// With a length before each, as text.
    Text,
}

/// Bind's fixed beginning: no portal name, the statement's name, all parameters in one form.
fn bind_head(name: &str, form: Form, parameters: usize) -> Vec<u8> {
    let mut bytes = vec![b'B', 0, 0, 0, 0, 0];
    bytes.extend_from_slice(name.as_bytes());
    bytes.push(0);
    bytes.extend_from_slice(&1i16.to_be_bytes());
    bytes.extend_from_slice(&i16::from(form == Form::Binary).to_be_bytes());
    bytes.extend_from_slice(&(parameters as u16).to_be_bytes());
    bytes
}

/// Bind's end: results as text.
const BIND_END: [u8; 2] = [0, 0];
/// Describe of the unnamed portal.
pub const DESCRIBE: [u8; 7] = [b'D', 0, 0, 0, 6, b'P', 0];
/// Execute of the unnamed portal without a row limit.
pub const EXECUTE: [u8; 10] = [b'E', 0, 0, 0, 9, 0, 0, 0, 0, 0];
/// Sync.
pub const SYNC: [u8; 5] = [b'S', 0, 0, 0, 4];

/// Sets the length of the message that `bytes` begins with, up to `end`.
pub fn set_length(bytes: &mut [u8], end: usize) {
    let length = (end - 1) as u32;
    bytes[1..5].copy_from_slice(&length.to_be_bytes());
}

impl Template {
    /// The messages that bind and execute the prepared statement `name` the given number of times,
    /// each after these messages, before one Sync. `None` if that can't be done more than once or
    /// after others, because a value varies in length.
    pub fn pipeline(
        before: &[u8],
        name: &str,
        statement: &Statement,
        depth: u32,
    ) -> Option<Template> {
        if statement.draws().iter().any(|draw| type_oid(draw) == oid::VARCHAR) {
            return None;
        }
        let (mut bytes, mut patches) = (Vec::new(), Vec::new());
        for _ in 0..depth {
            bytes.extend_from_slice(before);
            let begin = bytes.len();
            bytes.extend_from_slice(&bind_head(name, Form::Binary, statement.draws().len()));
            for draw in statement.draws() {
                let width = if type_oid(draw) == oid::INT4 { 4 } else { 8 };
                bytes.extend_from_slice(&(width as u32).to_be_bytes());
                patches.push((bytes.len(), Sampler::from(draw)));
                bytes.resize(bytes.len() + width, 0);
            }
            bytes.extend_from_slice(&BIND_END);
            let end = bytes.len() - begin;
            set_length(&mut bytes[begin..], end);
            bytes.extend_from_slice(&EXECUTE);
        }
        bytes.extend_from_slice(&SYNC);
        Some(Template::Patched { bytes, patches, drawn: Vec::new() })
    }

    /// The message that binds and executes the prepared statement `name`.
    pub fn bind(name: &str, statement: &Statement) -> Template {
        let described = statement.sent == Sent::Described;
        if !described && let Some(template) = Template::pipeline(&[], name, statement, 1) {
            return template;
        }
        let form = if described { Form::Text } else { Form::Binary };
        let mut tail = if described { DESCRIBE.to_vec() } else { Vec::new() };
        tail.extend_from_slice(&EXECUTE);
        tail.extend_from_slice(&SYNC);
        let mut parts = vec![Part::Bytes(bind_head(name, form, statement.draws().len()))];
        parts.extend(values(&statement.pieces));
        parts.push(Part::Bytes(BIND_END.to_vec()));
        Template::Laid { parts, form, tail, bytes: Vec::new(), drawn: Vec::new() }
    }

    /// The message that sends the statement as text.
    pub fn query(statement: &Statement) -> Template {
        let head = vec![b'Q', 0, 0, 0, 0];
        if let [Piece::Text(text)] = statement.pieces.as_slice() {
            let mut bytes = head;
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0);
            let end = bytes.len();
            set_length(&mut bytes, end);
            return Template::Patched { bytes, patches: Vec::new(), drawn: Vec::new() };
        }
        let mut parts = vec![Part::Bytes(head)];
        parts.extend(statement.pieces.iter().map(Part::from));
        parts.push(Part::Bytes(vec![0]));
        let (tail, bytes, drawn) = (Vec::new(), Vec::new(), Vec::new());
        Template::Laid { parts, form: Form::Sql, tail, bytes, drawn }
    }

    /// Draws new values into the message.
    #[inline]
    pub fn draw(&mut self, source: &mut Source<'_>, clock: &mut WallClock) {
        match self {
            Template::Patched { bytes, patches, drawn } => {
                drawn.clear();
                for (at, sampler) in patches {
                    let value = number(sampler, source, clock, drawn);
                    if sampler.draw.width() == Some(Width::Four) {
                        bytes[*at..*at + 4].copy_from_slice(&(value as i32).to_be_bytes());
                    } else {
                        bytes[*at..*at + 8].copy_from_slice(&value.to_be_bytes());
                    }
                }
            }
            Template::Laid { parts, form, tail, bytes, drawn } => {
                clock.update();
                bytes.clear();
                drawn.clear();
                for part in parts {
                    match *form {
                        Form::Sql => part.lay_text(bytes, source, clock, drawn),
                        form => lay_bound(part, form, bytes, source, clock, drawn),
                    }
                }
                let end = bytes.len();
                set_length(bytes, end);
                bytes.extend_from_slice(tail);
            }
        }
    }

    /// The current message.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Template::Patched { bytes, .. } | Template::Laid { bytes, .. } => bytes,
        }
    }
}

/// A value of fixed width.
#[inline]
fn number(
    sampler: &Sampler,
    source: &mut Source<'_>,
    clock: &mut WallClock,
    drawn: &mut Vec<i64>,
) -> i64 {
    let value = if sampler.draw == Draw::Now {
        clock.update();
        clock.postgres_micros()
    } else {
        sampler.number(source, drawn)
    };
    drawn.push(value);
    value
}

#[inline]
fn lay_bound(
    part: &Part,
    form: Form,
    bytes: &mut Vec<u8>,
    source: &mut Source<'_>,
    clock: &mut WallClock,
    drawn: &mut Vec<i64>,
) {
    match part {
        Part::Bytes(text) => bytes.extend_from_slice(text),
        Part::Value(sampler) => {
            let at = bytes.len();
            bytes.extend_from_slice(&[0; 4]);
            let width = sampler.draw.width();
            if type_oid(&sampler.draw) == oid::VARCHAR {
                sampler.text(source, bytes);
                drawn.push(0);
            } else if form == Form::Binary {
                let value = number(sampler, source, clock, drawn).to_be_bytes();
                bytes.extend_from_slice(&value[if width == Some(Width::Four) { 4 } else { 0 }..]);
            } else if width.is_some() {
                let value = number(sampler, source, clock, drawn);
                bytes.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            } else {
                bytes.extend_from_slice(clock.text());
                drawn.push(0);
            }
            let length = (bytes.len() - at - 4) as u32;
            bytes[at..at + 4].copy_from_slice(&length.to_be_bytes());
        }
        Part::Rows { count, row, .. } => {
            for _ in 0..*count {
                for part in row {
                    lay_bound(part, form, bytes, source, clock, drawn);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicI64;
    use workload::{Cell, Expect, Padded, Rng};

    fn drawn(mut template: Template, seed: u64, cells: &[i64]) -> Vec<u8> {
        let cells: Vec<_> = cells.iter().map(|value| Padded(AtomicI64::new(*value))).collect();
        let mut rng = Rng::new(seed);
        let mut source = Source { rng: &mut rng, cells: &cells, kept: &[] };
        template.draw(&mut source, &mut WallClock::new());
        template.bytes().to_vec()
    }

    fn select() -> Statement {
        Statement {
            pieces: vec![
                Piece::Text("SELECT a FROM t WHERE b = ".into()),
                Piece::Value(Draw::Uniform { low: 5, high: 6, width: Width::Four }),
                Piece::Text(" AND c IN (".into()),
                Piece::Value(Draw::Value(Cell(0))),
                Piece::Text(")".into()),
            ],
            sent: Sent::Prepared,
            expect: Expect::Success,
        }
    }

    #[test]
    fn a_patched_bind_is_what_postgres_protocol_builds() {
        use postgres_protocol::IsNull;
        use postgres_protocol::message::frontend;
        let mut wanted = bytes::BytesMut::new();
        frontend::bind(
            "",
            "s0",
            [1],
            [5i64, -9],
            |value, out| {
                if value == 5 {
                    out.extend_from_slice(&5i32.to_be_bytes());
                } else {
                    out.extend_from_slice(&value.to_be_bytes());
                }
                Ok(IsNull::No)
            },
            [],
            &mut wanted,
        )
        .ok()
        .unwrap();
        frontend::execute("", 0, &mut wanted).unwrap();
        frontend::sync(&mut wanted);
        assert_eq!(drawn(Template::bind("s0", &select()), 1, &[-9]), wanted);
    }

    #[test]
    fn a_described_bind_is_what_libpq_sends() {
        use postgres_protocol::IsNull;
        use postgres_protocol::message::frontend;
        let statement = Statement { sent: Sent::Described, ..select() };
        let mut wanted = bytes::BytesMut::new();
        let write = |value: i64, out: &mut bytes::BytesMut| {
            out.extend_from_slice(value.to_string().as_bytes());
            Ok(IsNull::No)
        };
        frontend::bind("", "s0", [0], [5i64, -9], write, [], &mut wanted).ok().unwrap();
        frontend::describe(b'P', "", &mut wanted).unwrap();
        frontend::execute("", 0, &mut wanted).unwrap();
        frontend::sync(&mut wanted);
        assert_eq!(drawn(Template::bind("s0", &statement), 1, &[-9]), wanted);
    }

    #[test]
    fn a_pipeline_has_one_sync() {
        let statement = select();
        let parse = [b'P', 0, 0, 0, 6, 0, 0];
        let template = Template::pipeline(&parse, "", &statement, 3).unwrap();
        let bytes = drawn(template, 1, &[-9]);
        let one = drawn(Template::bind("", &statement), 1, &[-9]);
        let each = [&parse, &one[..one.len() - SYNC.len()]].concat();
        assert_eq!(bytes, [&each[..], &each, &each, &SYNC].concat());
        let pieces = vec![Piece::Value(Draw::Text { min: 1, max: 2 })];
        assert!(Template::pipeline(&[], "", &Statement { pieces, ..statement }, 2).is_none());
    }

    #[test]
    fn text_has_the_values_in_their_places() {
        let bytes = drawn(Template::query(&select()), 1, &[-9]);
        let text = b"SELECT a FROM t WHERE b = 5 AND c IN (-9)\0";
        assert_eq!(bytes[0], b'Q');
        assert_eq!(bytes[1..5], (text.len() as u32 + 4).to_be_bytes());
        assert_eq!(&bytes[5..], text);
    }

    #[test]
    fn rows_are_separated_and_drawn_apart() {
        let row = vec![
            Piece::Text("(".into()),
            Piece::Value(Draw::Uniform { low: 0, high: 1_000_000, width: Width::Four }),
            Piece::Text(",".into()),
            Piece::Value(Draw::Text { min: 10, max: 20 }),
            Piece::Text(")".into()),
        ];
        let insert = Statement {
            pieces: vec![Piece::Text("INSERT ".into()), Piece::Rows { count: 3, row }],
            sent: Sent::Prepared,
            expect: Expect::affected(3),
        };
        let bytes = drawn(Template::query(&insert), 9, &[]);
        let text = String::from_utf8(bytes[5..bytes.len() - 1].to_vec()).unwrap();
        let rows: Vec<_> = text.strip_prefix("INSERT ").unwrap().split("),(").collect();
        assert_eq!(rows.len(), 3);
        assert_ne!(rows[0].trim_start_matches('('), rows[1]);

        let bind = drawn(Template::bind("s1", &insert), 9, &[]);
        let length = u32::from_be_bytes(bind[1..5].try_into().unwrap()) as usize;
        assert_eq!(bind.len(), 1 + length + EXECUTE.len() + SYNC.len());
        assert_eq!(bind[1 + length], b'E');
    }

    #[test]
    fn the_same_seed_draws_the_same_message() {
        let make = || Template::query(&select());
        assert_eq!(drawn(make(), 4, &[1]), drawn(make(), 4, &[1]));
    }
}
