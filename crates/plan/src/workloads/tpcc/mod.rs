//! The transactions derived from TPC-C in a plan: `[workload.tpcc]`.

mod plan;

use crate::family::{Family, LOADS, PlannedStep, Sequence, SequenceKey, loads_first};
use crate::key::{CommandOption, Form, Key, Keyed};
use crate::kind::{boolean, choice, dops};
use crate::problem::Problems;
use crate::step::StepKey;
use plan::{NAMES, THINKING};

pub use plan::{Home, Isolation, TPCC_STEPS, TpccMode, TpccPlan};

#[rustfmt::skip] // A table.
const OPTIONS: [CommandOption; 8] = [
    CommandOption { key: "warehouses", name: "warehouses", value: "N", form: Form::Count,
        help: "Number of warehouses: each is half a million rows, some 100 MB [default: 1]" },
    CommandOption { key: "dop", name: "dop", value: "N,…", form: Form::Counts,
        help: "Numbers of clients, separated by commas [default: 1]" },
    CommandOption { key: "seconds", name: "seconds", value: "S", form: Form::Count,
        help: "Seconds of the mix for each number of clients [default: 10]" },
    CommandOption { key: "steps", name: "steps", value: "STEP,…", form: Form::Names,
        help: "Steps in order: load, index, mix [default: all]" },
    CommandOption { key: "home", name: "home", value: "HOW", form: Form::Name,
        help: "A client's warehouse: fixed, or any (another in each transaction) [default: fixed]" },
    CommandOption { key: "mode", name: "mode", value: "HOW", form: Form::Name,
        help: "Transactions as statements or as procedures of the server [default: statements]" },
    CommandOption { key: "think", name: "think", value: "", form: Form::Switch("true"),
        help: "Clients type and think as the specification says: 21 s per transaction" },
    CommandOption { key: "isolation", name: "isolation", value: "LEVEL", form: Form::Name,
        help: "Isolation level, such as serializable [default: the server's]" },
];

impl Keyed for TpccPlan {
    #[rustfmt::skip] // A table.
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            Key::whole("warehouses", &mut self.warehouses, 1..100_001)
                .means("warehouses: each is half a million rows, some 100 MB"),
            Key::new("dop", &mut self.dop, dops()).note("clients")
                .means("numbers of clients; the mix runs with all of them"),
            Key::whole("load_dop", &mut self.load_dop, 1..10_001).means("clients that load"),
            Key::steps(&mut self.steps, NAMES).usual("all")
                .means("the steps to run; `load` and `index` are the first, and added if missing"),
            Key::whole("seconds", &mut self.seconds, 1..10_000_001).unit("s")
                .means("duration of the mix for each number of clients"),
            Key::new("home", &mut self.home, choice(&Home::NAMED))
                .means("the warehouse of a client: `\"fixed\"`: always the same; `\"any\"`: drawn \
                        anew for each transaction"),
            Key::new("mode", &mut self.mode, choice(&TpccMode::NAMED))
                .means("`\"statements\"`: transactions are sent statement by statement; \
                        `\"procedures\"`: each is one call of a procedure in the server"),
            Key::new("think", &mut self.think, boolean())
                .means("clients type and think before each transaction, as the specification says: \
                        21 s on average"),
            Key::optional("isolation", &mut self.isolation, choice(&Isolation::NAMED))
                .usual("the server's")
                .means("isolation of transactions: `\"read committed\"`, `\"repeatable read\"` or \
                        `\"serializable\"`"),
            Key::new("prepared", &mut self.prepared, boolean()).means("statements are prepared"),
            Key::new("check", &mut self.check, boolean())
                .means("the conditions of the specification are checked after loading and after \
                        each mix"),
        ]
    }
}

impl Family for TpccPlan {
    fn name(&self) -> &'static str {
        "tpcc"
    }

    fn options(&self) -> &'static [CommandOption] {
        &OPTIONS
    }

    fn check(&self, problems: &mut Problems) {
        loads_first("workload.tpcc.steps", &self.steps, problems);
        if self.think && self.seconds < THINKING {
            let found = self.seconds;
            let message = format!(
                "`think`: a transaction takes 21 s on average; expected `seconds` of at least \
                 {THINKING}, found {found}"
            );
            problems.of("workload.tpcc.seconds", message);
        }
    }

    fn steps(&mut self) -> Option<&mut Vec<String>> {
        Some(&mut self.steps)
    }

    fn needs(&self, _step: &str) -> &'static [&'static str] {
        &LOADS
    }

    /// One: the mix runs with all numbers of clients, one after another, on the same tables.
    fn sequences(&self) -> Vec<Sequence> {
        let step = |name: &str, dop: u32| PlannedStep {
            key: StepKey::new(name, dop),
            timed: !LOADS.contains(&name),
            ..PlannedStep::default()
        };
        let mut steps = Vec::new();
        for name in &self.steps {
            match name.as_str() {
                "load" => steps.push(step(name, self.load_dop)),
                "index" => steps.push(step(name, 1)),
                _ => steps.extend(self.dop.iter().map(|dop| step(name, *dop))),
            }
        }
        vec![Sequence { key: SequenceKey::ONLY, steps }]
    }

    fn clear_steps(&mut self) {
        self.steps.clear();
        self.dop.clear();
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
        let text = format!("[variants.a]\ndbms = \"postgres@16\"\n[workload.tpcc]\n{section}");
        Plan::parse(&text, None, "test")
    }

    #[test]
    fn what_is_written_says_the_same() {
        let section = "warehouses = 3\ndop = [1, 4]\nsteps = [\"mix\"]\nhome = \"any\"\n\
                       mode = \"procedures\"\nthink = true\nseconds = 90\nisolation = \"repeatable read\"\ncheck = false";
        let plan = parsed(section).unwrap();
        let WorkloadPlan::Tpcc(tpcc) = &plan.workload else { panic!("{plan:?}") };
        assert_eq!((tpcc.warehouses, tpcc.home, tpcc.check), (3, Home::Any, false));
        assert!(tpcc.mode == TpccMode::Procedures && tpcc.think);
        assert_eq!(tpcc.isolation, Some(Isolation::RepeatableRead));
        assert_eq!(plan.added, LOADS);
        let written = Plan::parse(&plan.to_toml(), None, "written").unwrap();
        assert_eq!(written.workload, plan.workload, "{}", plan.to_toml());
        let steps = plan.workload.sequences().remove(0).steps;
        let steps: Vec<_> = steps.iter().map(|it| (&*it.key.name, it.key.dop, it.timed)).collect();
        let expected =
            [("load", 2, false), ("index", 1, false), ("mix", 1, true), ("mix", 4, true)];
        assert_eq!(steps, expected);
    }

    #[test]
    fn mistakes_are_told() {
        for (section, message) in [
            ("warehouses = 0", "warehouses"),
            ("steps = [\"mix\", \"load\"]", "expected `load` and `index` first"),
            ("steps = [\"new-order\"]", "unknown step `new-order`"),
            ("home = \"none\"", "expected \"fixed\""),
            ("think = true", "expected `seconds` of at least 60, found 10"),
            ("isolation = \"chaos\"", "expected \"read committed\""),
        ] {
            let error = parsed(section).unwrap_err().to_string();
            assert!(error.contains(message), "{section}: {error}");
        }
    }
}
