//! What the comparisons say, one row each.

use super::{View, columns, says_something};
use crate::number::{or_unknown, relative};
use crate::sentence::sentence;
use crate::table::{Row, RowKind, Section, Table};
use judge::Verdict;

pub(super) fn table(view: View<'_>) -> Option<Table> {
    let mut table = Table::new(Section::Relative, "verdicts", "Verdicts");
    let percent = view.judged.margin * 100.0;
    table.legend = vec![
        format!("ratio: throughput relative to {}", view.results.variant_name(view.judged.base)),
        "low, high: its 95% interval (Student's t over paired blocks)".to_owned(),
        "p: sign-flip test that there is no difference at all".to_owned(),
        format!(
            "verdict: regression or improvement when the whole interval is more than {percent:.1}% away from 1, \
             equivalent when all of it is nearer, else inconclusive"
        ),
    ];
    table.columns =
        columns("step", ["version", "ratio", "low", "high", "p", "verdict", "in words"]);
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
