//! Steps whose load moved between the servers of all variants in slices: their rates by round, and
//! their comparison.

use judge::{
    ByLength, JudgeError, Looks, Margin, RestartRatio, compare_frozen, compare_slices, deciding,
    restart_ratio, totals,
};
use serde::{Deserialize, Serialize};

use crate::load::model::{Results, Sample, StepResults, VariantStep};
use crate::load::slices::Slices;

/// Slices of at least this multiple of the chosen length serve to check it.
const LONGER: f64 = 1.5;

/// Figures behind the ratio of a variant and its base in slices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slicing {
    /// The chosen length in milliseconds; the longest if restarts differ.
    pub length_ms: f64,
    /// Restarts of all servers.
    pub restarts: usize,
    /// Rounds in which both were measured, over all restarts.
    pub rounds: usize,
    /// Share of the rounds, 0 to 1, in which a slice of either was disturbed or not measured.
    pub set_aside: f64,
    /// Throughput of the variant / throughput of the base.
    pub ratio: f64,
    /// Standard error of one restart's log ratio, from batches of its rounds: the root mean square
    /// over the restarts.
    pub within: f64,
    /// Standard deviation of the log ratios of the restarts; `null` with one.
    pub between: Option<f64>,
    /// The ratio by typical slices of the chosen length, over the restarts with two lengths; `null`
    /// if there are none.
    pub by_chosen: Option<f64>,
    /// The ratio by typical slices at least half as long again; `null` as above.
    pub by_longer: Option<f64>,
}

/// One restart.
struct Restart {
    length_ms: f64,
    /// The planned length of all slices of a variant, in seconds.
    seconds: f64,
    all: RestartRatio,
    /// Other servers were frozen in the slices.
    frozen: bool,
}

/// Compares a variant with the base over the restarts in which both have slices; `None` if none has
/// enough rounds. A restart in which one of the two did nothing is not skipped: it is an error,
/// with its block.
pub(crate) fn compare(
    base: &VariantStep,
    variant: &VariantStep,
    margin: Margin,
    looks: &Looks,
) -> Option<Result<judge::Comparison, (u32, JudgeError)>> {
    let found = by_block(base, variant);
    let refused = found.iter().find_map(|(block, restart)| match restart {
        Err(JudgeError::TooFewRounds { .. }) | Ok(_) => None,
        Err(error) => Some((*block, *error)),
    });
    if let Some(refused) = refused {
        return Some(Err(refused));
    }
    let restarts: Vec<Restart> = found.into_iter().filter_map(|(_, found)| found.ok()).collect();
    let all: Vec<RestartRatio> = restarts.iter().map(|restart| restart.all).collect();
    let confidence = looks.confidence_at(u32::try_from(all.len()).unwrap_or(u32::MAX));
    judged(&restarts)(&all, margin, confidence).ok().map(Ok)
}

type Compare = fn(&[RestartRatio], Margin, f64) -> Result<judge::Comparison, JudgeError>;

/// How restarts are judged.
fn judged(restarts: &[Restart]) -> Compare {
    match restarts.iter().any(|restart| restart.frozen) {
        true => compare_frozen,
        false => compare_slices,
    }
}

/// The result of a restart, and of all restarts up to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Running {
    /// The block.
    pub(crate) block: u32,
    /// Throughput of the variant / throughput of the base in this restart only.
    pub(crate) own: f64,
    /// The comparison over the restarts up to this one.
    pub(crate) so_far: judge::Comparison,
}

/// The results that [`compare`] would have given after each restart; ends before the first one that
/// it rejects.
pub(crate) fn running(
    base: &VariantStep,
    variant: &VariantStep,
    margin: Margin,
    looks: &Looks,
) -> Vec<Running> {
    let mut blocks = Vec::new();
    let mut found = Vec::new();
    for (block, restart) in by_block(base, variant) {
        match restart {
            Ok(restart) => {
                blocks.push(block);
                found.push(restart);
            }
            Err(JudgeError::TooFewRounds { .. }) => {}
            Err(_) => break,
        }
    }
    let restarts: Vec<RestartRatio> = found.iter().map(|restart| restart.all).collect();
    let (deciding, _) = deciding(&restarts);
    let after = |((last, block), own): ((usize, &u32), &RestartRatio)| {
        let known = restarts.get(..=last)?;
        let confidence = looks.confidence_at(u32::try_from(known.len()).unwrap_or(u32::MAX));
        let so_far = judged(&found)(known, margin, confidence).ok()?;
        Some(Running { block: *block, own: own.mean_log.exp(), so_far })
    };
    blocks.iter().enumerate().zip(deciding.iter()).filter_map(after).collect()
}

/// The ratio of a variant to the base in each restart; their geometric mean is the ratio from
/// [`compare`]. Empty without restarts to compare.
pub(crate) fn ratios(base: &VariantStep, variant: &VariantStep) -> Vec<(u32, f64)> {
    let (blocks, restarts): (Vec<u32>, Vec<RestartRatio>) =
        restarts(base, variant).map(|(block, restart)| (block, restart.all)).unzip();
    let (deciding, _) = deciding(&restarts);
    blocks.into_iter().zip(deciding.iter().map(|restart| restart.mean_log.exp())).collect()
}

/// Why blocks of both are missing in the result of [`compare`], and what to do.
pub(crate) fn left_out(base: &VariantStep, variant: &VariantStep) -> &'static str {
    let found = by_block(base, variant);
    match found.iter().any(|(_, found)| matches!(found, Err(JudgeError::TooFewRounds { .. }))) {
        true => {
            "the others have too few undisturbed rounds of slices; give the step more rows or seconds"
        }
        false => "the others did not run in slices",
    }
}

/// Figures of a step's slices, compared with the base or, for a twin, with its original.
pub(crate) fn slicing_of(
    results: &Results,
    step: &StepResults,
    base: usize,
    place: usize,
) -> Option<Slicing> {
    let other = results.twin_of(place).unwrap_or(base);
    slicing(step.variant(other).filter(|_| other != place)?, step.variant(place)?)
}

/// The spread of a step's log ratio in slices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scatter {
    /// Restarts with slices of both.
    pub restarts: usize,
    /// Sample variance of the restarts' log ratios; 0 with one.
    pub all: f64,
    /// Variance of one restart's log ratio, estimated from its slices: the mean over the restarts.
    pub within: f64,
    /// Seconds that each of the two had the load in a restart: the mean over the restarts.
    pub seconds: f64,
}

/// The spread of the log ratio of two variants: of their typical slices or, where these do not
/// decide or `comparison` says that they leave it open, of all operations. `None` if they have no
/// slices to compare.
pub fn scatter(
    base: &VariantStep,
    variant: &VariantStep,
    comparison: Option<&judge::Comparison>,
) -> Option<Scatter> {
    let (restarts, seconds): (Vec<RestartRatio>, Vec<f64>) =
        restarts(base, variant).map(|(_, restart)| (restart.all, restart.seconds)).unzip();
    let open = |warning: &judge::Warning| matches!(warning, judge::Warning::TotalsOpen { .. });
    let spread = match comparison.is_some_and(|it| it.warnings.iter().any(open)) {
        true => totals(&restarts).into(),
        false => deciding(&restarts).0,
    };
    let of = |value: fn(&RestartRatio) -> f64| -> Vec<f64> { spread.iter().map(value).collect() };
    Some(Scatter {
        restarts: spread.len(),
        all: judge::sd_sample(&of(|restart| restart.mean_log)).map_or(0.0, |sd| sd * sd),
        within: judge::mean(&of(|restart| restart.variance))?,
        seconds: judge::mean(&seconds)?,
    })
}

/// Figures of the slices of two variants; `None` where [`compare`] has no result either.
fn slicing(base: &VariantStep, variant: &VariantStep) -> Option<Slicing> {
    let restarts: Vec<Restart> = restarts(base, variant).map(|(_, restart)| restart).collect();
    let all: Vec<RestartRatio> = restarts.iter().map(|restart| restart.all).collect();
    let (decided, _) = deciding(&all);
    let of = |value: fn(&RestartRatio) -> f64| -> Vec<f64> { decided.iter().map(value).collect() };
    let by_length = |log: fn(ByLength) -> f64| {
        let logs: Vec<f64> = all.iter().filter_map(|restart| restart.by_length.map(log)).collect();
        judge::mean(&logs).map(f64::exp)
    };
    Some(Slicing {
        ratio: judge::mean(&of(|restart| restart.mean_log))?.exp(),
        length_ms: restarts.iter().map(|restart| restart.length_ms).max_by(f64::total_cmp)?,
        restarts: restarts.len(),
        rounds: restarts.iter().map(|restart| restart.all.pairs).sum(),
        set_aside: judge::mean(&of(|restart| restart.set_aside))?,
        between: judge::sd_sample(&of(|restart| restart.mean_log)),
        within: judge::mean(&of(|restart| restart.variance))?.sqrt(),
        by_chosen: by_length(|by| by.short),
        by_longer: by_length(|by| by.long),
    })
}

/// The restarts that can be compared, with their blocks.
fn restarts(base: &VariantStep, variant: &VariantStep) -> impl Iterator<Item = (u32, Restart)> {
    let found = by_block(base, variant).into_iter();
    found.filter_map(|(block, restart)| Some((block, restart.ok()?)))
}

/// The result of the rounds of each block in which both have slices.
fn by_block(base: &VariantStep, variant: &VariantStep) -> Vec<(u32, Result<Restart, JudgeError>)> {
    variant
        .samples
        .iter()
        .filter_map(|sample| {
            let block = sample.block;
            let place = base.samples.binary_search_by_key(&block, |sample| sample.block).ok()?;
            let of_base = base.samples.get(place)?;
            let whole = in_own_time(base, of_base).zip(in_own_time(variant, sample));
            let whole = whole.map(|(base, variant)| (variant / base).ln());
            let found = restart(of_base.slices.as_ref()?, sample.slices.as_ref()?, whole);
            Some((block, found))
        })
        .collect()
}

/// Operations per second of own time, if other servers were frozen in the slices: work in the
/// background is part of them, so no slice is typical.
fn in_own_time(step: &VariantStep, sample: &Sample) -> Option<f64> {
    step.value(sample, metrics::SLICE_SWITCH_MS.name)?;
    step.value(sample, metrics::OPS.name)
}

/// `whole`: the log ratio of all operations, if that is what counts.
fn restart(base: &Slices, variant: &Slices, whole: Option<f64>) -> Result<Restart, JudgeError> {
    let length_ms = base.length_ms.max(variant.length_ms);
    // Planned lengths are the same within a round, so the base's will do.
    let (base_rates, variant_rates) = base.paired(variant);
    let typical = |wanted: &dyn Fn(f64) -> bool| {
        let (of_base, of_variant): (Vec<f64>, Vec<f64>) = base_rates
            .iter()
            .zip(&variant_rates)
            .zip(&base.lengths)
            .filter(|(_, length)| wanted(**length))
            .map(|(rates, _)| rates)
            .unzip();
        restart_ratio(&of_base, &of_variant)
    };
    let used = |length: f64| Slices::counts(length, length_ms);
    let longer = LONGER * length_ms;
    let lengths = |wanted: &dyn Fn(f64) -> bool| -> Vec<f64> {
        let rounds = base_rates.iter().zip(&variant_rates).zip(&base.lengths);
        let measured = rounds.filter(|((base, variant), _)| !base.is_nan() && !variant.is_nan());
        measured.map(|(_, length)| *length).filter(|length| wanted(*length)).collect()
    };
    let inverse = |lengths: &[f64]| {
        judge::mean(&lengths.iter().map(|length| 1.0 / length).collect::<Vec<f64>>())
    };
    // What each slice loses shows in a typical one, which bursts do not move.
    let part = |wanted: &dyn Fn(f64) -> bool| typical(wanted).ok().zip(inverse(&lengths(wanted)));
    let (chosen, longer) =
        (part(&|length| used(length) && length < longer), part(&|length| length >= longer));
    let by_all = match whole {
        Some(_) => judge::mean(&lengths(&used)).map(|mean| 1.0 / mean),
        None => inverse(&lengths(&used)),
    };
    let by_length = chosen.zip(longer).zip(by_all).and_then(|((chosen, longer), by_all)| {
        ByLength::of((&chosen.0, chosen.1), (&longer.0, longer.1), by_all)
    });
    let all = typical(&used)?;
    let all = match whole {
        Some(whole) => RestartRatio { mean_log: whole, ..all.whole() },
        None => all,
    };
    Ok(Restart {
        length_ms,
        frozen: whole.is_some(),
        seconds: base.lengths.iter().sum::<f64>() / 1000.0,
        all: RestartRatio { by_length, servers: base.servers, ..all },
    })
}

#[cfg(test)]
mod tests {
    use judge::{Method, Verdict, Warning};
    use store::{StepId, TrialId};

    use super::*;

    /// Rates around `level` that a fixed rule disturbs, in rounds of 40 ms of which every fourth
    /// has 80 ms.
    fn slices(level: f64, rounds: usize, phase: usize) -> Slices {
        let noise =
            |round: usize| 1.0 + 0.01 * (((round * 7919 + phase) % 101) as f64 / 50.0 - 1.0);
        Slices {
            length_ms: 40.0,
            rates: (0..rounds).map(|round| level * noise(round)).collect(),
            lengths: (0..rounds).map(|round| if round % 4 == 3 { 80.0 } else { 40.0 }).collect(),
            reasons: vec![0.0; rounds],
            servers: 2,
        }
    }

    fn step(blocks: Vec<Option<Slices>>) -> VariantStep {
        let sample = |(place, slices): (usize, Option<Slices>)| Sample {
            block: place as u32 + 1,
            trial: TrialId(1),
            step: StepId(1),
            started_ms: 0,
            values: Vec::new(),
            slices,
        };
        VariantStep {
            samples: blocks.into_iter().enumerate().map(sample).collect(),
            ..VariantStep::default()
        }
    }

    fn compared(base: &VariantStep, variant: &VariantStep) -> Option<judge::Comparison> {
        let found = compare(base, variant, Margin::default(), &Looks::new(&[3]));
        found.map(|found| found.expect("slices that can be compared"))
    }

    #[test]
    fn a_restart_without_operations_is_not_left_out() {
        let base = step([1, 2, 3].map(|seed| Some(slices(1000.0, 200, seed))).to_vec());
        let dead = Slices { rates: vec![0.0; 200], ..slices(1000.0, 200, 5) };
        let variant =
            step(vec![Some(slices(1000.0, 200, 4)), Some(dead), Some(slices(1000.0, 200, 6))]);
        let found = compare(&base, &variant, Margin::default(), &Looks::new(&[3])).unwrap();
        assert_eq!(found, Err((2, JudgeError::Idle { side: judge::Side::Variant })));
    }

    #[test]
    fn restarts_are_the_blocks_that_both_have() {
        let base = step(vec![
            Some(slices(1000.0, 200, 1)),
            Some(slices(1100.0, 200, 2)),
            Some(slices(1050.0, 200, 3)),
            None,
        ]);
        let variant = step(vec![
            Some(slices(900.0, 200, 4)),
            Some(slices(990.0, 200, 5)),
            None,
            Some(slices(990.0, 200, 6)),
        ]);
        let found = compared(&base, &variant).unwrap();
        assert_eq!((found.method, found.blocks), (Method::Slices, 2));
        assert!((found.ratio - 0.9).abs() < 0.003, "{found:?}");
        let slicing = slicing(&base, &variant).unwrap();
        assert_eq!((slicing.restarts, slicing.rounds), (2, 400));
        assert!((slicing.length_ms - 40.0).abs() < 1e-12 && slicing.set_aside == 0.0);
        let (chosen, longer) = (slicing.by_chosen.unwrap(), slicing.by_longer.unwrap());
        assert!((chosen - 0.9).abs() < 0.005 && (longer - 0.9).abs() < 0.005);
        assert_eq!(compared(&base, &step(vec![None; 4])), None);
        assert_eq!(compared(&base, &step(Vec::new())), None);
    }

    #[test]
    fn one_restart_decides_nothing() {
        let base = step(vec![Some(slices(1000.0, 200, 1))]);
        let variant = step(vec![Some(slices(900.0, 200, 2))]);
        let found = compared(&base, &variant).unwrap();
        assert_eq!((found.verdict, found.low), (Verdict::Inconclusive, None));
        assert_eq!(found.warnings, [Warning::OneRestart]);
        let slicing = slicing(&base, &variant).unwrap();
        assert!(
            slicing.within > 0.0 && slicing.between.is_none(),
            "what it says of itself is shown"
        );
    }

    #[test]
    fn a_variant_that_stalls_is_slower() {
        let stalling = |phase: usize| {
            let mut slices = slices(1000.0, 200, phase);
            slices.rates.iter_mut().step_by(2).for_each(|rate| *rate = 0.0);
            Some(slices)
        };
        let base = step((1..7).map(|phase| Some(slices(1000.0, 200, phase))).collect());
        let found = compared(&base, &step((7..13).map(stalling).collect())).unwrap();
        assert_eq!(found.verdict, Verdict::Regression);
        assert!((found.ratio - 0.5).abs() < 0.01, "{found:?}");
        assert!(found.warnings.iter().any(|warning| warning.code() == "stalled"), "{found:?}");
    }

    /// A checkpoint in a few slices belongs to what a server does, and nothing is said about it.
    #[test]
    fn frozen_slices_are_judged_by_all_that_was_done() {
        let frozen = |phases: std::ops::Range<usize>, slow: usize, rate: fn(usize) -> f64| {
            let one = |phase: usize| {
                let mut slices = slices(1000.0, 200, phase);
                slices.rates.iter_mut().take(slow).for_each(|rate| *rate = 0.0);
                Some(slices)
            };
            let mut step = step(phases.clone().map(one).collect());
            let names = [&metrics::OPS, &metrics::SLICE_SWITCH_MS];
            step.metrics = names.map(|metric| metric.name.to_owned()).into();
            for (sample, phase) in step.samples.iter_mut().zip(phases) {
                sample.values = vec![rate(phase), 0.3];
            }
            step
        };
        let base = frozen(1..7, 0, |_| 1000.0);
        let slower = |phases| frozen(phases, 60, |phase| 690.0 + phase as f64);
        let found = compared(&base, &slower(7..13)).unwrap();
        assert_eq!((found.verdict, found.warnings), (Verdict::Regression, vec![]));
        assert!((found.ratio - 0.6995).abs() < 1e-4, "{}", found.ratio);
        let few = compared(&base, &slower(7..12)).unwrap();
        assert_eq!(few.verdict, Verdict::Inconclusive);
        assert_eq!(few.warnings, [Warning::TooFewRestarts { restarts: 5 }]);
        let same = compared(&base, &frozen(7..13, 0, |_| 1001.0)).unwrap();
        assert_eq!(same.verdict, Verdict::Inconclusive);
        assert_eq!(same.warnings, [Warning::TooFewFrozen { restarts: 6 }]);
    }

    #[test]
    fn shorter_rounds_than_chosen_are_left_out() {
        let base = slices(1000.0, 200, 1);
        let mut variant = slices(1000.0, 200, 2);
        let mut short = base.clone();
        for round in (0..200).step_by(2) {
            short.lengths[round] = 10.0;
            variant.rates[round] = 500.0;
        }
        let found = compared(&step(vec![Some(short)]), &step(vec![Some(variant)])).unwrap();
        assert!((found.ratio - 1.0).abs() < 0.005, "{found:?}");
    }

    #[test]
    fn rounds_that_never_came_are_not_set_aside() {
        let mut base = slices(1000.0, 200, 1);
        let mut variant = slices(1000.0, 200, 2);
        for round in 150..200 {
            variant.rates[round] = f64::NAN;
            variant.reasons[round] = 3.0;
        }
        for round in 0..60 {
            base.rates[round] = f64::NAN;
            base.reasons[round] = 1.0;
        }
        let (base, variant) = (step(vec![Some(base)]), step(vec![Some(variant)]));
        let slicing = slicing(&base, &variant).unwrap();
        assert_eq!(slicing.rounds, 90);
        assert!((slicing.set_aside - 0.4).abs() < 1e-12);
        let warnings = compared(&base, &variant).unwrap().warnings;
        assert!(warnings.iter().any(|warning| warning.code() == "much-set-aside"));
    }

    #[test]
    fn a_stall_is_compared_although_it_took_the_other_slices_of_its_rounds() {
        let mut base = slices(1000.0, 200, 1);
        let mut variant = slices(1000.0, 200, 2);
        // Every fiftieth round the variant stalls for five rounds, and the base has no slices in
        // them.
        for round in (0..200).filter(|round| round % 50 < 5) {
            variant.rates[round] = 0.0;
            (base.rates[round], base.reasons[round]) = (f64::NAN, 3.0);
        }
        // If neither ran, nothing is compared.
        for slices in [&mut base, &mut variant] {
            (slices.rates[100], slices.reasons[100]) = (f64::NAN, 3.0);
        }
        let found = restart(&base, &variant, None).unwrap().all;
        assert_eq!(found.pairs, 199);
        let lost = found.tails_log + found.mean_log;
        assert!((lost - 0.9_f64.ln()).abs() < 0.01, "{found:?}");
        assert!(found.mean_log.abs() < 0.01, "{found:?}");
    }

    #[test]
    fn a_second_length_that_disagrees_leaves_no_verdict() {
        let longer = |more: f64| {
            let of = |phase: usize| {
                let mut slices = slices(950.0, 400, phase);
                slices.rates.iter_mut().skip(3).step_by(4).for_each(|rate| *rate *= more);
                Some(slices)
            };
            let base = step((1..7).map(|phase| Some(slices(1000.0, 400, phase))).collect());
            compared(&base, &step((7..13).map(of).collect())).unwrap()
        };
        let same = longer(1.0);
        assert_eq!((same.verdict, &same.warnings[..]), (Verdict::Regression, &[][..]));
        let found = longer(1.04);
        assert_eq!(found.verdict, Verdict::Inconclusive);
        assert!(found.low.unwrap() < 0.96 && found.high.unwrap() > 1.01, "{found:?}");
        let disagree = |warning: &Warning| match *warning {
            Warning::LengthsDisagree { short, long } => short < 0.955 && long > 0.98,
            _ => false,
        };
        assert!(found.warnings.iter().any(disagree), "{found:?}");
    }

    #[test]
    fn too_few_rounds_say_nothing() {
        let (base, variant) = (slices(1000.0, 5, 1), slices(1000.0, 5, 2));
        assert_eq!(compared(&step(vec![Some(base)]), &step(vec![Some(variant)])), None);
    }
}
