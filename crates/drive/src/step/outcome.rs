//! The outcome of a step.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use workload::{Class, Step};

use super::histogram::{empty, encoded};
use super::tally::{Late, Tally};
use crate::error::ErrorKind;
use crate::slices::slice::Slice;

/// As many kinds of failures are shown.
const SHOWN: usize = 3;

/// The outcome of a step on one target, over all its clients.
#[derive(Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The target's name.
    pub target: String,
    /// Measured seconds: the step's time, or until the last leading stream was done. With slices,
    /// the total of [`Outcome::slices`].
    pub seconds: f64,
    /// Operations of the class that the step counts. With slices, this includes operations that
    /// were not measured, and the rate comes from the slices; see [`Outcome::rate`].
    pub operations: u64,
    /// Each class of statements.
    pub classes: Vec<ClassOutcome>,
    /// User CPU time of the client threads, in microseconds.
    pub client_user_us: u64,
    /// System CPU time of the client threads, in microseconds.
    pub client_system_us: u64,
    /// Context switches of the client threads, voluntary and not.
    pub client_switches: u64,
    /// The measurements in the target's slots, by round; the same number for each target. Empty if
    /// there is only one target.
    pub slices: Vec<Slice>,
    /// In frozen slices, the milliseconds of a switch from one target to the next: the mean from
    /// the request to freeze the one until the other goes on. All times are then the target's own,
    /// and its slices are everything it was measured in. `None` otherwise.
    pub switch_ms: Option<f64>,
    /// The figures that a program reported; `None` if the clients are ours.
    pub reported: Option<Reported>,
    /// Errors, both retried and fatal.
    pub failures: Vec<Failure>,
    /// Why the step failed, if it did. Its figures are then not results.
    pub fatal: Option<String>,
    /// True if the step itself was the reason, so it fails at every attempt: too short for its
    /// slices, or a program whose output has no figures.
    pub unfit: bool,
}

/// Figures that another program reports; steelyard did not measure them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Reported {
    /// The judged value, in the unit of the step.
    pub value: f64,
    /// Other figures: name, value, unit.
    pub metrics: Vec<(String, f64, String)>,
    /// Its full output.
    pub printed: String,
}

/// How late scheduled statements began: the 99th percentiles, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Lag {
    /// Because of the client, which had nothing else to do.
    pub client_us: f64,
    /// Because the answer to the statement before had not come.
    pub server_us: f64,
}

/// The outcome of one class of statements.
#[derive(Debug, Serialize, Deserialize)]
pub struct ClassOutcome {
    /// The class.
    pub class: Class,
    /// Operations in the step's time: rows for inserts and deletes, statements for queries.
    pub operations: u64,
    /// Statements (rounds) in the step's time.
    pub statements: u64,
    /// Rows in results.
    pub rows: u64,
    /// Minimum number of rows that had to be in them, averaged over the drawn values.
    pub least_rows: f64,
    /// Scatter of `rows` about its expectation: an upper bound on the standard deviation.
    pub scatter: f64,
    /// Scheduled statements that did not begin in the step's time.
    pub missed: u64,
    /// How late the others began; `None` without a schedule.
    pub lag: Option<Lag>,
    /// Transactions of scripts, and statements of a log, that failed and don't count.
    pub failed: u64,
    /// Statements of a log that failed though they had not when it was written, or the other way
    /// round.
    pub differ: u64,
    /// Those that were skipped because they were late.
    pub skipped: u64,
    /// Those that took longer than they may, and count.
    pub late: u64,
    /// Operations in each second of the step's measured part, including the other targets' time.
    pub per_second: Vec<u64>,
    /// Longest latency in each second, in microseconds; 0 if nothing ended.
    pub worst_us: Vec<u32>,
    /// Latencies per statement in nanoseconds, of the measured part.
    #[serde(with = "super::histogram")]
    pub latency: Histogram<u64>,
    /// All of them together. The histogram knows each to 1% only.
    pub latency_ns: u64,
}

impl ClassOutcome {
    /// The mean latency in microseconds, exactly; `None` without any.
    pub fn mean_us(&self) -> Option<f64> {
        let count = self.latency.len();
        (count > 0).then(|| self.latency_ns as f64 / count as f64 / 1e3)
    }

    /// The same without these seconds, in which nothing was counted.
    pub(crate) fn without(mut self, seconds: &Range<u64>) -> ClassOutcome {
        let length = self.per_second.len();
        let place = |second: u64| usize::try_from(second).unwrap_or(length).min(length);
        let places = place(seconds.start)..place(seconds.end);
        // There is always at least one second, even an empty one.
        if places.len() < length {
            self.per_second.drain(places.clone());
            self.worst_us.drain(places);
        }
        self
    }

    /// The latencies in HDR histogram's V2 encoding (values in nanoseconds).
    pub fn serialized_latency(&self) -> Vec<u8> {
        encoded(&self.latency)
    }
}

/// An error that a server answered with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The class of the statement.
    pub class: Class,
    /// The system's code for it, such as an SQLSTATE; empty if it did not answer.
    pub code: String,
    /// Its meaning.
    pub kind: ErrorKind,
    /// The first message from the server.
    pub message: String,
    /// How often.
    pub count: u64,
    /// True if a retry succeeded.
    pub retried: bool,
}

impl Outcome {
    /// The last error that no retry cured.
    pub(crate) fn last_failure(&self) -> Option<&Failure> {
        self.failures.iter().rev().find(|failure| !failure.retried)
    }

    /// What went otherwise than when the log that the step sends again was written, if anything.
    pub fn unlike_log(&self, step: &Step) -> Option<String> {
        let statements = step.log?.statements;
        let ClassOutcome { differ, failed, .. } = self.class(&step.counted)?;
        let mut failures: Vec<&Failure> = self.failures.iter().filter(|it| !it.retried).collect();
        failures.sort_by_key(|failure| Reverse(failure.count));
        let shown = failures.iter().take(SHOWN);
        let shown = shown.map(|failure| format!("{} × {}", failure.count, failure.message));
        let shown: Vec<String> = shown.collect();
        let colon = if shown.is_empty() { "" } else { ": " };
        (*differ > 0).then(|| {
            format!(
                "{differ} of {statements} statements failed that had not in the log, or the other way round; {failed} failed{colon}{}",
                shown.join("; ")
            )
        })
    }

    /// An outcome without any figure.
    pub(crate) fn empty(target: &str) -> Outcome {
        Outcome {
            target: target.to_owned(),
            seconds: 0.0,
            operations: 0,
            classes: Vec::new(),
            client_user_us: 0,
            client_system_us: 0,
            client_switches: 0,
            slices: Vec::new(),
            switch_ms: None,
            reported: None,
            failures: Vec::new(),
            fatal: None,
            unfit: false,
        }
    }

    /// The outcome of a step whose clients' process ended before reporting one. All of them count
    /// as cut off.
    pub(crate) fn lost(target: &str, counted: &Class) -> Outcome {
        let message = "the process with the clients and the engine ended".to_owned();
        let failure = Failure {
            class: counted.clone(),
            code: String::new(),
            kind: ErrorKind::Disconnected,
            message: message.clone(),
            count: 1,
            retried: false,
        };
        Outcome { failures: vec![failure], fatal: Some(message), ..Outcome::empty(target) }
    }

    /// The figures of one class, if the step has it.
    pub fn class(&self, class: &Class) -> Option<&ClassOutcome> {
        self.classes.iter().find(|outcome| outcome.class == *class)
    }

    /// Operations per second in the measured time; 0 if nothing was measured.
    pub fn rate(&self) -> f64 {
        let operations = if self.slices.is_empty() {
            self.operations
        } else {
            self.slices.iter().map(|slice| slice.operations).sum()
        };
        if self.seconds > 0.0 { operations as f64 / self.seconds } else { 0.0 }
    }

    /// The judged value: the one that a program reports, otherwise [`Outcome::rate`].
    pub fn value(&self) -> f64 {
        self.reported.as_ref().map_or_else(|| self.rate(), |reported| reported.value)
    }

    /// True if its target was frozen while others had the load.
    pub fn is_frozen(&self) -> bool {
        self.switch_ms.is_some()
    }

    /// True if the target has the load in all of each second. In a second of a step in slices, it
    /// has the load for a part, more or less, unless the seconds are its own.
    pub fn has_whole_seconds(&self) -> bool {
        self.slices.is_empty() || self.is_frozen()
    }

    /// The retried errors.
    pub fn retries(&self) -> u64 {
        self.failures.iter().filter(|failure| failure.retried).map(|failure| failure.count).sum()
    }
}

impl ClassOutcome {
    /// A class of which only the operations in each second are known.
    pub(crate) fn of_seconds(class: &Class, operations: u64, per_second: Vec<u64>) -> ClassOutcome {
        let none = std::iter::empty();
        let worst_us = vec![0; per_second.len()];
        ClassOutcome { operations, per_second, worst_us, ..sum(class, none, 0.0) }
    }
}

/// Adds up the tallies of a class's streams, over `seconds` measured seconds.
pub fn sum<'a>(
    class: &Class,
    tallies: impl Iterator<Item = &'a Tally>,
    seconds: f64,
) -> ClassOutcome {
    let length = seconds.ceil().max(1.0) as usize;
    let mut sum = ClassOutcome {
        class: class.clone(),
        operations: 0,
        statements: 0,
        rows: 0,
        least_rows: 0.0,
        scatter: 0.0,
        missed: 0,
        lag: None,
        failed: 0,
        differ: 0,
        skipped: 0,
        late: 0,
        per_second: vec![0; length],
        worst_us: vec![0; length],
        latency: empty(),
        latency_ns: 0,
    };
    let mut begun: Option<[Histogram<u64>; 2]> = None;
    for tally in tallies {
        sum.operations += tally.operations;
        sum.statements += tally.rounds;
        sum.rows += tally.found.rows;
        sum.least_rows += tally.found.least;
        sum.scatter = sum.scatter.hypot(tally.found.variance.sqrt());
        sum.missed += tally.missed;
        sum.failed += tally.failed.iter().map(|(.., count)| count).sum::<u64>();
        sum.differ += tally.differ;
        sum.skipped += tally.skipped;
        sum.late += tally.late;
        for (place, second) in tally.seconds.iter().enumerate().take(length) {
            sum.per_second[place] += u64::from(second.operations);
            sum.worst_us[place] = sum.worst_us[place].max(second.worst_us);
        }
        add(&mut sum.latency, &tally.latency);
        sum.latency_ns = sum.latency_ns.saturating_add(tally.latency_ns);
        if let Some(Late { by_client, by_server, .. }) = tally.begun.as_deref() {
            let [client, server] = begun.get_or_insert_with(|| [empty(), empty()]);
            add(client, by_client);
            add(server, by_server);
        }
    }
    sum.lag = begun.map(|begun| {
        let [client_us, server_us] = begun.map(|it| it.value_at_quantile(0.99) as f64 / 1e3);
        Lag { client_us, server_us }
    });
    sum
}

/// Adds a client's values.
fn add(sum: &mut Histogram<u64>, own: &Histogram<u32>) {
    for value in own.iter_recorded() {
        // Grows as the client's did; its values fit.
        let _ = sum.record_n(value.value_iterated_to(), u64::from(value.count_at_value()));
    }
}

/// Adds up the errors of streams that ended no step by class and SQLSTATE.
pub fn failures<'a>(tallies: impl Iterator<Item = (&'a Class, &'a Tally)> + Clone) -> Vec<Failure> {
    let of = |retried: bool| {
        let mut all: BTreeMap<(&Class, &str), (&str, u64)> = BTreeMap::new();
        for (class, tally) in tallies.clone() {
            for (state, message, count) in if retried { &tally.retried } else { &tally.failed } {
                all.entry((class, state)).or_insert((message, 0)).1 += count;
            }
        }
        all.into_iter().map(move |((class, state), (message, count))| Failure {
            class: class.clone(),
            code: state.to_owned(),
            kind: ErrorKind::Retryable,
            message: message.to_owned(),
            count,
            retried,
        })
    };
    of(true).chain(of(false)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_exact() {
        let mut tallies = [Tally::new(None), Tally::new(None)];
        tallies[0].round(0, 100_400, 1, true);
        tallies[1].round(0, 100_600, 1, true);
        let found = sum(&Class::INSERT, tallies.iter(), 1.0);
        assert_eq!(found.mean_us(), Some(100.5));
        assert_eq!(sum(&Class::INSERT, [].iter(), 1.0).mean_us(), None);
    }

    fn lag(tallies: &[Tally]) -> Option<Lag> {
        sum(&Class::INSERT, tallies.iter(), 1.0).lag
    }

    #[test]
    fn who_was_late_is_kept_apart() {
        let mut tallies = [Tally::new(None), Tally::new(None)];
        tallies[1].begins(0, true);
        for round in 0..100 {
            tallies[0].begins(1_000 * round, true);
            tallies[1].begins(2_000_000, false);
        }
        let found = lag(&tallies).unwrap();
        assert!((found.client_us / 98.0 - 1.0).abs() < 0.02, "{found:?}");
        assert!((found.server_us / 2_000.0 - 1.0).abs() < 0.02, "{found:?}");
        assert_eq!(lag(&[Tally::new(None)]), None);
    }

    /// A client that stood still for 50 ms catches up with what was due each millisecond.
    #[test]
    fn what_a_late_client_leaves_behind_is_its_own() {
        let mut tally = Tally::new(None);
        tally.begins(50_000_000, true);
        (1..50).for_each(|round| tally.begins(50_000_000 - 1_000_000 * round, false));
        let found = lag(std::slice::from_ref(&tally)).unwrap();
        assert!(found.client_us > 40_000.0 && found.server_us < 1.0, "{found:?}");
        // Nothing was sent before the first round.
        let mut first = Tally::new(None);
        first.begins(1_000_000, false);
        assert!(lag(&[first]).unwrap().server_us < 1.0);
    }
}
