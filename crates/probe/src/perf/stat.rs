//! Counts of events.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::control::{Control, Running};
use super::events::parse;
use super::{Perf, PerfError, Scope};

/// How long `perf stat` may take to attach to all processes.
const ATTACH: Duration = Duration::from_secs(10);
/// How long it may take to begin, pause or write its counts.
const ANSWER: Duration = Duration::from_secs(5);

/// Counts events of processes whenever it is not paused. Dropping it ends it without a result.
#[derive(Debug)]
pub struct Counting {
    running: Running,
    control: Control,
    counts: PathBuf,
}

impl Perf {
    /// Prepares to count the events of processes and whatever they start: all that this machine has
    /// of [`metrics::STEP_EVENTS`]. Nothing is counted before [`Counting::resume`].
    ///
    /// # Errors
    /// If `perf` cannot be started or does not answer.
    pub fn count(&self, pids: &[u32], directory: &Path) -> Result<Counting, PerfError> {
        let events: Vec<String> =
            self.counters.iter().map(|event| self.event_name(event)).collect();
        self.count_events(&events, Scope::Processes(pids), directory)
    }

    /// Prepares to count some events, which [`Perf::countable`] has found to be countable. Nothing
    /// is counted before [`Counting::resume`].
    ///
    /// # Errors
    /// If `perf` cannot be started or does not answer; for instance, if an event is unknown.
    pub fn count_events(
        &self,
        events: &[String],
        scope: Scope<'_>,
        directory: &Path,
    ) -> Result<Counting, PerfError> {
        let mut control = Control::make(directory)?;
        let counts = directory.join("counts");
        let mut command = self.command("stat");
        command.args(["-x,", "--delay=-1", "--event", &events.join(",")]);
        command.arg("--output").arg(&counts);
        command.args(["--control", &control.argument]);
        scope.add_to(&mut command);
        let mut running = Running::start(command, "stat", directory)?;
        // An answer means that it is attached.
        control.tell("disable", &mut running, ATTACH)?;
        Ok(Counting { running, control, counts })
    }
}

impl Counting {
    /// Starts counting.
    ///
    /// # Errors
    /// If `perf` has ended or does not answer.
    pub fn resume(&mut self) -> Result<(), PerfError> {
        self.control.tell("enable", &mut self.running, ANSWER)
    }

    /// Pauses counting.
    ///
    /// # Errors
    /// If `perf` has ended or does not answer.
    pub fn pause(&mut self) -> Result<(), PerfError> {
        self.control.tell("disable", &mut self.running, ANSWER)
    }

    /// Ends it. Returns events with their counts outside pauses. `task-clock` is in milliseconds.
    ///
    /// # Errors
    /// If `perf` does not end or has written nothing.
    pub fn finish(mut self) -> Result<Vec<(String, f64)>, PerfError> {
        self.running.interrupt();
        self.running.end(ANSWER)?;
        let text = fs::read_to_string(&self.counts).map_err(PerfError::io("read", &self.counts))?;
        let counts: Vec<_> = parse(&text)
            .into_iter()
            .filter_map(|count| Some((count.event, count.value?)))
            .collect();
        if counts.is_empty() {
            return Err(self.running.failed("counts of events"));
        }
        Ok(counts)
    }
}
