//! Idle states of the CPUs and energy while a step runs.

use std::path::Path;
use std::time::Instant;

use drive::Outcome;
use probe::{Power, PowerUse, Topology};
use store::StepRecord;
use workload::Step;

use crate::observe::observer::{Found, Observer, Scene};
use crate::observe::sampling::Sampling;

/// Prepares to read them for a step that varies where clients and servers run.
pub fn observe<'a>(scene: &mut Scene<'a, '_>, _: &mut Found) -> Option<Box<dyn Observer + 'a>> {
    let wanted = scene.servers.len() == 1 && scene.load.step.terms.pinning.is_some();
    if wanted { Some(Box::new(Meter::default())) } else { None }
}

#[derive(Default)]
struct Meter {
    before: Option<Power>,
    used: Option<PowerUse>,
}

impl Observer for Meter {
    fn begin(&mut self, _: Instant) {
        self.before = Some(read());
    }

    fn end(&mut self, _: &mut Sampling, _: &mut Found) {
        self.used = self.before.take().map(|before| {
            let cpus: Vec<usize> = Topology::here().map_or(Vec::new(), |topology| {
                topology.cpus().iter().map(|cpu| cpu.number).collect()
            });
            before.until(&read(), &cpus)
        });
    }

    fn record(&mut self, record: &mut StepRecord, _: &Step, outcome: &Outcome) {
        for (name, value) in
            self.used.iter().flat_map(|power| figures(power, outcome.seconds, outcome.operations))
        {
            record.add(&name, value);
        }
    }
}

fn read() -> Power {
    Power::read(Path::new("/sys"))
}

/// Returns how long the CPUs were in each idle state while a step ran, and the energy per operation
/// if the machine reports it. The step did these `operations` in the measured `seconds`.
fn figures(power: &PowerUse, seconds: f64, operations: u64) -> Vec<(String, f64)> {
    let word = |name: &str| name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let states = power.idle.iter().map(|it| (metrics::IDLE_STATE.of(&word(&it.name)), it.share));
    let energy = power.energy.iter().flatten().map(|energy| {
        // The load went on beyond the measured seconds.
        let joules = energy.joules / power.seconds * seconds;
        let each = joules * 1e6 / operations as f64;
        (metrics::ENERGY.of(&word(&energy.domain)), each)
    });
    states.chain(energy).collect()
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
        let figures = figures(&power, 2.0, 1000);
        let energy = "energy.package-0/o".to_owned();
        assert_eq!(figures, [("cpuidle.C1-ACPI".to_owned(), 0.25), (energy, 20_000.0)]);
        assert!(figures.iter().all(|(name, _)| metrics::find(name).is_some()));
    }
}
