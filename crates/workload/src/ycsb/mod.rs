//! The workloads of YCSB: reads, updates, inserts and scans of records by key.
//!
//! A record is a key and some fields; in a system that stores values by key, all fields are one
//! value. Keys, mixes and distributions are YCSB's. Results are not comparable with published ones.

mod builder;
mod catalogue;
mod load;
mod operations;

pub use catalogue::catalogue;

use plan::{Requests, YcsbPlan};

use crate::class::{Class, Effect};
use crate::phase::{Benchmark, Phase};
use crate::step::{Alternative, Finds, Pace, Step, Stream};
use crate::{Dialect, Error};
use builder::{Builder, FAMILY, INSERTED, TABLE};
use operations::Operation;

/// Reads of a step with the latest records that must find theirs, at least: a read may come before
/// the end of an insert that others have overtaken.
const FOUND: f64 = 0.9;

/// What the clients of a workload do, and how they choose records.
struct Mix {
    name: &'static str,
    operations: &'static [(Operation, u32)],
    requests: Requests,
}

/// The workloads of YCSB, `workloads/workloada` to `workloadf`.
const MIXES: [Mix; 6] = {
    use Operation::{Insert, Modify, Read, Scan, Update};
    use Requests::{Latest, Zipfian};
    [
        Mix { name: "a", operations: &[(Read, 50), (Update, 50)], requests: Zipfian },
        Mix { name: "b", operations: &[(Read, 95), (Update, 5)], requests: Zipfian },
        Mix { name: "c", operations: &[(Read, 100)], requests: Zipfian },
        Mix { name: "d", operations: &[(Read, 95), (Insert, 5)], requests: Latest },
        Mix { name: "e", operations: &[(Scan, 95), (Insert, 5)], requests: Zipfian },
        Mix { name: "f", operations: &[(Read, 50), (Modify, 50)], requests: Zipfian },
    ]
};

/// The benchmark of `plan`.
///
/// # Errors
/// [`Error::Unfit`] if the system stores no records, [`Error::UnknownStep`] for a step that is not
/// in [`plan::YCSB_STEPS`].
pub fn benchmark(plan: &YcsbPlan, dialect: Dialect) -> Result<Benchmark, Error> {
    let builder = Builder::new(plan, dialect)?;
    let mut phases = Vec::new();
    let mut written = false;
    for name in &plan.steps {
        if name == "load" {
            phases.extend([Phase::Step(builder.load()), Phase::Settle { rows: None }]);
            continue;
        }
        for dop in &plan.dop {
            let step = builder.step(name, *dop)?;
            // What an earlier step left to do is not for a step that only reads.
            let reads = step.counted.effect == Effect::Reads;
            if reads && std::mem::take(&mut written) {
                phases.push(Phase::Settle { rows: None });
            }
            written |= !reads;
            phases.push(Phase::Step(step));
        }
    }
    let clients = plan.dop.iter().copied().max().unwrap_or(1).max(plan.load_dop);
    Ok(Benchmark {
        setup: builder.create(),
        teardown: Vec::new(),
        tables: vec![if builder.sql.is_some() { TABLE } else { FAMILY }.to_owned()],
        phases,
        config: builder.config(clients),
    })
}

impl Builder<'_> {
    /// One of the workloads.
    fn step(&self, name: &str, dop: u32) -> Result<Step, Error> {
        let unknown = || Error::UnknownStep {
            workload: "ycsb",
            step: name.to_owned(),
            known: plan::YCSB_STEPS.join(", "),
        };
        let mix = MIXES.iter().find(|mix| mix.name == name).ok_or_else(unknown)?;
        let requests = self.plan.distribution.unwrap_or(mix.requests);
        let class = match mix.operations {
            [(only, _)] => only.class(),
            several => {
                let effects = several.iter().map(|(operation, _)| operation.class().effect);
                let effect = effects.max().unwrap_or(Effect::Reads);
                Class::new("operation", "operations", "operations", effect)
            }
        };
        let streams = (0..dop).map(|client| self.stream(mix, requests, class.clone(), client, dop));
        Ok(Step {
            cells: 2,
            seconds: Some(f64::from(self.plan.seconds)),
            ..Step::new(name, dop, class.clone(), streams.collect())
        })
    }

    fn stream(&self, mix: &Mix, by: Requests, class: Class, client: u32, dop: u32) -> Stream {
        let inserts = |(operation, _): &(Operation, u32)| *operation == Operation::Insert;
        let numbered = by == Requests::Latest || mix.operations.iter().any(inserts);
        let each = |rate| Pace::Rate(f64::from(rate) / f64::from(dop));
        let mut stream = Stream {
            keeps: vec![self.number(by)],
            pace: self.plan.rate.map_or(Pace::Free, each),
            refresh: self.refresh().filter(|_| client == 0 && numbered),
            ..Stream::new(client, class)
        };
        let mut alternatives = Vec::new();
        for (operation, weight) in mix.operations {
            let asks = matches!(operation, Operation::Read | Operation::Scan);
            let latest = by == Requests::Latest && asks;
            alternatives.push(Alternative {
                class: operation.class(),
                weight: *weight,
                actions: self.actions(*operation, by, &mut stream.requests),
                adds_to: (*operation == Operation::Insert).then_some(INSERTED),
                finds: latest.then_some(Finds::Mean(FOUND)),
            });
        }
        match &mut alternatives[..] {
            [only] => {
                (stream.actions, stream.finds) = (std::mem::take(&mut only.actions), only.finds)
            }
            _ => stream.mix = alternatives,
        }
        stream
    }
}

#[cfg(test)]
mod tests;
