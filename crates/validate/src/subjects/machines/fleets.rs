//! Simulated fleets, and what is asked of judgments of them.

use std::ops::Bound;

use judge::MachineBlocks;

use crate::noise::{Noise, PLAIN, Tails};
use crate::{Random, Size};

/// Deviations of a trial, machine by machine, over and over.
pub(super) const NOISES: [f64; 4] = [0.005, 0.02, 0.01, 0.03];

/// Deviations of the machines' true log ratios.
pub(super) const SCATTER: [f64; 3] = [0.0, 0.01, 0.03];

/// A simulated fleet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fleet {
    pub(super) machines: usize,
    pub(super) blocks: usize,
    pub(super) tails: Tails,
    /// The last machine is six times as noisy as the others, which are alike.
    pub(super) one_noisy: bool,
}

impl Fleet {
    pub(super) fn name(&self) -> String {
        let how = match (self.tails, self.one_noisy) {
            (Tails::Light, false) => "",
            (_, true) => ", one noisy",
            _ => ", heavy tails",
        };
        format!("{}{how}", self.machines)
    }

    /// Machines without any effect but their own, the second half of another type, and their true
    /// log ratios.
    pub(super) fn simulate(
        &self,
        scatter: f64,
        random: &mut Random,
    ) -> (Vec<MachineBlocks>, Vec<f64>) {
        let own: Vec<f64> = (0..self.machines).map(|_| scatter * random.normal()).collect();
        let machine = |(place, own): (usize, &f64)| {
            let between = match self.one_noisy {
                true if place + 1 == self.machines => 0.06,
                true => 0.01,
                false => NOISES[place % NOISES.len()],
            };
            let noise = Noise { between, tails: self.tails, ..PLAIN };
            let mut log = || own + noise.deviation(random) - noise.deviation(random);
            MachineBlocks {
                machine: place.to_string(),
                kind: if 2 * place < self.machines { "first" } else { "second" }.to_owned(),
                logs: (0..self.blocks).map(|_| log()).collect(),
            }
        };
        (own.iter().enumerate().map(machine).collect(), own)
    }
}

/// How many experiments are simulated.
pub(super) fn tries(machines: usize, size: Size) -> usize {
    match machines {
        0..5 => size.pick(60, 1_500),
        5..17 => size.pick(30, 500),
        _ => size.pick(4, 100),
    }
}

/// Bounds of a rate.
pub(super) type Bounds = (Bound<f64>, Bound<f64>);
pub(super) const COVERS: Bounds = (Bound::Included(0.94), Bound::Unbounded);
pub(super) const RARE: Bounds = (Bound::Unbounded, Bound::Included(0.05));
