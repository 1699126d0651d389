//! The real perf on a busy process.
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use probe::perf::{CallGraph, FREQUENCY, Perf, PerfError};

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
    for event in ["task-clock", "context-switches", "page-faults"] {
        assert!(perf.counters.iter().any(|counter| counter == event), "{:?}", perf.counters);
    }
    let cycles = perf.counters.iter().any(|counter| counter == "cycles");
    assert_eq!(perf.event == "cycles", cycles);
    let known = perf.counters.len() + perf.missing.len();
    assert_eq!(known, probe::perf::COUNTERS.len());
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
        counting.resume().unwrap();
        let begin = Instant::now();
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
        assert!(begin.elapsed() < Duration::from_secs(60), "{} of 2 are at work", at_work());
        std::thread::sleep(Duration::from_millis(10));
    }
    drop((counting, recorder));
    assert_eq!(at_work(), 0);
}
