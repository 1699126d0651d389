//! The slices of a step as the page shows them: rates per round, and the ratio after each restart.

use std::collections::BTreeSet;

use metrics::SliceReason;
use serde::Serialize;

use super::number::Number;
use crate::judging::judged::{Judged, Outcome};
use crate::judging::sliced::{Running, running};
use crate::load::model::{Results, StepResults};
use crate::load::slices::Slices;
use crate::output::number::rounded;

/// With more points than this over all variants and restarts of a step, neighboring rounds share a
/// point. In a page of 40 such steps they take 2 MB.
const MOST_POINTS: usize = 2000;

/// A step that ran in slices.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageSlices {
    /// The length of the slices in milliseconds; the longest if restarts differ.
    pub(crate) length_ms: Number,
    /// Number of neighboring rounds that share a point.
    pub(crate) rounds_per_point: usize,
    /// Rounds of slices shorter than the chosen length. They don't count and are not among the
    /// points.
    pub(crate) shorter: usize,
    pub(crate) restarts: Vec<PageRestart>,
    /// The ratios within which a variant is equivalent.
    pub(crate) margin: (f64, f64),
    pub(crate) running: Vec<PageRunning>,
}

/// The rounds of one restart of all servers, in points. Lists of variants are in their order.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageRestart {
    pub(crate) block: u32,
    pub(crate) rounds: usize,
    /// Seconds that each variant had the load.
    pub(crate) length: Number,
    /// The middle of each point, in seconds that each variant had the load.
    pub(crate) seconds: Vec<Number>,
    /// Median of the rates, by variant.
    pub(crate) levels: Vec<Number>,
    /// Medians of the rates, by variant and point.
    pub(crate) rates: Vec<Vec<Number>>,
    /// The lowest rate, by variant and point; empty if a point is one round.
    pub(crate) low: Vec<Vec<Number>>,
    /// The highest.
    pub(crate) high: Vec<Vec<Number>>,
    /// Slices without a rate: point, variant, the place of the reason in the page's
    /// `slice_reasons`, how many.
    pub(crate) aside: Vec<(usize, usize, usize, usize)>,
}

/// A variant compared with the base after each restart.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageRunning {
    pub(crate) variant: usize,
    pub(crate) restarts: Vec<PageSoFar>,
}

/// The result after a restart.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageSoFar {
    pub(crate) block: u32,
    /// The ratio in this restart alone.
    pub(crate) own: f64,
    /// The ratio over all restarts up to this one.
    pub(crate) ratio: f64,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
}

/// Why a slice has no rate, in words, indexed by number.
pub(crate) fn reasons() -> Vec<&'static str> {
    SliceReason::ALL.into_iter().map(SliceReason::words).collect()
}

/// The slices of a step; `None` if it has no slices.
pub(crate) fn page_slices(
    results: &Results,
    judged: &Judged,
    number: usize,
    step: &StepResults,
) -> Option<PageSlices> {
    let restarts = restarts(step);
    let length_ms = restarts.iter().map(|restart| restart.length_ms).max_by(f64::total_cmp)?;
    let points: usize = restarts.iter().map(|one| one.used.len() * one.variants.len()).sum();
    let rounds_per_point = points.div_ceil(MOST_POINTS).max(1);
    let margin = judged.margin_in(number);
    let running_of = |place: usize| {
        let Outcome::Compared(_) = judged.steps.get(number)?.get(place)? else { return None };
        let found =
            running(step.variant(judged.base)?, step.variant(place)?, margin, &results.looks);
        let so_far = |one: Running| PageSoFar {
            block: one.block,
            own: rounded(one.own, 6),
            ratio: rounded(one.so_far.ratio, 6),
            low: one.so_far.low.map(|low| rounded(low, 6)),
            high: one.so_far.high.map(|high| rounded(high, 6)),
        };
        let restarts: Vec<PageSoFar> = found.into_iter().map(so_far).collect();
        (!restarts.is_empty()).then_some(PageRunning { variant: place, restarts })
    };
    Some(PageSlices {
        length_ms: Number(length_ms),
        rounds_per_point,
        shorter: restarts.iter().map(|restart| restart.shorter).sum(),
        restarts: restarts.iter().map(|restart| restart.points(rounds_per_point)).collect(),
        margin: margin.edges(),
        running: (0..step.variants.len()).filter_map(running_of).collect(),
    })
}

/// One restart of all servers with the slices of each variant.
struct Restart<'a> {
    block: u32,
    length_ms: f64,
    variants: Vec<Option<&'a Slices>>,
    /// The rounds that count, with their lengths in seconds.
    used: Vec<(usize, f64)>,
    shorter: usize,
}

fn restarts(step: &StepResults) -> Vec<Restart<'_>> {
    let samples = || step.variants.iter().flat_map(|variant| &variant.samples);
    let blocks: BTreeSet<u32> =
        samples().filter(|sample| sample.slices.is_some()).map(|sample| sample.block).collect();
    let restart = |block: u32| {
        let variants: Vec<Option<&Slices>> = step
            .variants
            .iter()
            .map(|variant| {
                let sample = variant.samples.iter().find(|sample| sample.block == block)?;
                sample.slices.as_ref()
            })
            .collect();
        let known = || variants.iter().copied().flatten();
        let length_ms = known().map(|slices| slices.length_ms).fold(0.0, f64::max);
        let came = known().map(Slices::rounds).max().unwrap_or_default();
        // Planned lengths are the same within a round.
        let lengths = known().next().map(|slices| slices.lengths.as_slice()).unwrap_or_default();
        let rounds = || lengths.iter().take(came).enumerate();
        let used: Vec<(usize, f64)> = rounds()
            .filter(|(_, length)| Slices::counts(**length, length_ms))
            .map(|(round, length)| (round, length / 1000.0))
            .collect();
        let shorter = rounds().count() - used.len();
        Restart { block, length_ms, variants, used, shorter }
    };
    blocks.into_iter().map(restart).collect()
}

impl Restart<'_> {
    fn points(&self, rounds_per_point: usize) -> PageRestart {
        let of_rounds = |slices: &Option<&Slices>, rounds: &[(usize, f64)]| -> Vec<f64> {
            let rate = |(round, _): &(usize, f64)| slices.as_ref()?.rates.get(*round).copied();
            rounds.iter().filter_map(rate).filter(|rate| !rate.is_nan()).collect()
        };
        let by_point = |of: fn(&[f64]) -> Option<f64>| -> Vec<Vec<Number>> {
            let point = |slices, rounds| Number(of(&of_rounds(slices, rounds)).unwrap_or(f64::NAN));
            let line = |slices| -> Vec<Number> {
                self.used.chunks(rounds_per_point).map(|rounds| point(slices, rounds)).collect()
            };
            self.variants.iter().map(line).collect()
        };
        let ends = |of| if rounds_per_point > 1 { by_point(of) } else { Vec::new() };
        let mut length = 0.0;
        let mut seconds = Vec::new();
        let mut aside = Vec::new();
        for (point, rounds) in self.used.chunks(rounds_per_point).enumerate() {
            let long: f64 = rounds.iter().map(|(_, length)| length).sum();
            seconds.push(Number(length + long / 2.0));
            length += long;
            for (variant, slices) in self.variants.iter().enumerate() {
                aside.extend(
                    without_rate(*slices, rounds)
                        .map(|(reason, many)| (point, variant, reason, many)),
                );
            }
        }
        let level = |slices| judge::median(&of_rounds(slices, &self.used)).unwrap_or(f64::NAN);
        PageRestart {
            block: self.block,
            rounds: self.used.len(),
            length: Number(length),
            seconds,
            levels: self.variants.iter().map(|slices| Number(level(slices))).collect(),
            rates: by_point(judge::median),
            low: ends(|rates| rates.iter().copied().min_by(f64::total_cmp)),
            high: ends(|rates| rates.iter().copied().max_by(f64::total_cmp)),
            aside,
        }
    }
}

/// How many of these rounds have no rate, by reason. Rounds after a server's last slice do not
/// count.
fn without_rate(
    slices: Option<&Slices>,
    rounds: &[(usize, f64)],
) -> impl Iterator<Item = (usize, usize)> + use<> {
    let mut found = [0; SliceReason::ALL.len()];
    if let Some(slices) = slices {
        for (round, _) in rounds.iter().filter(|(round, _)| *round < slices.rounds()) {
            let reason = slices.reasons.get(*round).copied().unwrap_or_default() as usize;
            found.iter_mut().skip(reason).take(1).for_each(|count| *count += 1);
        }
    }
    found.into_iter().enumerate().skip(1).filter(|(_, many)| *many > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::model::{Sample, VariantStep};

    fn slices(rates: Vec<f64>, lengths: Vec<f64>, reasons: Vec<f64>) -> Slices {
        Slices { length_ms: 40.0, rates, lengths, reasons, servers: 2 }
    }

    fn restart(variants: &[Slices]) -> Restart<'_> {
        let used = variants[0].lengths.iter().enumerate().filter(|(_, ms)| **ms >= 40.0);
        Restart {
            block: 3,
            length_ms: 40.0,
            variants: variants.iter().map(Some).collect(),
            used: used.map(|(round, ms)| (round, ms / 1000.0)).collect(),
            shorter: 0,
        }
    }

    fn values(numbers: &[Number]) -> Vec<f64> {
        numbers.iter().map(|number| number.0).collect()
    }

    #[test]
    fn points_stand_in_the_seconds_under_load() {
        let lengths = vec![40.0, 10.0, 80.0, 40.0, 40.0];
        let nan = f64::NAN;
        let found = restart(&[
            slices(vec![10.0, 1.0, 20.0, 30.0, 40.0], lengths.clone(), vec![0.0; 5]),
            slices(vec![11.0, 1.0, nan, 31.0, nan], lengths, vec![0.0, 0.0, 2.0, 0.0, 3.0]),
        ])
        .points(1);
        assert_eq!((found.block, found.rounds), (3, 4));
        let expected = [0.02, 0.08, 0.14, 0.18];
        let seconds = values(&found.seconds);
        assert!(seconds.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{seconds:?}");
        assert!((found.length.0 - 0.2).abs() < 1e-12);
        assert_eq!(values(&found.levels), [25.0, 21.0]);
        assert_eq!(values(&found.rates[0]), [10.0, 20.0, 30.0, 40.0]);
        assert!(found.rates[1][1].0.is_nan() && found.low.is_empty() && found.high.is_empty());
        assert_eq!(found.aside, [(1, 1, 2, 1)], "what never came after the last is no loss");
    }

    #[test]
    fn where_points_hold_several_rounds_nothing_is_lost() {
        let rates: Vec<f64> = (0..10).map(f64::from).collect();
        let mut reasons = vec![0.0; 10];
        (reasons[1], reasons[2], reasons[5]) = (1.0, 1.0, 2.0);
        let mut with_gaps = rates;
        (with_gaps[1], with_gaps[2], with_gaps[5]) = (f64::NAN, f64::NAN, f64::NAN);
        let found = restart(&[slices(with_gaps, vec![40.0; 10], reasons)]).points(4);
        assert_eq!(values(&found.rates[0]), [1.5, 6.0, 8.5]);
        assert_eq!(values(&found.low[0]), [0.0, 4.0, 8.0]);
        assert_eq!(values(&found.high[0]), [3.0, 7.0, 9.0]);
        assert_eq!(found.aside, [(0, 0, 1, 2), (1, 0, 2, 1)]);
        let seconds = values(&found.seconds);
        assert!((seconds[2] - 0.36).abs() < 1e-12, "{seconds:?}");
    }

    fn sample(block: u32, slices: Option<Slices>) -> Sample {
        let (trial, step) = (store::TrialId(1), store::StepId(1));
        Sample { block, trial, step, started_ms: 0, values: Vec::new(), slices }
    }

    #[test]
    fn many_rounds_stay_within_the_bound() {
        let of_block = |block: u32| {
            let lengths = (0..500).map(|round| if round % 5 == 0 { 10.0 } else { 40.0 }).collect();
            sample(block, Some(slices(vec![100.0; 500], lengths, vec![0.0; 500])))
        };
        let variant =
            VariantStep { samples: (1..=30).map(of_block).collect(), ..VariantStep::default() };
        let step = StepResults { variants: vec![variant; 6], ..StepResults::default() };
        let restarts = restarts(&step);
        assert_eq!(restarts.len(), 30);
        assert_eq!((restarts[7].used.len(), restarts[7].shorter), (400, 100));
        let points: usize = restarts.iter().map(|one| one.used.len() * one.variants.len()).sum();
        let per_point = points.div_ceil(MOST_POINTS);
        let shown: usize = restarts.iter().map(|one| one.points(per_point).seconds.len() * 6).sum();
        assert!(shown <= MOST_POINTS + 30 * 6, "{shown}");
    }

    #[test]
    fn a_block_without_slices_is_none_and_one_variant_may_lack_some() {
        let some = || Some(slices(vec![100.0; 8], vec![40.0; 8], vec![0.0; 8]));
        let step = |samples| VariantStep { samples, ..VariantStep::default() };
        let variants = vec![
            step(vec![sample(1, None), sample(2, some()), sample(3, some())]),
            step(vec![sample(1, None), sample(3, some())]),
        ];
        let step = StepResults { variants, ..StepResults::default() };
        let found: Vec<PageRestart> = restarts(&step).iter().map(|one| one.points(1)).collect();
        assert_eq!(found.iter().map(|one| one.block).collect::<Vec<_>>(), [2, 3]);
        assert!(found[0].rates[1].iter().all(|rate| rate.0.is_nan()) && found[0].aside.is_empty());
        assert_eq!(values(&found[1].levels), [100.0, 100.0]);
    }

    #[test]
    fn the_running_ratio_ends_at_the_comparison() {
        let noisy = |level: f64, seed: usize| {
            let noise = |round: usize| 1.0 + 0.01 * ((round * 7919 + seed) % 101) as f64 / 50.0;
            let rates = (0..100).map(|round| level * noise(round)).collect();
            Some(slices(rates, vec![40.0; 100], vec![0.0; 100]))
        };
        let step = |level: f64| VariantStep {
            samples: (1..=4)
                .map(|block| {
                    sample(block, noisy(level + 3.0 * f64::from(block % 2), block as usize))
                })
                .collect(),
            ..VariantStep::default()
        };
        let (base, variant) = (step(1000.0), step(900.0));
        let (margin, looks) = (judge::Margin::default(), judge::Looks::new(&[2, 4]));
        let found = running(&base, &variant, margin, &looks);
        assert_eq!(found.iter().map(|one| one.block).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert!(found[0].so_far.low.is_none() && found[1].so_far.low.is_some());
        assert!((found[0].own / found[0].so_far.ratio - 1.0).abs() < 1e-12);
        let logs: f64 = found.iter().map(|one| one.own.ln()).sum();
        let last = &found[3].so_far;
        assert!((last.ratio.ln() - logs / 4.0).abs() < 1e-12);
        assert!(last.high.unwrap() < 0.98);
        let compared =
            crate::judging::sliced::compare(&base, &variant, margin, &looks).unwrap().unwrap();
        assert_eq!((compared.low, compared.high), (last.low, last.high));
    }

    #[test]
    fn the_running_ratio_of_stalls_is_that_of_all_that_was_done() {
        let of = |rates: Vec<f64>| {
            let rounds = rates.len();
            sample(1, Some(slices(rates, vec![40.0; rounds], vec![0.0; rounds])))
        };
        let step = |first: Vec<f64>, second: Vec<f64>| VariantStep {
            samples: vec![of(first), Sample { block: 2, ..of(second) }],
            ..VariantStep::default()
        };
        let stalls: Vec<f64> =
            (0..100).map(|round| if round % 2 == 0 { 0.0 } else { 1000.0 }).collect();
        let rarely: Vec<f64> =
            (0..100).map(|round| if round % 10 == 0 { 0.0 } else { 1000.0 }).collect();
        let base = step(vec![1000.0; 100], vec![1000.0; 100]);
        let margin = judge::Margin::default();
        let found = running(&base, &step(rarely, stalls), margin, &judge::Looks::new(&[2]));
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(found[0].own, 0.9) && close(found[1].own, 0.5), "{found:?}");
        assert!(close(found[1].so_far.ratio, (0.9_f64 * 0.5).sqrt()), "{found:?}");
        let dead = step(vec![1000.0; 100], vec![0.0; 100]);
        let found = running(&base, &dead, margin, &judge::Looks::new(&[2]));
        assert_eq!(found.len(), 1, "a restart without any operation has no ratio");
    }
}
