//! Cliffs in sweeps: how often is one claimed where there is none, and found where there is?

use judge::{Cliff, Margin, SweepPoint, cliffs};

use crate::{Findings, Random, Rate, Size, Table, in_parallel};

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
pub fn run(size: Size) -> Findings {
    let mut findings = Findings::default();
    false_alarms(size, &mut findings);
    power(size, &mut findings);
    findings
}

/// The falls of one line.
fn found(points: &[SweepPoint]) -> Vec<Cliff> {
    cliffs(points, CORES, Margin::default(), 1)
}

fn false_alarms(size: Size, findings: &mut Findings) {
    let tries = size.pick(100, 2_000);
    let mut head = vec!["curve".to_owned(), "sweep".to_owned(), "scatter".to_owned()];
    head.extend(BLOCKS.map(|blocks| format!("{blocks} blocks")));
    let mut table = Table::new(
        format!(
            "**Cliffs that are none**: lines without a fall while cores are free in which one is claimed; noise of 3%, blocks that differ by \
             {:.0}%, {tries} lines each. At most 5% is aimed at.",
            100.0 * BLOCK
        ),
        &head.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    for (seed, (name, curve)) in (810..).zip(LEVEL) {
        for (sweep, clients) in sweeps() {
            for scatter in [Scatter::Alike, Scatter::Uneven, Scatter::Heavy] {
                let mut cells = Vec::new();
                for blocks in BLOCKS {
                    let claimed = in_parallel(tries, |number| {
                        let mut random = Random::new(seed + 10 * u64::from(blocks), number);
                        let points =
                            simulated(&clients, blocks, curve, (0.03, scatter), &mut random);
                        !found(&points).is_empty()
                    });
                    let rate = Rate::of(claimed);
                    findings.rate(
                        format!(
                            "cliffs that are none, {name}, {sweep}, {scatter:?}, {blocks} blocks"
                        ),
                        rate,
                        "≤ 5%",
                        rate.at_most(0.05),
                    );
                    cells.push(rate.to_string());
                }
                let first =
                    [name.to_owned(), sweep.to_owned(), format!("{scatter:?}").to_lowercase()];
                table.row(first.into_iter().chain(cells));
            }
        }
    }
    findings.tables.push(table);
}

/// The result of a line with a fall.
struct Found {
    any: bool,
    /// Between the numbers of clients where it truly is.
    in_place: bool,
    /// The interval has the truth.
    covered: bool,
    /// It recovers where it truly does.
    recovered: bool,
}

fn power(size: Size, findings: &mut Findings) {
    let tries = size.pick(60, 1_000);
    let mut table = Table::new(
        format!(
            "**Cliffs that are there**: a fall from 22 to 24 clients that recovers at 100, in a sweep of 16 points, {tries} lines each. How \
             many lines show a fall, and of these how many name its first and last point, have the true change in the interval, and name \
             where it recovers."
        ),
        &["fall", "noise", "blocks", "found", "in place", "interval has the truth", "recovery"],
    );
    let [(_, clients), _] = sweeps();
    for share in [0.05, 0.1, 0.3] {
        for noise in [0.005, 0.01, 0.03, 0.08] {
            for blocks in [2, 4, 10] {
                let all = in_parallel(tries, |number| {
                    let mut random = Random::new(900 + u64::from(blocks), number);
                    let truth = |clients| falling(clients, share);
                    let points =
                        simulated(&clients, blocks, truth, (noise, Scatter::Alike), &mut random);
                    let falls = found(&points);
                    let first = falls.first();
                    let change =
                        |fall: &Cliff| truth(f64::from(fall.to)) / truth(f64::from(fall.from));
                    let covers = |fall: &Cliff| (fall.low..=fall.high).contains(&change(fall));
                    Found {
                        any: first.is_some(),
                        in_place: first.is_some_and(|fall| (fall.from, fall.to) == (22, 24)),
                        covered: first.is_some_and(covers),
                        recovered: first.is_some_and(|fall| fall.recovers == Some(100)),
                    }
                });
                let any: Vec<&Found> = all.iter().filter(|found| found.any).collect();
                let of = |of: fn(&Found) -> bool| Rate::of(any.iter().map(|found| of(found)));
                let covered = of(|found| found.covered);
                if any.len() >= 50 {
                    findings.rate(
                        format!("interval of a cliff, {share}, noise {noise}, {blocks} blocks"),
                        covered,
                        "≥ 95%",
                        covered.at_least(0.95),
                    );
                }
                let shown = |rate: Rate| match any.is_empty() {
                    true => "–".to_owned(),
                    false => rate.to_string(),
                };
                table.row([
                    format!("{:.0}%", 100.0 * share),
                    format!("{:.1}%", 100.0 * noise),
                    blocks.to_string(),
                    Rate::of(all.iter().map(|found| found.any)).to_string(),
                    shown(of(|found| found.in_place)),
                    shown(covered),
                    shown(of(|found| found.recovered)),
                ]);
            }
        }
    }
    findings.tables.push(table);
}
