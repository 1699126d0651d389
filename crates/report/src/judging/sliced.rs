//! Steps whose load moved between the servers of all variants in slices: their rates by round, and
//! their comparison.

use judge::{
    ByLength, JudgeError, Looks, Margin, RestartRatio, compare_frozen, compare_slices, deciding,
    long_enough, restart_ratio, totals,
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
    /// Restarts of all servers; those whose slices were too short are left out.
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
    let (found, left_out) = by_block(base, variant);
    let refused = found.iter().find_map(|(block, restart)| match restart {
        Err(JudgeError::TooFewRounds { .. }) | Ok(_) => None,
        Err(error) => Some((*block, *error)),
    });
    if let Some(refused) = refused {
        return Some(Err(refused));
    }
    let restarts: Vec<Restart> = found.into_iter().filter_map(|(_, found)| found.ok()).collect();
    let all: Vec<RestartRatio> = restarts.iter().map(|restart| restart.all).collect();
    let confidence = confidence(looks, all.len() + left_out);
    judged(&restarts)(&all, margin, confidence).ok().map(Ok)
}

/// The confidence after so many restarts, with those left out.
fn confidence(looks: &Looks, restarts: usize) -> f64 {
    looks.confidence_at(u32::try_from(restarts).unwrap_or(u32::MAX))
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

/// The results after each restart that [`compare`] counts; ends before the first one that it
/// rejects.
pub(crate) fn running(
    base: &VariantStep,
    variant: &VariantStep,
    margin: Margin,
    looks: &Looks,
) -> Vec<Running> {
    let mut blocks = Vec::new();
    let mut found = Vec::new();
    let (restarts, left_out) = by_block(base, variant);
    for (block, restart) in restarts {
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
        let confidence = confidence(looks, known.len() + left_out);
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

/// How many blocks of both [`compare`] leaves out because their slices were too short, and why
/// others are missing in its result, with what to do.
pub(crate) fn left_out(base: &VariantStep, variant: &VariantStep) -> (usize, &'static str) {
    let (found, too_short) = by_block(base, variant);
    let why = match found
        .iter()
        .any(|(_, found)| matches!(found, Err(JudgeError::TooFewRounds { .. })))
    {
        true => {
            "the others have too few undisturbed rounds of slices; give the step more rows or seconds"
        }
        false => "the others did not run in slices",
    };
    (too_short, why)
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
#[derive(Debug, Clone, PartialEq)]
pub struct Scatter {
    /// Restarts with slices of both.
    pub restarts: usize,
    /// Sample variance of the restarts' log ratios; 0 with one.
    pub all: f64,
    /// Variance of one restart's log ratio, estimated from its slices: the mean over the restarts.
    pub within: f64,
    /// Seconds that each of the two had the load in a restart: the mean over the restarts.
    pub seconds: f64,
    /// The chosen length of slices in each restart, in milliseconds.
    pub slice_ms: Vec<f64>,
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
        slice_ms: of(|restart| restart.slice_ms),
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
        length_ms: all.iter().map(|restart| restart.slice_ms).max_by(f64::total_cmp)?,
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
    let found = by_block(base, variant).0.into_iter();
    found.filter_map(|(block, restart)| Some((block, restart.ok()?)))
}

/// The result of the rounds of each block in which both have slices. If the run goes on with longer
/// slices, restarts whose slices turned out to be too short are left out ([`long_enough`]): so
/// many.
fn by_block(base: &VariantStep, variant: &VariantStep) -> (Vec<OfBlock>, usize) {
    let mut found = of_all_blocks(base, variant);
    let all = found.len();
    if !variant.lengthens {
        return (found, 0);
    }
    let known: Vec<RestartRatio> =
        found.iter().filter_map(|(_, found)| Some(found.as_ref().ok()?.all)).collect();
    let Ok(counted) = long_enough(&known) else { return (found, 0) };
    let mut counted = counted.into_iter();
    found.retain_mut(|(_, found)| match found {
        Ok(restart) => counted.next().flatten().map(|all| restart.all = all).is_some(),
        Err(_) => true,
    });
    let left_out = all - found.len();
    (found, left_out)
}

/// A block and its result.
type OfBlock = (u32, Result<Restart, JudgeError>);

fn of_all_blocks(base: &VariantStep, variant: &VariantStep) -> Vec<OfBlock> {
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
        frozen: whole.is_some(),
        seconds: base.lengths.iter().sum::<f64>() / 1000.0,
        all: RestartRatio {
            by_length,
            servers: base.servers,
            slice_ms: length_ms,
            weight: by_all.unwrap_or_default(),
            ..all
        },
    })
}

#[cfg(test)]
mod tests;
