//! The key-value steps of db_bench in a plan: `[workload.kv]`.

mod plan;

use crate::family::{Family, PlannedStep, Sequence, SequenceKey};
use crate::key::{CommandOption, Form, Key, Keyed, warms_up};
use crate::kind::{choice, dops};
use crate::problem::Problems;
use crate::step::StepKey;
use plan::NAMES;

pub use plan::{KEY_BYTES, KV_STEPS, KvMode, KvPlan, kv_test};

#[rustfmt::skip] // A table.
const OPTIONS: [CommandOption; 6] = [
    CommandOption { key: "keys", name: "keys", value: "N", form: Form::Count,
        help: "Number of keys [default: 1000000]" },
    CommandOption { key: "value_bytes", name: "value-bytes", value: "N", form: Form::Count,
        help: "Bytes of a value [default: 400]" },
    CommandOption { key: "mode", name: "mode", value: "MODE", form: Form::Name,
        help: "Where the data is: byrx, byos, iobuf, iodir or mmap [default: byrx]" },
    CommandOption { key: "steps", name: "steps", value: "STEP,…", form: Form::Names,
        help: "Steps in order, separated by commas [default: all ten]" },
    CommandOption { key: "dop", name: "dop", value: "N,…", form: Form::Counts,
        help: "Numbers of clients, separated by commas [default: 1]" },
    CommandOption { key: "seconds", name: "seconds", value: "S", form: Form::Count,
        help: "Seconds of each step that ends by time [default: 10]" },
];

impl Keyed for KvPlan {
    #[rustfmt::skip] // A table.
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            Key::whole("keys", &mut self.keys, 1..1 << 40).means("keys of 20 bytes that `fillseq` writes"),
            Key::whole("value_bytes", &mut self.value_bytes, 12..1 << 24).unit("bytes")
                .means("size of a value, at least 12; half of each is easily compressed"),
            Key::new("dop", &mut self.dop, dops()).note("clients")
                .means("numbers of clients; each step but `fillseq` and `overwritesome` runs with all of them"),
            Key::new("mode", &mut self.mode, choice(&KvMode::NAMED))
                .note("byrx, byos, iobuf, iodir or mmap")
                .means("where the data is when it is read, below"),
            Key::size("cache", &mut self.cache).usual("by the mode").note("of the engine")
                .means("size of the engine's cache"),
            Key::whole("background_jobs", &mut self.background_jobs, 1..1001)
                .note("threads for flushes and compactions"),
            Key::steps(&mut self.steps, NAMES).usual("all").means("`fillseq` is the first, and added if missing"),
            Key::whole("seconds", &mut self.seconds, 1..10_000_001).unit("s")
                .note("per step that ends by time")
                .means("duration of each step that ends by time"),
            Key::whole("overwrite_percent", &mut self.overwrite_percent, 1..1001).unit("%")
                .note("of the keys, in overwritesome")
                .means("of the keys, in `overwritesome`"),
            Key::whole("multiget_keys", &mut self.multiget_keys, 1..10_001)
                .note("per call, in multireadrandom")
                .means("keys of one MultiGet"),
            Key::whole("range_pairs", &mut self.range_pairs, 1..1_000_001)
                .note("read from where a range begins")
                .means("pairs read from where a range begins"),
            Key::size("write_rate", &mut self.write_rate).note("per second, during reads")
                .means("bytes written per second during reads"),
        ]
    }
}

impl Family for KvPlan {
    fn name(&self) -> &'static str {
        "kv"
    }

    fn options(&self) -> &'static [CommandOption] {
        &OPTIONS
    }

    fn check(&self, problems: &mut Problems) {
        if u64::from(self.range_pairs) > self.keys {
            let message = format!(
                "`range_pairs`: expected at most as many as there are keys ({}), found {}",
                self.keys, self.range_pairs
            );
            problems.of("workload.kv.range_pairs", message);
        }
        if problems.is_unread("workload") {
            return;
        }
        let place = self.steps.iter().position(|step| kv_test(step) == "fillseq");
        if place != Some(0) {
            let first = self.steps.first().map_or("", String::as_str);
            let message =
                format!("`steps`: `{first}` needs keys; put `fillseq` first, it writes them");
            problems.of("workload.kv.steps", message);
        }
    }

    fn has_statements(&self) -> bool {
        false
    }

    fn aliases(&self) -> &'static [(&'static str, &'static str)] {
        &plan::ALIASES
    }

    fn steps(&mut self) -> Option<&mut Vec<String>> {
        Some(&mut self.steps)
    }

    fn needs(&self, _step: &str) -> &'static [&'static str] {
        &["fillseq"]
    }

    /// One: each step runs with all numbers of clients, one after another, before the next.
    fn sequences(&self) -> Vec<Sequence> {
        let step = |name: &String, dop: u32, timed: bool| PlannedStep {
            key: StepKey::new(name, dop),
            timed,
            warm_up: warms_up(name),
            group: group(name),
        };
        let mut steps = Vec::new();
        for name in &self.steps {
            match kv_test(name) {
                "fillseq" | "overwritesome" => steps.push(step(name, 1, false)),
                _ => steps.extend(self.dop.iter().map(|dop| step(name, *dop, true))),
            }
        }
        vec![Sequence { key: SequenceKey::ONLY, steps }]
    }

    fn clear_steps(&mut self) {
        self.steps.clear();
        self.dop.clear();
    }

    fn rows(&mut self) -> Vec<&mut u64> {
        vec![&mut self.keys]
    }

    fn seconds(&mut self) -> Vec<&mut u32> {
        vec![&mut self.seconds]
    }

    fn rows_of(&self, step: &str) -> u64 {
        match kv_test(step) {
            "overwritesome" => self.overwritten(),
            _ => self.keys,
        }
    }

    fn key_of_rows(&self, step: &str) -> Option<&'static str> {
        (kv_test(step) != "overwritesome").then_some("keys")
    }
}

/// The group that a step is shown in.
fn group(step: &str) -> &'static str {
    match kv_test(step) {
        "fillseq" | "overwritesome" | "overwrite" => "writes",
        test if test.ends_with("whilewriting") => "reads while writing",
        _ => "reads",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, WorkloadPlan};

    fn parsed(section: &str) -> Result<Plan, crate::PlanError> {
        let text = format!("[variants.a]\ndbms = \"rocksdb@7.4.5\"\n[workload.kv]\n{section}");
        Plan::parse(&text, None, "test")
    }

    #[test]
    fn what_is_written_says_the_same() {
        let section = "mode = \"mmap\"\ncache = \"8MB\"\ndop = [1, 4]\n\
                       steps = [\"fillseq\", \"readrandom\", \"readrandom.2\", \"overwrite\"]";
        let plan = parsed(section).unwrap();
        let WorkloadPlan::Kv(kv) = &plan.workload else { panic!("{plan:?}") };
        assert_eq!((kv.mode, kv.cache, kv.bytes()), (KvMode::Mmap, Some(8 << 20), 420_000_000));
        let written = Plan::parse(&plan.to_toml(), None, "written").unwrap();
        assert_eq!(written.workload, plan.workload);
        let [sequence] = &plan.workload.sequences()[..] else { panic!("one system for all") };
        let steps: Vec<_> =
            sequence.steps.iter().map(|s| (&*s.key.name, s.key.dop, s.timed)).collect();
        assert_eq!(
            steps,
            [
                ("fillseq", 1, false),
                ("readrandom", 1, true),
                ("readrandom", 4, true),
                ("readrandom.2", 1, true),
                ("readrandom.2", 4, true),
                ("overwrite", 1, true),
                ("overwrite", 4, true),
            ]
        );
    }

    #[test]
    fn mistakes_are_told() {
        for (section, message) in [
            ("steps = [\"readrandom\", \"fillseq\"]", "put `fillseq` first"),
            ("steps = [\"fillseq\", \"readrandm\"]", "did you mean `readrandom`?"),
            ("mode = \"ram\"", "expected \"byrx\""),
            ("value_bytes = 4", "12"),
            ("keys = 5", "expected at most as many as there are keys (5), found 10"),
            ("cache = \"much\"", "is not a size"),
        ] {
            let error = parsed(section).unwrap_err().to_string();
            assert!(error.contains(message), "{section}: {error}");
        }
    }
}
