//! What servers do while another one has the load, and which slices to set aside because of it.
//!
//! A watcher follows the same timetable as the clients. In every slot it reads twice: when the
//! lead-in is over and at the slot's end, so that its readings cover what the clients measure. It
//! reads the CPU time of every server's control group and the bytes written to the device.
//!
//! A slice is set aside
//!
//! 1. when the servers that should be idle used more CPU than [`IDLE_LIMIT`] of its length: a
//!    checkpoint, autovacuum or another process of theirs ran during the measurement;
//! 2. in a step whose clients only read as fast as they can: when the device was written to at more
//!    than [`BURST`] times what is within the usual while this server has the load (the 95th
//!    percentile over its slices), and at more than [`BURST_FLOOR`]: what another one, or the
//!    kernel for it, left to be written back came into it.
//!
//! 3. when the hypervisor had the CPUs of server and clients, or other processes had them while the
//!    server's could have run: for a share of the time that is [`LOST`] above the median over its
//!    slices. What a server's own other processes use is no one else's. The kernel shows what was
//!    stolen in ticks of 10 ms, so a slice of 40 ms is set aside for one, unless one in two has
//!    as much.
//!
//! No rule looks at the rate that was measured, and all are the same for all variants. A
//! server's own checkpoints and its own writing belong to it and stay in its slices. That is why
//! the second rule is left out where clients write: nothing tells a server's own bursts from those
//! of others there. (The kernel's accounts of control groups don't, under version 1: what a process
//! has synchronised is not booked to its group.)
//!
//! The limits come from recordings of two servers of the same version. Of the slices of l.i0 and
//! qp100 half saw an idle server use nothing and 90% less than 0.3% (3% where servers were not kept
//! on some CPUs), while a checkpointer or an autovacuum worker used 25% to 76%, and a statement
//! that outlasted its slice up to 100%. Loading, a server wrote its log at 35 MB/s, and at 130 MB/s
//! to 1 GB/s when it filled a new segment of it, in 2% to 5% of its slices: these were 11% slower,
//! by its own doing. Point queries saw 0.3 MB/s in 95% of the slices and up to 160 MB/s in the
//! others.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use drive::{Slice, Slices, Slot, Timetable};
use metrics::SliceReason;
use probe::{Cgroup, CpuMeter, Device, StealMeter, WaitMeter, Waited, WriteMeter, this_thread_us};

/// Share of a slice that all idle servers together may use on CPU.
pub const IDLE_LIMIT: f64 = 0.05;
/// A burst is this many times the usual pace.
pub const BURST: f64 = 2.0;
/// The quantile of the paces of writing up to which they are usual.
pub const USUAL: f64 = 0.95;
/// Share of a slice that others may have the CPUs beyond what is usual.
pub const LOST: f64 = 0.1;
/// Bytes per second below which writing is no burst, whatever is usual.
pub const BURST_FLOOR: f64 = 16.0 * 1024.0 * 1024.0;

/// How the names of the threads begin that `drive` runs clients on.
const CLIENTS: &str = "client-";

/// What was seen in the measured part of a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// The round.
    pub round: u32,
    /// The target that had the load.
    pub target: usize,
    /// Share of the time that the other servers together used on CPU; above 1 where they used more
    /// than one core. NaN where it is not known.
    pub idle: f64,
    /// Bytes per second written to the device; NaN where it is not known.
    pub written: f64,
    /// Share of the time that the hypervisor had the CPUs; NaN where it is not known.
    pub stolen: f64,
    /// Time that clients and the processes which serve them waited for a CPU, as a share of that of
    /// their CPUs; NaN where it is not known. A little is usual: who is woken waits until the other
    /// sleeps.
    pub crowded: f64,
}

/// What a watcher saw.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    /// One for each slot in which both readings could be taken, in order of time.
    pub readings: Vec<Reading>,
    /// CPU time that watching took, in µs.
    pub cost_us: u64,
    /// Notes about what could not be watched.
    pub notes: Vec<String>,
}

/// A running watcher. Dropping it stops it.
#[derive(Debug)]
pub struct Watch {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Seen>>,
}

impl Watch {
    /// Starts to watch servers, given by name and control group, the processes that serve the
    /// clients of each, the CPUs that they run on, and the device with their data, from `start` on.
    pub fn start(
        servers: &[(&str, Option<&Cgroup>)],
        serving: &[Vec<u32>],
        cpus: &[usize],
        device: Option<&Device>,
        slices: &Slices,
        start: Instant,
    ) -> Watch {
        let mut notes = Vec::new();
        let meters: Vec<_> = servers
            .iter()
            .map(|(name, group)| {
                let meter = group.and_then(|group| group.cpu_meter().ok());
                if meter.is_none() {
                    notes.push(format!(
                        "{name} has no control group: its CPU use while other servers had the load was not watched"
                    ));
                }
                meter
            })
            .collect();
        let device = device.and_then(|device| WriteMeter::open(device).ok());
        if device.is_none() {
            notes.push(
                "writes to the device were not watched because no device is known".to_owned(),
            );
        }
        let waits = serving.iter().filter(|pids| !pids.is_empty());
        let waits: Vec<WaitMeter> = waits.filter_map(|pids| WaitMeter::open(pids).ok()).collect();
        let (stop, stopped) = channel();
        let watcher = Watcher {
            timetable: Timetable::new(slices, servers.len()),
            lead_in: slices.lead_in,
            meters,
            waits: if waits.len() == servers.len() { waits } else { Vec::new() },
            clients: WaitMeter::of_threads(CLIENTS).ok(),
            steal: StealMeter::open(cpus).ok(),
            cpus: cpus.len(),
            device,
            start,
            stopped,
            notes,
        };
        let thread =
            std::thread::Builder::new().name("watcher".to_owned()).spawn(|| watcher.watch());
        Watch { stop: Some(stop), thread: thread.ok() }
    }

    /// Ends the watch and gives what was seen.
    pub fn stop(mut self) -> Seen {
        self.end().unwrap_or_else(|| Seen {
            notes: vec!["idle servers were not watched: could not start a thread".to_owned()],
            ..Seen::default()
        })
    }

    fn end(&mut self) -> Option<Seen> {
        drop(self.stop.take());
        self.thread.take()?.join().ok()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

/// All meters at one moment.
#[derive(Debug, Clone)]
struct Mark {
    at: Duration,
    cpu: Vec<Option<Duration>>,
    written: Option<u64>,
    /// The processes of the server with the load that serve the clients.
    waited: Option<Waited>,
    /// The clients.
    clients: Option<Waited>,
    stolen: Option<Duration>,
}

struct Watcher {
    timetable: Timetable,
    lead_in: f64,
    meters: Vec<Option<CpuMeter>>,
    /// One for each server, or none.
    waits: Vec<WaitMeter>,
    clients: Option<WaitMeter>,
    steal: Option<StealMeter>,
    cpus: usize,
    device: Option<WriteMeter>,
    start: Instant,
    stopped: Receiver<()>,
    notes: Vec<String>,
}

impl Watcher {
    fn watch(mut self) -> Seen {
        // As for the clients: sleeps end within a microsecond or so of their time.
        let _ = nix::sys::prctl::set_timerslack(1);
        let mut readings = Vec::new();
        let mut slots = self.timetable.clone().peekable();
        while let Some(slot) = slots.next() {
            if self.stopped_before(slot.begin + slot.length.mul_f64(self.lead_in)) {
                break;
            }
            let opened = self.mark(slot.target);
            if self.stopped_before(slot.end()) {
                break;
            }
            let closed = self.mark(slot.target);
            let next = slots.peek().map_or(slot.target, |next| next.target);
            let seen = reading(&slot, next, &opened, &closed);
            readings.extend(seen.map(|seen| Reading {
                stolen: seen.stolen / self.cpus as f64,
                crowded: seen.crowded / self.cpus as f64,
                ..seen
            }));
        }
        Seen { readings, cost_us: this_thread_us(), notes: self.notes }
    }

    /// Sleeps until a time after the start; true where the watch was ended before.
    fn stopped_before(&self, until: Duration) -> bool {
        let left = (self.start + until).saturating_duration_since(Instant::now());
        !matches!(self.stopped.recv_timeout(left), Err(RecvTimeoutError::Timeout))
    }

    fn mark(&mut self, target: usize) -> Mark {
        let at = Instant::now().saturating_duration_since(self.start);
        let cpu = self.meters.iter().map(|meter| meter.as_ref()?.read()).collect();
        let written = self.device.as_ref().and_then(WriteMeter::read);
        let waited = self.waits.get(target).and_then(WaitMeter::read);
        let stolen = self.steal.as_mut().and_then(StealMeter::read);
        let clients = self.clients.as_ref().and_then(WaitMeter::read);
        Mark { at, cpu, written, waited, clients, stolen }
    }
}

/// What two marks say about a slot. `None` where the watcher came too late to see at least half of
/// what it should have.
fn reading(slot: &Slot, next: usize, opened: &Mark, closed: &Mark) -> Option<Reading> {
    let end = slot.end();
    if opened.at >= end || (end - opened.at) * 2 < slot.length {
        return None;
    }
    let late = closed.at.saturating_sub(end);
    let seconds = (end - opened.at).as_secs_f64();
    let mut idle = 0.0;
    for (target, (before, after)) in opened.cpu.iter().zip(&closed.cpu).enumerate() {
        if target == slot.target {
            continue;
        }
        idle += before.zip(*after).map_or(f64::NAN, |(before, after)| {
            let used = after.saturating_sub(before);
            // The one whose slot comes next may already have begun where the reading was late.
            let allowed = if target == next { late } else { Duration::ZERO };
            used.saturating_sub(allowed).as_secs_f64()
        });
    }
    let written = opened.written.zip(closed.written).map_or(f64::NAN, |(before, after)| {
        after.saturating_sub(before) as f64 / (closed.at - opened.at).as_secs_f64()
    });
    let passed = (closed.at - opened.at).as_secs_f64();
    let stolen = opened
        .stolen
        .zip(closed.stolen)
        .map_or(f64::NAN, |(before, after)| after.saturating_sub(before).as_secs_f64() / passed);
    let crowded = crowded(slot.target, opened, closed).map_or(f64::NAN, |time| time / passed);
    let Slot { round, target, .. } = *slot;
    Some(Reading { round, target, idle: idle / seconds, written, stolen, crowded })
}

/// Seconds that clients and the processes of a server which serve them waited for a CPU, without
/// what the server's other processes may have had it for.
fn crowded(target: usize, opened: &Mark, closed: &Mark) -> Option<f64> {
    let (before, after) = (opened.waited?, closed.waited?);
    let own = closed.cpu.get(target).copied()??.saturating_sub(opened.cpu.get(target).copied()??);
    let others = own.saturating_sub(after.ran.saturating_sub(before.ran));
    let clients = opened.clients.zip(closed.clients);
    let clients = clients.map(|(before, after)| after.waited.saturating_sub(before.waited));
    let waited = after.waited.saturating_sub(before.waited) + clients.unwrap_or_default();
    Some(waited.saturating_sub(others).as_secs_f64())
}

/// What was seen in each slice of one target, in their order; NaN where nothing was.
pub fn of_target(seen: &Seen, target: usize, slices: &[Slice]) -> Vec<Reading> {
    let mut own = seen.readings.iter().filter(|reading| reading.target == target).peekable();
    slices
        .iter()
        .map(|slice| {
            while own.next_if(|reading| reading.round < slice.round).is_some() {}
            let found = own.next_if(|reading| reading.round == slice.round);
            found.copied().unwrap_or(Reading {
                round: slice.round,
                target,
                idle: f64::NAN,
                written: f64::NAN,
                stolen: f64::NAN,
                crowded: f64::NAN,
            })
        })
        .collect()
}

/// Which slices of one target count, given what was seen in them; `reads` where its clients only
/// read as fast as they can.
pub fn reasons(readings: &[Reading], slices: &[Slice], reads: bool) -> Vec<SliceReason> {
    let mut paces: Vec<f64> =
        readings.iter().map(|reading| reading.written).filter(|pace| !pace.is_nan()).collect();
    paces.sort_by(f64::total_cmp);
    let place = (paces.len() as f64 * USUAL) as usize;
    let usual = paces.get(place.min(paces.len().saturating_sub(1))).copied().unwrap_or(0.0);
    let burst = (BURST * usual).max(BURST_FLOOR);
    let lost = |of: fn(&Reading) -> f64| {
        let known: Vec<f64> = readings.iter().map(of).filter(|share| !share.is_nan()).collect();
        judge::median(&known).unwrap_or(0.0) + LOST
    };
    let (stolen, crowded) = (lost(|reading| reading.stolen), lost(|reading| reading.crowded));
    slices
        .iter()
        .zip(readings)
        .map(|(slice, reading)| {
            // A comparison with NaN is false: what was not seen is not held against a slice.
            if slice.rate().is_none() {
                SliceReason::NotMeasured
            } else if reading.idle > IDLE_LIMIT {
                SliceReason::IdleServer
            } else if reads && reading.written > burst {
                SliceReason::Writeback
            } else if reading.stolen > stolen {
                SliceReason::Stolen
            } else if reading.crowded > crowded {
                SliceReason::Crowded
            } else {
                SliceReason::Measured
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn slot() -> Slot {
        Slot { round: 3, target: 0, begin: 100 * MS, length: 20 * MS }
    }

    fn mark(at: f64, cpu: [f64; 3], written: u64) -> Mark {
        let ms = |ms: f64| Duration::from_secs_f64(ms / 1000.0);
        let cpu = cpu.iter().map(|c| Some(ms(*c))).collect();
        Mark { at: ms(at), cpu, written: Some(written), waited: None, clients: None, stolen: None }
    }

    #[test]
    fn only_the_servers_without_the_load_are_held_to_be_idle() {
        let opened = mark(104.0, [50.0, 10.0, 20.0], 1_000_000);
        let closed = mark(120.0, [65.0, 10.8, 20.8], 1_016_000);
        let seen = reading(&slot(), 1, &opened, &closed).unwrap();
        assert_eq!((seen.round, seen.target), (3, 0));
        assert!((seen.idle - 0.1).abs() < 1e-9, "{seen:?}");
        assert!((seen.written - 1e6).abs() < 1e-3, "{seen:?}");
    }

    #[test]
    fn what_the_next_server_did_before_a_late_reading_is_not_held_against_it() {
        let opened = mark(104.0, [50.0, 10.0, 20.0], 0);
        let closed = mark(121.5, [65.0, 11.5, 20.0], 0);
        assert!(reading(&slot(), 1, &opened, &closed).unwrap().idle < 1e-9);
        // Another one is not excused by it.
        assert!(reading(&slot(), 2, &opened, &closed).unwrap().idle > 0.09);
    }

    #[test]
    fn a_watcher_that_comes_too_late_has_seen_nothing() {
        let closed = mark(120.0, [0.0; 3], 0);
        assert_eq!(reading(&slot(), 1, &mark(111.0, [0.0; 3], 0), &closed), None);
        assert_eq!(reading(&slot(), 1, &mark(125.0, [0.0; 3], 0), &mark(126.0, [0.0; 3], 0)), None);
    }

    #[test]
    fn a_server_without_a_group_makes_it_unknown() {
        let mut opened = mark(104.0, [0.0; 3], 0);
        opened.cpu[2] = None;
        let seen = reading(&slot(), 1, &opened, &mark(120.0, [9.0; 3], 0)).unwrap();
        assert!(seen.idle.is_nan());
    }

    #[test]
    fn who_waits_for_its_own_server_is_not_crowded() {
        let waited = |ran: f64, waited: f64| {
            let ms = |ms: f64| Duration::from_secs_f64(ms / 1000.0);
            Some(Waited { ran: ms(ran), waited: ms(waited) })
        };
        let seen = |own: f64, ran: f64, lost: f64, client: f64| {
            let (server, clients) = (waited(5.0, 1.0), waited(0.0, 2.0));
            let opened = Mark { waited: server, clients, ..mark(104.0, [50.0, 0.0, 0.0], 0) };
            let (server, clients) = (waited(5.0 + ran, 1.0 + lost), waited(0.0, 2.0 + client));
            let closed = mark(120.0, [50.0 + own, 0.0, 0.0], 0);
            let closed = Mark { waited: server, clients, ..closed };
            reading(&slot(), 1, &opened, &closed).unwrap().crowded
        };
        assert!((seen(8.0, 8.0, 8.0, 0.0) - 0.5).abs() < 1e-9, "another program had the CPU");
        assert!((seen(8.0, 8.0, 4.0, 4.0) - 0.5).abs() < 1e-9, "from client and server");
        assert!(seen(14.0, 8.0, 6.0, 0.0).abs() < 1e-9, "its checkpointer had it");
        assert!(seen(14.0, 8.0, 2.0, 4.0).abs() < 1e-9, "and made the client wait too");
        let unknown = mark(104.0, [0.0; 3], 0);
        assert!(reading(&slot(), 1, &unknown, &unknown).unwrap().crowded.is_nan());
    }

    fn slices(count: u32) -> Vec<Slice> {
        let slice = |round| Slice {
            round,
            begin: 40 * MS * round,
            length: 20 * MS,
            operations: 10,
            seconds: 0.016,
            held: 0.0,
        };
        (0..count).map(slice).collect()
    }

    #[test]
    fn slices_are_set_aside_for_what_others_did() {
        let mut slices = slices(60);
        (slices[7].operations, slices[7].seconds) = (0, 0.0);
        // A server that held all its clients is charged for it.
        (slices[8].operations, slices[8].seconds, slices[8].held) = (0, 0.0, 0.016);
        let usual =
            Reading { round: 0, target: 1, idle: 0.01, written: 8e6, stolen: 0.0, crowded: 0.02 };
        let mut seen = Seen::default();
        for round in 0..60 {
            // Readings of another target don't matter, nor that one is missing.
            seen.readings.push(Reading { round, target: 0, idle: 0.5, written: 1e9, ..usual });
            match round {
                2 => seen.readings.push(Reading { round, idle: 0.06, ..usual }),
                3 => seen.readings.push(Reading { round, written: 40e6, ..usual }),
                4 => seen.readings.push(Reading { round, written: 16e6, ..usual }),
                5 => {}
                10 => seen.readings.push(Reading { round, stolen: 0.31, ..usual }),
                11 => seen.readings.push(Reading { round, crowded: 0.4, ..usual }),
                _ => seen.readings.push(Reading { round, ..usual }),
            }
        }
        let readings = of_target(&seen, 1, &slices);
        assert!(readings[5].idle.is_nan() && readings[6].round == 6);
        let reasons = reasons(&readings, &slices, true);
        for (round, reason) in reasons.iter().enumerate() {
            let expected = match round {
                2 => SliceReason::IdleServer,
                3 => SliceReason::Writeback,
                10 => SliceReason::Stolen,
                11 => SliceReason::Crowded,
                7 => SliceReason::NotMeasured,
                _ => SliceReason::Measured,
            };
            assert_eq!(*reason, expected, "round {round}");
        }
    }

    #[test]
    fn a_server_that_is_written_to_answers_for_what_is_written() {
        let slices = slices(60);
        let reading = |slice: &Slice| {
            let written = if slice.round == 30 { 1e9 } else { 35e6 };
            Reading {
                round: slice.round,
                target: 0,
                idle: 0.0,
                written,
                stolen: f64::NAN,
                crowded: f64::NAN,
            }
        };
        let readings: Vec<_> = slices.iter().map(reading).collect();
        let measured = |reads| {
            let reasons = reasons(&readings, &slices, reads);
            reasons.iter().filter(|reason| **reason == SliceReason::Measured).count()
        };
        assert_eq!((measured(false), measured(true)), (60, 59));
    }
}
