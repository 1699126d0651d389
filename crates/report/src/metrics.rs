//! The metrics of a step that this room knows, by the names under which they are stored.

/// Operations per second: the throughput that verdicts are about. Rows or queries, see the step's unit.
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

/// Every metric read from a store; others are left there.
pub const METRICS: [&str; 32] = [
    OPS,
    "cpu/o",
    "cs/o",
    "r/o",
    "rKB/o",
    "wKB/o",
    "dbms.cpu/o",
    "client.cpu/o",
    "cpu_us/o",
    INSERT_RATE,
    INSERT_TARGET,
    HELD,
    DELETE_RATE,
    SECONDS,
    "retries",
    "errors",
    STALL_COUNT,
    STALL_SHARE,
    SLICE_MS,
    START_CACHED,
    START_DIRTY,
    START_WRITEBACK,
    EVENTS[0],
    EVENTS[1],
    EVENTS[2],
    EVENTS[3],
    EVENTS[4],
    EVENTS[5],
    EVENTS[6],
    EVENTS[7],
    EVENTS[8],
    EVENTS[9],
];

/// Place of a metric in [`METRICS`].
pub(crate) fn place(name: &str) -> Option<usize> {
    METRICS.iter().position(|known| *known == name)
}
