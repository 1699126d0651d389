//! Steps whose load moved between the servers of all variants in slices: their rates by round, and their comparison.

use judge::{
    JudgeError, Looks, Margin, RestartRatio, compare_slices, lengths_agree, restart_ratio,
};
use metrics::SliceReason;
use store::{StepId, Store};

use crate::ReportError;
use crate::model::VariantStep;

/// From this multiple of the length chosen on a slice is one of those that check it.
const LONGER: f64 = 1.5;

/// The slices of one step in one trial, by round; all variants of a block have the same rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Slices {
    /// The length chosen for slices, milliseconds.
    pub length_ms: f64,
    /// Operations per second, 0 where the server held its clients throughout; NaN where the slice was set aside or never came.
    pub rates: Vec<f64>,
    /// Planned length, milliseconds.
    pub lengths: Vec<f64>,
    /// Why there is no rate: [`SliceReason`] as stored.
    pub reasons: Vec<f64>,
}

impl Slices {
    /// Reads the slices of a step that says it has some.
    pub(crate) fn read(
        store: &Store,
        step: StepId,
        length_ms: f64,
    ) -> Result<Option<Self>, ReportError> {
        let mut series = store.series_of_group(step, metrics::SLICES)?;
        let mut take = |name: &str| {
            let found = series.iter_mut().find(|series| series.name == name);
            found.map(|series| std::mem::take(&mut series.values))
        };
        let Some(rates) = take(metrics::SLICE_RATES) else { return Ok(None) };
        let lengths = take(metrics::SLICE_LENGTHS).unwrap_or_else(|| vec![length_ms; rates.len()]);
        let reasons = take(metrics::SLICE_REASONS).unwrap_or_else(|| vec![0.0; rates.len()]);
        Ok(Some(Self { length_ms, rates, lengths, reasons }))
    }

    /// The rates of both by round, as they are compared.
    ///
    /// A slice that never came, because another server held a client beyond its own slot, takes the rate of the nearest
    /// slice of the same length: a stall would else take the slice it is to be compared with out of the round, and the
    /// round with its own slice out of the comparison. NaN where neither came, or one was set aside.
    pub fn paired(&self, other: &Self) -> (Vec<f64>, Vec<f64>) {
        let pair = |round: usize| match (self.came(round), other.came(round)) {
            (false, true) => (self.neighbour(round), other.rate(round)),
            (true, false) => (self.rate(round), other.neighbour(round)),
            _ => (self.rate(round), other.rate(round)),
        };
        (0..self.rounds().min(other.rounds())).map(pair).unzip()
    }

    fn rate(&self, round: usize) -> f64 {
        self.rates.get(round).copied().unwrap_or(f64::NAN)
    }

    fn came(&self, round: usize) -> bool {
        self.reasons.get(round).is_some_and(came)
    }

    /// The rate of the nearest slice of the same length that has one.
    fn neighbour(&self, round: usize) -> f64 {
        let length = |round: usize| self.lengths.get(round).copied().unwrap_or(f64::NAN);
        let alike = |other: &usize| (length(*other) / length(round) - 1.0).abs() < 1e-6;
        let known = |other: &usize| alike(other) && !self.rate(*other).is_nan();
        let before = (0..round).rev().find(known);
        let after = (round + 1..self.rates.len()).find(known);
        let nearest = before.into_iter().chain(after).min_by_key(|other| other.abs_diff(round));
        nearest.map_or(f64::NAN, |other| self.rate(other))
    }

    /// Number of rounds up to the last that was measured or set aside; what follows are rounds that never came.
    fn rounds(&self) -> usize {
        let rounds = self.reasons.iter().rposition(came).map_or(0, |last| last + 1);
        rounds.min(self.rates.len()).min(self.lengths.len())
    }
}

/// Whether a slice came, as opposed to one that was set aside or measured.
fn came(reason: &f64) -> bool {
    *reason < SliceReason::NotMeasured.value()
}

/// How the slices of a variant and its base went, beside the ratio that came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Slicing {
    /// Throughput of the variant / throughput of the base.
    pub ratio: f64,
    /// The length of slices, milliseconds; the longest where restarts differ.
    pub length_ms: f64,
    /// Restarts of all servers.
    pub restarts: usize,
    /// Rounds in which both were measured, over all restarts.
    pub rounds: usize,
    /// Share of the rounds, 0 to 1, in which a slice of one of the two was set aside or not measured.
    pub set_aside: f64,
    /// Standard deviation of the log ratios of the restarts; `None` with one.
    pub between: Option<f64>,
    /// Standard error of the log ratio of one restart, from batches of its rounds: the root mean square over the restarts.
    pub within: f64,
    /// Ratio by slices of the length chosen and by longer ones, over the restarts that have both.
    pub by_length: Option<(f64, f64)>,
}

/// One restart: what all rounds say, and those of the length chosen and of longer ones apart.
struct Restart {
    length_ms: f64,
    all: RestartRatio,
    by_length: Option<(RestartRatio, RestartRatio)>,
}

/// A variant compared with the base over the restarts in which both have slices; `None` where there are none with rounds
/// enough. A restart in which one of the two did nothing is not left out: it is an error, with its block.
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
    let mut comparison = compare_slices(&all, margin, confidence).ok()?;
    let (chosen, longer) = by_length(&restarts);
    comparison.warnings.extend(lengths_agree(&chosen, &longer));
    Some(Ok(comparison))
}

/// How the slices of two variants went; `None` where [`compare`] has nothing to say either.
pub(crate) fn slicing(base: &VariantStep, variant: &VariantStep) -> Option<Slicing> {
    let restarts = restarts(base, variant);
    let of = |value: fn(&RestartRatio) -> f64| -> Vec<f64> {
        restarts.iter().map(|restart| value(&restart.all)).collect()
    };
    let (chosen, longer) = by_length(&restarts);
    let ratio = |side: &[RestartRatio]| {
        let logs: Vec<f64> = side.iter().map(|restart| restart.mean_log).collect();
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
        by_length: ratio(&chosen).zip(ratio(&longer)),
    })
}

fn by_length(restarts: &[Restart]) -> (Vec<RestartRatio>, Vec<RestartRatio>) {
    restarts.iter().filter_map(|restart| restart.by_length).unzip()
}

/// The restarts that can be compared.
fn restarts(base: &VariantStep, variant: &VariantStep) -> Vec<Restart> {
    by_block(base, variant).into_iter().filter_map(|(_, restart)| restart.ok()).collect()
}

/// Per block in which both have slices, what its rounds say.
fn by_block(base: &VariantStep, variant: &VariantStep) -> Vec<(u32, Result<Restart, JudgeError>)> {
    let slices = |step: &VariantStep, block: u32| {
        let place = step.samples.binary_search_by_key(&block, |sample| sample.block).ok()?;
        step.samples.get(place)?.slices.clone()
    };
    variant
        .samples
        .iter()
        .filter_map(|sample| {
            let found = restart(&slices(base, sample.block)?, sample.slices.as_ref()?);
            Some((sample.block, found))
        })
        .collect()
}

fn restart(base: &Slices, variant: &Slices) -> Result<Restart, JudgeError> {
    let length_ms = base.length_ms.max(variant.length_ms);
    // Planned lengths of the same round are the same; those of the base are taken.
    let (base_rates, variant_rates) = base.paired(variant);
    let of = |wanted: &dyn Fn(f64) -> bool| {
        let (of_base, of_variant): (Vec<f64>, Vec<f64>) = base_rates
            .iter()
            .zip(&variant_rates)
            .zip(&base.lengths)
            .filter(|(_, length)| wanted(**length))
            .map(|(rates, _)| rates)
            .unzip();
        restart_ratio(&of_base, &of_variant)
    };
    // Lengths were drawn from exact values, but stored as milliseconds.
    let used = 0.999 * length_ms;
    let longer = LONGER * length_ms;
    Ok(Restart {
        length_ms,
        all: of(&|length| length >= used)?,
        by_length: of(&|length| length >= used && length < longer)
            .ok()
            .zip(of(&|length| length >= longer).ok()),
    })
}

#[cfg(test)]
mod tests {
    use judge::{Method, Verdict, Warning};
    use store::TrialId;

    use super::*;
    use crate::model::Sample;

    /// Rates around `level` that a fixed rule disturbs, in rounds of 40 ms of which every fourth has 80 ms.
    fn slices(level: f64, rounds: usize, phase: usize) -> Slices {
        let noise =
            |round: usize| 1.0 + 0.01 * (((round * 7919 + phase) % 101) as f64 / 50.0 - 1.0);
        Slices {
            length_ms: 40.0,
            rates: (0..rounds).map(|round| level * noise(round)).collect(),
            lengths: (0..rounds).map(|round| if round % 4 == 3 { 80.0 } else { 40.0 }).collect(),
            reasons: vec![0.0; rounds],
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
        let (chosen, longer) = slicing.by_length.unwrap();
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
        let base = step((1..4).map(|phase| Some(slices(1000.0, 200, phase))).collect());
        let found = compared(&base, &step((4..7).map(stalling).collect())).unwrap();
        assert_eq!(found.verdict, Verdict::Regression);
        assert!((found.ratio - 0.5).abs() < 0.01, "{found:?}");
        assert_eq!(found.warnings[0].code(), "stalled");
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
        // Every fiftieth round the variant stalls for five rounds, and the base has no slices in them.
        for round in (0..200).filter(|round| round % 50 < 5) {
            variant.rates[round] = 0.0;
            (base.rates[round], base.reasons[round]) = (f64::NAN, 3.0);
        }
        // Where neither came nothing is compared.
        for slices in [&mut base, &mut variant] {
            (slices.rates[100], slices.reasons[100]) = (f64::NAN, 3.0);
        }
        let found = restart(&base, &variant).unwrap().all;
        assert_eq!(found.pairs, 199);
        let lost = found.tails_log + found.mean_log;
        assert!((lost - 0.9_f64.ln()).abs() < 0.01, "{found:?}");
        assert!(found.mean_log.abs() < 0.01, "{found:?}");
    }

    #[test]
    fn a_second_length_that_disagrees_is_said() {
        let base = slices(1000.0, 400, 1);
        let mut variant = slices(1000.0, 400, 2);
        for round in (3..400).step_by(4) {
            variant.rates[round] *= 1.03;
        }
        let (base, variant) = (step(vec![Some(base)]), step(vec![Some(variant)]));
        let warnings = compared(&base, &variant).unwrap().warnings;
        assert!(warnings.iter().any(|w| matches!(
            w,
            Warning::LengthsDisagree { short, long } if *short < 1.005 && *long > 1.025
        )));
    }

    #[test]
    fn too_few_rounds_say_nothing() {
        let (base, variant) = (slices(1000.0, 5, 1), slices(1000.0, 5, 2));
        assert_eq!(compared(&step(vec![Some(base)]), &step(vec![Some(variant)])), None);
    }
}
