//! Messages are those that `mysql_common` builds.

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

/// The message that `mysql_common` sends: values always follow their types.
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
            let mut source = Source { rng: &mut rng, cells: &[], kept: &[] };
            Sampler::from(&draw).text(&mut source, &mut bytes);
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
    assert_eq!(payload(&prepare(&marked(&insert))), b"\x16INSERT (?,?),(?,?)");
    assert_eq!(payload(&query(b"SELECT 1")), b"\x03SELECT 1");
    assert_eq!(quit(), [1, 0, 0, 0, 1]);
}

#[test]
fn long_messages_continue_in_packets() {
    for (length, last) in [(LONGEST - 1, None), (LONGEST, Some(0)), (2 * LONGEST + 9, Some(9))] {
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
