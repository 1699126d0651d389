//! A sweep over clients as it was published: throughput falls at 24 clients and comes back at 100.
//! Nothing here is measured.

use store::StepRecord;

use super::{Lab, histogram, record, series};

pub const PINNINGS: [&str; 3] = ["none", "colocated", "random"];
pub const CLIENTS: [u32; 20] =
    [1, 2, 4, 8, 12, 16, 20, 22, 24, 28, 36, 45, 50, 64, 80, 90, 100, 120, 150, 176];
const CORES: f64 = 176.0;

/// A plan of the sweep; `idle` is its further key.
pub fn plan(variants: &[&str], blocks: u32, clients: &[u32], further: &str) -> String {
    let mut text = format!("name = \"sweep\"\nblocks = {blocks}\n");
    for name in variants {
        text.push_str(&format!("[variants.\"{name}\"]\ndbms = \"postgres@17\"\n"));
    }
    text.push_str(&format!("[workload.select]\nclients = {clients:?}\n{further}\n"));
    plan::Plan::parse(&text, None, "test").expect("a valid plan");
    text
}

/// The labels of a plan in its order.
pub fn pinned() -> String {
    format!("pinning = {PINNINGS:?}")
}

/// Transactions/s of a pinning: the capacity of the cores, minus losses while they are too idle.
fn throughput(pinning: &str, clients: f64) -> f64 {
    let whole = 24_000.0 * clients / (1.0 + clients / 500.0);
    match pinning {
        "colocated" => whole,
        "random" if clients < 45.0 => 0.85 * whole,
        "random" => (9_000.0 * clients).min(0.5 * whole),
        _ if clients < 23.0 => 0.93 * whole,
        _ if clients < 100.0 => 350_000.0,
        _ => 0.8 * whole,
    }
}

/// The record of one point. `place`: of the variant; the second is a little faster.
pub fn point(pinning: &str, clients: u32, place: usize, block: u32) -> StepRecord {
    let many = f64::from(clients);
    let seed = clients * 31 + block * 57 + place as u32 * 5 + pinning.len() as u32 * 13;
    let wobble = |salt: u32| 1.0 + 0.002 * f64::from((seed * salt + seed / 7) % 11) - 0.01;
    let better = if place == 1 && clients > 60 { 1.12 } else { 1.0 };
    let ops = throughput(pinning, many) * wobble(3) * better;
    let mut step = record("select", ops);
    step.measure.class = "query".to_owned();
    step.measure.unit = "queries".to_owned();
    step.key.dop = clients;
    step.key.labels.insert("pinning".to_owned(), pinning.to_owned());
    let mean = many / ops * 1e6;
    let pairs = if pinning == "colocated" { many } else { 2.0 * many };
    let busy = (pairs / CORES).min(1.0);
    let wakes = if pinning == "colocated" { 0.02 } else { 1.9 - 0.8 * busy };
    for (name, value) in [
        ("cores.free", (CORES - pairs).max(0.0)),
        ("query.p50", 0.95 * mean),
        ("query.p95", 1.4 * mean),
        ("query.p99", 1.9 * mean * wobble(11)),
        ("query.p999", 4.0 * mean * wobble(17)),
        ("cpu/o", 100.0 * pairs.min(CORES) / CORES / ops),
        ("cs/o", 2.02 * wobble(5)),
        ("dbms.cpu/o", 28.0 + 9.0 * busy),
        ("client.cpu/o", 11.0 + 2.0 * busy),
        ("r/o", 0.0),
        ("perf.context-switches/o", 2.0 * wobble(5)),
        ("perf.cpu-migrations/o", if many < 100.0 { 0.0 } else { 0.004 * busy * wobble(5) }),
        ("perf.ipi:ipi_send_cpu/o", wakes * wobble(5)),
        ("perf.timer:hrtimer_start/o", 2.1 * (1.0 - busy) * wobble(7)),
        ("perf.timer:hrtimer_cancel/o", 2.1 * (1.0 - busy) * wobble(11)),
        ("seconds", 5.0),
    ] {
        step.metrics.push((name.to_owned(), value));
    }
    step.histograms.push(histogram("query", &[((mean * 1e3) as u64, 1000)]));
    let seconds = (0..5).map(|second| ops * (1.0 + 0.001 * f64::from(second))).collect();
    step.series.push(series("tp.query", "throughput", seconds));
    step.seconds = 5.0;
    step
}

/// Runs the sweep: all points of a trial on one server, in another order in each block.
pub fn run(lab: &Lab, variants: usize, blocks: u32, clients: &[u32]) {
    for block in 1..=blocks {
        for place in 0..variants {
            let trial = lab.begin(place, block, 1);
            for (ordinal, name) in ["load", "index", "select.warm"].into_iter().enumerate() {
                let mut step = record(name, 900_000.0 + 1000.0 * f64::from(block));
                step.ordinal = ordinal as u32;
                step.key.dop = if name == "index" { 1 } else { 2 };
                lab.store.record_step(trial, &step).unwrap();
            }
            let mut points: Vec<(u32, &str)> = clients
                .iter()
                .flat_map(|clients| PINNINGS.map(|pinning| (*clients, pinning)))
                .collect();
            let turn = block as usize % points.len();
            points.rotate_left(turn);
            for (ordinal, (clients, pinning)) in points.into_iter().enumerate() {
                let mut step = point(pinning, clients, place, block);
                step.ordinal = 3 + ordinal as u32;
                lab.store.record_step(trial, &step).unwrap();
            }
            lab.store.finish_trial(trial).unwrap();
        }
    }
}
