//! The tables of pgbench, as `pgbench -i` makes them.

use crate::Sql;
use crate::class::Class;
use crate::copy::{Column, Content, Copy, Numbered};
use crate::draw::{Cell, Draw, Width};
use crate::request::Request;
use crate::step::{End, Step, Stream};

/// Rows of `pgbench_accounts` per unit of scale.
pub const ACCOUNTS: u64 = 100_000;

/// Rows that are sent with one COPY.
const BATCH: u64 = 10_000;

/// The largest of the tables, and the one that the built-in scripts read.
pub const ACCOUNTS_TABLE: &str = "pgbench_accounts";

/// A table of pgbench.
struct Table {
    name: &'static str,
    /// Its columns.
    columns: &'static str,
    /// Rows per unit of scale.
    rows: u64,
    /// A row as COPY sends it.
    row: fn() -> Vec<Column>,
    /// The query that makes its rows, if `{rows}` is how many there are.
    generated: &'static str,
    /// Its primary key.
    key: &'static str,
}

/// The tables in the order in which pgbench fills them.
const TABLES: [Table; 3] = [
    Table {
        name: "pgbench_branches",
        columns: "bid int NOT NULL, bbalance int, filler char(88)",
        rows: 1,
        row: || vec![number(1), text("0"), text("\\N")],
        generated: "SELECT n, 0 FROM generate_series(1, {rows}) n",
        key: "bid",
    },
    Table {
        name: "pgbench_tellers",
        columns: "tid int NOT NULL, bid int, tbalance int, filler char(84)",
        rows: 10,
        row: || vec![number(1), number(10), text("0"), text("\\N")],
        generated: "SELECT n, (n - 1) / 10 + 1, 0 FROM generate_series(1, {rows}) n",
        key: "tid",
    },
    Table {
        name: ACCOUNTS_TABLE,
        columns: "aid int NOT NULL, bid int, abalance int, filler char(84)",
        rows: ACCOUNTS,
        row: || vec![number(1), number(ACCOUNTS), text("0"), text("")],
        generated: "SELECT n, (n - 1) / 100000 + 1, 0, '' FROM generate_series(1, {rows}) n",
        key: "aid",
    },
];

/// The table that is empty at first.
const HISTORY: &str = "pgbench_history";

fn number(every: u64) -> Column {
    Column::Number { every }
}

fn text(text: &str) -> Column {
    Column::Text(text.to_owned())
}

impl Table {
    fn create(&self, sql: Sql) -> String {
        let options = sql.filled_options();
        format!("CREATE TABLE {} ({}){options}", self.name, self.columns)
    }
}

/// The names of all tables.
pub fn tables() -> Vec<String> {
    let names = TABLES.iter().map(|table| table.name).chain([HISTORY]);
    names.map(str::to_owned).collect()
}

/// Creates all tables, without keys.
pub fn create_all(sql: Sql) -> Vec<String> {
    let history = format!(
        "CREATE TABLE {HISTORY} (tid int, bid int, aid int, delta int, mtime timestamp, \
         filler char(22))"
    );
    TABLES.iter().map(|table| table.create(sql)).chain([history]).collect()
}

/// Creates `pgbench_accounts`, without its primary key.
pub fn create_accounts(sql: Sql) -> String {
    TABLES[2].create(sql)
}

/// Fills `pgbench_accounts` with this many clients at a time.
pub fn load_accounts(name: &str, scale: u64, clients: u32) -> Step {
    load(name, &[&TABLES[2]], scale, clients)
}

/// Fills all tables, from a client or within the server; counted in rows.
pub fn load_all(name: &str, scale: u64, in_server: bool) -> Step {
    if !in_server {
        return load(name, &TABLES.each_ref(), scale, 1);
    }
    let fill = |table: &Table| {
        let rows = (table.rows * scale).to_string();
        let columns: Vec<&str> = table.columns.split(", ").map(first_word).collect();
        let generated = table.generated.replace("{rows}", &rows);
        let values = generated.split(" FROM ").next().unwrap_or_default().matches(", ").count() + 1;
        format!("INSERT INTO {} ({}) {generated}", table.name, columns[..values].join(", "))
    };
    Step::define(name, 1, vec![TABLES.iter().map(fill).collect()], rows(scale))
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}

/// All rows of a scale.
fn rows(scale: u64) -> u64 {
    TABLES.iter().map(|table| table.rows * scale).sum()
}

/// `pgbench -i`'s step v; counted in rows.
pub fn vacuum(name: &str, scale: u64) -> Step {
    let vacuum = |table: &String| format!("VACUUM ANALYZE {table}");
    Step::define(name, 1, vec![tables().iter().map(vacuum).collect()], rows(scale))
}

/// Its step p; counted in rows.
pub fn primary_keys(name: &str, scale: u64) -> Step {
    let key = |table: &Table| format!("ALTER TABLE {} ADD PRIMARY KEY ({})", table.name, table.key);
    Step::define(name, 1, vec![TABLES.iter().map(key).collect()], rows(scale))
}

/// Its step f; counted in rows.
pub fn foreign_keys(name: &str, scale: u64) -> Step {
    let keys = [
        ("pgbench_tellers", "bid", "pgbench_branches"),
        (ACCOUNTS_TABLE, "bid", "pgbench_branches"),
        (HISTORY, "bid", "pgbench_branches"),
        (HISTORY, "tid", "pgbench_tellers"),
        (HISTORY, "aid", ACCOUNTS_TABLE),
    ];
    let key = |(table, column, other): &(&str, &str, &str)| {
        format!(
            "ALTER TABLE {table} ADD CONSTRAINT {table}_{column}_fkey FOREIGN KEY ({column}) \
             REFERENCES {other}"
        )
    };
    Step::define(name, 1, vec![keys.iter().map(key).collect()], rows(scale))
}

/// Fills tables with COPY, this many clients at a time, each with a part of every table.
fn load(name: &str, tables: &[&Table], scale: u64, clients: u32) -> Step {
    let mut streams = Vec::new();
    let mut cells = 0;
    let most = tables.iter().map(|table| batches(table, scale)).max().unwrap_or(1);
    let clients = u64::from(clients).clamp(1, most);
    for table in tables {
        let (rows, batches) = (table.rows * scale, batches(table, scale));
        let batch = rows / batches;
        let mut first = 0;
        for client in 0..clients.min(batches) {
            let rounds = batches / clients + u64::from(client < batches % clients);
            let (sent, columns) = (Cell(cells), (table.row)());
            let rows = Numbered { rows: batch, first, sent, columns };
            let copy = Copy { table: table.name.to_owned(), content: Content::Numbered(rows) };
            first += rounds * batch;
            streams.push(Stream {
                operations_per_round: batch,
                end: End::Rounds(rounds),
                adds_to: Some(Cell(cells)),
                ..Stream::repeating(client as u32, Class::INSERT, Request::Copy(copy))
            });
            cells += 1;
        }
    }
    let mut step = Step::new(name, clients as u32, Class::INSERT, streams);
    step.cells = cells;
    step
}

/// In how many equal parts a table is sent.
fn batches(table: &Table, scale: u64) -> u64 {
    let rows = table.rows * scale;
    if rows.is_multiple_of(BATCH) { rows / BATCH } else { 1 }
}

/// Clients that fit in a server with default settings.
const USUAL_CLIENTS: u32 = 80;
/// Connections in addition to those of the clients.
const OTHERS: u32 = 20;

/// The setting that makes room for this many clients, if they need it.
pub fn room_for(clients: u32) -> Option<(String, String)> {
    let setting = || ("max_connections".to_owned(), (clients + OTHERS).to_string());
    (clients > USUAL_CLIENTS).then(setting)
}

/// Makes the primary key of `pgbench_accounts`; counted in rows.
pub fn index_accounts(name: &str, scale: u64) -> Step {
    let text = format!("ALTER TABLE {ACCOUNTS_TABLE} ADD PRIMARY KEY (aid)");
    Step::define(name, 1, vec![vec![text]], scale * ACCOUNTS)
}

/// The id of an account, uniform.
pub fn account(scale: u64) -> Draw {
    Draw::Uniform { low: 1, high: (scale * ACCOUNTS) as i64 + 1, width: Width::Four }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_filled_from_the_server_too() {
        let step = load_all("load", 3, true);
        let texts: Vec<_> = step.streams[0].requests.iter().map(Request::to_string).collect();
        assert_eq!(
            texts[1],
            "INSERT INTO pgbench_tellers (tid, bid, tbalance) SELECT n, (n - 1) / 10 + 1, 0 FROM \
             generate_series(1, 30) n"
        );
        assert!(texts[2].starts_with("INSERT INTO pgbench_accounts (aid, bid, abalance, filler)"));
        assert_eq!(step.operations, Some(3 * 100_011));
    }

    #[test]
    fn all_tables_are_filled_whole() {
        for scale in [1, 7] {
            let step = load_all("load", scale, false);
            let rows = |stream: &Stream| match stream.end {
                End::Rounds(rounds) => rounds * stream.operations_per_round,
                _ => 0,
            };
            let all: Vec<u64> = step.streams.iter().map(rows).collect();
            assert_eq!(all, [scale, 10 * scale, 100_000 * scale]);
        }
    }

    #[test]
    fn every_account_is_loaded_once() {
        for clients in [1, 3, 7, 100] {
            let step = load_accounts("load", 1, clients);
            let mut ids = Vec::new();
            for stream in &step.streams {
                let Request::Copy(Copy { content: Content::Numbered(it), .. }) =
                    &stream.requests[0]
                else {
                    panic!()
                };
                let End::Rounds(rounds) = stream.end else { panic!() };
                ids.extend(it.first..it.first + rounds * it.rows);
            }
            ids.sort_unstable();
            assert!(ids.into_iter().eq(0..ACCOUNTS), "{clients}");
            assert_eq!(step.cells, step.streams.len());
        }
    }
}
