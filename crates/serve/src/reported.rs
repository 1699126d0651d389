//! Runs under way on other machines, as they report.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use archive::SILENCE;
use site::live::LiveRun;

/// Runs of a machine that are known at once.
const MOST: usize = 20;

/// What each reported last, and when, by machine, process and beginning.
type Runs = BTreeMap<(String, u32, i64), (LiveRun, Instant)>;

/// Runs of other machines.
#[derive(Debug, Default)]
pub(crate) struct Reported(Mutex<Runs>);

impl Reported {
    /// A run of a machine reports. False if there are too many of that machine.
    pub(crate) fn add(&self, machine: &str, run: LiveRun) -> bool {
        let now = Instant::now();
        let key = (machine.to_owned(), run.process, run.began_ms);
        // Its number is that in the results of its machine.
        let run = LiveRun { machine: Some(machine.to_owned()), experiment: None, ..run };
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.retain(|_, (_, heard)| now.duration_since(*heard) < SILENCE);
        let known = runs.keys().filter(|(other, ..)| other == machine).count();
        if known >= MOST && !runs.contains_key(&key) {
            return false;
        }
        runs.insert(key, (run, now));
        true
    }

    /// A run of a machine has ended.
    pub(crate) fn end(&self, machine: &str, process: u32, began_ms: i64) {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.remove(&(machine.to_owned(), process, began_ms));
    }

    /// The runs that are under way at this moment.
    pub(crate) fn runs(&self, now: Instant) -> Vec<LiveRun> {
        let runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let live = runs.values().filter(|(_, heard)| now.duration_since(*heard) < SILENCE);
        live.map(|(run, _)| run.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(process: u32, done: u64) -> LiveRun {
        LiveRun { process, done, experiment: Some(7), ..LiveRun::default() }
    }

    #[test]
    fn a_run_is_known_until_it_ends_or_is_silent() {
        let reported = Reported::default();
        assert!(reported.add("ci-1", run(5, 1)) && reported.add("ci-2", run(5, 9)));
        assert!(reported.add("ci-1", run(5, 2)));
        let now = Instant::now();
        let known = |now| {
            let runs = reported.runs(now).into_iter();
            runs.map(|run| (run.machine.unwrap(), run.done, run.experiment)).collect::<Vec<_>>()
        };
        assert_eq!(known(now), [("ci-1".to_owned(), 2, None), ("ci-2".to_owned(), 9, None)]);
        assert_eq!(known(now + SILENCE), []);
        reported.end("ci-1", 5, 0);
        assert_eq!(known(now), [("ci-2".to_owned(), 9, None)]);
    }

    #[test]
    fn a_machine_has_a_limited_number_of_runs() {
        let reported = Reported::default();
        for process in 0..MOST as u32 {
            assert!(reported.add("ci-1", run(process, 0)));
        }
        assert!(!reported.add("ci-1", run(MOST as u32, 0)), "one too many");
        assert!(reported.add("ci-1", run(1, 0)), "it is known");
        assert!(reported.add("ci-2", run(1, 0)), "it is another machine");
    }
}
