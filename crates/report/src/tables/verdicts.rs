//! What the comparisons say, one row each.

use super::{View, columns, says_something};
use crate::number::{or_unknown, relative};
use crate::sentence::{confidence, sentence};
use crate::table::{Row, RowKind, Section, Table};
use judge::{Method, Verdict};

/// The confidences of the intervals: one, unless looks of an adaptive experiment were reached that differ.
fn intervals(view: View<'_>) -> String {
    let mut found: Vec<String> = Vec::new();
    for comparison in view.judged.steps.iter().flatten().flatten() {
        let text = confidence(comparison.confidence);
        if !found.contains(&text) {
            found.push(text);
        }
    }
    if found.is_empty() { confidence(judge::CONFIDENCE) } else { found.join(" or ") }
}

/// How values were paired.
fn pairings(view: View<'_>) -> &'static str {
    let has = |method| {
        let mut comparisons = view.judged.steps.iter().flatten().flatten();
        comparisons.any(|comparison| comparison.method == method)
    };
    match (has(Method::Blocks), has(Method::Slices)) {
        (_, false) => "Student's t over paired blocks",
        (false, true) => "over paired slices and restarts of the servers",
        (true, true) => {
            "over paired slices and restarts where steps ran in slices, Student's t over paired blocks elsewhere"
        }
    }
}

pub(super) fn table(view: View<'_>) -> Option<Table> {
    let mut table = Table::new(Section::Relative, "verdicts", "Verdicts");
    let percent = view.judged.margin * 100.0;
    table.legend = vec![
        format!("ratio: throughput relative to {}", view.results.variant_name(view.judged.base)),
        format!("low, high: its {} interval ({})", intervals(view), pairings(view)),
        "p: sign-flip test that there is no difference at all".to_owned(),
        "mde: minimum detectable effect, the slowdown that as many blocks again would confirm 4 times out of 5 among as many \
         comparisons; – below 5 blocks"
            .to_owned(),
        format!(
            "verdict: regression or improvement when the whole interval is more than {percent:.1}% away from 1, \
             equivalent when all of it is nearer, else inconclusive"
        ),
    ];
    table.columns =
        columns("step", ["version", "ratio", "low", "high", "p", "mde", "verdict", "in words"]);
    for (number, step) in view.results.steps.iter().enumerate() {
        for (place, name, figures) in view.variants(number) {
            let Some(comparison) = view.judged.of(number, place) else { continue };
            let base = step.variant(view.judged.base);
            let held = !figures.rate_not_held() && !base.is_some_and(|base| base.rate_not_held());
            let kind = match comparison.verdict {
                Verdict::Regression => Some(RowKind::Regression),
                Verdict::Improvement => Some(RowKind::Improvement),
                _ if !held => Some(RowKind::Marked),
                _ => None,
            };
            let cells = vec![
                name.to_owned(),
                relative(comparison.ratio),
                or_unknown(comparison.low, relative),
                or_unknown(comparison.high, relative),
                or_unknown(comparison.sign_flip_p, relative),
                or_unknown(comparison.detectable, |effect| format!("{:.1}%", effect * 100.0)),
                comparison.verdict.to_string(),
                sentence(name, view.results.variant_name(view.judged.base), comparison, held),
            ];
            table.rows.push(Row::new(view.results.step_label(step), cells).of_kind(kind));
        }
    }
    table.notes = view
        .judged
        .warnings()
        .into_iter()
        .map(|(about, warning)| {
            match about.and_then(|(step, v)| Some((view.results.steps.get(step)?, v))) {
                Some((step, variant)) => {
                    let name = view.results.variant_name(variant);
                    format!("! {} {name}: {warning}", view.results.step_label(step))
                }
                None => format!("! {warning}"),
            }
        })
        .collect();
    says_something(&table).then_some(table)
}
