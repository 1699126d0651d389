//! Cliffs in sweeps: how often is one claimed where there is none, and found where there is?

use judge::{Cliff, Margin, SweepPoint, cliffs};

use crate::{Findings, Outcomes as _, Random, Rate, Size, figures, percent, simulate};

/// Numbers of blocks in the tables.
const BLOCKS: [u32; 5] = [2, 3, 4, 6, 10];
/// Cores of the simulated machine.
const CORES: u32 = 176;
/// Standard deviation of whole blocks.
const BLOCK: f64 = 0.03;

/// The true throughput of a number of clients.
type Curve = fn(f64) -> f64;

/// How points scatter.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scatter {
    /// All alike, normal.
    Alike,
    /// A fifth of them four times as much as the others.
    Uneven,
    /// Student's t with 3 degrees of freedom.
    Heavy,
}

/// Curves without a fall while cores are free.
const LEVEL: [(&str, Curve); 3] = [
    ("flat", |_| 1.0),
    ("linear to 40, then flat", |clients| clients.min(40.0)),
    (
        "linear, falls when all cores are busy",
        |clients| if clients <= 176.0 { clients } else { 120.0 },
    ),
];

/// A curve that falls by a share between 22 and 24 clients and recovers at 100, as in the published
/// sweep of point queries.
fn falling(clients: f64, share: f64) -> f64 {
    match clients {
        _ if clients < 23.0 => clients.min(22.0),
        _ if clients < 100.0 => 22.0 * (1.0 - share),
        _ => clients,
    }
}

/// The numbers of clients of a coarse and a fine sweep.
fn sweeps() -> [(&'static str, Vec<u32>); 2] {
    let fine = (1..=32).chain((36..=200).step_by(4)).collect();
    [
        ("16 points", vec![1, 2, 4, 8, 12, 16, 20, 22, 24, 32, 48, 64, 80, 100, 140, 200]),
        ("74 points", fine),
    ]
}

/// One simulated line of a sweep.
fn simulated(
    clients: &[u32],
    blocks: u32,
    truth: impl Fn(f64) -> f64,
    (noise, scatter): (f64, Scatter),
    random: &mut Random,
) -> Vec<SweepPoint> {
    let levels: Vec<f64> = (0..blocks).map(|_| BLOCK * random.normal()).collect();
    let mut point = |clients: &u32| {
        let own = if scatter == Scatter::Uneven && random.uniform() < 0.2 { 4.0 } else { 1.0 };
        let mut rate = |block: u32| {
            let unit = if scatter == Scatter::Heavy { random.heavy() } else { random.normal() };
            let log = truth(f64::from(*clients)).ln() + levels[block as usize] + own * noise * unit;
            (block, log.exp())
        };
        SweepPoint { clients: *clients, rates: (0..blocks).map(&mut rate).collect() }
    };
    clients.iter().map(&mut point).collect()
}

/// See the top of this file.
pub fn run(size: Size, findings: &mut Findings) {
    false_alarms(size, findings);
    power(size, findings);
}

/// The falls of one line.
fn found(points: &[SweepPoint]) -> Vec<Cliff> {
    cliffs(points, CORES, Margin::default(), 1)
}

fn false_alarms(size: Size, findings: &mut Findings) {
    let tries = size.pick(100, 2_000);
    findings.table(
        format!(
            "**Cliffs that are none**: lines without a fall while cores are free in which one is claimed; noise of 3%, blocks that differ by \
             {}, {tries} lines each. At most 5% is aimed at.",
            percent(BLOCK, 0)
        ),
        format!("curve | sweep | scatter | {}", BLOCKS.map(|k| format!("{k} blocks")).join(" | ")),
    );
    for (seed, (name, curve)) in (810..).zip(LEVEL) {
        for (sweep, clients) in sweeps() {
            for scatter in [Scatter::Alike, Scatter::Uneven, Scatter::Heavy] {
                let rates = BLOCKS.map(|blocks| {
                    let claimed = simulate(seed + 10 * u64::from(blocks), tries, |random| {
                        !found(&simulated(&clients, blocks, curve, (0.03, scatter), random))
                            .is_empty()
                    });
                    let rate = Rate::of(claimed);
                    let what = format!("{name}, {sweep}, {scatter:?}, {blocks} blocks");
                    findings.rate(format!("cliffs that are none, {what}"), rate, ..=0.05);
                    rate.to_string()
                });
                let scatter = format!("{scatter:?}").to_lowercase();
                findings.row(name, [&figures![sweep, scatter][..], &rates].concat());
            }
        }
    }
}

fn power(size: Size, findings: &mut Findings) {
    let tries = size.pick(60, 1_000);
    findings.table(
        format!(
            "**Cliffs that are there**: a fall from 22 to 24 clients that recovers at 100, in a sweep of 16 points, {tries} lines each. How \
             many lines show a fall, and of these how many name its first and last point, have the true change in the interval, and name \
             where it recovers."
        ),
        "fall | noise | blocks | found | in place | interval has the truth | recovery",
    );
    let [(_, clients), _] = sweeps();
    for share in [0.05, 0.1, 0.3] {
        let truth = |clients| falling(clients, share);
        for noise in [0.005, 0.01, 0.03, 0.08] {
            for blocks in [2, 4, 10] {
                let lines = simulate(900 + u64::from(blocks), tries, |random| {
                    let points =
                        simulated(&clients, blocks, truth, (noise, Scatter::Alike), random);
                    found(&points).into_iter().next()
                });
                let any = lines.rate(Option::is_some);
                let falls: Vec<Cliff> = lines.into_iter().flatten().collect();
                let covered = falls.rate(|fall| {
                    let change = truth(f64::from(fall.to)) / truth(f64::from(fall.from));
                    (fall.low..=fall.high).contains(&change)
                });
                if falls.len() >= 50 {
                    let what =
                        format!("interval of a cliff, {share}, noise {noise}, {blocks} blocks");
                    findings.rate(what, covered, 0.95..);
                }
                let in_place = falls.rate(|fall| (fall.from, fall.to) == (22, 24));
                let recovered = falls.rate(|fall| fall.recovers == Some(100));
                let [in_place, covered, recovered] =
                    [in_place, covered, recovered].map(|rate| match rate.tries {
                        0 => "–".to_owned(),
                        _ => rate.to_string(),
                    });
                findings.row(
                    &percent(share, 0),
                    figures![percent(noise, 1), blocks, any, in_place, covered, recovered],
                );
            }
        }
    }
}
