//! Measures the machine at its best: how evenly it does the same work, how fast it wakes up, and
//! how long a write takes to be safe.

use std::fs::{self, OpenOptions};
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::{Finding, State};

/// Rounds of the loop, about 10 µs: shorter than most interruptions.
const ROUNDS: u64 = 10_000;
/// A loop that takes this much longer than the fastest was interrupted.
const INTERRUPTED: Duration = Duration::from_micros(10);
/// Wake-ups and sleeps that are measured.
const WAKES: usize = 5_000;
/// How long a sleep is asked to be.
const NAP: Duration = Duration::from_micros(200);

/// Measures for about this long, with files in `data_dir`. Nothing else should run.
pub fn noise(data_dir: &Path, length: Duration) -> Vec<Finding> {
    let cpus = usable();
    let loops = on_each(&cpus, length / 2);
    let mut findings = vec![evenness(&loops), detours(&loops)];
    findings.push(naps());
    findings.push(wakes(&cpus));
    findings.push(syncs(data_dir, length / 2));
    findings
}

/// The CPUs that this process may use.
fn usable() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else { return vec![0] };
    (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false)).collect()
}

/// Keeps the calling thread on one CPU, if that is allowed.
fn pin(cpu: usize) {
    let mut set = CpuSet::new();
    if set.set(cpu).is_ok() {
        // Otherwise the figures say more about moves between CPUs; that is noise, too.
        let _ = sched_setaffinity(Pid::from_raw(0), &set);
    }
}

/// The loops of one CPU.
#[derive(Debug, Default)]
struct Loops {
    cpu: usize,
    fastest: Duration,
    median: Duration,
    longest: Duration,
    /// Share of the time that interruptions took.
    lost: f64,
    /// Interruptions per second.
    detours: f64,
}

/// Runs the same small loop on all CPUs at once.
fn on_each(cpus: &[usize], length: Duration) -> Vec<Loops> {
    let run = |cpu: usize| {
        thread::spawn(move || {
            pin(cpu);
            let begin = Instant::now();
            let mut times = Vec::with_capacity(1 << 20);
            let mut before = begin;
            while before - begin < length {
                let mut sum = 0_u64;
                for round in 0..ROUNDS {
                    sum = black_box(sum.wrapping_mul(31).wrapping_add(round));
                }
                let now = Instant::now();
                times.push(now - before);
                before = now;
            }
            summary(cpu, times)
        })
    };
    let threads: Vec<_> = cpus.iter().copied().map(run).collect();
    threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
}

fn summary(cpu: usize, mut times: Vec<Duration>) -> Loops {
    times.sort_unstable();
    let (Some(fastest), Some(longest)) = (times.first().copied(), times.last().copied()) else {
        return Loops { cpu, ..Loops::default() };
    };
    let median = times[times.len() / 2];
    let late = times.iter().map(|time| *time - fastest).filter(|late| *late > INTERRUPTED);
    let (count, lost) =
        late.fold((0, Duration::ZERO), |(count, lost), late| (count + 1, lost + late));
    let all: Duration = times.iter().sum();
    Loops {
        cpu,
        fastest,
        median,
        longest,
        lost: lost.as_secs_f64() / all.as_secs_f64(),
        detours: f64::from(count) / all.as_secs_f64(),
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Checks if all CPUs are equally fast.
fn evenness(loops: &[Loops]) -> Finding {
    const NAME: &str = "speed of the CPUs";
    if loops.is_empty() {
        return Finding::new(NAME, State::Unknown, "no loop ran");
    }
    let medians: Vec<f64> = loops.iter().map(|it| micros(it.median)).collect();
    let low = medians.iter().copied().fold(f64::INFINITY, f64::min);
    let high = medians.iter().copied().fold(0.0, f64::max);
    let spread = high / low - 1.0;
    let state = if spread < 0.02 { State::Ok } else { State::Warn };
    let said = format!("the same loop takes {low:.2} to {high:.2} µs ({:.1}%)", 100.0 * spread);
    Finding::new(NAME, state, said).advise(
        "what a server gets depends on which CPU it runs on",
        "pin the governor, turn off boost and SMT; compare only by paired blocks",
    )
}

/// The share of the time that something other than the loop used.
fn detours(loops: &[Loops]) -> Finding {
    let Some(worst) = loops.iter().max_by(|a, b| a.lost.total_cmp(&b.lost)) else {
        return Finding::new("detours", State::Unknown, "no loop ran");
    };
    let state = match worst.lost {
        lost if lost < 0.005 => State::Ok,
        lost if lost < 0.05 => State::Warn,
        _ => State::Fail,
    };
    let said = format!(
        "CPU {}: {:.2}% of the time in {:.0} interruptions per second, the longest {:.0} µs",
        worst.cpu,
        100.0 * worst.lost,
        worst.detours,
        micros(worst.longest - worst.fastest),
    );
    Finding::new("detours", state, said).advise(
        "interrupts, other processes or the hypervisor take the CPU from a loop that does nothing \
         else",
        "find who: perf trace, /proc/interrupts; a quieter machine",
    )
}

/// A quantile of sorted times.
fn quantile(times: &[Duration], share: f64) -> Duration {
    let place = (times.len() as f64 * share) as usize;
    times.get(place.min(times.len().saturating_sub(1))).copied().unwrap_or_default()
}

/// How late a sleep ends.
fn naps() -> Finding {
    let late = (0..WAKES / 5).map(|_| {
        let begin = Instant::now();
        thread::sleep(NAP);
        begin.elapsed().saturating_sub(NAP)
    });
    let mut late: Vec<Duration> = late.collect();
    late.sort_unstable();
    let (middle, high) = (micros(quantile(&late, 0.5)), micros(quantile(&late, 0.99)));
    let state = if middle < 150.0 && high < 1_000.0 { State::Ok } else { State::Warn };
    let said = format!("a sleep ends {middle:.0} µs late (p99: {high:.0})");
    Finding::new("timer slack", state, said).advise(
        "paced clients send later than they should",
        "a kernel with high-resolution timers; no deep idle states",
    )
}

/// How long it takes to wake a thread on another CPU.
fn wakes(cpus: &[usize]) -> Finding {
    const NAME: &str = "wake-ups";
    let (Some(first), Some(last)) = (cpus.first().copied(), cpus.last().copied()) else {
        return Finding::new(NAME, State::Unknown, "no CPU is known");
    };
    match round_trips(first, last) {
        Err(error) => Finding::new(NAME, State::Unknown, error.to_string()),
        Ok(mut times) => {
            times.sort_unstable();
            // There and back are two.
            let each = |share| micros(quantile(&times, share)) / 2.0;
            let state =
                if each(0.5) < 30.0 && each(0.99) < 300.0 { State::Ok } else { State::Warn };
            let (middle, high) = (each(0.5), each(0.99));
            let said = format!("{middle:.1} µs from CPU {first} to {last} (p99: {high:.0})");
            Finding::new(NAME, state, said).advise(
                "each answer of a server wakes a client: short queries take mostly that",
                "no deep idle states; on virtual machines, another kind of machine",
            )
        }
    }
}

/// Times of messages between two threads and back.
fn round_trips(first: usize, second: usize) -> io::Result<Vec<Duration>> {
    let (mut here, mut there) = UnixStream::pair()?;
    let echo = thread::spawn(move || -> io::Result<()> {
        pin(second);
        let mut byte = [0];
        while there.read(&mut byte)? > 0 {
            there.write_all(&byte)?;
        }
        Ok(())
    });
    let ask = thread::spawn(move || -> io::Result<Vec<Duration>> {
        pin(first);
        let mut byte = [0];
        let mut times = Vec::with_capacity(WAKES);
        for _ in 0..WAKES {
            let begin = Instant::now();
            here.write_all(&byte)?;
            here.read_exact(&mut byte)?;
            times.push(begin.elapsed());
        }
        Ok(times)
    });
    let times = ask.join().map_err(|_| io::Error::other("a thread panicked"))?;
    let _ = echo.join();
    times
}

/// How long a write of 4 KB takes to be safe, in a file that exists only for this.
fn syncs(data_dir: &Path, length: Duration) -> Finding {
    const NAME: &str = "fsync";
    match sync_times(data_dir, length) {
        Err(error) => {
            let said = format!("no file in {}: {error}", data_dir.display());
            Finding::new(NAME, State::Unknown, said)
        }
        Ok(mut times) => {
            times.sort_unstable();
            let at = |share| micros(quantile(&times, share)) / 1_000.0;
            let state = match (at(0.5), at(0.99)) {
                (_, high) if high < 20.0 => State::Ok,
                _ => State::Warn,
            };
            let said = format!(
                "{:.2} ms for 4 KB (p99: {:.2}, longest {:.1})",
                at(0.5),
                at(0.99),
                at(1.0)
            );
            Finding::new(NAME, state, said).advise(
                "each commit waits for it",
                "a device with power-loss protection; nothing else on it",
            )
        }
    }
}

fn sync_times(data_dir: &Path, length: Duration) -> io::Result<Vec<Duration>> {
    /// Blocks of the file, written in turn.
    const BLOCKS: u64 = 256;
    // It may not have been made yet.
    let existing = data_dir.ancestors().find(|path| path.is_dir()).unwrap_or(data_dir);
    let path = existing.join(format!(".steelyard-doctor-{}", std::process::id()));
    let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
    let measure = || -> io::Result<Vec<Duration>> {
        file.set_len(BLOCKS * 4096)?;
        file.sync_all()?;
        let mut times = Vec::new();
        let begin = Instant::now();
        for block in (0..BLOCKS).cycle() {
            let before = Instant::now();
            file.write_all_at(&[7; 4096], block * 4096)?;
            file.sync_data()?;
            times.push(before.elapsed());
            if begin.elapsed() > length {
                break;
            }
        }
        Ok(times)
    };
    let times = measure();
    fs::remove_file(&path)?;
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interruptions_are_what_is_above_the_fastest() {
        let us = Duration::from_micros;
        let mut times = vec![us(10); 980];
        times.extend([us(15); 10]);
        times.extend([us(1_010); 10]);
        let found = summary(3, times);
        assert_eq!((found.cpu, found.fastest, found.median), (3, us(10), us(10)));
        assert_eq!(found.longest, us(1_010));
        assert!((found.lost - 10_000.0 / 20_050.0).abs() < 1e-6, "{found:?}");
        assert_eq!(detours(&[found]).state, State::Fail);
        assert_eq!(detours(&[]).state, State::Unknown);
    }

    #[test]
    fn unequal_cpus_are_told() {
        let of = |us| Loops { median: Duration::from_micros(us), ..Loops::default() };
        assert_eq!(evenness(&[of(100), of(101)]).state, State::Ok);
        assert_eq!(evenness(&[of(100), of(130)]).state, State::Warn);
        assert_eq!(evenness(&[]).state, State::Unknown);
    }

    #[test]
    fn the_machine_is_measured_and_nothing_stays() {
        let directory = tempfile::tempdir().unwrap();
        let found = noise(directory.path(), Duration::from_millis(300));
        let names: Vec<&str> = found.iter().map(|finding| finding.name.as_str()).collect();
        assert_eq!(names, ["speed of the CPUs", "detours", "timer slack", "wake-ups", "fsync"]);
        assert!(found.iter().all(|finding| finding.state != State::Unknown), "{found:#?}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        let below = syncs(&directory.path().join("none"), Duration::ZERO);
        assert_ne!(below.state, State::Unknown, "the directory above is there");
        assert_eq!(syncs(Path::new("/proc/none"), Duration::ZERO).state, State::Unknown);
    }
}
