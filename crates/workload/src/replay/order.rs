//! The order between the sessions of a log: a transaction begins when all have ended that had
//! changed one of its tables, and were over when it began in the log.
//!
//! Waiting before transactions only, where a session holds no locks, can't end in a deadlock: what
//! a transaction waits for began earlier in the log. Oracle's Database Replay has the same rule, by
//! the object (`synchronization => OBJECT_ID`), for each call.

use std::collections::{BTreeSet, HashMap};

use trace::{Effects, Form, Syntax, effects};

use super::round::Round;
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
pub fn link(
    streams: &mut [Stream],
    sent: &[Vec<Round<'_>>],
    forms: &[Form],
    (syntax, resolution_us): (Syntax, i64),
) -> u32 {
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
    // What ends when another begins has not ended before, as far as the log tells.
    let mut times: Vec<(i64, bool, usize)> = Vec::new();
    for (place, transaction) in all.iter().enumerate() {
        let ended = transaction.end.saturating_add(resolution_us);
        times.extend([(transaction.begin, false, place), (ended, true, place)]);
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
    sent: &[Round<'_>],
    effects: &[Effects],
    syntax: Syntax,
) -> Vec<Transaction> {
    let (mut all, mut open) = (Vec::new(), None);
    let (mut block, mut each) = (false, true);
    for (round, Round { statement, form, connects }) in (0..).zip(sent) {
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
