//! The metrics of a step that this room knows, each declared once: name, unit, direction, meaning, and the words for a
//! difference. Tables, verdicts, documents and errors take them from here.

/// Which way a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// A throughput: more of it is an improvement.
    More,
    /// A cost: more of it is a regression.
    Less,
    /// It describes the step or the machine; no verdict can be about it.
    Neither,
}

impl Better {
    /// The word for it in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Less => "less",
            Self::Neither => "neither",
        }
    }
}

/// A metric that is stored with a step.
#[derive(Debug)]
pub struct Metric {
    /// The name under which it is stored.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Which way it is better.
    pub better: Better,
    /// What it is, as legends say it.
    pub meaning: &'static str,
    /// How a difference reads: "uses 5% more …".
    pub(crate) words: Words,
    /// Whether every step should have it; others are about paced streams or classes of statements that only some steps
    /// have.
    pub(crate) everywhere: bool,
}

/// The parts of a sentence about a difference: "b *uses* 5% *more* *CPU per operation* than a", "b *uses as much* …".
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    pub(crate) verb: &'static str,
    pub(crate) same: &'static str,
    pub(crate) more: &'static str,
    pub(crate) less: &'static str,
    /// The one of the two that is worse.
    pub(crate) worse: &'static str,
    pub(crate) what: &'static str,
}

const SPEED: Words = Words {
    verb: "is",
    same: "is as fast",
    more: "faster",
    less: "slower",
    worse: "slower",
    what: "",
};

const READS: Words = Words {
    verb: "reads",
    same: "reads as much",
    more: "more",
    less: "less",
    worse: "more",
    what: "from storage per operation",
};

const WRITES: Words = Words {
    verb: "writes",
    same: "writes as much",
    more: "more",
    less: "less",
    worse: "more",
    what: "to storage per operation",
};

const fn uses(what: &'static str) -> Words {
    Words { verb: "uses", same: "uses as much", more: "more", less: "less", worse: "more", what }
}

const fn does(what: &'static str) -> Words {
    Words { verb: "does", same: "does as many", more: "more", less: "fewer", worse: "more", what }
}

const fn has(what: &'static str) -> Words {
    Words {
        verb: "has a",
        same: "has the same",
        more: "higher",
        less: "lower",
        worse: "higher",
        what,
    }
}

const fn rate(what: &'static str) -> Words {
    Words { worse: "lower", ..has(what) }
}

const fn metric(
    name: &'static str,
    unit: &'static str,
    better: Better,
    words: Words,
    meaning: &'static str,
) -> Metric {
    Metric { name, unit, better, meaning, words, everywhere: true }
}

const fn cost(
    name: &'static str,
    unit: &'static str,
    words: Words,
    meaning: &'static str,
) -> Metric {
    metric(name, unit, Better::Less, words, meaning)
}

const fn fact(name: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    metric(name, unit, Better::Neither, has(""), meaning)
}

/// Only some steps have it.
const fn sometimes(metric: Metric) -> Metric {
    Metric { everywhere: false, ..metric }
}

macro_rules! latency {
    ($class:literal, $quantile:literal) => {
        sometimes(cost(
            concat!($class, ".", $quantile),
            "µs",
            has(concat!($quantile, " of ", $class, " times")),
            concat!("response time of ", $class, " statements, ", $quantile, " of each block"),
        ))
    };
}

macro_rules! event {
    ($name:literal, $unit:literal) => {
        cost(
            concat!("perf.", $name, "/o"),
            $unit,
            does(concat!($name, " per operation in the DBMS")),
            concat!($name, " per operation of the DBMS's processes, counted by perf"),
        )
    };
}

/// Operations per second: the throughput that verdicts are about unless others are asked for. Rows or queries, see the
/// step's unit.
pub(crate) const OPS: &str = "o/s";
/// 1 when a read+write step held its insert rate (95% of the target), else 0.
pub(crate) const HELD: &str = "insert.held";
/// Rows inserted per second beside the queries.
pub(crate) const INSERT_RATE: &str = "insert.rate";
/// Rows per second that should have been inserted, over all clients.
pub(crate) const INSERT_TARGET: &str = "insert.target";
/// Rows deleted per second beside the queries.
pub(crate) const DELETE_RATE: &str = "delete.rate";
/// Share of the seconds of a step that were stalls, 0 to 1.
pub(crate) const STALL_SHARE: &str = "stall.share";
/// How long a step took.
pub(crate) const SECONDS: &str = "seconds";
/// Number of stalls.
pub(crate) const STALL_COUNT: &str = "stall.count";

/// Page cache of the host when the step began, KB.
pub(crate) const START_CACHED: &str = "start.cached_kb";
/// The part of it that waited to be written, KB.
pub(crate) const START_DIRTY: &str = "start.dirty_kb";
/// The part of it that was being written, KB.
pub(crate) const START_WRITEBACK: &str = "start.writeback_kb";

/// Length of the slices in which the load moved between the servers, milliseconds; only where it did.
pub(crate) const SLICE_MS: &str = "slice.ms";

/// The costs per operation, in the order of the published tables.
pub(crate) const COSTS: [&str; 7] =
    ["cpu/o", "cs/o", "r/o", "rKB/o", "wKB/o", "dbms.cpu/o", "client.cpu/o"];

/// Events per operation of the DBMS's processes, counted by perf where the plan asks for profiles: those of the CPU where
/// the machine counts them, then those of the kernel.
pub(crate) const EVENTS: [&str; 10] = [
    "perf.instructions/o",
    "perf.cycles/o",
    "perf.branch-misses/o",
    "perf.cache-misses/o",
    "perf.task-clock/o",
    "perf.context-switches/o",
    "perf.cpu-migrations/o",
    "perf.page-faults/o",
    "perf.minor-faults/o",
    "perf.major-faults/o",
];

const DECLARED_COUNT: usize = 64;

const ALL: [Metric; DECLARED_COUNT] = [
    metric(OPS, "/s", Better::More, SPEED, "operations/s, throughput"),
    cost(
        "cpu/o",
        "%·s",
        uses("CPU of the host per operation"),
        "CPU per operation: us + sy of the whole host in percent / (o/s); not microseconds",
    ),
    cost(
        "cpu_us/o",
        "µs",
        uses("CPU of the host per operation"),
        "CPU microseconds per operation of the whole host",
    ),
    cost(
        "dbms.cpu/o",
        "µs",
        uses("CPU per operation of the DBMS"),
        "CPU microseconds per operation of the DBMS's processes alone",
    ),
    cost(
        "dbms.us/o",
        "µs",
        uses("user CPU per operation of the DBMS"),
        "the part of dbms.cpu/o in user space",
    ),
    cost(
        "dbms.sy/o",
        "µs",
        uses("system CPU per operation of the DBMS"),
        "the part of dbms.cpu/o in the kernel",
    ),
    cost(
        "client.cpu/o",
        "µs",
        uses("CPU per operation of the client"),
        "CPU microseconds per operation of the benchmark client alone",
    ),
    cost(
        "client.us/o",
        "µs",
        uses("user CPU per operation of the client"),
        "the part of client.cpu/o in user space",
    ),
    cost("cs/o", "", does("context switches per operation"), "context switches per operation"),
    cost(
        "dbms.cs/o",
        "",
        does("context switches per operation of the DBMS"),
        "context switches per operation of the DBMS's processes alone",
    ),
    cost(
        "client.cs/o",
        "",
        does("context switches per operation of the client"),
        "context switches per operation of the benchmark client alone",
    ),
    cost("r/o", "", does("reads from storage per operation"), "reads from storage per operation"),
    cost("rKB/o", "KB", READS, "KB read from storage per operation"),
    cost("w/o", "", does("writes to storage per operation"), "writes to storage per operation"),
    cost("wKB/o", "KB", WRITES, "KB written to storage per operation"),
    latency!("query", "mean"),
    latency!("query", "p50"),
    latency!("query", "p90"),
    latency!("query", "p95"),
    latency!("query", "p99"),
    latency!("query", "p999"),
    latency!("query", "max"),
    latency!("insert", "mean"),
    latency!("insert", "p50"),
    latency!("insert", "p90"),
    latency!("insert", "p95"),
    latency!("insert", "p99"),
    latency!("insert", "p999"),
    latency!("insert", "max"),
    latency!("delete", "mean"),
    latency!("delete", "p50"),
    latency!("delete", "p90"),
    latency!("delete", "p95"),
    latency!("delete", "p99"),
    latency!("delete", "p999"),
    latency!("delete", "max"),
    sometimes(metric(
        INSERT_RATE,
        "rows/s",
        Better::More,
        rate("rate of inserts"),
        "rows inserted per second beside the queries",
    )),
    sometimes(metric(
        DELETE_RATE,
        "rows/s",
        Better::More,
        rate("rate of deletes"),
        "rows deleted per second beside the queries",
    )),
    cost("retries", "", does("retries"), "statements that were tried again"),
    sometimes(cost(STALL_COUNT, "", does("stalls"), "number of stalls")),
    sometimes(cost(
        STALL_SHARE,
        "",
        has("share of stalled seconds"),
        "share of the seconds in stalls",
    )),
    sometimes(cost("stall.longest", "s", has("longest stall"), "length of the longest stall")),
    event!("instructions", ""),
    event!("cycles", ""),
    event!("branch-misses", ""),
    event!("cache-misses", ""),
    event!("task-clock", "ms"),
    event!("context-switches", ""),
    event!("cpu-migrations", ""),
    event!("page-faults", ""),
    event!("minor-faults", ""),
    event!("major-faults", ""),
    fact("errors", "", "statements that met an error"),
    fact(SECONDS, "s", "how long the step took"),
    fact(INSERT_TARGET, "rows/s", "rows per second that should have been inserted"),
    fact(HELD, "", "whether the insert rate was held"),
    fact(SLICE_MS, "ms", "length of the slices"),
    fact(START_CACHED, "KB", "page cache of the host when the step began"),
    fact(START_DIRTY, "KB", "the part of it that waited to be written"),
    fact(START_WRITEBACK, "KB", "the part of it that was being written"),
    fact("slice.rounds", "", "rounds of slices"),
    fact("slice.set_aside", "", "share of the slices that were set aside"),
    fact("steal", "", "share of the CPU time that the hypervisor gave to others"),
    fact("clock.mhz", "MHz", "mean clock of the CPUs"),
];

/// Names of all metrics read from a store; others are left there.
pub static METRICS: [&str; DECLARED_COUNT] = names();

static DECLARED: [Metric; DECLARED_COUNT] = ALL;

const fn names() -> [&'static str; DECLARED_COUNT] {
    let mut names = [""; DECLARED_COUNT];
    let mut place = 0;
    while place < DECLARED_COUNT {
        names[place] = ALL[place].name;
        place += 1;
    }
    names
}

/// Place of a metric in [`METRICS`].
pub(crate) fn place(name: &str) -> Option<usize> {
    METRICS.iter().position(|known| *known == name)
}

/// The metric of this name.
pub(crate) fn find(name: &str) -> Option<&'static Metric> {
    DECLARED.get(place(name)?)
}

/// The metric that is meant by `name` in a step: `p99` is that of the statements that the step counts.
pub(crate) fn in_step(name: &str, unit: &str) -> Option<&'static Metric> {
    let class = if unit == "rows" { "insert" } else { "query" };
    find(name).or_else(|| find(&format!("{class}.{name}")))
}

/// Names of the metrics that a verdict can be about.
pub(crate) fn judgeable() -> impl Iterator<Item = &'static str> {
    let quantiles = ["mean", "p50", "p90", "p95", "p99", "p999", "max"];
    let declared = DECLARED.iter().filter(|metric| metric.better != Better::Neither);
    declared.map(|metric| metric.name).chain(quantiles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_declared_once_and_lists_are_of_declared_ones() {
        for (place, name) in METRICS.iter().enumerate() {
            assert_eq!(super::place(name), Some(place), "{name} stands there twice");
        }
        for name in COSTS.iter().chain(&EVENTS) {
            assert_eq!(find(name).unwrap().better, Better::Less, "{name}");
        }
        assert_eq!(find(OPS).unwrap().better, Better::More);
    }

    #[test]
    fn a_percentile_alone_is_that_of_what_the_step_counts() {
        assert_eq!(in_step("p99", "rows").unwrap().name, "insert.p99");
        assert_eq!(in_step("p99", "queries").unwrap().name, "query.p99");
        assert_eq!(in_step("query.p99", "rows").unwrap().name, "query.p99");
        assert!(in_step("p98", "rows").is_none());
        assert!(judgeable().any(|name| name == "p99") && !judgeable().any(|name| name == SECONDS));
    }
}
