//! The summaries that are published with db_bench, for steps on an LSM tree: one line per version.

use metrics::{
    DBMS_SYSTEM, DBMS_USER, MEGABYTES, OPS, READ_KB, READ_SIZE, READS, RESIDENT, SECONDS, SWITCHES,
    TREE, TREE_SIZE,
};

use super::view::{VARIANT, View};
use crate::load::latency::Pooled;
use crate::load::model::VariantStep;
use crate::output::number::{UNKNOWN, cost, megabytes, or_unknown, rate};
use crate::output::table::{Row, Section, Table, texts};

/// The columns, in the order of published summaries.
const COLUMNS: [&str; 21] = [
    "ops_sec", "mb_sec", "lsm_sz", "c_wgb", "w_amp", "c_mbps", "c_wsecs", "c_csecs", "usec_op",
    "p50", "p99", "p99.9", "p99.99", "pmax", "uptime", "stall%", "Nstall", "u_cpu", "s_cpu", "rss",
    "test",
];

/// Throughput, and the costs of one operation.
const PER_QUERY: [(&str, &str); 7] = [
    ("qps", OPS.name),
    ("cs", SWITCHES.name),
    ("us", DBMS_USER.name),
    ("sy", DBMS_SYSTEM.name),
    ("r", READS.name),
    ("rKB", READ_KB.name),
    ("rareq-sz", READ_SIZE.name),
];

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let mut table =
        Table::new(Section::Summary, "summary", "Summary in the columns of db_bench".to_owned());
    table.columns = texts([VARIANT].into_iter().chain(COLUMNS));
    table.legend = vec![
        format!("{}; percentiles of all blocks together", view.over_blocks("medians")),
        "lsm_sz, rss: MB unless marked G (GB); c_wgb: GB written by flushes and compactions; w_amp: \
         per GB flushed"
            .to_owned(),
        "c_wsecs, c_csecs, u_cpu, s_cpu: seconds; usec_op: microseconds per operation of a client; p50 \
         … pmax: per call; stall%: of the time"
            .to_owned(),
    ];
    let mut queries = Table::new(Section::Summary, "per-query", "Values per query".to_owned());
    let names = PER_QUERY.iter().map(|(name, _)| *name);
    queries.columns = texts([VARIANT].into_iter().chain(names).chain(["test"]));
    queries.legend = vec![
        view.over_blocks("medians"),
        "cs: context switches of the host; us, sy: microseconds of CPU of the engine and its clients \
         in user space and in the kernel"
            .to_owned(),
        "r, rKB: reads from storage and KB read; rareq-sz: KB per read".to_owned(),
    ];
    for (number, step, label) in view.every_step() {
        for (place, name, figures) in view.variants(number) {
            if figures.median(TREE_SIZE.name).is_none_or(f64::is_nan) {
                continue;
            }
            let pooled = figures.latency.iter().find(|pooled| pooled.class == step.class);
            let add = |table: &mut Table, cells| {
                table.rows.push(Row::new(name, cells).of_kind(view.kind(place)));
            };
            add(&mut table, cells(figures, pooled, step.key.dop, &label));
            add(&mut queries, per_query(figures, &label));
        }
    }
    let mut tables = vec![table, queries];
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn per_query(figures: &VariantStep, label: &str) -> Vec<String> {
    let cell = |(_, metric): &(&str, &str)| {
        let value = figures.median(metric).filter(|value| value.is_finite());
        or_unknown(value, if *metric == OPS.name { rate } else { cost })
    };
    PER_QUERY.iter().map(cell).chain([label.to_owned()]).collect()
}

fn cells(figures: &VariantStep, pooled: Option<&Pooled>, dop: u32, label: &str) -> Vec<String> {
    let of = |metric: &str| figures.median(metric).filter(|value| value.is_finite());
    let [size, written, amplification, rate, seconds, cpu, stalled, stalls] =
        TREE.map(|metric| of(metric.name));
    let operations = of(OPS.name).zip(of(SECONDS.name)).map(|(rate, seconds)| rate * seconds);
    let whole = |value| or_unknown(value, |value| format!("{value:.0}"));
    let tenths = |value| or_unknown(value, |value| format!("{value:.1}"));
    let total = |cost: &str| Some(of(cost)? * operations? / 1e6);
    let times = pooled.map(|pooled| {
        let at = |share| format!("{:.1}", pooled.at(share));
        [at(0.5), at(0.99), at(0.999), at(0.9999), at(1.0)]
    });
    let unknown = || [(); 5].map(|()| UNKNOWN.to_owned());
    let mut cells = vec![
        whole(of(OPS.name)),
        tenths(of(MEGABYTES.name)),
        or_unknown(size, megabytes),
        or_unknown(written, |value| format!("{value:.2}")),
        tenths(amplification),
        tenths(rate),
        tenths(seconds),
        tenths(cpu),
        tenths(of(OPS.name).map(|rate| 1e6 * f64::from(dop) / rate)),
    ];
    cells.extend(times.unwrap_or_else(unknown));
    cells.extend([
        tenths(of(SECONDS.name)),
        tenths(stalled),
        whole(stalls),
        tenths(total(DBMS_USER.name)),
        tenths(total(DBMS_SYSTEM.name)),
        or_unknown(of(RESIDENT.name), megabytes),
        label.to_owned(),
    ]);
    cells
}
