//! The metrics. Each is declared once, with its name, unit, direction, meaning and the words for a
//! difference. Code that writes, judges, shows or explains a metric uses its declaration.
//!
//! One declaration covers a metric for all classes of statements, or for all events:
//!
//! ```
//! use metrics::Better;
//!
//! assert_eq!(metrics::OPS.name, "o/s");
//! assert_eq!(metrics::P99.of("update"), "update.p99");
//! let found = metrics::find("update.p99").expect("a metric of a class");
//! assert_eq!((found.unit, found.better), ("µs", Better::Less));
//! assert!(metrics::find("update.p98").is_none());
//! ```

mod answers;
mod declared;
mod metric;
mod series;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

pub use answers::{ANSWERS_GROUP, ANSWERS_SERIES, Answer, Difference, Identity};
pub use declared::*;
pub use metric::{Better, Metric};
pub use series::*;
pub use words::{Words, counted};

/// The view under which the time that sessions spent in each state (`CPU`, `IO/DataFileRead`) is
/// kept with the DBMS's counters, in microseconds. A state that was never seen is missing.
pub const WAITS: &str = "waits";

/// A step is CPU-bound if its servers and clients use at least this share of the CPU time that
/// synchronous clients can use ([`CPU_SHARE`]). Otherwise it waits for something else.
pub const CPU_BOUND: f64 = 0.7;

/// The costs per operation, in the order of the published tables.
pub static COSTS: [&Metric; 7] =
    [&CPU, &SWITCHES, &READS, &READ_KB, &WRITTEN_KB, &DBMS_CPU, &CLIENT_CPU];

/// Response times, in the order of tables.
pub static LATENCIES: [&Metric; 7] = [&MEAN, &P50, &P90, &P95, &P99, &P999, &MAX];

/// The quantiles among [`LATENCIES`], with the share of responses that are faster.
pub static QUANTILES: [(&Metric, f64); 5] =
    [(&P50, 0.5), (&P90, 0.9), (&P95, 0.95), (&P99, 0.99), (&P999, 0.999)];

/// Events that perf counts, in the order of tables: those of the CPU, then those of the kernel, at
/// the end its scheduler's.
pub const EVENTS: [&str; 13] = [
    "instructions",
    "cycles",
    "branch-misses",
    "cache-misses",
    "task-clock",
    "context-switches",
    "cpu-migrations",
    "page-faults",
    "minor-faults",
    "major-faults",
    "ipi:ipi_send_cpu",
    "timer:hrtimer_start",
    "timer:hrtimer_cancel",
];

/// Those of [`EVENTS`] that are counted over a whole step: of the CPU, then of the kernel.
pub const STEP_EVENTS: &[&str] = EVENTS.split_at(10).0;

/// The work of the kernel's scheduler for processes that wait for each other: switches, moves to
/// another CPU, interrupts sent to wake another CPU (since Linux 6.4), and timers started and
/// canceled. All of it is counted by software, so the events never share a hardware counter in
/// turns.
pub const SCHEDULER_EVENTS: [&str; 5] = [EVENTS[5], EVENTS[6], EVENTS[10], EVENTS[11], EVENTS[12]];

/// Every declaration, in the order of the glossary; each family once.
pub fn all() -> impl Iterator<Item = &'static Metric> {
    DECLARED.iter().copied()
}

/// The metric of this name.
pub fn find(name: &str) -> Option<&'static Metric> {
    // Members of families are never freed: there are only as many as classes and events.
    static MEMBERS: Mutex<BTreeMap<&'static str, &'static Metric>> = Mutex::new(BTreeMap::new());
    if let Some(declared) = all().find(|metric| metric.name == name && !metric.is_family()) {
        return Some(declared);
    }
    let mut members = MEMBERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = members.get(name) {
        return Some(known);
    }
    let member: &'static Metric = Box::leak(Box::new(all().find_map(|m| m.member(name))?));
    members.insert(member.name, member);
    Some(member)
}

/// The metric called `name` in a step that counts `class`: `p99` is the one of that class.
pub fn in_step(name: &str, class: &str) -> Option<&'static Metric> {
    let of_class = || LATENCIES.iter().find(|family| family.short() == name);
    find(name).or_else(|| find(&of_class()?.of(class)))
}

/// The metric called `name`, regardless of what a step counts: for `p99`, the whole family.
pub fn named(name: &str) -> Option<&'static Metric> {
    find(name).or_else(|| LATENCIES.into_iter().find(|family| family.short() == name))
}

/// Names of the metrics that can be judged, given the `classes` of statements, each once.
pub fn judgeable<'a>(classes: &[&'a str]) -> impl Iterator<Item = String> + use<'a> {
    let mut names = Vec::new();
    for metric in all().filter(|metric| metric.better != Better::Neither) {
        if metric.name.starts_with("{class}") {
            names.extend(classes.iter().map(|class| metric.of(class)));
        } else if metric.is_family() {
            names.extend(EVENTS.iter().map(|event| metric.of(event)));
        } else {
            names.push(metric.name.to_owned());
        }
    }
    names.extend(LATENCIES.iter().map(|family| family.short().to_owned()));
    let mut known = BTreeSet::new();
    names.retain(|name| known.insert(name.clone()));
    names.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_declared_once() {
        let mut names: Vec<&str> = all().map(|metric| metric.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
        for (metric, _) in QUANTILES {
            assert!(LATENCIES.iter().any(|latency| latency.name == metric.name));
        }
    }

    #[test]
    fn what_can_be_judged_is_listed_once() {
        let mut names: Vec<String> = judgeable(&["query", "insert"]).collect();
        assert!(names.contains(&"query.p99".to_owned()) && names.contains(&"p99".to_owned()));
        names.sort_unstable();
        let twice = names.windows(2).find(|two| two[0] == two[1]);
        assert_eq!(twice, None);
    }

    #[test]
    fn a_family_has_a_member_for_any_class_or_event() {
        let found = find("put.p999").unwrap();
        assert_eq!(found.name, "put.p999");
        assert_eq!(found.meaning, "response time of put statements, p999 of each block");
        assert_eq!(found.words.what, "p999 of put times");
        assert!(!found.everywhere);
        assert!(std::ptr::eq(found, find("put.p999").unwrap()), "made once");
        assert_eq!(find(&EVENT.of("cycles")).unwrap().name, "perf.cycles/o");
        assert_eq!(find("perf.task-clock/o").unwrap().unit, "ms");
        // Only tracepoints, which are the scheduler's, have a colon.
        let of_step = SCHEDULER_EVENTS.map(|event| STEP_EVENTS.contains(&event));
        assert_eq!(of_step, SCHEDULER_EVENTS.map(|event| !event.contains(':')));
        assert!(STEP_EVENTS.iter().all(|event| !event.contains(':')));
        for event in EVENTS {
            assert_eq!(EVENT.member_in(&EVENT.of(event)), Some(event));
        }
        for unknown in ["p99", ".p99", "a.b.p99", "{class}.p99", "perf./o", "nonsense", ""] {
            assert!(find(unknown).is_none(), "{unknown}");
        }
    }

    #[test]
    fn a_bare_percentile_is_of_the_class_that_the_step_counts() {
        assert_eq!(in_step("p99", "insert").unwrap().name, "insert.p99");
        assert_eq!(in_step("query.p99", "insert").unwrap().name, "query.p99");
        assert!(in_step("p98", "insert").is_none() && in_step("rate", "insert").is_none());
        let names: Vec<String> = judgeable(&["update"]).collect();
        for name in ["o/s", "p99", "update.p99", "update.rate", "perf.cycles/o"] {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
        for name in ["seconds", "query.p99", "update.target", "{class}.p99"] {
            assert!(!names.iter().any(|known| known == name), "{name}");
        }
    }
}
