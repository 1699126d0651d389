//! The summaries that are published with db_bench, for steps on an LSM tree: one line per variant.

use metrics::{
    DBMS_SYSTEM, DBMS_USER, MEGABYTES, Metric, OPS, READ_KB, READ_SIZE, READS, RESIDENT, SECONDS,
    SWITCHES, TREE, TREE_SIZE,
};

use super::view::{Point, VARIANT, View};
use crate::output::number::{
    UNKNOWN, cost, hundredths, megabytes, or_unknown, rate, tenths, whole,
};
use crate::output::table::{Section, Table};

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let trees = || {
        let points = view.points(view.every_step());
        points.filter(|at| median(at, &TREE_SIZE).is_some_and(|size| !size.is_nan()))
    };
    let kind = |at: &Point<'_>| view.kind(at.place);
    let [size, written, amplification, speed, seconds, cpu, stalled, stalls] = TREE;
    let summary = Table::new(Section::Summary, "summary", "Summary in the columns of db_bench")
        .explained([
            &format!("{}; percentiles of all blocks together", view.over_blocks("medians")),
            "lsm_sz, rss: MB unless marked G (GB); c_wgb: GB written by flushes and compactions; w_amp: \
             per GB flushed",
            "c_wsecs, c_csecs, u_cpu, s_cpu: seconds; usec_op: microseconds per operation of a client; p50 \
             … pmax: per call; stall%: of the time",
        ])
        .listing_kinds(trees(), kind, &[
            (VARIANT, &|at| at.name.to_owned()),
            ("ops_sec", &|at| or_unknown(median(at, &OPS), whole)),
            ("mb_sec", &|at| or_unknown(median(at, &MEGABYTES), tenths)),
            ("lsm_sz", &|at| or_unknown(median(at, size), megabytes)),
            ("c_wgb", &|at| or_unknown(median(at, written), hundredths)),
            ("w_amp", &|at| or_unknown(median(at, amplification), tenths)),
            ("c_mbps", &|at| or_unknown(median(at, speed), tenths)),
            ("c_wsecs", &|at| or_unknown(median(at, seconds), tenths)),
            ("c_csecs", &|at| or_unknown(median(at, cpu), tenths)),
            ("usec_op", &|at| or_unknown(of_a_client(at), tenths)),
            ("p50", &|at| time(at, 0.5)),
            ("p99", &|at| time(at, 0.99)),
            ("p99.9", &|at| time(at, 0.999)),
            ("p99.99", &|at| time(at, 0.9999)),
            ("pmax", &|at| time(at, 1.0)),
            ("uptime", &|at| or_unknown(median(at, &SECONDS), tenths)),
            ("stall%", &|at| or_unknown(median(at, stalled), tenths)),
            ("Nstall", &|at| or_unknown(median(at, stalls), whole)),
            ("u_cpu", &|at| or_unknown(in_total(at, &DBMS_USER), tenths)),
            ("s_cpu", &|at| or_unknown(in_total(at, &DBMS_SYSTEM), tenths)),
            ("rss", &|at| or_unknown(median(at, &RESIDENT), megabytes)),
            ("test", &|at| at.label.clone()),
        ]);
    let queries = Table::new(Section::Summary, "per-query", "Values per query")
        .explained([
            &view.over_blocks("medians"),
            "cs: context switches of the host; us, sy: microseconds of CPU of the engine and its clients \
             in user space and in the kernel",
            "r, rKB: reads from storage and KB read; rareq-sz: KB per read",
        ])
        .listing_kinds(trees(), kind, &[
            (VARIANT, &|at| at.name.to_owned()),
            ("qps", &|at| or_unknown(median(at, &OPS), rate)),
            ("cs", &|at| or_unknown(median(at, &SWITCHES), cost)),
            ("us", &|at| or_unknown(median(at, &DBMS_USER), cost)),
            ("sy", &|at| or_unknown(median(at, &DBMS_SYSTEM), cost)),
            ("r", &|at| or_unknown(median(at, &READS), cost)),
            ("rKB", &|at| or_unknown(median(at, &READ_KB), cost)),
            ("rareq-sz", &|at| or_unknown(median(at, &READ_SIZE), cost)),
            ("test", &|at| at.label.clone()),
        ]);
    [summary, queries].into_iter().filter_map(Table::filled).collect()
}

fn median(at: &Point<'_>, metric: &Metric) -> Option<f64> {
    at.figures.median(metric.name)
}

/// Microseconds that an operation of a client takes.
fn of_a_client(at: &Point<'_>) -> Option<f64> {
    median(at, &OPS).map(|rate| 1e6 * f64::from(at.step.key.dop) / rate)
}

/// Seconds in all operations, from microseconds per operation.
fn in_total(at: &Point<'_>, cost: &Metric) -> Option<f64> {
    let operations = median(at, &OPS).zip(median(at, &SECONDS)).map(|(rate, time)| rate * time);
    Some(median(at, cost)? * operations? / 1e6)
}

/// The microseconds within which this share of the responses completes.
fn time(at: &Point<'_>, share: f64) -> String {
    let pooled = at.figures.latency.iter().find(|pooled| pooled.class == at.step.class);
    pooled.map_or_else(|| UNKNOWN.to_owned(), |pooled| format!("{:.1}", pooled.at(share)))
}
