//! A toy workload that puts keys, then reads them with several numbers of clients and
//! distributions. It shows what a workload needs, and is only in tests.

use plan::{Sequence, ToyPlan, WorkloadPlan};

use crate::class::{Class, Effect};
use crate::command::{Output, Program};
use crate::draw::{Draw, Skew, Width};
use crate::phase::{Benchmark, Phase};
use crate::request::{Expect, KeyAction, KeyValue};
use crate::step::{End, Finds, Step, Stream};
use crate::{Dialect, Error};

const PUT: Class = Class::new("put", "puts", "keys", Effect::Adds);
const GET: Class = Class::new("get", "gets", "keys", Effect::Reads);

/// Keys that one get asks for.
const KEYS: u32 = 10;

/// The benchmark of `plan`.
///
/// # Errors
/// [`Error::Unfit`] if the system speaks SQL.
pub fn benchmark(plan: &ToyPlan, dialect: Dialect) -> Result<Benchmark, Error> {
    if dialect != Dialect::KeyValue {
        return Err(Error::Unfit { workload: "toy", needs: "keys and values" });
    }
    let sequences = WorkloadPlan::Toy(plan.clone()).sequences();
    let steps = sequences.iter().flat_map(|Sequence { steps, .. }| steps);
    let mut phases = Vec::new();
    for planned in steps {
        let (low, high, width) = (0, plan.rows as i64, Width::Eight);
        let uniform = Draw::Uniform { low, high, width };
        let (class, action, key, end, operations) = match planned.key.labels.get("keys") {
            None => {
                let value = Draw::Text { min: 100, max: 100 };
                let put = KeyAction::Put { keys: 1, value, logged: true };
                (PUT, put, uniform, End::Rounds(plan.rows), 1)
            }
            Some(keys) => {
                let by = Skew::Zipfian { exponent: 0.8 };
                let zipfian = Draw::Skewed { low, high, by, width };
                let key = if keys == "zipfian" { zipfian } else { uniform };
                (GET, KeyAction::Get { keys: KEYS }, key, End::Time, u64::from(KEYS))
            }
        };
        let expect = match class == PUT {
            true => Expect::affected(1),
            false => Expect::Rows { min: 0, max: KEYS },
        };
        let request = KeyValue { action, key, expect };
        let stream = |client| Stream {
            operations_per_round: operations,
            end: end.clone(),
            finds: (class == GET).then_some(Finds::Mean(3.0)),
            ..Stream::repeating(client, class.clone(), request.clone())
        };
        let streams = (0..planned.key.dop).map(stream).collect();
        let mut step = Step::new(&planned.key.name, planned.key.dop, class, streams);
        step.key.labels.clone_from(&planned.key.labels);
        step.seconds = planned.timed.then_some(f64::from(plan.seconds));
        if planned.key.name == "program" {
            step.streams.clear();
            let script = "ls {data} > /dev/null && echo 2000 a second";
            let command = ["/bin/sh", "-c", script].map(str::to_owned).into();
            let parse = "regex:([0-9]+) a second".to_owned();
            let output = Output { parse: Some(parse), ..Output::default() };
            phases.push(Phase::Program(Program { output, ..Program::new(step, command) }));
        } else {
            phases.push(Phase::Step(step));
        }
    }
    phases.insert(1, Phase::Settle { rows: Some(plan.rows) });
    let (setup, tables, config) = Default::default();
    Ok(Benchmark { setup, teardown: Vec::new(), tables, phases, config })
}
