//! The trials by setup.

use crate::load::trials::{System, Trials, Value};
use crate::output::table::place_of;

/// Machine, configuration and number of clients, with the trials of each step.
pub(super) struct Setup<'a> {
    pub(super) workload: usize,
    pub(super) machine: &'a str,
    pub(super) system: &'a System,
    pub(super) dop: u32,
    /// In the order of steps.
    pub(super) steps: Vec<StepValues<'a>>,
}

/// The trials of one of its steps.
pub(super) struct StepValues<'a> {
    /// Place in [`Trials::steps`].
    pub(super) step: usize,
    pub(super) values: Vec<&'a Value>,
}

/// Setups in the order of workloads, then in order of appearance.
pub(super) fn setups(trials: &Trials) -> Vec<Setup<'_>> {
    let mut setups: Vec<Setup<'_>> = Vec::new();
    for value in &trials.values {
        let (conducted, system) = (trials.conducted(value), trials.system(value));
        let (dop, machine) = (trials.step(value).key.dop, trials.machine(value));
        let new = Setup { workload: conducted.workload, machine, system, dop, steps: Vec::new() };
        let place = place_of(&mut setups, new, |known, new| {
            known.workload == new.workload
                && known.machine == new.machine
                && known.dop == new.dop
                && known.system.is(new.system)
        });
        let (steps, new) =
            (&mut setups[place].steps, StepValues { step: value.step, values: Vec::new() });
        let place = place_of(steps, new, |known, new| known.step == new.step);
        steps[place].values.push(value);
    }
    for setup in &mut setups {
        setup.steps.sort_by_key(|step| step.step);
    }
    // Blocks are in random order; rows are in the order of the plan.
    let place = |setup: &Setup<'_>| {
        setup.steps.iter().flat_map(|step| &step.values).map(|value| value.experiment).min()
    };
    setups.sort_by_key(|setup| {
        let experiment = place(setup);
        let variant = experiment.and_then(|place| {
            trials.experiments[place].systems.iter().position(|system| system.is(setup.system))
        });
        // Setups of one machine stand together.
        let machine = trials.machines.iter().position(|name| name == setup.machine);
        (setup.workload, machine, experiment, variant, setup.dop)
    });
    setups
}
