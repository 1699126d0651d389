//! The order between the sessions of a log: a transaction begins when all have ended that had
//! changed one of its tables, and were over when it began in the log.
//!
//! Waiting before transactions only, where a session holds no locks, can't end in a deadlock: what a
//! transaction waits for began earlier in the log. Oracle's Database Replay has the same rule, by
//! the object (`synchronization => OBJECT_ID`), for each call.

use std::collections::{BTreeSet, HashMap};

use trace::{Effects, Form, Syntax, effects};

use super::Sent;
use crate::step::{Link, Stream};

/// A transaction of a connection.
#[derive(Debug, Default)]
struct Transaction {
    connection: usize,
    /// Its rounds.
    first: u64,
    last: u64,
    /// Its times in the log, in microseconds.
    begin: i64,
    end: i64,
    /// The forms of its statements.
    forms: BTreeSet<usize>,
}

/// A form's tables: those that it changes, and all that it may use.
#[derive(Debug, Default)]
struct Tables {
    changes: BTreeSet<u32>,
    uses: BTreeSet<u32>,
}

/// Gives each of `streams`, which send what is in the same place of `sent`, its links. Returns the
/// number of tables.
pub fn link(streams: &mut [Stream], sent: &[Vec<Sent<'_>>], forms: &[Form], syntax: Syntax) -> u32 {
    let effects: Vec<Effects> = forms.iter().map(|form| effects(&form.text, syntax)).collect();
    let mut all: Vec<Transaction> = Vec::new();
    for (connection, sent) in sent.iter().enumerate() {
        all.extend(transactions(connection, sent, &effects, syntax));
    }
    let (of_forms, tables) = tables(&effects, &all);
    let of = |transaction: &Transaction, which: fn(&Tables) -> &BTreeSet<u32>| {
        let tables = transaction.forms.iter().flat_map(|form| which(&of_forms[*form]));
        tables.copied().collect::<BTreeSet<u32>>()
    };
    // What ends when another begins has not ended before.
    let mut times: Vec<(i64, bool, usize)> = Vec::new();
    for (place, transaction) in all.iter().enumerate() {
        times.extend([(transaction.begin, false, place), (transaction.end, true, place)]);
    }
    times.sort_unstable();
    let mut ended = vec![0; tables as usize];
    // So many have ended when the connection's latest transaction begins.
    let mut known: HashMap<(usize, u32), u64> = HashMap::new();
    for (_, ends, place) in times {
        let transaction = &all[place];
        let Some(stream) = streams.get_mut(transaction.connection) else { continue };
        let round = if ends { transaction.last } else { transaction.first };
        for table in of(transaction, if ends { |it| &it.changes } else { |it| &it.uses }) {
            let number = &mut ended[table as usize];
            let known = known.entry((transaction.connection, table)).or_default();
            if ends || *known < *number {
                stream.links.push(Link { round, table, number: *number, ends });
            }
            if ends {
                *number += 1;
            } else {
                *known = *number;
            }
        }
    }
    for stream in streams {
        stream.links.sort_by_key(|link| (link.round, link.ends));
    }
    tables
}

/// The transactions of a connection.
fn transactions(
    connection: usize,
    sent: &[Sent<'_>],
    effects: &[Effects],
    syntax: Syntax,
) -> Vec<Transaction> {
    let (mut all, mut open) = (Vec::new(), None);
    let (mut block, mut each) = (false, true);
    for (round, Sent { statement, form, connects }) in (0..).zip(sent) {
        if *connects {
            all.extend(open.take());
            (block, each) = (false, true);
        }
        let known = &effects[*form];
        if known.autocommit.is_some() {
            each = trace::effects(&statement.text, syntax).autocommit.unwrap_or(each);
        }
        block = known.block.unwrap_or(block);
        let begin = statement.at_us;
        let transaction = open.get_or_insert_with(|| Transaction {
            connection,
            first: round,
            begin,
            end: begin,
            ..Transaction::default()
        });
        let end = begin.saturating_add_unsigned(statement.took_us.unwrap_or(0));
        (transaction.last, transaction.end) = (round, transaction.end.max(end));
        transaction.forms.insert(*form);
        let over = known.block == Some(false) || known.autocommit.is_some();
        if over || each && !block {
            all.extend(open.take());
        }
    }
    all.extend(open);
    all
}

/// The tables of each form, of those that a connection changes and another uses, and their number.
fn tables(effects: &[Effects], transactions: &[Transaction]) -> (Vec<Tables>, u32) {
    let changed: BTreeSet<&str> =
        effects.iter().flat_map(|it| &it.changes).map(String::as_str).collect();
    let mut users: HashMap<&str, BTreeSet<usize>> = HashMap::new();
    for Transaction { connection, forms, .. } in transactions {
        let names = forms.iter().flat_map(|form| &effects[*form].names);
        for name in names.filter_map(|name| changed.get(name.as_str())) {
            users.entry(name).or_default().insert(*connection);
        }
    }
    let shared = changed.into_iter().filter(|it| users.get(it).is_some_and(|it| it.len() > 1));
    let numbers: HashMap<&str, u32> = shared.zip(0..).collect();
    let numbered = |names: &[String]| {
        names.iter().filter_map(|name| numbers.get(name.as_str()).copied()).collect()
    };
    let of_form =
        |it: &Effects| Tables { changes: numbered(&it.changes), uses: numbered(&it.names) };
    (effects.iter().map(of_form).collect(), numbers.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{logged, streams_by};
    use super::*;

    fn links(statements: &[(i64, u32, &str, u64)], syntax: Syntax) -> Vec<Vec<Link>> {
        let all =
            statements.iter().map(|(at, session, text, took)| logged(*at, *session, text, *took));
        let streams = streams_by(all.collect(), syntax);
        streams.into_iter().map(|stream| stream.links).collect()
    }

    fn waits(round: u64, number: u64) -> Link {
        Link { round, table: 0, number, ends: false }
    }

    fn ends(round: u64, number: u64) -> Link {
        Link { ends: true, ..waits(round, number) }
    }

    #[test]
    fn a_transaction_waits_for_those_that_had_ended() {
        let log = [
            (100, 0, "BEGIN", 1),
            (110, 0, "INSERT INTO t VALUES (1)", 5),
            (112, 1, "SELECT * FROM u", 1),
            (120, 0, "COMMIT", 10),
            (125, 1, "SELECT * FROM public.\"T\"", 1),
            (130, 1, "UPDATE t SET a = 2", 1),
            (131, 1, "SELECT 1 FROM t", 1),
            (132, 0, "SELECT 2 FROM t", 1),
            (140, 0, "SELECT 2 FROM t", 1),
        ];
        let found = links(&log, Syntax::Dollars);
        // The first query of session 1 begins before the commit ends, and the update just when.
        assert_eq!(found[1], [ends(2, 1), waits(3, 1)]);
        assert_eq!(found[0], [ends(2, 0), waits(3, 2)], "once for the same transactions");
    }

    #[test]
    fn tables_of_one_connection_need_no_order() {
        let log = [
            (1, 0, "INSERT INTO t VALUES (1)", 1),
            (5, 1, "INSERT INTO u VALUES (1)", 1),
            (9, 0, "SELECT * FROM t", 1),
        ];
        assert_eq!(links(&log, Syntax::Dollars), [vec![], vec![]]);
    }

    #[test]
    fn without_autocommit_a_transaction_begins_by_itself() {
        let statements = |autocommit| {
            [
                (1, 0, autocommit, 1),
                (3, 0, "INSERT INTO t VALUES (1)", 1),
                (5, 1, "SELECT * FROM t", 1),
                (7, 0, "COMMIT", 1),
                (9, 1, "SELECT * FROM t", 1),
            ]
        };
        let off = links(&statements("SET autocommit = 0"), Syntax::Backslashes);
        assert_eq!(off, [vec![ends(2, 0)], vec![waits(1, 1)]]);
        let on = links(&statements("SET autocommit = 1"), Syntax::Backslashes);
        assert_eq!(on, [vec![ends(1, 0)], vec![waits(0, 1)]]);
    }

    #[test]
    fn a_session_that_ends_ends_its_transaction() {
        let log = [
            (1, 0, "BEGIN", 1),
            (2, 1, "SELECT 1", 1),
            (3, 0, "INSERT INTO t VALUES (1)", 1),
            (9, 1, "SELECT * FROM t", 1),
            (20, 2, "INSERT INTO t VALUES (2)", 1),
        ];
        let found = links(&log, Syntax::Dollars);
        // Session 2 follows session 1, and what it waits for is known there.
        assert_eq!(found, [vec![ends(1, 0)], vec![waits(1, 1), ends(2, 1)]]);
    }
}
