//! Where the throughput of a line falls although clients were added while cores were free.

use judge::{CONFIDENCE, Comparison, Margin};
use metrics::OPS;

use super::{Line, Sweep};
use crate::figures;
use crate::model::Results;
use crate::number::signed;

/// A fall of a line's throughput.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cliff {
    /// Index of the line in [`Sweep::lines`].
    pub(crate) line: usize,
    /// The number of clients before the fall.
    pub(crate) from: u32,
    /// The number of clients after it.
    pub(crate) to: u32,
    /// Throughput after / before.
    pub(crate) ratio: f64,
    /// Interval of the ratio.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// From how many clients on throughput is back; `None` if it does not come back.
    pub(crate) recovers: Option<u32>,
}

/// The falls of a sweep, and what keeps others from being found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cliffs {
    pub(crate) found: Vec<Cliff>,
    /// Sentences.
    pub(crate) notes: Vec<String>,
}

impl Cliff {
    /// `from 22 to 24 clients −31.0% (95% interval −35.2% to −27.1%); recovers at 100`.
    pub(crate) fn words(&self) -> String {
        let Self { from, to, ratio, low, high, recovers, .. } = self;
        let recovers = match recovers {
            Some(clients) => format!("recovers at {clients}"),
            None => "does not recover".to_owned(),
        };
        format!(
            "from {from} to {to} clients {} (95% interval {} to {}); {recovers}",
            signed(ratio - 1.0),
            signed(low - 1.0),
            signed(high - 1.0)
        )
    }
}

/// Throughput of one number of clients, by block.
struct Point {
    clients: u32,
    values: Vec<(u32, f64)>,
}

/// Looks for the falls of all lines.
pub(crate) fn cliffs(results: &Results, sweep: &Sweep) -> Cliffs {
    let mut cliffs = Cliffs::default();
    let mut until = None;
    for (place, line) in sweep.lines.iter().enumerate() {
        let Some(free) = line.free_until(results, &sweep.clients) else { continue };
        until = until.max(Some(free));
        let points = points(results, sweep, line);
        cliffs.found.extend(falls(&points, free, results.experiment.margin, place));
    }
    let blocks = sweep.lines.iter().flat_map(|line| points(results, sweep, line));
    let most = blocks.map(|point| point.values.len()).max().unwrap_or(0);
    cliffs.notes.extend(match (until, most) {
        (_, 0) => None,
        (None, _) => Some(format!(
            "{} is not known for {}: where throughput falls while cores are free was not looked for",
            metrics::CORES_FREE.name,
            sweep.name
        )),
        (_, 1) => Some(
            "one block: a fall of throughput can't be told from chance; run at least 3".to_owned(),
        ),
        (Some(until), _) if cliffs.found.is_empty() => Some(format!(
            "throughput falls nowhere with confidence while cores are free, up to {until} clients"
        )),
        _ => None,
    });
    cliffs
}

fn points(results: &Results, sweep: &Sweep, line: &Line) -> Vec<Point> {
    let point = |(place, clients): (usize, &u32)| {
        let values = line.at(results, place)?.values(OPS.name);
        (!values.is_empty()).then_some(Point { clients: *clients, values })
    };
    sweep.clients.iter().enumerate().filter_map(point).collect()
}

/// The falls of a line. A point counts as one if its throughput is below the best so far by more
/// than the margin, with 5% of error shared by all points of the line; points are paired by block.
fn falls(points: &[Point], free_until: u32, margin: f64, line: usize) -> Vec<Cliff> {
    let mut found = Vec::new();
    let confidence = 1.0 - (1.0 - CONFIDENCE) / points.len().max(1) as f64;
    let mut best: Option<&Point> = None;
    let mut rest = points.iter().take_while(|point| point.clients <= free_until);
    while let Some(point) = rest.next() {
        let Some(from) = best else {
            best = Some(point);
            continue;
        };
        let certain = compared(from, point, margin, confidence).and_then(|found| found.high);
        if certain.is_none_or(|high| high >= 1.0 - margin) {
            if mean(point) > mean(from) {
                best = Some(point);
            }
            continue;
        }
        let Some(Comparison { ratio, low: Some(low), high: Some(high), .. }) =
            compared(from, point, margin, CONFIDENCE)
        else {
            continue;
        };
        let after = points.iter().filter(|other| other.clients > point.clients);
        let recovers = after.into_iter().find(|other| {
            compared(from, other, margin, CONFIDENCE).is_some_and(|found| found.ratio >= 1.0)
        });
        let (from, to) = (from.clients, point.clients);
        let recovers = recovers.map(|point| point.clients);
        found.push(Cliff { line, from, to, ratio, low, high, recovers });
        // Whatever lies below the first point of the fall is part of it.
        let Some(back) = recovers else { break };
        best = rest.find(|point| point.clients >= back);
    }
    found
}

fn mean(point: &Point) -> f64 {
    let values: Vec<f64> = point.values.iter().map(|(_, value)| *value).collect();
    figures::mean(&values).unwrap_or(f64::NAN)
}

/// Throughput of a point relative to that of another, over the blocks that both have.
fn compared(from: &Point, to: &Point, margin: f64, confidence: f64) -> Option<Comparison> {
    let value = |block: u32| to.values.iter().find(|(other, _)| *other == block);
    let pairs = from.values.iter().filter_map(|(block, from)| Some((*from, value(*block)?.1)));
    let (from, to): (Vec<f64>, Vec<f64>) = pairs.unzip();
    judge::compare_at(&from, &to, Margin::of(margin), confidence).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(rates: &[(u32, f64)], wobble: &[f64]) -> Vec<Point> {
        let point = |(place, (clients, rate)): (usize, &(u32, f64))| {
            let turned = |block: usize| wobble[(block + place) % wobble.len()];
            let values = (0..wobble.len()).map(|block| (block as u32 + 1, rate * turned(block)));
            Point { clients: *clients, values: values.collect() }
        };
        rates.iter().enumerate().map(point).collect()
    }

    const FALLING: [(u32, f64); 6] =
        [(8, 190e3), (16, 370e3), (22, 500e3), (24, 350e3), (60, 350e3), (100, 2e6)];

    #[test]
    fn a_fall_and_its_end_are_found() {
        let found = falls(&points(&FALLING, &[0.99, 1.0, 1.01]), 90, 0.02, 3);
        let [fall] = &found[..] else { panic!("{found:?}") };
        assert_eq!((fall.line, fall.from, fall.to, fall.recovers), (3, 22, 24, Some(100)));
        assert!(fall.low < 0.7 && 0.7 < fall.high && fall.high < 0.75, "{fall:?}");
        assert!(fall.words().starts_with("from 22 to 24 clients −"), "{}", fall.words());
        assert!(fall.words().ends_with("; recovers at 100"), "{}", fall.words());
    }

    #[test]
    fn one_block_claims_nothing() {
        assert_eq!(falls(&points(&FALLING, &[1.0]), 90, 0.02, 0), []);
    }

    #[test]
    fn nor_is_it_a_fall_without_free_cores_or_within_noise() {
        assert_eq!(falls(&points(&FALLING, &[0.99, 1.0, 1.01]), 22, 0.02, 0), []);
        assert_eq!(falls(&points(&FALLING, &[0.6, 1.0, 1.6]), 90, 0.02, 0), []);
        let level = [(1, 5e3), (2, 4.95e3), (4, 5e3), (8, 4.93e3), (16, 5e3)];
        assert_eq!(falls(&points(&level, &[0.999, 1.0, 1.001]), 16, 0.02, 0), []);
    }

    #[test]
    fn what_does_not_come_back_is_one_fall() {
        let rates = [(1, 100.0), (2, 200.0), (4, 100.0), (8, 50.0), (16, 120.0)];
        let found = falls(&points(&rates, &[0.999, 1.0, 1.001]), 16, 0.02, 0);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].to, found[0].recovers), (4, None));
    }
    /// Lines that level off, with noise: the share of those with a fall stays below the 5% that the
    /// intervals promise.
    #[test]
    fn noise_is_rarely_a_fall() {
        let mut state = 7_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        // The sum of twelve is nearly normal with a deviation of 1.
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        for blocks in [2, 3, 5, 10] {
            let lines = 200;
            let mut alarms = 0;
            for _ in 0..lines {
                let points: Vec<Point> = (1..=60)
                    .map(|clients| {
                        let level = 20_000.0 * f64::from(clients.min(20));
                        let values =
                            (1..=blocks).map(|block| (block, level * (1.0 + 0.02 * normal())));
                        Point { clients, values: values.collect() }
                    })
                    .collect();
                alarms += usize::from(!falls(&points, 60, 0.02, 0).is_empty());
            }
            assert!(alarms * 20 <= lines, "{alarms} of {lines} with {blocks} blocks");
        }
    }
}
