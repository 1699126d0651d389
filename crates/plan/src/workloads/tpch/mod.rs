//! The decision-support queries derived from TPC-H in a plan: `[workload.tpch]`.

mod plan;

use crate::duration::format_duration;
use crate::family::{Family, LOADS, PlannedStep, Sequence, SequenceKey, loads_first};
use crate::key::{CommandOption, Form, Key, Keyed};
use crate::kind::{boolean, number, time, whole};
use crate::problem::Problems;
use crate::step::StepKey;
use plan::{NAMES, REFRESHES};

pub use plan::{POWER, SETS, Scale, THROUGHPUT, TPCH_STEPS, TpchPlan};

#[rustfmt::skip] // A table.
const OPTIONS: [CommandOption; 8] = [
    CommandOption { key: "scale", name: "scale", value: "FACTOR", form: Form::Number,
        help: "Scale factor: 1 is 8.7 million rows, some 1 GB [default: 1]" },
    CommandOption { key: "substitutions", name: "substitutions", value: "N", form: Form::Count,
        help: "Sets of values that each query runs with, in turn [default: 1]" },
    CommandOption { key: "steps", name: "steps", value: "STEP,…", form: Form::Names,
        help: "Steps in order, such as q1,q6 or power [default: all queries]" },
    CommandOption { key: "clients", name: "clients", value: "N", form: Form::Count,
        help: "Clients that load, and that send a query at the same time [default: 1]" },
    CommandOption { key: "seconds", name: "seconds", value: "S", form: Form::Count,
        help: "Seconds of each query; it runs at least once [default: 5]" },
    CommandOption { key: "refreshes", name: "refreshes", value: "N", form: Form::Count,
        help: "Thousandths of the orders that rf1 adds and rf2 removes [default: 50]" },
    CommandOption { key: "streams", name: "streams", value: "N", form: Form::Count,
        help: "Streams of queries in `throughput` [default: 2, more above scale 1]" },
    CommandOption { key: "timeout", name: "timeout", value: "TIME", form: Form::Name,
        help: "How long one execution may take, such as 5m [default: any time]" },
];

impl Keyed for TpchPlan {
    #[rustfmt::skip] // A table.
    fn keys(&mut self) -> Vec<Key<'_>> {
        let shown = self.timeout.map(format_duration);
        let scale = number(Scale::BOUNDS, "a scale factor from 0.01 to 100000").and_then(Scale::of);
        vec![
            Key::new("scale", &mut self.scale, scale)
                .means("scale factor: 1 is 8.7 million rows, some 1 GB"),
            Key::whole("substitutions", &mut self.substitutions, 1..101).note("sets of values")
                .means("sets of values that each query runs with, in turn; for the first, the \
                        specification gives the answers"),
            Key::steps(&mut self.steps, NAMES).usual("`load`, `index`, `q1` to `q22`")
                .means("the steps to run; `load` and `index` are the first, and added if missing"),
            Key::whole("clients", &mut self.clients, 1..10_001)
                .means("clients that load, and that send a query at the same time"),
            Key::whole("seconds", &mut self.seconds, 1..10_000_001).unit("s")
                .means("duration of each query, which runs at least once"),
            Key::whole("refreshes", &mut self.refreshes, 1..1001)
                .means("sets of orders that `rf1` adds and `rf2` removes; each is a thousandth of \
                        all orders"),
            Key::optional("streams", &mut self.streams, whole(1..101)).usual("2 to 11, by scale")
                .means("streams of queries in `throughput`; otherwise the specification's minimum"),
            Key::optional("timeout", &mut self.timeout, time()).shown(shown)
                .means("how long one execution may take: `\"5m\"`; a query that takes longer fails"),
            Key::new("check", &mut self.check, boolean())
                .means("at scale 1 and without `timeout`, each query's answer to the first values \
                        must be the specification's"),
        ]
    }
}

impl Family for TpchPlan {
    fn name(&self) -> &'static str {
        "tpch"
    }

    fn options(&self) -> &'static [CommandOption] {
        &OPTIONS
    }

    fn check(&self, problems: &mut Problems) {
        loads_first("workload.tpch.steps", &self.steps, problems);
        let left = SETS - self.reserved();
        if REFRESHES.iter().any(|name| self.has(name)) && self.refreshes > left {
            let message = format!(
                "`refreshes`: there are {SETS} sets of orders, of which the tests leave {left}; \
                 expected at most {left}, found {}",
                self.refreshes
            );
            problems.of("workload.tpch.refreshes", message);
        }
    }

    fn steps(&mut self) -> Option<&mut Vec<String>> {
        Some(&mut self.steps)
    }

    fn needs(&self, _step: &str) -> &'static [&'static str] {
        &LOADS
    }

    /// One: queries only read, and refresh functions run where the plan puts them.
    fn sequences(&self) -> Vec<Sequence> {
        let step = |name: &String| {
            let (clients, timed, group) = match name.as_str() {
                POWER => (1, false, "tests"),
                THROUGHPUT => (self.streams(), false, "tests"),
                name if REFRESHES.contains(&name) => (1, false, ""),
                name => (self.clients, !LOADS.contains(&name), ""),
            };
            PlannedStep { key: StepKey::new(name, clients), timed, group, ..PlannedStep::default() }
        };
        vec![Sequence { key: SequenceKey::ONLY, steps: self.steps.iter().map(step).collect() }]
    }

    fn clear_steps(&mut self) {
        self.steps.clear();
        let TpchPlan { clients, streams, .. } = TpchPlan::default();
        (self.clients, self.streams) = (clients, streams);
    }

    fn rows_of(&self, step: &str) -> u64 {
        if REFRESHES.contains(&step) { self.refreshes.into() } else { 0 }
    }

    fn key_of_rows(&self, step: &str) -> Option<&'static str> {
        REFRESHES.contains(&step).then_some("refreshes")
    }

    fn seconds(&mut self) -> Vec<&mut u32> {
        vec![&mut self.seconds]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, PlanError, WorkloadPlan};

    fn parsed(section: &str) -> Result<Plan, PlanError> {
        let text = format!("[variants.a]\ndbms = \"postgres@16\"\n[workload.tpch]\n{section}");
        Plan::parse(&text, None, "test")
    }

    #[test]
    fn what_is_written_says_the_same() {
        let section = "scale = 0.05\nsteps = [\"q6\", \"rf2\", \"throughput\", \"power\", \"q1\"]\n\
                       clients = 2\nstreams = 3\ntimeout = \"5m\"\ncheck = false";
        let plan = parsed(section);
        let plan = plan.unwrap();
        let WorkloadPlan::Tpch(tpch) = &plan.workload else { panic!("{plan:?}") };
        assert_eq!((tpch.scale, tpch.scale.factor()), (Scale(5), 0.05));
        assert_eq!(plan.added, LOADS);
        let written = Plan::parse(&plan.to_toml(), None, "written").unwrap();
        assert_eq!(written.workload, plan.workload, "{}", plan.to_toml());
        let steps = plan.workload.sequences().remove(0).steps;
        let steps: Vec<_> = steps.iter().map(|it| (&*it.key.name, it.key.dop, it.timed)).collect();
        let expected = [
            ("load", 2, false),
            ("index", 2, false),
            ("q6", 2, true),
            ("rf2", 1, false),
            ("throughput", 3, false),
            ("power", 1, false),
            ("q1", 2, true),
        ];
        assert_eq!(steps, expected);
        assert_eq!(parsed("").unwrap().workload.sequences()[0].steps.len(), 24);
        let streams = [1, 100, 101, 1_000, 10_000, 10_000_000]
            .map(|scale| TpchPlan { scale: Scale(scale), ..TpchPlan::default() });
        assert_eq!(streams.map(|plan| plan.streams()), [2, 2, 3, 3, 5, 11]);
    }

    #[test]
    fn mistakes_are_told() {
        for (section, message) in [
            ("scale = 0", "a scale factor from 0.01"),
            ("scale = \"big\"", "a scale factor from 0.01"),
            ("scale = 0.012", "a multiple of 0.01"),
            ("steps = [\"q1\", \"load\"]", "expected `load` and `index` first"),
            ("steps = [\"q23\"]", "unknown step `q23`"),
            ("timeout = \"soon\"", "is not a time"),
            (
                "steps = [\"rf1\", \"throughput\"]\nrefreshes = 999",
                "expected at most 997, found 999",
            ),
        ] {
            let error = parsed(section).unwrap_err().to_string();
            assert!(error.contains(message), "{section}: {error}");
        }
    }
}
