//! The refresh functions (clauses 2.6 and 2.7): new orders come, and old ones go.
//!
//! A set is a thousandth of the orders. Those that come are orders of the load under keys that it
//! leaves out: dbgen uses 8 of 32 keys, and the next 8 are for new orders.

use plan::{SETS, TpchPlan};

use crate::class::{Class, Effect};
use crate::copy::{Content, Copy, Generated, Generator};
use crate::request::{Expect, Request, Statement};
use crate::step::{Action, End, Step, Stream};

/// What is added to a key for a new order.
pub(super) const NEW: u64 = 8;

// It only adds, but a transaction is too long for slices of running servers.
const NEW_SALES: Class = Class::new("new-sales", "new sales", "orders", Effect::Changes);
const OLD_SALES: Class = Class::new("old-sales", "old sales", "orders", Effect::Changes);

/// The step of this name: `rf1` or `rf2`. Each of its transactions is a set.
pub(super) fn step(plan: &TpchPlan, name: &str) -> Step {
    let sets = plan.reserved()..plan.reserved() + plan.refreshes;
    let class = if name == "rf1" { NEW_SALES } else { OLD_SALES };
    let (first, second): (Vec<Request>, Vec<Request>) =
        sets.map(|set| halves(plan, name, set)).unzip();
    let (one, all) = (first.len(), first.len() + second.len());
    let stream = Stream {
        requests: [first, second, transaction().into()].concat(),
        actions: vec![
            Action::Run(all),
            Action::InTurn((0..one).collect()),
            Action::InTurn((one..all).collect()),
            Action::Run(all + 1),
        ],
        operations_per_round: orders(plan),
        end: End::Rounds(plan.refreshes.into()),
        ..Stream::new(0, class.clone())
    };
    Step::new(name, 1, class, vec![stream])
}

/// The requests of a refresh function with one set.
pub(super) fn requests(plan: &TpchPlan, name: &str, set: u32) -> Vec<Request> {
    let [begin, commit] = transaction();
    let (first, second) = halves(plan, name, set);
    vec![begin, first, second, commit]
}

/// The same, without what makes them a transaction.
fn halves(plan: &TpchPlan, name: &str, set: u32) -> (Request, Request) {
    match name {
        "rf1" => (come(plan, "orders", set), come(plan, "lineitem", set)),
        _ => (go(plan, "lineitem", set), go(plan, "orders", set)),
    }
}

/// What begins a transaction, and what ends it.
fn transaction() -> [Request; 2] {
    ["BEGIN", "COMMIT"].map(|text| Statement::plain(text, Expect::Success).into())
}

/// The orders of a set.
fn orders(plan: &TpchPlan) -> u64 {
    15 * u64::from(plan.scale.0)
}

/// The key of an order of the load, by its number from 1 (dbgen's `mk_sparse`).
fn key(number: u64) -> u64 {
    number >> 3 << 5 | number & 7
}

/// Adds the new orders of a set, or their lines.
fn come(plan: &TpchPlan, table: &str, set: u32) -> Request {
    let made = Generated {
        by: Generator::Tpch,
        table: format!("new {table}"),
        scale: plan.scale.0,
        part: set + 1,
        parts: SETS,
    };
    Request::Copy(Copy { table: table.to_owned(), content: Content::Generated(made) })
}

/// Removes the old orders of a set, or their lines. New ones may lie between them.
fn go(plan: &TpchPlan, table: &str, set: u32) -> Request {
    let first = u64::from(set) * orders(plan) + 1;
    let (low, high) = (key(first), key(first + orders(plan) - 1));
    let (column, expect) = match table {
        "orders" => ("o_orderkey", Expect::affected(orders(plan))),
        _ => ("l_orderkey", Expect::Success),
    };
    let text = format!(
        "DELETE FROM {table} WHERE {column} BETWEEN {low} AND {high} AND {column} % 32 < {NEW}"
    );
    Statement::plain(text, expect).into()
}
