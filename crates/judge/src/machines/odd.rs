//! Machines, and types of machines, whose effect differs from that of the others.

use super::means::{Mean, ROUNDING, center, known, values};
use crate::estimate::two_sided_p;
use crate::satterthwaite::satterthwaite;
use crate::{adjusted_p_values, sd_sample, t_quantile};

/// How a machine or a type differs from others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Odd {
    /// The ratio of the others.
    pub others: f64,
    /// Two-sided p value that it doesn't differ, among all machines or types of the comparison
    /// (Benjamini and Hochberg).
    pub p: f64,
}

/// How every machine differs from those of its group; `None` without two others.
///
/// The scatter of the others predicts where another machine lies (the deleted residual), and the
/// noise of the machine itself comes on top, because it may be larger than theirs. With a few
/// blocks it may also be larger than it seems: its variance is multiplied by the square of the
/// ratio of the 95% points of Student's t and of the normal distribution. Degrees of freedom are
/// those of the others.
pub(super) fn odd_machines(means: &[Mean], groups: &[Vec<usize>]) -> Vec<Option<Odd>> {
    let tested = |own: usize| {
        let group = groups.iter().find(|group| group.contains(&own))?;
        let others: Vec<Mean> =
            group.iter().filter(|one| **one != own).map(|one| means[*one]).collect();
        let (own, count) = (means.get(own)?, others.len() as f64);
        let scatter = sd_sample(&values(&others)).filter(|_| known(means))?.powi(2);
        let inflated = t_quantile(0.975, own.freedom) / t_quantile(0.975, 1e9);
        let variance = scatter * (1.0 + 1.0 / count) + inflated * inflated * own.variance;
        let others = center(&others);
        let p = two_sided_p((own.value - others).abs(), deviation(variance), count - 1.0);
        Some(Odd { others: others.exp(), p })
    };
    adjusted((0..means.len()).map(tested).collect())
}

/// How every type differs from the machines of all other types; `None` without machines to compare.
///
/// A type is compared as if one of the machines were missing, each in turn, and the weakest result
/// counts: so no single machine makes its type differ. The difference must be larger than both the
/// scatter of machines within their types and that of their blocks explain.
pub(super) fn odd_kinds(means: &[Mean], groups: &[Vec<usize>]) -> Vec<Option<Odd>> {
    let tested = |kind: usize| {
        let p = (0..means.len())
            .map(|left_out| difference(means, groups, kind, Some(left_out)).map(|(_, p)| p));
        let p = p.collect::<Option<Vec<f64>>>()?.into_iter().fold(0.0, f64::max);
        let (others, _) = difference(means, groups, kind, None)?;
        Some(Odd { others: others.exp(), p })
    };
    adjusted((0..groups.len()).map(tested).collect())
}

/// The mean of the machines of other types, and the p value that this type doesn't differ.
fn difference(
    means: &[Mean],
    groups: &[Vec<usize>],
    kind: usize,
    left_out: Option<usize>,
) -> Option<(f64, f64)> {
    let kept = |group: &Vec<usize>| -> Vec<Mean> {
        group.iter().filter(|one| Some(**one) != left_out).map(|one| means[*one]).collect()
    };
    let (mut own, mut rest) = (Vec::new(), Vec::new());
    let (mut squares, mut freedom) = (0.0, 0.0);
    for (place, group) in groups.iter().enumerate() {
        let group = kept(group);
        if let Some(sd) = sd_sample(&values(&group)) {
            squares += sd * sd * (group.len() - 1) as f64;
            freedom += (group.len() - 1) as f64;
        }
        if place == kind { own = group } else { rest.extend(group) }
    }
    if own.is_empty() || rest.is_empty() || freedom == 0.0 {
        return None;
    }
    let share = |side: &[Mean]| 1.0 / side.len() as f64;
    let scatter = squares / freedom * (share(&own) + share(&rest));
    let noise = [&own, &rest].into_iter().flat_map(|side| {
        side.iter().map(|one| (one.variance * share(side).powi(2), one.freedom.max(1.0)))
    });
    let (noise, noise_freedom) = satterthwaite(noise);
    let distance = (center(&own) - center(&rest)).abs();
    let p = two_sided_p(distance, deviation(scatter), freedom).max(two_sided_p(
        distance,
        deviation(noise),
        noise_freedom,
    ));
    Some((center(&rest), p))
}

/// The deviation that belongs to a variance.
fn deviation(variance: f64) -> f64 {
    variance.max(ROUNDING).sqrt()
}

/// With p values among all that were tested.
fn adjusted(odd: Vec<Option<Odd>>) -> Vec<Option<Odd>> {
    let p: Vec<f64> = odd.iter().map(|one| one.map_or(f64::NAN, |one| one.p)).collect();
    let p = adjusted_p_values(&p);
    odd.into_iter().zip(p).map(|(one, p)| one.map(|one| Odd { p, ..one })).collect()
}
