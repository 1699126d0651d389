//! The declarations.

use crate::metric::{Better, Metric};
use crate::words::{SPEED, Words, does, has, reads, takes, uses, writes};

/// Declares a static per metric, documented by its meaning, and the list of all of them.
macro_rules! declare {
    ($($id:ident = $name:expr, $unit:literal, $kind:expr, $meaning:expr;)*) => {
        $(
            #[doc = $meaning]
            pub static $id: Metric = Metric { name: $name, unit: $unit, meaning: $meaning, ..$kind };
        )*
        pub(crate) static DECLARED: &[&Metric] = &[$(&$id),*];
    };
}

const fn metric(better: Better, words: Words) -> Metric {
    let published = "";
    Metric { name: "", unit: "", better, meaning: "", words, everywhere: true, published }
}

const fn cost(words: Words) -> Metric {
    metric(Better::Less, words)
}

/// A cost that has another name in published reports.
const fn published(words: Words, published: &'static str) -> Metric {
    Metric { published, ..cost(words) }
}

/// A metric that only some steps have.
const fn sometimes(metric: Metric) -> Metric {
    Metric { everywhere: false, ..metric }
}

const FACT: Metric = metric(Better::Neither, has(""));

/// Figures that an engine with an LSM tree reports for a step, in the columns of db_bench's
/// published summaries.
pub static TREE: [&Metric; 8] = [
    &TREE_SIZE,
    &TREE_WRITTEN,
    &WRITE_AMPLIFICATION,
    &TREE_WRITE_RATE,
    &TREE_SECONDS,
    &TREE_CPU,
    &WRITE_STALLED,
    &WRITE_STALLS,
];

macro_rules! response {
    ($quantile:literal) => {
        concat!("response time of {class} statements, ", $quantile, " of each block")
    };
}

/// Response time of a class of statements.
const fn latency(what: &'static str) -> Metric {
    sometimes(cost(has(what)))
}

/// [`OPS`] of a step that is better when its figure is lower.
pub static OPS_AS_COST: Metric = Metric {
    unit: "",
    meaning: "what a step counts, lower is better",
    ..Metric { name: "o/s", ..cost(takes("")) }
};

declare! {
    OPS = "o/s", "/s", metric(Better::More, SPEED), "operations/s, throughput";
    CPU = "cpu/o", "%·s", published(uses("CPU of the host per operation"), "cpupq"),
        "CPU per operation: us + sy of the whole host in percent / (o/s); not microseconds";
    CPU_US = "cpu_us/o", "µs", cost(uses("CPU of the host per operation")),
        "CPU microseconds per operation of the whole host";
    DBMS_CPU = "dbms.cpu/o", "µs", cost(uses("CPU per operation of the DBMS")),
        "CPU microseconds per operation of the DBMS's processes alone";
    DBMS_USER = "dbms.us/o", "µs", cost(uses("user CPU per operation of the DBMS")),
        "the part of dbms.cpu/o in user space";
    DBMS_SYSTEM = "dbms.sy/o", "µs", cost(uses("system CPU per operation of the DBMS")),
        "the part of dbms.cpu/o in the kernel";
    CLIENT_CPU = "client.cpu/o", "µs", cost(uses("CPU per operation of the client")),
        "CPU microseconds per operation of the benchmark client alone";
    CLIENT_USER = "client.us/o", "µs", cost(uses("user CPU per operation of the client")),
        "the part of client.cpu/o in user space";
    SWITCHES = "cs/o", "", published(does("context switches per operation"), "csecpq"),
        "context switches per operation";
    DBMS_SWITCHES = "dbms.cs/o", "", cost(does("context switches per operation of the DBMS")),
        "context switches per operation of the DBMS's processes alone";
    CLIENT_SWITCHES = "client.cs/o", "", cost(does("context switches per operation of the client")),
        "context switches per operation of the benchmark client alone";
    READS = "r/o", "", published(does("reads from storage per operation"), "rpq"),
        "reads from storage per operation";
    READ_KB = "rKB/o", "KB", published(reads("from storage per operation"), "rkbpq"),
        "KB read from storage per operation";
    READ_SIZE = "rareq-sz", "KB", sometimes(metric(Better::Neither, has("size of a read from storage"))),
        "KB per read from storage, on average (iostat's rareq-sz)";
    WRITES = "w/o", "", cost(does("writes to storage per operation")),
        "writes to storage per operation";
    WRITTEN_KB = "wKB/o", "KB", published(writes("to storage per operation"), "wkbpi"),
        "KB written to storage per operation";
    MEAN = "{class}.mean", "µs", latency("mean of {class} times"), response!("mean");
    P50 = "{class}.p50", "µs", latency("p50 of {class} times"), response!("p50");
    P90 = "{class}.p90", "µs", latency("p90 of {class} times"), response!("p90");
    P95 = "{class}.p95", "µs", latency("p95 of {class} times"), response!("p95");
    P99 = "{class}.p99", "µs", latency("p99 of {class} times"), response!("p99");
    P999 = "{class}.p999", "µs", latency("p999 of {class} times"), response!("p999");
    MAX = "{class}.max", "µs", latency("max of {class} times"), response!("max");
    GEOMEAN = "{class}.geomean", "µs", latency("geometric mean of {class} times"),
        "geometric mean of the mean response times of all kinds of {class}";
    RATE = "{class}.rate", "/s",
        sometimes(metric(Better::More, Words { worse: "lower", ..has("{class} rate") })),
        "{class} operations per second (rows, for inserts and deletes), besides what the step counts";
    TARGET = "{class}.target", "/s", FACT, "target of {class} operations per second";
    HELD = "{class}.held", "", FACT, "1 if at least 95% of the {class} target was reached, otherwise 0";
    DONE = "{class}.done", "", FACT, "{class} statements of a schedule that were done";
    DUE = "{class}.due", "", FACT, "{class} statements of a schedule whose time came";
    LAG_CLIENT = "{class}.lag.client", "µs", FACT,
        "how late the client began {class}s of a schedule, p99; waiting for the one before is lag.server";
    LAG_SERVER = "{class}.lag.server", "µs", FACT,
        "how long {class}s of a schedule waited for the answer to the one before, p99";
    FAILED = "{class}.failed", "", sometimes(cost(does("failed {class}s"))),
        "{class}s that failed, by a deadlock for example, and don't count";
    ROWS = "{class}.rows", "", FACT, "rows in the results of all {class}s of a log";
    SKIPPED = "{class}.skipped", "", sometimes(cost(does("skipped {class}s"))),
        "{class}s that were skipped because they were late";
    LATE = "{class}.late", "", sometimes(cost(does("late {class}s"))),
        "{class}s that took longer than they may, and count";
    RETRIES = "retries", "", cost(does("retries")), "statements that were retried";
    STALL_COUNT = "stall.count", "", sometimes(cost(does("stalls"))), "number of stalls";
    STALL_SHARE = "stall.share", "", sometimes(cost(has("share of stalled seconds"))),
        "share of the seconds that were stalls";
    STALL_LONGEST = "stall.longest", "s", sometimes(cost(has("longest stall"))),
        "length of the longest stall";
    EVENT = "perf.{event}/o", "", cost(does("{event} per operation in the DBMS")),
        "{event} per operation of the DBMS's processes, counted by perf";
    TASK_CLOCK = "perf.task-clock/o", "ms", cost(does("task-clock per operation in the DBMS")),
        "task-clock per operation of the DBMS's processes, counted by perf";
    SCHEDULED = "sched.{event}/o", "", cost(does("{event} per operation in servers and clients")),
        "{event} per operation of the DBMS's processes and the clients' threads, counted by perf";
    HOST_EVENT = "host.{event}/o", "", cost(does("{event} per operation on the machine")),
        "{event} per operation on all CPUs, also by the idle task, counted by perf";
    IDLE_STATE = "cpuidle.{state}", "", FACT, "share of the CPUs' time in the idle state {state}";
    ENERGY = "energy.{domain}/o", "µJ", cost(uses("energy per operation of {domain}")),
        "energy per operation of {domain}, counted by the processor (RAPL)";
    SECONDS = "seconds", "s", FACT, "duration of the step";
    MEGABYTES = "mb_sec", "MB/s", FACT, "megabytes per second that the step reads or writes";
    TREE_SIZE = "lsm_sz", "B", FACT, "size of the LSM tree when the step ended";
    TREE_WRITTEN = "c_wgb", "GB", FACT, "written by flushes and compactions, in 2^30 bytes";
    WRITE_AMPLIFICATION = "w_amp", "", FACT,
        "bytes written by flushes and compactions per byte flushed";
    TREE_WRITE_RATE = "c_mbps", "MB/s", FACT, "c_wgb per second of the step";
    TREE_SECONDS = "c_wsecs", "s", FACT, "time of flushes and compactions";
    TREE_CPU = "c_csecs", "s", FACT, "CPU time of flushes and compactions";
    WRITE_STALLED = "stall%", "%", FACT, "share of the step in which writers had to wait";
    WRITE_STALLS = "Nstall", "", FACT, "how often writers had to wait";
    RESIDENT = "rss", "B", FACT, "resident memory of the DBMS's process when the step ended";
    PRINTED = "printed.{figure}", "", FACT, "what another program printed as {figure}";
    CPU_SHARE = "cpu.share", "", FACT,
        "CPU time of a server and its clients, as a share of what synchronous clients can use; work in the background can take it above 1";
    CPU_WANTED = "cpu.wanted", "", FACT,
        "time in which the threads of a server and its clients could have run but waited for a CPU, as a share like cpu.share";
    CPU_OTHERS = "cpu.others", "", FACT,
        "CPUs used by programs that belong neither to a system under test nor to the client";
    CORES_FREE = "cores.free", "", FACT,
        "cores that neither clients nor their servers needed, of those that steelyard may use";
    IDLE_FROM = "idle.from", "s", FACT, "second from which idle-priority processes ran";
    IDLE_TO = "idle.to", "s", FACT, "second until which idle-priority processes ran";
    RATE_BEFORE = "rate.before", "/s", FACT, "throughput before idle-priority processes ran";
    RATE_DURING = "rate.during", "/s", FACT, "throughput while idle-priority processes ran";
    RATE_AFTER = "rate.after", "/s", FACT, "throughput after idle-priority processes ran";
    DURING_BEFORE = "during/before", "", FACT, "rate.during / rate.before";
    AFTER_BEFORE = "after/before", "", FACT, "rate.after / rate.before";
    ANSWERS = "answers", "", FACT, "answers that were compared between the variants";
    SLICE_MS = "slice.ms", "ms", FACT, "length of the slices";
    SLICE_SETTLED = "slice.settled", "", FACT, "1 if the slice length is decided, otherwise 0";
    SLICE_ROUNDS = "slice.rounds", "", FACT, "number of rounds of slices";
    SLICE_SET_ASIDE = "slice.set_aside", "", FACT, "share of the slices that were set aside";
    SLICE_SWITCH_MS = "slice.switch_ms", "ms", FACT, "time to freeze one server and thaw the next";
    SLICE_WATCHING = "slice.watching", "", FACT, "share of a CPU spent on watching the slices";
    START_CACHED = "start.cached_kb", "KB", FACT, "page cache of the host when the step began";
    START_DIRTY = "start.dirty_kb", "KB", FACT, "dirty pages of the host when the step began";
    START_WRITEBACK = "start.writeback_kb", "KB", FACT, "pages being written back when the step began";
    START_DEAD = "start.dead_rows", "", FACT,
        "dead rows that were not removed when the step began";
    START_UNSEEN = "start.unseen_pages", "", FACT,
        "pages of the tables that were not known to be all-visible when the step began";
    START_BYTES = "start.bytes", "B", FACT, "size of the tables and indexes when the step began";
    STEAL = "steal", "", FACT, "share of the CPU time that the hypervisor took away";
    STEAL_WORST = "steal.worst", "", FACT, "the same, in the worst second";
    CLOCK = "clock.mhz", "MHz", FACT, "mean clock speed of the CPUs";
    CLOCK_CHANGE = "clock.change", "", FACT, "change in clock speed from the first third to the last";
    THROTTLED = "throttled", "", FACT, "number of times a CPU was throttled for heat";
    STEADY_REACHED = "steady.reached", "", FACT, "1 if throughput became steady, otherwise 0";
    STEADY_FROM = "steady.from", "s", FACT, "second at which throughput became steady";
    TREND = "trend", "", FACT, "change in throughput over the step";
    TREND_ERROR = "trend.error", "", FACT, "half-width of the 95% interval of the trend";
    AUTOCORRELATION = "autocorrelation", "", FACT,
        "how much a steady second resembles the one before it, -1 to 1";
    EFFECTIVE_SECONDS = "effective.seconds", "s", FACT,
        "number of independent seconds worth as much as the steady ones";
    WARM_UP = "warm_up.effect", "", FACT,
        "fraction by which the seconds before the steady ones move the mean";
    SETTLE_SECONDS = "settle.server", "s", FACT, "time the server took to settle";
    SETTLE_DIRTY = "settle.dirty_kb", "KB", FACT, "dirty pages of the host before settling";
    SETTLE_LEFT = "settle.left_kb", "KB", FACT, "dirty pages of the host after settling";
    LOAD_BYTES = "load.bytes", "B", FACT, "size of the data that trials start from";
    RESTORE_COPY = "restore.copy", "s", FACT, "time to copy the load";
    RESTORE_CHECK = "restore.check", "s", FACT, "time to compare the copy";
    RESTORE_READ = "restore.read", "s", FACT, "time to read the copy into the page cache";
}
