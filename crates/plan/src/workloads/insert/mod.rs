//! The insert benchmark in a plan: `[workload.insert]`.

mod check;
mod plan;

use crate::family::{Family, PlannedStep, Sequence, SequenceKey};
use crate::key::{CommandOption, Form, Key, Keyed, StepNames};
use crate::kind::{boolean, choice, dops};
use crate::problem::Problems;
use crate::step::StepKey;
use check::check;
use plan::{ALIASES, is_read_write, needs_index};

pub use plan::{INSERT_STEPS, InsertPlan, Tables};

/// From this many rows on the rest after settling is as long as the benchmark says (the published
/// cached workload has 20M rows); smaller runs of the short form rest in proportion.
const FULL_REST_ROWS: f64 = 20e6;
/// More rows than TOML's numbers can count exactly.
const TOO_MANY_ROWS: u64 = 1 << 53;

const TABLES: [(&str, Tables); 2] = [("per-client", Tables::PerClient), ("shared", Tables::Shared)];

const NAMES: StepNames = StepNames { known: &INSERT_STEPS, aliases: &ALIASES, suffixes: false };

#[rustfmt::skip] // A table.
const OPTIONS: [CommandOption; 7] = [
    CommandOption { key: "rows", name: "rows", value: "N", form: Form::Count,
        help: "Rows of l.i0, over all clients [default: 200000]" },
    CommandOption { key: "indexed_rows", name: "indexed-rows", value: "N", form: Form::Count,
        help: "Rows of l.i1 and l.i2 together, over all clients [default: 50000]" },
    CommandOption { key: "steps", name: "steps", value: "STEP,…", form: Form::Names,
        help: "Steps in order, separated by commas [default: all ten]" },
    CommandOption { key: "dop", name: "dop", value: "N,…", form: Form::Counts,
        help: "Numbers of clients, separated by commas [default: 1]" },
    CommandOption { key: "read_write_seconds", name: "seconds", value: "S", form: Form::Count,
        help: "Seconds of each read+write step [default: 10]" },
    CommandOption { key: "tables", name: "shared-table", value: "", form: Form::Switch("\"shared\""),
        help: "All clients use one table" },
    CommandOption { key: "delete_per_insert", name: "delete-per-insert", value: "",
        form: Form::Switch("true"),
        help: "Delete the oldest rows at the rate of the inserts, from l.i1 on" },
];

impl Keyed for InsertPlan {
    #[rustfmt::skip] // A table.
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            Key::whole("rows", &mut self.rows, 1..TOO_MANY_ROWS).note("rows of l.i0, over all clients"),
            Key::whole("indexed_rows", &mut self.indexed_rows, 0..TOO_MANY_ROWS)
                .note("rows of l.i1 (4/5) and l.i2 (1/5), over all clients")
                .means("rows of l.i1 (4/5) and l.i2 (1/5) together, over all clients"),
            Key::steps(&mut self.steps, NAMES).usual("all ten")
                .means("in the order in which they run: l.i0, l.x, l.i1, l.i2, qr100, qp100, qr500, qp500, qr1000, qp1000 (the older names q100.1, q500.1, q1000.1 also work); l.i0 and l.x are added if other steps need them"),
            Key::new("dop", &mut self.dop, dops()).note("clients")
                .means("numbers of clients; with several, every variant goes through the steps once per block and number"),
            Key::whole("read_write_seconds", &mut self.read_write_seconds, 1..10_000_001).unit("s")
                .note("per qr… and qp… step")
                .means("duration of each read+write step"),
            Key::new("tables", &mut self.tables, choice(&TABLES)).note("per-client or shared")
                .means("`\"per-client\"`: one table per client; `\"shared\"`: one for all"),
            Key::new("delete_per_insert", &mut self.delete_per_insert, boolean())
                .note("delete the oldest rows at the rate of the inserts")
                .means("from l.i1 on, delete the oldest rows at the rate of the inserts; only with tables per client"),
            Key::new("prepared_queries", &mut self.prepared_queries, boolean())
                .means("queries use prepared statements"),
            Key::new("prepared_inserts", &mut self.prepared_inserts, boolean())
                .means("inserts use prepared statements"),
            Key::whole("secondary_indexes", &mut self.secondary_indexes, 0..4).note("0 to 3")
                .means("number of secondary indexes, 0 to 3; with 0, leave out l.x"),
            Key::whole("partitions", &mut self.partitions, 0..1001).note("per table, 0 = none")
                .means("range partitions per table; 0: a plain table"),
            Key::whole("hold_transaction_seconds", &mut self.hold_transaction_seconds, 0..1_000_001)
                .unit("s").note("each transaction is held open this long, 0 = none")
                .means("hold a transaction open during the steps, for this long at a time"),
        ]
    }
}

impl Family for InsertPlan {
    fn name(&self) -> &'static str {
        "insert"
    }

    fn options(&self) -> &'static [CommandOption] {
        &OPTIONS
    }

    fn complete(&mut self, given: &dyn Fn(&str) -> bool) {
        if self.secondary_indexes == 0 && !given("steps") {
            self.steps.retain(|step| step != "l.x");
        }
    }

    fn shorten(&mut self, given: &dyn Fn(&str) -> bool) -> f64 {
        if given("rows") && !given("indexed_rows") {
            // In the proportion of the defaults.
            self.indexed_rows = (self.rows / 4).max(1);
        }
        // The whole rest after settling is for databases of the published size.
        (self.rows as f64 / FULL_REST_ROWS).clamp(0.05, 1.0)
    }

    fn check(&self, problems: &mut Problems) {
        check(self, problems);
    }

    fn aliases(&self) -> &'static [(&'static str, &'static str)] {
        &ALIASES
    }

    fn steps(&mut self) -> Option<&mut Vec<String>> {
        Some(&mut self.steps)
    }

    fn needs(&self, step: &str) -> &'static [&'static str] {
        let index = self.secondary_indexes > 0 && needs_index(step);
        if index { &["l.i0", "l.x"] } else { &["l.i0"] }
    }

    /// One for each number of clients, as tables are per client.
    fn sequences(&self) -> Vec<Sequence> {
        let step = |name: &String, dop: u32| PlannedStep {
            key: StepKey::new(name, dop),
            timed: is_read_write(name),
            ..PlannedStep::default()
        };
        let steps = |dop: u32| self.steps.iter().map(|name| step(name, dop)).collect();
        let sequence =
            |dop: &u32| Sequence { key: SequenceKey::of_clients(*dop), steps: steps(*dop) };
        self.dop.iter().map(sequence).collect()
    }

    fn clear_steps(&mut self) {
        self.steps.clear();
        self.dop.clear();
    }

    fn rows(&mut self) -> Vec<&mut u64> {
        vec![&mut self.rows, &mut self.indexed_rows]
    }

    fn seconds(&mut self) -> Vec<&mut u32> {
        vec![&mut self.read_write_seconds]
    }

    fn keys_of_seconds(&self) -> &'static [&'static str] {
        &["read_write_seconds"]
    }

    fn rows_of(&self, step: &str) -> u64 {
        if matches!(step, "l.i0" | "l.x") { self.rows } else { self.indexed_rows }
    }

    fn key_of_rows(&self, step: &str) -> Option<&'static str> {
        Some(if matches!(step, "l.i0" | "l.x") { "rows" } else { "indexed_rows" })
    }
}
