//! The table of identical variants.

use judge::Comparison;

use super::view::{VARIANT, View};
use crate::judging::figures::{Ratio, ratio_cell};
use crate::judging::judged::Twin;
use crate::output::number::{or_unknown, percent, relative};
use crate::output::table::{RowKind, Section, Table, yes_or_no};

pub(super) fn table(view: View<'_>) -> Option<Table> {
    let View { results, judged, .. } = view;
    let alarms = judged.false_alarms()?;
    let kind = |twin: &&Twin| twin.comparison.excludes_one().then_some(RowKind::Marked);
    let end = |twin: &Twin, of: fn(&Comparison) -> Option<f64>| {
        or_unknown(of(&twin.comparison), relative)
    };
    let mut table = Table::new(Section::Verdicts, "twins", "A/A: identical variants")
        .explained([
            "ratio, low, high: throughput of the twin relative to the variant, and its interval",
            "alarm: the interval excludes 1 although there is no difference",
            "floor: noise floor of the step, the difference that identical variants show once in a hundred comparisons; a \
             regression or an improvement has to exceed it, too",
        ])
        .listing_kinds(&judged.twins, kind, &[
            ("step", &|twin| results.step_label(&results.steps[twin.step])),
            (VARIANT, &|twin| results.variant_name(twin.original).to_owned()),
            ("twin", &|twin| results.variant_name(twin.twin).to_owned()),
            ("ratio", &|twin| relative(twin.comparison.ratio)),
            ("low", &|twin| end(twin, |found| found.low)),
            ("high", &|twin| end(twin, |found| found.high)),
            ("blocks", &|twin| twin.comparison.blocks.to_string()),
            ("alarm", &|twin| yes_or_no(twin.comparison.excludes_one())),
            ("floor", &|twin| or_unknown(judged.noise_floors[twin.step], percent)),
        ]);
    table.notes = vec![format!(
        "{} false alarms in {} comparisons: {} (95% interval {} to {}); the intervals promise 5%",
        alarms.alarms,
        alarms.comparisons,
        percent(alarms.rate),
        percent(alarms.low),
        percent(alarms.high)
    )];
    Some(table)
}

/// The ratios of identical variants and what they show, as a note.
pub(super) fn line(view: View<'_>) -> Option<String> {
    let View { results, judged, .. } = view;
    let shown = judged.twins.iter().filter(|twin| view.sweep_of(twin.step).is_none());
    let each = shown.map(|twin| {
        let step = results.step_label(&results.steps[twin.step]);
        let names = [twin.twin, twin.original].map(|place| results.variant_name(place));
        let Comparison { ratio, blocks, .. } = &twin.comparison;
        let ratio = ratio_cell(Some(Ratio { value: *ratio, pairs: *blocks }), "");
        let floor = or_unknown(judged.noise_floors[twin.step], percent);
        format!("{step} {} {ratio}, noise floor {floor}", names.join("/"))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("A/A, identical variants: {}", each.join("; ")))
}
