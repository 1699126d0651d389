//! The real perf on a busy process.
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use metrics::SCHEDULER_EVENTS;
use probe::perf::{CallGraph, FREQUENCY, Perf, PerfError, Scope, Uncountable};

/// A shell that counts.
struct Busy(Child);

impl Busy {
    fn start() -> Busy {
        let mut command = Command::new("sh");
        command.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
        Busy(command.spawn().unwrap())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The machine's perf; if it can't be used, the test says so and does nothing.
fn perf() -> Option<Perf> {
    match Perf::find() {
        Ok(perf) => Some(perf),
        Err(error @ (PerfError::NotInstalled | PerfError::NotPermitted { .. })) => {
            testing::skip(error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn samples(folded: &str) -> u64 {
    folded.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
}

#[test]
fn the_abilities_of_perf_are_found() {
    let Some(perf) = perf() else { return };
    assert!(perf.version.starts_with(|c: char| c.is_ascii_digit()), "{}", perf.version);
    let has = |event| perf.counters.iter().any(|counter| counter == event);
    assert!(has("task-clock") && has("page-faults"), "{:?}", perf.counters);
    // It happens in the kernel.
    assert_eq!(has("context-switches"), !perf.user_only, "{:?}", perf.counters);
    let cycles = perf.counters.iter().any(|counter| counter == "cycles");
    assert_eq!(perf.event == "cycles", cycles);
    let known = perf.counters.len() + perf.missing.len();
    assert_eq!(known, metrics::STEP_EVENTS.len());
}

#[test]
fn samples_are_as_many_as_there_was_work() {
    let Some(perf) = perf() else { return };
    for method in [CallGraph::FramePointers, CallGraph::Dwarf] {
        let busy = Busy::start();
        let directory = tempfile::tempdir().unwrap();
        // perf takes a while to begin, and longer if the CPU is busy.
        let (most, folded) = [1, 4, 16]
            .into_iter()
            .find_map(|seconds| {
                let begin = Instant::now();
                let recorder = perf.record(&[busy.0.id()], method, directory.path()).unwrap();
                std::thread::sleep(Duration::from_secs(seconds));
                let recorded = recorder.stop().unwrap();
                let most = begin.elapsed().as_secs_f64() * f64::from(FREQUENCY) * 1.1;
                match recorded.fold(&perf, Duration::from_secs(60)) {
                    Err(PerfError::NoSamples) => None,
                    folded => Some((most, folded.unwrap())),
                }
            })
            .expect("samples within 16 seconds");
        let found = samples(&folded) as f64;
        assert!(folded.lines().all(|line| line.starts_with("sh;")), "{folded}");
        assert!((1.0..most).contains(&found), "{found} of {most} {method:?}\n{folded}");
        assert!(!directory.path().join("perf.data").exists(), "samples are removed");
    }
}

#[test]
fn idle_processes_have_no_samples() {
    let Some(perf) = perf() else { return };
    let directory = tempfile::tempdir().unwrap();
    let mut sleeper = Command::new("sleep").arg("60").spawn().unwrap();
    let recorder = perf.record(&[sleeper.id()], CallGraph::Dwarf, directory.path()).unwrap();
    std::thread::sleep(Duration::from_millis(800));
    let found = recorder.stop().and_then(|recorded| recorded.fold(&perf, Duration::from_secs(60)));
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    assert!(matches!(found, Err(PerfError::NoSamples)), "{found:?}");
}

#[test]
fn a_missing_process_is_reported() {
    let Some(perf) = perf() else { return };
    let directory = tempfile::tempdir().unwrap();
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let error = perf.count(&[gone.id()], directory.path()).unwrap_err();
    assert!(matches!(error, PerfError::Failed { .. }), "{error}");
}

#[test]
fn events_are_counted_while_they_are_wanted() {
    let Some(perf) = perf() else { return };
    let busy = Busy::start();
    let directory = tempfile::tempdir().unwrap();
    let mut counting = perf.count(&[busy.0.id()], directory.path()).unwrap();
    // Nothing before it is told to.
    std::thread::sleep(Duration::from_millis(400));
    let mut wanted = Duration::ZERO;
    for _ in 0..2 {
        let begin = Instant::now();
        counting.resume().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        counting.pause().unwrap();
        wanted += begin.elapsed();
        std::thread::sleep(Duration::from_millis(400));
    }
    let counts = counting.finish().unwrap();
    let clock = counts.iter().find(|(event, _)| event == "task-clock").unwrap().1;
    let wanted = wanted.as_secs_f64() * 1000.0;
    // A busy machine gives the shell less than all of the time.
    assert!((1.0..wanted * 1.1).contains(&clock), "{clock} of {wanted} ms: {counts:?}");
    assert_eq!(counts.len(), perf.counters.len(), "{counts:?}");
}

#[test]
fn later_children_are_counted_too() {
    let Some(perf) = perf() else { return };
    let mut shell = Command::new("sh")
        .args(["-c", "read x; timeout 1 sh -c 'while :; do :; done'; echo done; exec sleep 600"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut counting = perf.count(&[shell.id()], directory.path()).unwrap();
    counting.resume().unwrap();
    drop(shell.stdin.take());
    let mut said = String::new();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let counts = counting.finish().unwrap();
    shell.kill().unwrap();
    shell.wait().unwrap();
    assert_eq!(said, "done\n");
    // The part of the busy second in which the child had a CPU.
    let clock = counts.iter().find(|(event, _)| event == "task-clock").unwrap().1;
    assert!(clock > 20.0, "{counts:?}");
}

#[test]
fn nothing_runs_on_when_it_is_dropped() {
    let Some(perf) = perf() else { return };
    let busy = Busy::start();
    let directory = tempfile::tempdir().unwrap();
    let counting = perf.count(&[busy.0.id()], directory.path()).unwrap();
    let recorder = perf.record(&[busy.0.id()], CallGraph::Dwarf, directory.path()).unwrap();
    let at_work = || {
        let here = |pid: u32| std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        let found: Vec<PathBuf> = probe::members(std::process::id())
            .unwrap()
            .into_iter()
            .map(here)
            .filter(|cwd| cwd == directory.path())
            .collect();
        found.len()
    };
    let begin = Instant::now();
    while at_work() != 2 {
        assert!(begin.elapsed() < Duration::from_secs(600), "{} of 2 are at work", at_work());
        std::thread::sleep(Duration::from_millis(10));
    }
    drop((counting, recorder));
    assert_eq!(at_work(), 0);
}

/// Two threads that wake each other: each turn is a switch for each.
struct PingPong {
    tids: [u32; 2],
    threads: Vec<std::thread::JoinHandle<()>>,
    end: std::sync::Arc<std::sync::atomic::AtomicBool>,
}

impl PingPong {
    fn start() -> PingPong {
        use std::io::{Read, Write};
        use std::os::unix::net::UnixStream;
        use std::sync::atomic::Ordering;
        let end = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let (first, second) = UnixStream::pair().unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = |mut socket: UnixStream, begins: bool| {
            let (end, tell) = (end.clone(), tell.clone());
            std::thread::spawn(move || {
                tell.send(nix::unistd::gettid().as_raw() as u32).unwrap();
                if begins {
                    socket.write_all(b"x").unwrap();
                }
                // Ends with the other's end.
                while !end.load(Ordering::Relaxed) {
                    let read = socket.read_exact(&mut [0]).is_ok();
                    if !read || socket.write_all(b"x").is_err() {
                        break;
                    }
                }
            })
        };
        let threads = vec![thread(first, true), thread(second, false)];
        PingPong { tids: [told.recv().unwrap(), told.recv().unwrap()], threads, end }
    }
}

impl Drop for PingPong {
    fn drop(&mut self) {
        self.end.store(true, std::sync::atomic::Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[test]
fn the_scheduler_is_counted_for_threads_and_for_the_machine() {
    let Some(perf) = perf() else { return };
    let load = PingPong::start();
    let mut sums = Vec::new();
    for scope in [Scope::Threads(&load.tids), Scope::Machine] {
        let countable = perf.countable(&SCHEDULER_EVENTS, scope).unwrap();
        assert_eq!(countable.events.len() + countable.absent.len(), SCHEDULER_EVENTS.len());
        for absent in &countable.absent {
            assert!(!matches!(absent, Uncountable::Failed { .. }), "{absent}");
        }
        if countable.events.is_empty() {
            return testing::skip(format!("{:?}", countable.absent));
        }
        let directory = tempfile::tempdir().unwrap();
        let mut counting = perf.count_events(&countable.events, scope, directory.path()).unwrap();
        counting.resume().unwrap();
        std::thread::sleep(Duration::from_millis(500));
        counting.pause().unwrap();
        let counts = counting.finish().unwrap();
        let names: Vec<&String> = counts.iter().map(|(event, _)| event).collect();
        assert_eq!(names, countable.events.iter().collect::<Vec<_>>(), "{scope:?}");
        sums.push(counts[0].1);
    }
    // A busy machine runs them less often.
    assert!(sums[0] > 100.0 && sums[1] > 100.0, "{sums:?}");
}

#[test]
fn threads_are_counted_without_their_siblings() {
    let Some(perf) = perf() else { return };
    let load = PingPong::start();
    let quiet = [nix::unistd::gettid().as_raw() as u32];
    let own = [std::process::id()];
    let mut counts = Vec::new();
    for scope in [Scope::Threads(&quiet), Scope::Threads(&load.tids), Scope::Processes(&own)] {
        let countable = perf.countable(&["context-switches"], scope).unwrap();
        if let Some(absent) = countable.absent.first() {
            return testing::skip(absent);
        }
        let directory = tempfile::tempdir().unwrap();
        let mut counting = perf.count_events(&countable.events, scope, directory.path()).unwrap();
        counting.resume().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        counting.pause().unwrap();
        counts.push(counting.finish().unwrap().first().map_or(0.0, |count| count.1));
    }
    // This one only slept and asked perf.
    assert!(counts[0] < 50.0 && counts[1] > 100.0 && counts[2] > 100.0, "{counts:?}");
}

#[test]
fn an_unknown_event_does_not_hinder_the_others() {
    let Some(perf) = perf() else { return };
    let busy = Busy::start();
    let pids = [busy.0.id()];
    let scope = Scope::Processes(&pids);
    let events = ["task-clock", "nosuch:event", "no-such-event"];
    let countable = perf.countable(&events, scope).unwrap();
    let absent: Vec<&str> = countable.absent.iter().map(Uncountable::event).collect();
    if nix::unistd::geteuid().is_root() {
        assert_eq!(countable.events, ["task-clock"]);
        assert_eq!(absent, events[1..]);
        assert!(matches!(countable.absent[0], Uncountable::Unknown { .. }), "{countable:?}");
    }
    assert!(matches!(countable.absent.last(), Some(Uncountable::Unknown { .. })), "{countable:?}");
}

#[test]
fn without_permission_every_event_has_its_reason() {
    if testing::given().is_some() {
        // As another user.
        let perf = match Perf::find() {
            Err(PerfError::NotPermitted { .. }) => return,
            found => found.unwrap(),
        };
        let own = [std::process::id()];
        let countable = perf.countable(&SCHEDULER_EVENTS, Scope::Processes(&own)).unwrap();
        for absent in &countable.absent {
            match absent {
                Uncountable::NoTracefs { event } => assert!(event.contains(':'), "{absent}"),
                Uncountable::NotPermitted { most: 1, paranoid, .. } => assert!(*paranoid > 1),
                Uncountable::Unknown { event } => assert_eq!(event, "ipi:ipi_send_cpu"),
                other => panic!("{other}"),
            }
        }
        if perf.user_only {
            assert!(countable.events.is_empty(), "{countable:?}");
            assert!(!perf.counters.iter().any(|counter| counter == "context-switches"));
        }
        return;
    }
    if perf().is_none() {
        return;
    }
    if !nix::unistd::geteuid().is_root() {
        return testing::skip("needs root, to become another user");
    }
    let before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
    match testing::again(&before, std::path::Path::new("unprivileged")).output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => testing::skip(format!("setpriv cannot be run: {error}")),
    }
}
