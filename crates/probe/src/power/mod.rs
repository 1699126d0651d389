//! The power used in an interval: the time that CPUs spent in each idle state, their clock rate,
//! and the energy, if the processor counts it.
//!
//! All of it is optional. Virtual machines usually have neither clock rates nor energy, and only
//! root may read energy.
//!
//! ```
//! use std::path::Path;
//! let before = probe::Power::read(Path::new("/sys"));
//! std::thread::sleep(std::time::Duration::from_millis(20));
//! let used = before.until(&probe::Power::read(Path::new("/sys")), &[0]);
//! assert!(used.idle.iter().all(|state| (0.0..=1.0).contains(&state.share)));
//! ```

mod energy;
mod idle;

use std::path::Path;
use std::time::Instant;

use crate::clock::Clocks;

pub use energy::{Energy, NoEnergy};
pub use idle::IdleState;

/// The kernel's counters of idle states and energy at one time.
#[derive(Debug, Clone)]
pub struct Power {
    at: Instant,
    idle: idle::Reading,
    mhz: Option<f64>,
    energy: Result<energy::Reading, NoEnergy>,
}

/// The use of power between two readings.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerUse {
    /// Time between the readings.
    pub seconds: f64,
    /// The idle states from the shallowest to the deepest; empty if the kernel has no cpuidle.
    pub idle: Vec<IdleState>,
    /// Clock rate in MHz: the mean of the readings at both ends, over up to 8 CPUs of the machine.
    /// The [`crate::Sampler`] has it per second, as `cpu.mhz`.
    pub mhz: Option<f64>,
    /// Energy by domain, or why there is none.
    pub energy: Result<Vec<Energy>, NoEnergy>,
}

impl Power {
    /// Reads `sys`, which is `/sys` or a copy of it: three files per CPU and idle state. Values
    /// that cannot be read are absent.
    pub fn read(sys: &Path) -> Power {
        let cpus = sys.join("devices/system/cpu");
        Power {
            at: Instant::now(),
            idle: idle::Reading::read(&cpus),
            mhz: Clocks::under(&cpus).mean_mhz(&mut Vec::new()),
            energy: energy::Reading::read(&sys.join("class/powercap")),
        }
    }

    /// The use of power from this reading to a `later` one; idle states of `cpus` only.
    pub fn until(&self, later: &Power, cpus: &[usize]) -> PowerUse {
        let seconds = later.at.saturating_duration_since(self.at).as_secs_f64();
        let energy = match (&self.energy, &later.energy) {
            (Ok(before), Ok(after)) => Ok(before.until(after)),
            (Err(missing), _) | (_, Err(missing)) => Err(*missing),
        };
        PowerUse {
            seconds,
            idle: self.idle.until(&later.idle, cpus, seconds),
            mhz: self.mhz.zip(later.mhz).map(|(before, after)| f64::midpoint(before, after)),
            energy,
        }
    }
}
