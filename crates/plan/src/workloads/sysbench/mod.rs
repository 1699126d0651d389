//! The sysbench microbenchmarks in a plan: `[workload.sysbench]`.

mod order;
mod plan;

use std::collections::BTreeMap;

use crate::family::{Family, PlannedStep, Sequence, SequenceKey};
use crate::key::{CommandOption, Form, Key, Keyed, warms_up};
use crate::kind::{self, Kind, boolean, choice, dops, strings, whole};
use crate::problem::Problems;
use crate::step::StepKey;
use order::{ALIASES, NAMES, group};

pub use order::{SYSBENCH_STEPS, SysbenchOrder, sysbench_test};
pub use plan::{Distribution, SysbenchPlan};

/// From this many rows on the rest after settling is as long as the benchmark says (the published
/// cached workload has 8 tables of 10M rows); smaller runs of the short form rest in proportion.
const FULL_REST_ROWS: f64 = 80e6;
/// Ids are of type `integer`.
const TOO_MANY_ROWS: u64 = 1 << 31;

const ORDERS: [(&str, SysbenchOrder); 2] =
    [("small", SysbenchOrder::Small), ("full", SysbenchOrder::Full)];

const DISTRIBUTIONS: [(&str, Distribution); 3] = [
    ("uniform", Distribution::Uniform),
    ("zipfian", Distribution::Zipfian),
    ("special", Distribution::Special),
];

#[rustfmt::skip] // A table.
const OPTIONS: [CommandOption; 7] = [
    CommandOption { key: "tables", name: "tables", value: "N", form: Form::Count,
        help: "Number of tables [default: 2]" },
    CommandOption { key: "rows", name: "rows", value: "N", form: Form::Count,
        help: "Rows of each table [default: 100000]" },
    CommandOption { key: "steps", name: "steps", value: "STEP,…", form: Form::Names,
        help: "Steps in order, separated by commas [default: the small sequence]" },
    CommandOption { key: "dop", name: "dop", value: "N,…", form: Form::Counts,
        help: "Numbers of clients, separated by commas [default: 1]" },
    CommandOption { key: "read_seconds", name: "read-seconds", value: "S", form: Form::Count,
        help: "Seconds of each test that only reads [default: 5]" },
    CommandOption { key: "write_seconds", name: "write-seconds", value: "S", form: Form::Count,
        help: "Seconds of each test that updates or deletes [default: 5]" },
    CommandOption { key: "insert_seconds", name: "insert-seconds", value: "S", form: Form::Count,
        help: "Seconds of the test that inserts [default: 5]" },
];

/// The canonical name of a step.
fn canonical(name: &str) -> Result<String, String> {
    NAMES.of(name).ok_or_else(|| NAMES.unknown(name))
}

/// The canonical names of some steps.
fn names() -> Kind<Vec<String>> {
    let names = strings().described(NAMES.schema());
    names.and_then(|names| names.iter().map(|name| canonical(name)).collect())
}

/// Names of steps for the name of one.
fn places() -> Kind<BTreeMap<String, Vec<String>>> {
    kind::table(names(), "{ \"update-one\" = [\"write-only\"] }").and_then(|places| {
        places.into_iter().map(|(step, moved)| Ok((canonical(&step)?, moved))).collect()
    })
}

impl Keyed for SysbenchPlan {
    #[rustfmt::skip] // A table.
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            Key::whole("tables", &mut self.tables, 1..100_001).means("tables `sbtest1`, `sbtest2`, …"),
            Key::whole("rows", &mut self.rows, 1..TOO_MANY_ROWS).note("of each table")
                .means("rows of each table"),
            Key::new("dop", &mut self.dop, dops()).note("clients")
                .means("numbers of clients; each test runs with all of them, one after another, before the next test"),
            Key::whole("load_dop", &mut self.load_dop, 1..1001).note("clients that load")
                .means("clients that load and index, at most one per table"),
            Key::new("sequence", &mut self.sequence, choice(&ORDERS)).written(false)
                .means("the order of steps, below; `\"full\"` runs all that reads before what writes as well"),
            Key::steps(&mut self.steps, NAMES).usual("those of `sequence`")
                .means("your own list; `load` and `index` are added if missing"),
            Key::new("drop", &mut self.drop, names()).written(false).means("steps to leave out"),
            Key::new("before", &mut self.before, places()).written(false)
                .means("moves or adds steps before others: `{ \"update-one\" = [\"write-only\"] }`"),
            Key::new("after", &mut self.after, places()).written(false).means("moves or adds steps after others"),
            Key::whole("read_seconds", &mut self.read_seconds, 1..10_000_001).unit("s")
                .note("per test that only reads")
                .means("duration of each test that only reads"),
            Key::whole("write_seconds", &mut self.write_seconds, 1..10_000_001).unit("s")
                .note("per test that updates or deletes")
                .means("duration of each test that updates or deletes"),
            Key::whole("insert_seconds", &mut self.insert_seconds, 1..10_000_001).unit("s")
                .means("duration of `insert`"),
            Key::new("distribution", &mut self.distribution, choice(&DISTRIBUTIONS))
                .note("of ids: uniform, zipfian or special")
                .means("how ids are drawn: `\"uniform\"`, `\"zipfian\"` (exponent 0.8), `\"special\"` (1% of them in 75% of the draws)"),
            Key::new("prepared", &mut self.prepared, boolean())
                .means("statements are prepared, except in `insert`; as by sysbench, their values are sent as text, and the server describes each result"),
            Key::new("transactions", &mut self.transactions, boolean())
                .means("`BEGIN` and `COMMIT` around the tests that have several statements"),
            Key::new("secondary", &mut self.secondary, boolean())
                .note("an index on id that is no primary key")
                .means("a secondary index on `id` instead of the primary key"),
            Key::optional("reconnect", &mut self.reconnect, whole(1..1_000_000_001)).usual("never")
                .note("statements or transactions after which a client reconnects")
                .means("after how many statements or transactions a client reconnects"),
        ]
    }
}

impl Family for SysbenchPlan {
    fn name(&self) -> &'static str {
        "sysbench"
    }

    fn options(&self) -> &'static [CommandOption] {
        &OPTIONS
    }

    fn complete(&mut self, given: &dyn Fn(&str) -> bool) {
        // Only its steps are left.
        let sequence = std::mem::take(&mut self.sequence);
        if !given("steps") {
            self.steps = sequence.steps();
        }
        self.arrange();
    }

    fn shorten(&mut self, _given: &dyn Fn(&str) -> bool) -> f64 {
        // The whole rest after settling is for databases of the published size.
        (self.all_rows() as f64 / FULL_REST_ROWS).clamp(0.05, 1.0)
    }

    fn check(&self, problems: &mut Problems) {
        for step in &self.missing {
            let message = format!(
                "`{step}` is in `drop`, `before` or `after`, but not among the steps; remove it there"
            );
            problems.of("workload.sysbench", message);
        }
        if problems.is_unread("workload") || self.steps.is_empty() {
            return;
        }
        let place = |test: &str| self.steps.iter().position(|step| sysbench_test(step) == test);
        if place("load") != Some(0) {
            let first = self.steps.first().map_or("", String::as_str);
            let message = format!(
                "`steps`: `load` comes after `{first}`, which needs its rows; put `load` first"
            );
            problems.of("workload.sysbench.steps", message);
        }
        if place("index") != Some(1) {
            let second = self.steps.get(1).map_or("", String::as_str);
            let message = format!(
                "`steps`: `index` comes after `{second}`, which needs it; put `index` after `load`"
            );
            problems.of("workload.sysbench.steps", message);
        }
        let once = ["load", "index"];
        let again =
            |step: &&String| once.contains(&sysbench_test(step)) && !once.contains(&step.as_str());
        if let Some(step) = self.steps.iter().find(again) {
            let message = format!("`steps`: `{step}` would load twice; remove it");
            problems.of("workload.sysbench.steps", message);
        }
    }

    fn aliases(&self) -> &'static [(&'static str, &'static str)] {
        &ALIASES
    }

    fn steps(&mut self) -> Option<&mut Vec<String>> {
        Some(&mut self.steps)
    }

    fn needs(&self, _step: &str) -> &'static [&'static str] {
        &["load", "index"]
    }

    /// One: each test runs with all numbers of clients, one after another, before the next test.
    fn sequences(&self) -> Vec<Sequence> {
        let mut steps = Vec::new();
        for name in &self.steps {
            let step = |dop: u32, timed: bool| PlannedStep {
                key: StepKey::new(name, dop),
                timed,
                warm_up: warms_up(name),
                group: group(name),
            };
            match sysbench_test(name) {
                "settle" => {}
                "load" | "index" => steps.push(step(self.load_clients(), false)),
                _ => steps.extend(self.dop.iter().map(|dop| step(*dop, true))),
            }
        }
        vec![Sequence { key: SequenceKey::ONLY, steps }]
    }

    fn clear_steps(&mut self) {
        self.steps.clear();
        self.dop.clear();
    }

    fn rows(&mut self) -> Vec<&mut u64> {
        vec![&mut self.rows]
    }

    fn seconds(&mut self) -> Vec<&mut u32> {
        vec![&mut self.read_seconds, &mut self.write_seconds, &mut self.insert_seconds]
    }

    fn keys_of_seconds(&self) -> &'static [&'static str] {
        &["read_seconds", "write_seconds", "insert_seconds"]
    }

    fn rows_of(&self, _step: &str) -> u64 {
        self.rows
    }

    fn key_of_rows(&self, _step: &str) -> Option<&'static str> {
        Some("rows")
    }
}

#[cfg(test)]
mod tests;
