//! Cliffs: where the throughput of a sweep falls although clients were added.
//!
//! A line has one throughput for each number of clients and block. Logarithms of throughput are
//! modeled as the sum of a level of the point, a level of the block and noise; the noise is
//! estimated from all points together (the residuals of a two-way analysis of variance, with
//! (points − 1)(blocks − 1) degrees of freedom), because two points alone have too few blocks to
//! show how much they scatter. If some points scatter more than others, such as those that the
//! scheduler places by chance, their scatter is used for all. A pair that scatters even more uses
//! its own.
//!
//! Any two points may be a fall, so the error of 5% is split over all pairs of a line, and over all
//! lines (Bonferroni). The intervals then hold for any pair that is chosen. `validate` simulates
//! how often a false fall is claimed.

use crate::student::t_quantile;
use crate::{CONFIDENCE, Margin, quantile};

/// The quantile of the points' scatter that stands for the points that scatter most. Our own
/// choice: if a fifth of the points scatter four times as much as the others, it keeps the promised
/// error with two blocks or more (`validate`).
const WORST: f64 = 0.99;
/// The factor by which the error is smaller with two blocks, which say least about which points
/// scatter most.
const STRICTER: f64 = 4.0;
/// The quantile of the normal distribution at [`WORST`].
const WORST_NORMAL: f64 = 2.326;

/// Throughput at one number of clients.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepPoint {
    /// The number of clients.
    pub clients: u32,
    /// Block and throughput, each block once.
    pub rates: Vec<(u32, f64)>,
}

/// A fall of throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cliff {
    /// The number of clients before it, where throughput was best.
    pub from: u32,
    /// The first number of clients at which throughput is surely lower.
    pub to: u32,
    /// Throughput after / before.
    pub ratio: f64,
    /// Interval of the ratio, together with those of all other pairs of points.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The number of clients from which on throughput is back: certainly higher than after the
    /// fall, and not lower than before it. `None` if it doesn't come back.
    pub recovers: Option<u32>,
}

/// The points that all blocks have, as logarithms, and how much they scatter.
struct Curve {
    clients: Vec<u32>,
    /// For each point, the logarithm of throughput in each block.
    logs: Vec<Vec<f64>>,
    /// Standard deviation of the noise.
    scatter: f64,
    /// The factor on the standard error of a difference.
    quantile: f64,
}

impl Curve {
    /// `None` without two blocks and two points.
    fn of(points: &[SweepPoint], lines: usize) -> Option<Curve> {
        let most = points.iter().map(|point| point.rates.len()).max()?;
        let mut blocks: Vec<u32> = points
            .iter()
            .filter(|point| point.rates.len() == most)
            .flat_map(|point| point.rates.iter().map(|(block, _)| *block))
            .collect();
        blocks.sort_unstable();
        blocks.dedup();
        let (mut clients, mut logs) = (Vec::new(), Vec::new());
        for point in points {
            let log = |block: &u32| {
                let (_, rate) = point.rates.iter().find(|(known, _)| known == block)?;
                Some(rate.ln()).filter(|log| log.is_finite())
            };
            // A point that a block lacks can't be compared within it.
            if let Some(all) = blocks.iter().map(log).collect::<Option<Vec<f64>>>() {
                clients.push(point.clients);
                logs.push(all);
            }
        }
        let (rows, columns) = (logs.len(), blocks.len());
        if rows < 2 || columns < 2 {
            return None;
        }
        let freedom = ((rows - 1) * (columns - 1)) as f64;
        let levels: Vec<f64> = logs.iter().map(|point| mean(point)).collect();
        let whole = mean(&levels);
        let of_block =
            |block: usize| logs.iter().map(|point| point[block]).sum::<f64>() / rows as f64;
        let in_blocks: Vec<f64> = (0..columns).map(of_block).collect();
        let residual = |point: usize, block: usize| {
            logs[point][block] - levels[point] - in_blocks[block] + whole
        };
        let of_point = |point: usize| -> f64 {
            (0..columns).map(|block| residual(point, block).powi(2)).sum()
        };
        let squares: Vec<f64> = (0..rows).map(of_point).collect();
        let pooled = (squares.iter().sum::<f64>() / freedom).sqrt();
        let scatter = pooled.max(of_the_worst(&squares, freedom / rows as f64));
        let pairs = (rows * (rows - 1) / 2 * lines.max(1)) as f64;
        let pairs = if columns == 2 { STRICTER * pairs } else { pairs };
        let quantile = t_quantile(1.0 - (1.0 - CONFIDENCE) / 2.0 / pairs, freedom);
        Some(Curve { clients, logs, scatter, quantile })
    }

    /// Log ratio of the throughput of a point to that of another, and half the width of its
    /// interval.
    fn between(&self, from: usize, to: usize) -> (f64, f64) {
        let differences: Vec<f64> =
            self.logs[from].iter().zip(&self.logs[to]).map(|(from, to)| to - from).collect();
        let (count, middle) = (differences.len() as f64, mean(&differences));
        let squares: f64 = differences.iter().map(|it| (it - middle).powi(2)).sum();
        // Of a difference, which has the noise of two points.
        let own = (squares / (count - 1.0)).sqrt();
        let scatter = own.max(self.scatter * std::f64::consts::SQRT_2);
        (middle, self.quantile * scatter / count.sqrt())
    }

    fn level(&self, point: usize) -> f64 {
        mean(&self.logs[point])
    }
}

/// The standard deviation of the points that scatter most, if some scatter more than others: the
/// [`WORST`] quantile of the points' own deviations, divided by its expected value if all points
/// scattered alike. `squares` are the points' sums of squared residuals, each with `freedom`
/// degrees of freedom.
fn of_the_worst(squares: &[f64], freedom: f64) -> f64 {
    let own: Vec<f64> = squares.iter().map(|sum| (sum / freedom).sqrt()).collect();
    // Wilson and Hilferty, "The distribution of chi-square" (1931).
    let part = 2.0 / (9.0 * freedom);
    let alike = (1.0 - part + WORST_NORMAL * part.sqrt()).powi(3).sqrt();
    quantile(&own, WORST).unwrap_or(0.0) / alike
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The falls of a line, one of `lines` that are examined together, up to `free_until` clients, for
/// which cores were free. `points` are in increasing order of clients. Falls smaller than `margin`
/// are left out. With one block there are none.
pub fn cliffs(points: &[SweepPoint], free_until: u32, margin: Margin, lines: usize) -> Vec<Cliff> {
    let Some(curve) = Curve::of(points, lines) else { return Vec::new() };
    let end = curve.clients.iter().take_while(|clients| **clients <= free_until).count();
    let limit = margin.edges().0.ln();
    let mut found = Vec::new();
    let (mut best, mut at) = (0, 1);
    while at < end {
        let (change, half) = curve.between(best, at);
        if change + half >= limit {
            if curve.level(at) > curve.level(best) {
                best = at;
            }
            at += 1;
            continue;
        }
        let back = |later: &usize| {
            let (gain, half) = curve.between(at, *later);
            gain - half > 0.0 && curve.level(*later) >= curve.level(best)
        };
        let recovers = (at + 1..curve.clients.len()).find(back);
        found.push(Cliff {
            from: curve.clients[best],
            to: curve.clients[at],
            ratio: change.exp(),
            low: (change - half).exp(),
            high: (change + half).exp(),
            recovers: recovers.map(|place| curve.clients[place]),
        });
        // Until then, all of it is the same fall.
        let Some(place) = recovers else { break };
        (best, at) = (place, place + 1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Points whose blocks differ by factors, each a little off.
    fn points(rates: &[(u32, f64)], wobble: &[f64]) -> Vec<SweepPoint> {
        let point = |(place, (clients, rate)): (usize, &(u32, f64))| {
            let turned = |block: usize| wobble[(block + place) % wobble.len()];
            let of =
                |block: usize| (block as u32 + 1, rate * turned(block) * 1.1f64.powi(block as i32));
            SweepPoint { clients: *clients, rates: (0..wobble.len()).map(of).collect() }
        };
        rates.iter().enumerate().map(point).collect()
    }

    fn found(rates: &[(u32, f64)], wobble: &[f64], free_until: u32) -> Vec<Cliff> {
        cliffs(&points(rates, wobble), free_until, Margin::of(0.02), 1)
    }

    const FALLING: [(u32, f64); 7] =
        [(8, 190e3), (16, 370e3), (22, 500e3), (23, 495e3), (24, 350e3), (60, 350e3), (100, 2e6)];

    #[test]
    fn a_fall_and_its_end_are_found_with_two_blocks() {
        for wobble in [&[0.995, 1.005][..], &[0.99, 1.0, 1.01]] {
            let all = found(&FALLING, wobble, 90);
            let [fall] = &all[..] else { panic!("{all:?}") };
            assert_eq!((fall.from, fall.to, fall.recovers), (22, 24, Some(100)));
            assert!(fall.low < 0.7 && 0.7 < fall.high && fall.high < 0.8, "{fall:?}");
        }
    }

    #[test]
    fn one_block_noise_and_busy_cores_show_none() {
        assert_eq!(found(&FALLING, &[1.0], 90), []);
        assert_eq!(found(&FALLING, &[0.99, 1.0, 1.01], 23), []);
        assert_eq!(found(&FALLING, &[0.6, 1.0, 1.6], 90), []);
        let level = [(1, 5e3), (2, 4.95e3), (4, 5e3), (8, 4.93e3), (16, 5e3)];
        assert_eq!(found(&level, &[0.999, 1.0, 1.001], 16), []);
        assert_eq!(cliffs(&[], 9, Margin::of(0.02), 1), []);
    }

    #[test]
    fn what_does_not_come_back_is_one_fall() {
        let rates = [(1, 100.0), (2, 200.0), (4, 100.0), (8, 50.0), (16, 120.0)];
        let all = found(&rates, &[0.999, 1.0, 1.001], 16);
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!((all[0].to, all[0].recovers), (4, None));
    }

    #[test]
    fn a_pair_with_much_scatter_of_its_own_is_not_sure() {
        // Of two blocks one has a fall; all else is exact.
        let mut points = points(&FALLING[..5], &[1.0, 1.0]);
        points[4].rates[0].1 *= 500.0 / 350.0;
        assert_eq!(cliffs(&points, 90, Margin::of(0.02), 1), []);
    }

    #[test]
    fn a_point_that_a_block_lacks_is_left_out() {
        let mut points = points(&FALLING, &[0.99, 1.0, 1.01]);
        points[3].rates.pop();
        points[4].rates[1].1 = 0.0;
        let all = cliffs(&points, 90, Margin::of(0.02), 1);
        assert_eq!((all.len(), all[0].from, all[0].to), (1, 22, 60));
    }

    proptest! {
        #[test]
        fn scale_and_order_of_blocks_do_not_matter(
            rates in proptest::collection::vec(1.0..1e6f64, 2..12),
            noise in proptest::collection::vec(0.9..1.1f64, 24),
            scale in 1e-3..1e3f64,
        ) {
            let point = |(place, rate): (usize, &f64)| SweepPoint {
                clients: place as u32 + 1,
                rates: (0..2).map(|block| (block, rate * noise[2 * place + block as usize])).collect(),
            };
            let points: Vec<_> = rates.iter().enumerate().map(point).collect();
            let other = points.iter().cloned().map(|mut point| {
                point.rates.reverse();
                point.rates.iter_mut().for_each(|(_, rate)| *rate *= scale);
                point
            });
            let of = |points: &[SweepPoint]| {
                let all = cliffs(points, 8, Margin::of(0.02), 3);
                all.iter().map(|it| (it.from, it.to, it.recovers)).collect::<Vec<_>>()
            };
            prop_assert_eq!(of(&points), of(&other.collect::<Vec<_>>()));
        }
    }
}
