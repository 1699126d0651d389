//! What goes on beside a step's load, and in the seconds after its time, which nobody judges.

use std::path::Path;
use std::time::{Duration, Instant};

use drive::{Load, Outcome, Running};
use probe::{Power, PowerUse, Recording, Sampler, Targets, Topology};
use store::StepRecord;
use workload::Step;

use crate::observe::profile::Profiled;
use crate::observe::profiling::Profiling;
use crate::observe::scheduler::{self, Counted, Scheduling};
use crate::trial::attempt::Attempt;
use crate::trial::conditions::Conditions;
use crate::trial::idle::{self, Background};
use crate::trial::terms;

/// What goes on beside a step's load. Dropping it ends all of it.
pub struct Aside<'a> {
    scheduling: Option<Scheduling<'a>>,
    profiling: Option<Profiling<'a>>,
    background: Option<Background>,
    /// Read before the step.
    power: Option<Power>,
}

/// What was found beside a step's load.
#[derive(Debug, Clone, Default)]
pub struct Extra {
    /// What the scheduler did: names and values of metrics.
    counts: Vec<(String, f64)>,
    /// Idle states and energy, where they are of interest.
    power: Option<PowerUse>,
}

/// How long a step's load goes on after its time so that events can be counted, and in all.
pub fn overtime(
    conditions: &Conditions<'_>,
    attempts: &[Attempt<'_>],
    step: &Step,
) -> (Duration, Duration) {
    let [Attempt { group: Some(_), entered, .. }] = attempts else { return Default::default() };
    let counters = conditions.scheduler.as_ref().and(step.terms.counters);
    let counted = counters.map_or(Duration::ZERO, scheduler::window);
    let profiler = conditions.profiler.as_ref();
    let profiled = profiler.map_or(Duration::ZERO, |it| it.overtime(step, entered.block));
    (counted, counted + profiled)
}

impl<'a> Aside<'a> {
    /// Makes ready what a step wants, with its clients' threads; it begins at `start`. What can't
    /// be is told.
    pub fn of(
        conditions: &'a Conditions<'_>,
        attempts: &[Attempt<'_>],
        load: &Load,
        clients: Vec<u32>,
        start: Instant,
        notes: &mut Vec<String>,
    ) -> Aside<'a> {
        let step = &load.step;
        let (counted, _) = overtime(conditions, attempts, step);
        let profiling = profiling(conditions, attempts, step, counted);
        let profiling = profiling.map_err(|reasons| notes.extend(reasons)).ok();
        let counters = step.terms.counters.filter(|_| !counted.is_zero());
        let scheduling = match (&conditions.scheduler, counters, attempts, load.limit()) {
            (Some(scheduler), Some(counters), [Attempt { entered, group, .. }], Some(limit)) => {
                let root_pid = group.as_ref().map_or(0, probe::Group::root_pid);
                let begin = start + limit;
                let counted = Counted { scheduler, counters, root_pid, clients, begin };
                let name = format!("{}-t{}-sched", std::process::id(), entered.trial);
                let path = conditions.options.data_dir.join(name);
                Scheduling::of(counted, conditions.ledger, path).map_err(|why| notes.push(why)).ok()
            }
            _ => None,
        };
        let background = step.terms.idle.as_ref().map(|idle| Background::start(idle, start));
        // Read by those who vary where clients and servers run.
        let wanted = attempts.len() == 1 && step.terms.pinning.is_some();
        let power = wanted.then(|| Power::read(Path::new("/sys")));
        Aside { scheduling, profiling, background, power }
    }

    /// Takes the sampler of a step that goes on after its time; it looks at `targets`.
    pub fn sampled(&mut self, samplers: &mut Vec<Sampler>, targets: Targets, start: Instant) {
        if self.scheduling.is_none() && self.profiling.is_none() {
            return;
        }
        let mut sampler = samplers.pop();
        if let Some(scheduling) = &mut self.scheduling {
            scheduling.ends(sampler.take());
        }
        if let Some(profiling) = &mut self.profiling {
            profiling.begin(start, targets, sampler);
        }
    }

    /// Does what is due. Returns when there is something to do next, where that is known.
    pub fn look(&mut self, running: &dyn Running) -> Option<Instant> {
        let scheduling = self.scheduling.as_mut().and_then(|it| it.look(running));
        let profiling = self.profiling.as_mut().and_then(|it| it.look(running));
        scheduling.into_iter().chain(profiling).min()
    }

    /// The load has ended: what the kernel said of the measured part, if a sampler was taken, and
    /// what else was found.
    pub fn end(&mut self, notes: &mut Vec<String>) -> (Option<Recording>, Extra) {
        let power = self.power.take().map(|before| {
            let cpus: Vec<usize> = Topology::here().map_or(Vec::new(), |topology| {
                topology.cpus().iter().map(|cpu| cpu.number).collect()
            });
            before.until(&Power::read(Path::new("/sys")), &cpus)
        });
        notes.extend(self.background.take().and_then(Background::stop));
        let mut recording = self.scheduling.as_mut().and_then(Scheduling::end);
        recording = recording.or(self.profiling.as_mut().and_then(Profiling::end));
        let (counts, unknown) = self.scheduling.take().map(Scheduling::finish).unwrap_or_default();
        notes.extend(unknown);
        (recording, Extra { counts, power })
    }

    /// What came of the profiling, if there was any. It takes seconds.
    pub fn profiled(self) -> Option<Profiled> {
        self.profiling.map(Profiling::finish)
    }
}

impl Extra {
    /// Records what was found, and under which conditions the step ran.
    pub fn record(&self, record: &mut StepRecord, step: &Step, outcome: &Outcome) {
        for (name, value) in &self.counts {
            record.add(name, *value);
        }
        for (name, value) in self.power.iter().flat_map(|power| figures(power, outcome)) {
            record.add(&name, value);
        }
        terms::record_cores(record, step);
        idle::record_window(record, step, outcome);
    }
}

/// How long the CPUs were in which idle state while a step ran, and the energy of its operations,
/// where the machine says it.
fn figures(power: &PowerUse, outcome: &Outcome) -> Vec<(String, f64)> {
    let word = |name: &str| name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let states = power.idle.iter().map(|it| (metrics::IDLE_STATE.of(&word(&it.name)), it.share));
    let energy = power.energy.iter().flatten().map(|energy| {
        // The load went on beyond the measured seconds.
        let joules = energy.joules / power.seconds * outcome.seconds;
        let each = joules * 1e6 / outcome.operations as f64;
        (metrics::ENERGY.of(&word(&energy.domain)), each)
    });
    states.chain(energy).collect()
}

/// Makes ready to profile a step so long after its time, where that is wanted and can be. What
/// can't be is told.
fn profiling<'a>(
    conditions: &'a Conditions<'_>,
    attempts: &[Attempt<'_>],
    step: &Step,
    after: Duration,
) -> Result<Profiling<'a>, Vec<String>> {
    let Some(profiler) = &conditions.profiler else { return Err(Vec::new()) };
    let [Attempt { entered, group, .. }] = attempts else {
        return Err(vec!["no profile: steps in slices are not profiled".to_owned()]);
    };
    let name = format!("{}-t{}-perf", std::process::id(), entered.trial);
    let path = conditions.options.data_dir.join(name);
    let ledger = conditions.ledger;
    Profiling::of(profiler, step, after, group.as_ref(), entered.block, ledger, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use probe::{Energy, IdleState};

    #[test]
    fn idle_states_and_energy_have_declared_names() {
        let idle = vec![IdleState { name: "C1 ACPI".to_owned(), share: 0.25, entries: 3 }];
        let energy = Ok(vec![Energy { domain: "package-0".to_owned(), joules: 30.0 }]);
        let power = PowerUse { seconds: 3.0, idle, mhz: None, energy };
        let outcome = Outcome {
            target: String::new(),
            seconds: 2.0,
            operations: 1000,
            classes: Vec::new(),
            client_user_us: 0,
            client_system_us: 0,
            client_switches: 0,
            slices: Vec::new(),
            reported: None,
            failures: Vec::new(),
            fatal: None,
        };
        let figures = figures(&power, &outcome);
        let energy = "energy.package-0/o".to_owned();
        assert_eq!(figures, [("cpuidle.C1-ACPI".to_owned(), 0.25), (energy, 20_000.0)]);
        assert!(figures.iter().all(|(name, _)| metrics::find(name).is_some()));
    }
}
