//! The operations of YCSB, as its JDBC and RocksDB bindings do them.

use plan::Requests;

use super::builder::{Builder, TABLE, TAKEN};
use crate::class::{Class, Effect};
use crate::draw::{Draw, Width};
use crate::request::{Expect, KeyAction, KeyValue, Piece, Request, Scan, Statement};
use crate::sent::Sent;
use crate::step::Action;

/// An operation of YCSB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Reads all fields of a record.
    Read,
    /// Writes a field.
    Update,
    /// Adds a record.
    Insert,
    /// Reads some records in the order of their keys.
    Scan,
    /// Reads a record, then writes a field of it.
    Modify,
}

impl Operation {
    pub(super) fn class(self) -> Class {
        let (name, plural, effect) = match self {
            Operation::Read => ("read", "reads", Effect::Reads),
            Operation::Update => ("update", "updates", Effect::Changes),
            Operation::Insert => ("insert", "inserts", Effect::Adds),
            Operation::Scan => ("scan", "scans", Effect::Reads),
            Operation::Modify => ("read-modify-write", "read-modify-writes", Effect::Changes),
        };
        Class::new(name, plural, "operations", effect)
    }
}

/// The answer to a read of so many records.
fn rows(min: u32, max: u32) -> Expect {
    Expect::Rows { min, max }
}

impl Builder<'_> {
    /// The actions of an operation, whose requests are added to those of a stream.
    pub(super) fn actions(
        &self,
        operation: Operation,
        by: Requests,
        requests: &mut Vec<Request>,
    ) -> Vec<Action> {
        let mut add = |more: Vec<Request>| {
            let first = requests.len();
            requests.extend(more);
            match requests.len() - first {
                1 => Action::Run(first),
                _ => Action::Choose((first..requests.len()).collect()),
            }
        };
        let key = || self.key(Draw::Kept { index: 0, plus: 0, width: Width::Eight });
        // The newest record may not be there yet.
        let least = if by == Requests::Latest { 0 } else { 1 };
        let read = || vec![self.read(key(), rows(least, 1))];
        match operation {
            Operation::Read => vec![add(read())],
            Operation::Insert => vec![add(vec![self.insert(1, self.before())])],
            Operation::Scan => vec![add(self.scans(&key(), least))],
            // With one value for all fields, it is read before it is written.
            Operation::Update if self.sql.is_none() => {
                vec![add(read()), add(self.updates(&key()))]
            }
            Operation::Update => vec![add(self.updates(&key()))],
            Operation::Modify => {
                let mut actions = self.actions(Operation::Read, by, requests);
                actions.extend(self.actions(Operation::Update, by, requests));
                actions
            }
        }
    }

    /// Reads a record.
    pub(super) fn read(&self, key: Draw, expect: Expect) -> Request {
        if self.sql.is_none() {
            return KeyValue { action: KeyAction::Get { keys: 1 }, key, expect }.into();
        }
        let text = format!("SELECT * FROM {TABLE} WHERE ycsb_key = ");
        self.statement(vec![Piece::Text(text), Piece::Value(key)], expect)
    }

    /// Inserts records of the next numbers.
    pub(super) fn insert(&self, records: u32, from: i64) -> Request {
        let key = self.key(Draw::Next { from, cell: TAKEN });
        let expect = Expect::affected(records.into());
        if self.sql.is_none() {
            return KeyValue { action: self.put(records), key, expect }.into();
        }
        let mut row = vec![Piece::Text("(".to_owned()), Piece::Value(key)];
        for _ in 0..self.plan.fields {
            row.extend([Piece::Text(",".to_owned()), Piece::Value(self.field())]);
        }
        row.push(Piece::Text(")".to_owned()));
        let text = Piece::Text(format!("INSERT INTO {TABLE} VALUES "));
        self.statement(vec![text, Piece::Rows { count: records, row }], expect)
    }

    /// Writes a field of a record: a request for each field.
    pub(super) fn updates(&self, key: &Draw) -> Vec<Request> {
        let expect = Expect::affected(1);
        if self.sql.is_none() {
            return vec![KeyValue { action: self.put(1), key: key.clone(), expect }.into()];
        }
        let update = |field| {
            let set = Piece::Text(format!("UPDATE {TABLE} SET field{field} = "));
            let of = Piece::Text(" WHERE ycsb_key = ".to_owned());
            let pieces = vec![set, Piece::Value(self.field()), of, Piece::Value(key.clone())];
            self.statement(pieces, expect)
        };
        (0..self.plan.fields).map(update).collect()
    }

    /// Reads 1 to `max_scan` records: a request that draws how many, or one for each number.
    fn scans(&self, key: &Draw, least: u32) -> Vec<Request> {
        let most = self.plan.max_scan;
        if self.sql.is_none() {
            return (1..=most).map(|pairs| self.scan(pairs, least, key.clone())).collect();
        }
        let high = i64::from(most) + 1;
        let limit = Draw::Uniform { low: 1, high, width: Width::Eight };
        vec![self.ordered(key.clone(), Piece::Value(limit), rows(least, most))]
    }

    /// Reads so many records, if there are.
    pub(super) fn scan(&self, records: u32, least: u32, key: Draw) -> Request {
        let expect = rows(least, records);
        if self.sql.is_none() {
            let action = KeyAction::Scan(Scan { pairs: records, reverse: false });
            return KeyValue { action, key, expect }.into();
        }
        self.ordered(key, Piece::Text(records.to_string()), expect)
    }

    fn ordered(&self, key: Draw, limit: Piece, expect: Expect) -> Request {
        let from = Piece::Text(format!("SELECT * FROM {TABLE} WHERE ycsb_key >= "));
        let order = Piece::Text(" ORDER BY ycsb_key LIMIT ".to_owned());
        self.statement(vec![from, Piece::Value(key), order, limit], expect)
    }

    fn statement(&self, pieces: Vec<Piece>, expect: Expect) -> Request {
        Statement { pieces, sent: Sent::prepared(self.plan.prepared), expect }.into()
    }

    /// The value of a field.
    fn field(&self) -> Draw {
        Draw::Text { min: self.plan.field_bytes, max: self.plan.field_bytes }
    }

    /// Writes whole records as values.
    fn put(&self, keys: u32) -> KeyAction {
        let bytes = self.plan.fields.saturating_mul(self.plan.field_bytes);
        KeyAction::Put { keys, value: Draw::Text { min: bytes, max: bytes }, logged: true }
    }
}
