//! Other people's programs as the load: `[workload.program]` of a plan.

use plan::{INIT, ProgramPlan, ProgramStep, Run};

use crate::class::{Class, Effect};
use crate::command::{Output, Program};
use crate::phase::{Benchmark, Phase};
use crate::step::Step;

/// The class of a program's operations, whatever their name.
pub const OPERATION: Class = Class::new("op", "operations", "operations", Effect::Reads);
/// One whole run, whose time is measured.
const RUN: Class = Class::new("run", "runs", "s", Effect::Defines);

/// The benchmark of a plan. Every system can run it: the parts of a command that depend on the
/// system are filled in when it runs.
pub fn benchmark(plan: &ProgramPlan) -> Benchmark {
    let mut phases = Vec::new();
    if let Some(command) = &plan.init {
        phases.extend([Phase::Program(init(command)), Phase::Settle { rows: None }]);
    }
    for step in plan.runs() {
        phases.extend(step.run.dops().iter().map(|dop| Phase::Program(program(&step, *dop))));
    }
    let (setup, tables, config) = Default::default();
    Benchmark { setup, teardown: Vec::new(), tables, phases, config }
}

/// The command that loads the data.
pub(crate) fn init(command: &str) -> Program {
    let run = Run { command: Some(command.to_owned()), ..Run::default() };
    program(&ProgramStep { name: INIT.to_owned(), run }, 1)
}

fn program(planned: &ProgramStep, dop: u32) -> Program {
    let run = &planned.run;
    let format = run.format();
    let (unit, cost) = format.as_ref().map_or(("s", true), foreign::Format::counts);
    let cost = run.less_is_better.unwrap_or(cost);
    let mut step = Step::new(&planned.name, dop, if cost { RUN } else { OPERATION }, Vec::new());
    step.unit = run.unit.clone().map_or(unit.into(), Into::into);
    step.less_is_better = cost;
    step.seconds = run.is_timed().then(|| f64::from(run.seconds()));
    let parse = format.and_then(|_| run.parse.clone());
    let output = Output { parse, test: run.test.clone() };
    let slice = run.slice_seconds.filter(|_| run.is_timed() && !cost);
    Program { output, slice, ..Program::new(step, run.words()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::StepKey;

    #[test]
    fn each_step_says_what_it_counts() {
        let text = "[variants.a]\ndbms = \"none\"\n[workload.program]\ninit = \"true\"\n\
            command = \"pgbench -c {dop} -T {seconds}\"\nparse = \"pgbench\"\ndop = [1, 2]\n\
            steps = [{ name = \"a\" }, { name = \"b\", command = \"sleep {dop}\", parse = \"time\" },\n\
            { name = \"c\", unit = \"ms\", less_is_better = true, parse = \"regex:([0-9]+)\" }]\n";
        let plan = plan::Plan::parse(text, None, "test").unwrap();
        let plan::WorkloadPlan::Program(program) = &plan.workload else { panic!("{plan:?}") };
        let benchmark = benchmark(program);
        assert!(matches!(benchmark.phases[1], Phase::Settle { .. }));
        let steps: Vec<_> = benchmark.phases.iter().filter_map(Phase::step).collect();
        let of = |step: &&Step| {
            (step.key.clone(), step.unit.to_string(), step.less_is_better, step.seconds)
        };
        let step = |name: &str, dop, unit: &str, less, seconds| {
            (StepKey::new(name, dop), unit.to_owned(), less, seconds)
        };
        assert_eq!(
            steps.iter().map(of).collect::<Vec<_>>(),
            [
                step("init", 1, "s", true, None),
                step("a", 1, "transactions", false, Some(10.0)),
                step("a", 2, "transactions", false, Some(10.0)),
                step("b", 1, "s", true, None),
                step("b", 2, "s", true, None),
                step("c", 1, "ms", true, Some(10.0)),
                step("c", 2, "ms", true, Some(10.0)),
            ]
        );
        let planned = plan.workload.sequences().remove(0).steps;
        assert_eq!(planned.len(), steps.len());
    }
}
