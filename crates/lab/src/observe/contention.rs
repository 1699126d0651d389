//! Measures what other programs use while a step runs, and how long servers and clients wait for a
//! CPU.
//!
//! A server that waits for a CPU which another program has is not slow by itself. The figures show
//! this, and the decision whether a step is CPU-bound takes them into account
//! ([`crate::joint::need`]).

use std::time::{Duration, Instant};

use drive::{Outcome, Running};
use probe::{Contended, Contention, Group, Rivalry, RunDelay, WaitMeter};
use store::StepRecord;
use workload::Step;

use crate::observe::figures::client_cpus;
use crate::observe::observer::{Found, Observer, Scene};
use crate::observe::sampling::Sampling;
use crate::observe::watch::CLIENTS;

/// Share of the machine's CPUs that other programs may use before a step gets a warning.
const BUSY: f64 = 0.1;
/// How wrong that can be for a step of one second: the kernel shows CPU time in ticks of 10 ms.
const TICK: f64 = 0.01;
/// Readings of waits are at least this far apart,
const APART: Duration = Duration::from_millis(200);
/// and at least this many times as long as a reading takes: half a percent of a CPU.
const SPARING: u32 = 200;

/// Prepares to watch servers on this machine. The first readings take milliseconds where there are
/// many processes, so they are taken here, before the start is announced.
pub fn observe<'a>(scene: &mut Scene<'a, '_>, _: &mut Found) -> Option<Box<dyn Observer + 'a>> {
    let roots = scene.servers.iter().map(|server| server.group.map(Group::root_pid));
    let roots = roots.collect::<Option<Vec<u32>>>()?;
    let mut meter = Contention::of(&roots).ok()?;
    let servers = roots.into_iter().map(RunDelay::begin).collect();
    let waits = Waits { servers, clients: WaitMeter::of_threads(CLIENTS).ok()? };
    let (clients, begun) = (waits.clients.read()?.waited, Instant::now());
    let before = meter.read()?;
    let (waited, rivalry) = (Waited::default(), None);
    Some(Box::new(Contest {
        meter,
        before,
        waits,
        clients,
        begun,
        next: begun,
        waited,
        rivalry,
        recorded: 0,
    }))
}

/// The threads that may wait for a CPU.
struct Waits {
    servers: Vec<RunDelay>,
    clients: WaitMeter,
}

/// How long they waited.
#[derive(Debug, Clone, Default)]
struct Waited {
    /// Seconds until this was read.
    seconds: f64,
    /// The threads of each server.
    servers: Vec<f64>,
    /// The clients' threads, which all servers share.
    clients: f64,
}

/// A step and its competitors for the CPUs.
struct Contest {
    meter: Contention,
    before: Contended,
    waits: Waits,
    /// How long the clients' threads had waited before.
    clients: Duration,
    begun: Instant,
    /// When waits are read again.
    next: Instant,
    waited: Waited,
    rivalry: Option<Rivalry>,
    /// Servers whose records are complete.
    recorded: usize,
}

impl Observer for Contest {
    fn begin(&mut self, start: Instant) {
        self.next = start + APART;
    }

    /// Reads while all threads are there: those of clients, and the processes that serve them, end
    /// with the load.
    fn look(&mut self, _: &dyn Running, _: &mut Sampling) -> Option<Instant> {
        let now = Instant::now();
        if now < self.next || self.rivalry.is_some() {
            return None;
        }
        if let Some(clients) = self.waits.clients.read() {
            let servers = self.waits.servers.iter_mut();
            self.waited = Waited {
                seconds: (now - self.begun).as_secs_f64(),
                servers: servers.map(|delay| delay.read().as_secs_f64()).collect(),
                clients: clients.waited.saturating_sub(self.clients).as_secs_f64(),
            };
        }
        self.next = now + APART.max(SPARING * now.elapsed());
        None
    }

    fn over(&mut self) {
        self.rivalry = self.meter.read().map(|after| self.before.until(&after));
    }

    fn end(&mut self, _: &mut Sampling, _: &mut Found) {
        if self.rivalry.is_none() {
            self.over();
        }
    }

    fn record(&mut self, record: &mut StepRecord, step: &Step, _: &Outcome) {
        let wanted = self.waited.share(self.recorded) / client_cpus(step) as f64;
        record.add(metrics::CPU_WANTED.name, wanted);
        if let Some(rivalry) = &self.rivalry {
            describe(record, rivalry);
        }
        self.recorded += 1;
    }
}

impl Waited {
    /// The time that a server and its clients waited, as a share of the time in which the server
    /// had the load, which is its part of all; NaN if it is not known.
    fn share(&self, server: usize) -> f64 {
        let own = self.servers.get(server).copied().unwrap_or(f64::NAN);
        (own * self.servers.len() as f64 + self.clients) / self.seconds
    }
}

/// Adds what other programs used.
fn describe(record: &mut StepRecord, rivalry: &Rivalry) {
    let Rivalry { seconds, cpus, others } = rivalry;
    record.add(metrics::CPU_OTHERS.name, *others);
    if others / cpus > BUSY + TICK / seconds {
        let text = format!(
            "other programs used {others:.1} of {cpus:.0} CPUs; end them, or expect noisier results"
        );
        record.warn("others-busy", text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_use_is_told_with_its_figure() {
        let described = |others| {
            let mut record = StepRecord::new(0, "l.i0", 1);
            describe(&mut record, &Rivalry { seconds: 4.0, cpus: 2.0, others });
            record
        };
        let busy = described(0.97);
        assert_eq!(busy.metric("cpu.others"), Some(0.97));
        assert_eq!(busy.warnings[0].code, "others-busy");
        assert!(busy.warnings[0].text.starts_with("other programs used 1.0 of 2 CPUs"));
        assert!(described(0.19).warnings.is_empty());
    }

    #[test]
    fn a_server_waits_in_its_part_of_the_time() {
        // Each had the load for two of four seconds, of which the clients waited for one.
        let waited = Waited { seconds: 4.0, servers: vec![0.5, 1.0], clients: 2.0 };
        assert!((waited.share(0) - 0.75).abs() < 1e-9 && (waited.share(1) - 1.0).abs() < 1e-9);
        assert!(waited.share(2).is_nan() && Waited::default().share(0).is_nan());
    }
}
