//! Watches servers, and what others do to them, in each slot of a step in slices.
//!
//! A watcher follows the same timetable as the clients. In every slot it reads twice: when the
//! lead-in is over and at the slot's end, so that its readings cover what the clients measure. It
//! reads the CPU time of every server's control group and the bytes written to the device.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use drive::{Slot, Timetable};
use probe::{CpuMeter, Group, StealMeter, WaitMeter, Waited, WriteMeter, this_thread_us};

use crate::observe::observer::{Found, Observer, Scene, Server};
use crate::observe::sampling::Sampling;
use crate::observe::set_aside::{Reading, Seen};

/// Prefix of the names of the threads on which `drive` runs clients.
pub const CLIENTS: &str = "client-";

/// How long reading a slot may take.
const LAST: Duration = Duration::from_millis(5);

/// Prepares to watch the servers of a step in slices, the processes that serve the clients of each,
/// the CPUs they run on, and the device with their data.
pub fn observe<'a>(scene: &mut Scene<'a, '_>, _: &mut Found) -> Option<Box<dyn Observer + 'a>> {
    // Programs keep to the order of a timetable, not to its times.
    let timed = !scene.load.step.streams.is_empty();
    if scene.load.frozen {
        // The others do nothing.
        return None;
    }
    let slices = scene.load.slices.as_ref().filter(|_| timed)?;
    let (servers, serving, cpus) = (&scene.servers, scene.ready.servers(), scene.cpus);
    let mut notes = Vec::new();
    let meters = servers.iter().map(|server| cpu_meter(server, &mut notes)).collect();
    let device = servers.first().and_then(|server| server.device);
    let device = device.and_then(|device| WriteMeter::open(device).ok());
    if device.is_none() {
        notes.push("writes to the device were not watched because no device is known".to_owned());
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
        start: Instant::now(),
        stopped,
        notes,
    };
    Some(Box::new(Watch { watcher: Some(watcher), stop: Some(stop), thread: None, seen: None }))
}

fn cpu_meter(server: &Server<'_>, notes: &mut Vec<String>) -> Option<CpuMeter> {
    let meter = match server.group {
        Some(Group::Cgroup { cgroup, .. }) => cgroup.cpu_meter().ok(),
        _ => None,
    };
    if meter.is_none() {
        notes.push(format!(
            "{} has no control group: its CPU use while other servers had the load was not watched",
            server.name
        ));
    }
    meter
}

/// A watcher on a thread of its own. Dropping it stops it.
struct Watch {
    watcher: Option<Watcher>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Seen>>,
    /// What it saw, if it has ended before the load.
    seen: Option<Seen>,
}

impl Observer for Watch {
    fn begin(&mut self, start: Instant) {
        let Some(watcher) = self.watcher.take() else { return };
        let watcher = Watcher { start, ..watcher };
        let thread =
            std::thread::Builder::new().name("watcher".to_owned()).spawn(|| watcher.watch());
        self.thread = thread.ok();
    }

    fn over(&mut self) {
        // The last slot has just ended, and is read.
        std::thread::sleep(LAST);
        self.seen = self.stop();
    }

    fn end(&mut self, _: &mut Sampling, found: &mut Found) {
        let seen = self.seen.take().or_else(|| self.stop());
        found.seen = Some(seen.unwrap_or_else(|| Seen {
            notes: vec!["idle servers were not watched: could not start a thread".to_owned()],
            ..Seen::default()
        }));
    }
}

impl Watch {
    fn stop(&mut self) -> Option<Seen> {
        drop(self.stop.take());
        self.thread.take()?.join().ok()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop();
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
        // As with the clients: sleeps end within a microsecond or so of their time.
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

    /// Sleeps until a time after the start; returns true if the watch was ended before.
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

/// Turns two marks into the reading of a slot. `None` if the watcher came too late to see at least
/// half of it.
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

/// Seconds that clients and the processes that serve them waited for a CPU, without the time in
/// which the server's other processes may have had it.
fn crowded(target: usize, opened: &Mark, closed: &Mark) -> Option<f64> {
    let (before, after) = (opened.waited?, closed.waited?);
    let own = closed.cpu.get(target).copied()??.saturating_sub(opened.cpu.get(target).copied()??);
    let others = own.saturating_sub(after.ran.saturating_sub(before.ran));
    let clients = opened.clients.zip(closed.clients);
    let clients = clients.map(|(before, after)| after.waited.saturating_sub(before.waited));
    let waited = after.waited.saturating_sub(before.waited) + clients.unwrap_or_default();
    Some(waited.saturating_sub(others).as_secs_f64())
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
        // The late reading excuses no other server.
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
}
