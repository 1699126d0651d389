//! Watches for some seconds what others do on the machine: the hypervisor, and other processes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use probe::{Sampler, Targets, Topology, block_device_of};

use crate::{Finding, State};

/// Shares above which there is a warning, and above which results are spoiled. They are of all CPUs
/// for steal, like `steal_limit` in plans, and of one CPU for other processes.
const STEAL: [f64; 2] = [0.01, 0.05];
const OTHERS: [f64; 2] = [0.03, 0.25];

/// How many processes are named.
const NAMED: usize = 3;

/// Watches for so long; `data_dir` is on the device that is watched.
pub fn watch(data_dir: &Path, length: Duration) -> Vec<Finding> {
    let device = block_device_of(data_dir);
    let watched = device.is_some();
    let before = processes();
    let begin = Instant::now();
    let targets = Targets { device, dbms: None, driver: false };
    let sampler = Sampler::start(targets, begin, Duration::from_secs(1));
    sleep(length);
    let totals = sampler.stop().totals;
    let seconds = begin.elapsed().as_secs_f64();
    // A limit on this process's CPU time has nothing to do with time lost by the machine.
    let cpus = Topology::here().map_or(1, |topology| topology.cpus().len()) as f64;
    let steal = totals.host.as_ref().map(|host| host.steal_s / seconds / cpus);
    let busy = others(&before, &processes(), seconds);
    let storage = totals.device.filter(|_| watched);
    vec![
        stolen(steal),
        crowded(&busy),
        used(storage.map(|device| (device.read_kb + device.write_kb) / seconds)),
    ]
}

fn graded(share: f64, [told, spoils]: [f64; 2]) -> State {
    match share {
        share if share < told => State::Ok,
        share if share < spoils => State::Warn,
        _ => State::Fail,
    }
}

/// Steal as a share of all CPUs.
fn stolen(share: Option<f64>) -> Finding {
    let Some(share) = share else {
        return Finding::new("steal", State::Unknown, "/proc/stat doesn't say");
    };
    Finding::new("steal", graded(share, STEAL), format!("{:.1}%", 100.0 * share)).advise(
        "the hypervisor gives this CPU time to others, unevenly",
        "another machine or another hour; run repeats polluted trials (steal_limit)",
    )
}

/// Other processes, the busiest first: name and share of one CPU.
fn crowded(busy: &[(String, f64)]) -> Finding {
    let share = busy.iter().map(|(_, share)| share).sum();
    let named = busy.iter().take(NAMED).filter(|(_, share)| *share >= 0.005);
    let named: Vec<String> =
        named.map(|(name, share)| format!("{name} {:.1}%", 100.0 * share)).collect();
    let said = match named.as_slice() {
        [] => format!("{:.1}% of a CPU", 100.0 * share),
        named => format!("{:.1}% of a CPU: {}", 100.0 * share, named.join(", ")),
    };
    Finding::new("other processes", graded(share, OTHERS), said).advise(
        "they take CPU and cache from servers and clients, not always the same ones",
        "stop them, or measure later",
    )
}

/// KB per second that others read and write.
fn used(rate: Option<f64>) -> Finding {
    const NAME: &str = "storage in use";
    /// Logs write some KB from time to time.
    const MOST: f64 = 500.0;
    let Some(rate) = rate else {
        return Finding::new(NAME, State::Unknown, "the data is on no block device");
    };
    let state = if rate > MOST { State::Warn } else { State::Ok };
    Finding::new(NAME, state, format!("{rate:.0} KB/s")).advise(
        "others read or write on the device of the data",
        "wait until they are done: iotop shows them",
    )
}

/// The processes, by pid, kernel threads among them.
fn processes() -> BTreeMap<u32, Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let own = std::process::id();
    let read = |pid| Some((pid, parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?));
    pids.filter(|pid| *pid != own).filter_map(read).collect()
}

/// A process at some time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Process {
    /// Kernel threads change it.
    name: String,
    /// When it began; another process with its pid began later.
    began: u64,
    /// CPU time in clock ticks.
    used: u64,
}

/// From `/proc/PID/stat` (proc(5): fields 2, 14, 15 and 22).
fn parse(stat: &str) -> Option<Process> {
    let (before, after) = stat.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = after.split_ascii_whitespace().collect();
    // The first of them is field 3.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(Process { name, began: field(22)?, used: field(14)? + field(15)? })
}

/// The CPU time that processes used between two readings, as shares of one CPU, the busiest first.
fn others(
    before: &BTreeMap<u32, Process>,
    after: &BTreeMap<u32, Process>,
    seconds: f64,
) -> Vec<(String, f64)> {
    let ticks = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK);
    let ticks = ticks.ok().flatten().unwrap_or(100) as f64;
    let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
    for (pid, now) in after {
        let earlier = before.get(pid).filter(|it| it.began == now.began).map_or(0, |it| it.used);
        *by_name.entry(&now.name).or_default() += now.used.saturating_sub(earlier);
    }
    let share = |(name, used): (&str, u64)| (name.to_owned(), used as f64 / ticks / seconds);
    let mut busy: Vec<_> = by_name.into_iter().filter(|(_, used)| *used > 0).map(share).collect();
    busy.sort_by(|a, b| b.1.total_cmp(&a.1));
    busy
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let stat = "17 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 40 2 0 0 20 0 1 0 99 5";
        let process = Process { name: "a) b (c".to_owned(), began: 99, used: 42 };
        assert_eq!(parse(stat), Some(process));
        assert_eq!(parse("17 (a"), None);
    }

    #[test]
    fn who_is_busy_is_named() {
        let of = |list: &[(u32, &str, u64, u64)]| {
            let process = |(pid, name, began, used): &(u32, &str, u64, u64)| {
                (*pid, Process { name: (*name).to_owned(), began: *began, used: *used })
            };
            list.iter().map(process).collect()
        };
        // One changes its name, another pid is used again.
        let before = of(&[(1, "init", 1, 500), (2, "kworker:a", 1, 70_000), (3, "gone", 5, 90)]);
        let after = of(&[
            (1, "init", 1, 500),
            (2, "kworker:b", 1, 70_000),
            (3, "new", 9, 250),
            (4, "new", 9, 150),
            (5, "small", 9, 2),
        ]);
        let busy = others(&before, &after, 10.0);
        assert_eq!(busy[0].0, "new");
        assert!((busy[0].1 - 0.4).abs() < 1e-9, "{busy:?}");
        let finding = crowded(&busy);
        assert_eq!(finding.state, State::Fail);
        assert_eq!(finding.found, "40.2% of a CPU: new 40.0%");
        assert_eq!(crowded(&[]).state, State::Ok);
    }

    #[test]
    fn steal_is_graded() {
        let of = |share| stolen(share).state;
        assert_eq!(
            [of(Some(0.001)), of(Some(0.03)), of(Some(0.3)), of(None)],
            [State::Ok, State::Warn, State::Fail, State::Unknown]
        );
        assert_eq!(used(Some(9_000.0)).state, State::Warn);
    }

    #[test]
    fn a_busy_loop_beside_it_is_named() {
        let mut busy = std::process::Command::new("sh");
        let mut busy = busy.args(["-c", "while :; do :; done"]).spawn().unwrap();
        let used = |now: &BTreeMap<u32, Process>| now.get(&busy.id()).map_or(0, |it| it.used);
        let (before, begin) = (processes(), Instant::now());
        let mut after = before.clone();
        // However little the others leave it.
        while used(&after) < used(&before) + 20 {
            sleep(Duration::from_millis(50));
            after = processes();
        }
        let seconds = begin.elapsed().as_secs_f64();
        let least = (used(&after) - used(&before)) as f64 / 100.0 / seconds;
        busy.kill().unwrap();
        busy.wait().unwrap();
        let found = others(&before, &after, seconds);
        // Other tests may have shells, too.
        let share = found.iter().find(|(name, _)| name == "sh").map(|(_, share)| *share);
        assert!(share.is_some_and(|share| share > 0.99 * least), "{found:?}, not {least}");
    }

    #[test]
    fn the_machine_is_watched() {
        let found = watch(Path::new("."), Duration::from_millis(300));
        let names: Vec<&str> = found.iter().map(|finding| finding.name.as_str()).collect();
        assert_eq!(names, ["steal", "other processes", "storage in use"]);
    }
}
