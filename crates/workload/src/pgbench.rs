//! The tables of pgbench, as `pgbench -i` makes them.

use crate::class::Class;
use crate::copy::{Column, Copy};
use crate::draw::{Cell, Draw, Width};
use crate::request::{Expect, Request, Statement};
use crate::step::{End, Step, Stream};

/// Rows of `pgbench_accounts` per unit of scale.
pub const ACCOUNTS: u64 = 100_000;

/// Rows that are sent with one COPY.
const BATCH: u64 = 10_000;

/// The largest of the tables, and the one that the built-in scripts read.
pub const ACCOUNTS_TABLE: &str = "pgbench_accounts";

/// Creates `pgbench_accounts`, without its primary key.
pub fn create_accounts() -> String {
    format!(
        "CREATE TABLE {ACCOUNTS_TABLE} (aid int NOT NULL, bid int, abalance int, filler char(84)) \
         WITH (fillfactor = 100)"
    )
}

/// Fills `pgbench_accounts` with so many clients at a time.
pub fn load_accounts(name: &str, scale: u64, clients: u32) -> Step {
    let batches = scale * ACCOUNTS / BATCH;
    let clients = u64::from(clients).clamp(1, batches);
    let mut first = 0;
    let mut streams = Vec::new();
    for client in 0..clients {
        let rounds = batches / clients + u64::from(client < batches % clients);
        let sent = Cell(client as usize);
        let copy = Copy {
            statement: format!("COPY {ACCOUNTS_TABLE} FROM STDIN"),
            rows: BATCH,
            first,
            sent,
            columns: vec![
                Column::Number { every: 1 },
                Column::Number { every: ACCOUNTS },
                Column::Text("0".to_owned()),
                Column::Text(String::new()),
            ],
        };
        first += rounds * BATCH;
        streams.push(Stream {
            operations_per_round: BATCH,
            end: End::Rounds(rounds),
            adds_to: Some(sent),
            ..Stream::repeating(client as u32, Class::INSERT, Request::Copy(copy))
        });
    }
    let mut step = Step::new(name, clients as u32, Class::INSERT, streams);
    step.cells = clients as usize;
    step
}

/// Makes the primary key of `pgbench_accounts`; counted in rows.
pub fn index_accounts(name: &str, scale: u64) -> Step {
    let text = format!("ALTER TABLE {ACCOUNTS_TABLE} ADD PRIMARY KEY (aid)");
    let stream = Stream {
        end: End::Rounds(1),
        ..Stream::repeating(0, Class::DEFINE, Statement::plain(text, Expect::Success))
    };
    let mut step = Step::new(name, 1, Class::DEFINE, vec![stream]);
    (step.operations, step.unit) = (Some(scale * ACCOUNTS), Class::INSERT.unit);
    step
}

/// The id of an account, uniform.
pub fn account(scale: u64) -> Draw {
    Draw::Uniform { low: 1, high: (scale * ACCOUNTS) as i64 + 1, width: Width::Four }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_account_is_loaded_once() {
        for clients in [1, 3, 7, 100] {
            let step = load_accounts("load", 1, clients);
            let mut ids = Vec::new();
            for stream in &step.streams {
                let Request::Copy(copy) = &stream.requests[0] else { panic!() };
                let End::Rounds(rounds) = stream.end else { panic!() };
                ids.extend(copy.first..copy.first + rounds * copy.rows);
            }
            ids.sort_unstable();
            assert!(ids.into_iter().eq(0..ACCOUNTS), "{clients}");
            assert_eq!(step.cells, step.streams.len());
        }
    }
}
