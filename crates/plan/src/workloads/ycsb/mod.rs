//! The workloads derived from YCSB in a plan: `[workload.ycsb]`.

mod plan;

use crate::family::{Family, PlannedStep, Sequence, SequenceKey};
use crate::key::{CommandOption, Form, Key, Keyed};
use crate::kind::{boolean, choice, dops, whole};
use crate::problem::Problems;
use crate::step::StepKey;
use plan::NAMES;

pub use plan::{Requests, YCSB_STEPS, YcsbPlan};

/// The step that makes the data, which comes first.
const LOAD: &str = "load";

#[rustfmt::skip] // A table.
const OPTIONS: [CommandOption; 6] = [
    CommandOption { key: "records", name: "records", value: "N", form: Form::Count,
        help: "Number of records [default: 100000]" },
    CommandOption { key: "steps", name: "steps", value: "STEP,…", form: Form::Names,
        help: "Steps in order, such as a,c [default: all]" },
    CommandOption { key: "dop", name: "dop", value: "N,…", form: Form::Counts,
        help: "Numbers of clients, separated by commas [default: 1]" },
    CommandOption { key: "seconds", name: "seconds", value: "S", form: Form::Count,
        help: "Seconds of each workload [default: 5]" },
    CommandOption { key: "distribution", name: "distribution", value: "HOW", form: Form::Name,
        help: "How records are drawn: zipfian, latest or uniform [default: as in YCSB]" },
    CommandOption { key: "rate", name: "rate", value: "N", form: Form::Count,
        help: "Operations per second of all clients [default: as many as they can]" },
];

impl Keyed for YcsbPlan {
    #[rustfmt::skip] // A table.
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            Key::whole("records", &mut self.records, 1..1 << 40).means("records that `load` writes"),
            Key::whole("fields", &mut self.fields, 1..101).means("fields of a record"),
            Key::whole("field_bytes", &mut self.field_bytes, 1..65_536).unit("bytes")
                .means("size of a field; half of each is easily compressed"),
            Key::new("dop", &mut self.dop, dops()).note("clients")
                .means("numbers of clients; each workload runs with all of them"),
            Key::whole("load_dop", &mut self.load_dop, 1..10_001).means("clients that load"),
            Key::steps(&mut self.steps, NAMES).usual("all").means("`load` is the first, and added if missing"),
            Key::whole("seconds", &mut self.seconds, 1..10_000_001).unit("s")
                .means("duration of each workload"),
            Key::optional("distribution", &mut self.distribution, choice(&Requests::NAMED))
                .usual("as in YCSB").note("zipfian, latest or uniform")
                .means("how the records of requests are drawn"),
            Key::whole("max_scan", &mut self.max_scan, 1..10_001).note("records")
                .means("most records that a scan reads: the number is drawn from 1 to this"),
            Key::optional("rate", &mut self.rate, whole(1..1_000_000_001)).note("operations per second")
                .means("operations per second of all clients together; otherwise as many as they can"),
            Key::new("prepared", &mut self.prepared, boolean()).means("statements are prepared"),
        ]
    }
}

impl Family for YcsbPlan {
    fn name(&self) -> &'static str {
        "ycsb"
    }

    fn options(&self) -> &'static [CommandOption] {
        &OPTIONS
    }

    fn check(&self, problems: &mut Problems) {
        if problems.is_unread("workload") {
            return;
        }
        if self.steps.first().is_none_or(|step| step != LOAD) {
            let first = self.steps.first().map_or("", String::as_str);
            let message =
                format!("`steps`: `{first}` needs records; put `{LOAD}` first, it writes them");
            problems.of("workload.ycsb.steps", message);
        }
    }

    fn steps(&mut self) -> Option<&mut Vec<String>> {
        Some(&mut self.steps)
    }

    fn needs(&self, _step: &str) -> &'static [&'static str] {
        &[LOAD]
    }

    /// One: each workload runs with all numbers of clients, one after another, before the next.
    fn sequences(&self) -> Vec<Sequence> {
        let step = |name: &str, dop: u32| PlannedStep {
            key: StepKey::new(name, dop),
            timed: name != LOAD,
            ..PlannedStep::default()
        };
        let mut steps = Vec::new();
        for name in &self.steps {
            match name.as_str() {
                LOAD => steps.push(step(LOAD, self.load_dop)),
                _ => steps.extend(self.dop.iter().map(|dop| step(name, *dop))),
            }
        }
        vec![Sequence { key: SequenceKey::ONLY, steps }]
    }

    fn clear_steps(&mut self) {
        self.steps.clear();
        self.dop.clear();
    }

    fn rows(&mut self) -> Vec<&mut u64> {
        vec![&mut self.records]
    }

    fn seconds(&mut self) -> Vec<&mut u32> {
        vec![&mut self.seconds]
    }

    fn rows_of(&self, _step: &str) -> u64 {
        self.records
    }

    fn key_of_rows(&self, _step: &str) -> Option<&'static str> {
        Some("records")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, PlanError, WorkloadPlan};

    fn parsed(section: &str) -> Result<Plan, PlanError> {
        let text = format!("[variants.a]\ndbms = \"postgres@16\"\n[workload.ycsb]\n{section}");
        Plan::parse(&text, None, "test")
    }

    #[test]
    fn what_is_written_says_the_same() {
        let section = "records = 500\ndop = [1, 4]\nsteps = [\"a\", \"c\"]\n\
                       distribution = \"uniform\"\nrate = 100";
        let plan = parsed(section).unwrap();
        let WorkloadPlan::Ycsb(ycsb) = &plan.workload else { panic!("{plan:?}") };
        assert_eq!((ycsb.records, ycsb.distribution), (500, Some(Requests::Uniform)));
        assert_eq!(plan.added, ["load"]);
        let written = Plan::parse(&plan.to_toml(), None, "written").unwrap();
        assert_eq!(written.workload, plan.workload, "{}", plan.to_toml());
        let steps = plan.workload.sequences().remove(0).steps;
        let steps: Vec<_> = steps.iter().map(|it| (&*it.key.name, it.key.dop, it.timed)).collect();
        let each = [("a", 1, true), ("a", 4, true), ("c", 1, true), ("c", 4, true)];
        assert_eq!(steps, [&[("load", 2, false)][..], &each].concat());
    }

    #[test]
    fn mistakes_are_told() {
        for (section, message) in [
            ("records = 0", "records"),
            ("steps = [\"a\", \"load\"]", "put `load` first"),
            ("steps = [\"g\"]", "unknown step `g`"),
            ("distribution = \"gaussian\"", "expected \"zipfian\""),
            ("rate = 0", "`rate`"),
        ] {
            let error = parsed(section).unwrap_err().to_string();
            assert!(error.contains(message), "{section}: {error}");
        }
    }
}
