//! A round of a client: one statement, or a transaction of several.

use super::builder::Builder;
use crate::draw::{Draw, Width};
use crate::request::{Expect, Request, Statement};
use crate::step::{Action, Finds};

/// The requests that a client repeats.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// Numbers drawn once for the round: which table, which id.
    pub(super) keeps: Vec<Draw>,
    /// All statements, for all tables.
    pub(super) requests: Vec<Request>,
    /// Which are sent.
    pub(super) actions: Vec<Action>,
    /// The rows that they have to find.
    pub(super) finds: Option<Finds>,
    /// How many they count.
    pub(super) operations: u64,
}

impl Round {
    /// A round of one statement, to a table drawn for it.
    pub(super) fn of(tables: u32, statement: impl Fn(u32) -> Statement) -> Self {
        let requests: Vec<Request> = (0..tables).map(|table| statement(table).into()).collect();
        let actions = match requests.len() {
            1 => vec![Action::Run(0)],
            count => vec![Action::Choose((0..count).collect())],
        };
        Round { requests, actions, operations: 1, ..Round::default() }
    }

    /// The same, and it must find this many rows on average.
    pub(super) fn finding(self, rows: Option<f64>) -> Self {
        Round { finds: rows.map(Finds::Mean), ..self }
    }

    /// Draws a number for the round; returns its index.
    pub(super) fn keep(&mut self, draw: Draw) -> usize {
        self.keeps.push(draw);
        self.keeps.len() - 1
    }

    /// Draws a table for statements that go to the same one.
    pub(super) fn keep_table(&mut self, tables: u32) -> usize {
        let (low, high, width) = (0, i64::from(tables), Width::Four);
        self.keep(Draw::Uniform { low, high, width })
    }

    /// Adds a statement to the table that was drawn, this many times.
    pub(super) fn add(
        &mut self,
        (tables, number): (u32, usize),
        times: usize,
        statement: impl Fn(u32) -> Statement,
    ) {
        let first = self.requests.len();
        self.requests.extend((0..tables).map(|table| Request::from(statement(table))));
        let among = (first..self.requests.len()).collect();
        let action = Action::Kept { number, among };
        self.actions.extend(std::iter::repeat_n(action, times));
        self.operations += times as u64;
    }

    /// Begins a transaction before its statements and commits it after them.
    pub(super) fn in_transaction(mut self, builder: &Builder<'_>) -> Self {
        if !builder.plan.transactions {
            return self;
        }
        for (text, place) in [("BEGIN", 0), ("COMMIT", self.actions.len() + 1)] {
            let sent = builder.sent();
            let statement = Statement { sent, ..Statement::plain(text, Expect::Success) };
            self.actions.insert(place, Action::Run(self.requests.len()));
            self.requests.push(statement.into());
            self.operations += 1;
        }
        self
    }
}
