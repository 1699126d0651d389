//! A toy: `[workload.toy]` fills an engine with keys and reads them with several numbers of
//! clients, all on one system. It shows what a workload needs, and is in tests only.

use crate::family::{Family, PlannedStep, Sequence, SequenceKey};
use crate::key::{CommandOption, Form, Key, Keyed};
use crate::kind::{boolean, dops};
use crate::problem::Problems;
use crate::step::StepKey;

/// The toy as a plan has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToyPlan {
    /// Keys that are put.
    pub rows: u64,
    /// Seconds of each step that reads.
    pub seconds: u32,
    /// Numbers of clients that read.
    pub dop: Vec<u32>,
    /// True if another program is a step, too.
    pub program: bool,
}

impl Default for ToyPlan {
    fn default() -> Self {
        ToyPlan { rows: 1000, seconds: 1, dop: vec![1], program: false }
    }
}

impl Keyed for ToyPlan {
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            Key::whole("rows", &mut self.rows, 1..1_000_001),
            Key::whole("seconds", &mut self.seconds, 1..3601),
            Key::new("dop", &mut self.dop, dops()),
            Key::new("program", &mut self.program, boolean()),
        ]
    }
}

impl Family for ToyPlan {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn options(&self) -> &'static [CommandOption] {
        &[CommandOption {
            key: "seconds",
            name: "seconds",
            value: "S",
            form: Form::Count,
            help: "Seconds of each step that reads",
        }]
    }

    fn check(&self, problems: &mut Problems) {
        if self.dop.contains(&3) {
            problems.of("workload.toy.dop", "`dop`: three is a crowd");
        }
    }

    fn sequences(&self) -> Vec<Sequence> {
        let step = |name: &str, dop, keys: Option<&str>| PlannedStep {
            key: StepKey {
                name: name.to_owned(),
                dop,
                labels: keys.map(|keys| ("keys".to_owned(), keys.to_owned())).into_iter().collect(),
            },
            timed: keys.is_some(),
            ..PlannedStep::default()
        };
        let mut steps = vec![step("fill", 1, None)];
        for dop in &self.dop {
            steps.extend(["uniform", "zipfian"].map(|keys| step("read", *dop, Some(keys))));
        }
        steps.extend(self.program.then(|| step("program", 1, None)));
        vec![Sequence { key: SequenceKey::ONLY, steps }]
    }

    fn clear_steps(&mut self) {
        self.dop.clear();
    }

    fn rows(&mut self) -> Vec<&mut u64> {
        vec![&mut self.rows]
    }

    fn seconds(&mut self) -> Vec<&mut u32> {
        vec![&mut self.seconds]
    }

    fn rows_of(&self, _step: &str) -> u64 {
        self.rows
    }
}
