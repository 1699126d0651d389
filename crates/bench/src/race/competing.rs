//! A competing load: a process that takes a third of a core, in bursts.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sys::signal::Signal;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::steelyard::bound;

/// Means of the times it computes and rests, in seconds; both are distributed exponentially.
const ON: f64 = 0.5;
const OFF: f64 = 1.0;

/// The process, until this is dropped.
pub struct Competing(Child);

impl Competing {
    /// Starts this program as the load.
    pub fn start(seed: u64) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["burn", &seed.to_string()]).stdin(Stdio::null());
        let child = bound(&mut command, Signal::SIGKILL).spawn();
        Ok(Self(child.context("cannot start the competing load")?))
    }
}

impl Drop for Competing {
    fn drop(&mut self) {
        // Both fail only where it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The load itself, until it is killed.
pub fn burn(seed: u64) -> ! {
    let mut bursts = Bursts(Xoshiro256PlusPlus::seed_from_u64(seed));
    loop {
        let end = Instant::now() + bursts.next(ON);
        while Instant::now() < end {}
        std::thread::sleep(bursts.next(OFF));
    }
}

struct Bursts(Xoshiro256PlusPlus);

impl Bursts {
    /// An exponentially distributed time with this mean, in seconds.
    fn next(&mut self, mean: f64) -> Duration {
        let uniform = ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        Duration::from_secs_f64(-mean * uniform.ln())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_take_a_third() {
        let mut bursts = Bursts(Xoshiro256PlusPlus::seed_from_u64(1));
        let mut sum = |mean| (0..10_000).map(|_| bursts.next(mean).as_secs_f64()).sum::<f64>();
        let (on, off) = (sum(ON), sum(OFF));
        assert!((on / (on + off) - 1.0 / 3.0).abs() < 0.01, "{on} {off}");
    }
}
