//! A change point in plain words.

use super::document::{ChangeDocument, HistoryPoint, HistoryRun};
use crate::number::{percent, signed};

/// Whose change it is.
pub(super) struct Told<'a> {
    pub(super) step: &'a str,
    pub(super) line: &'a str,
    pub(super) metric: &'a str,
    pub(super) runs: &'a [HistoryRun],
    /// Those of the step.
    pub(super) points: &'a [HistoryPoint],
}

/// "l.i0 of pg got 6.6% slower between 13.7 and 14.3 (95% interval −7.4% to −5.8%; before: 12.22 to 13.7, after: 14.3 to
/// 16.4)".
pub(super) fn sentence(told: &Told<'_>, change: &ChangeDocument) -> String {
    let Told { step, line, metric, runs, points } = told;
    let name = |place: usize| runs.get(place).map_or("?", |run| run.name.as_str());
    let size = percent((change.ratio - 1.0).abs());
    let what = match (*metric == metrics::OPS.name, change.ratio < 1.0) {
        (true, true) => format!("{step} of {line} got {size} slower"),
        (true, false) => format!("{step} of {line} got {size} faster"),
        (false, true) => format!("{metric} of {step} of {line} fell by {size}"),
        (false, false) => format!("{metric} of {step} of {line} rose by {size}"),
    };
    let span = |[from, to]: [usize; 2]| {
        if from == to { name(from).to_owned() } else { format!("{} to {}", name(from), name(to)) }
    };
    let mut said = format!(
        "{what} between {} and {} (95% interval {} to {}; before: {}, after: {})",
        name(change.before[1]),
        name(change.run),
        signed(change.low - 1.0),
        signed(change.high - 1.0),
        span(change.before),
        span(change.after),
    );
    let versions = |place: usize| {
        let point = points.iter().find(|point| point.run == place);
        point.map(|point| &point.versions[..]).unwrap_or_default()
    };
    let (old, new) = (versions(change.before[1]), versions(change.run));
    if let ([old], [new]) = (old, new)
        && old != new
        && *old != name(change.before[1])
    {
        said.push_str(&format!(", where the version went from {old} to {new}"));
    }
    said
}
