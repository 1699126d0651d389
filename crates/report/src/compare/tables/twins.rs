//! The table of identical variants.

use super::view::View;
use crate::output::number::{or_unknown, percent, relative};
use crate::output::table::{Row, RowKind, Section, Table, texts};

pub(super) fn table(view: View<'_>) -> Option<Table> {
    let alarms = view.judged.false_alarms()?;
    let mut table = Table::new(Section::Relative, "twins", "A/A: identical variants");
    table.legend = texts([
        "ratio, low, high: throughput of the twin relative to the version, and its interval",
        "alarm: the interval excludes 1 although there is no difference",
        "floor: noise floor of the step, the difference that identical variants show once in a hundred comparisons; a \
         regression or an improvement has to exceed it, too",
    ]);
    table.columns =
        texts(["step", "version", "twin", "ratio", "low", "high", "blocks", "alarm", "floor"]);
    for twin in &view.judged.twins {
        let Some(step) = view.results.steps.get(twin.step) else { continue };
        let alarm = twin.comparison.excludes_one();
        let floor = view.judged.noise_floors.get(twin.step).copied().flatten();
        let cells = vec![
            view.results.variant_name(twin.original).to_owned(),
            view.results.variant_name(twin.twin).to_owned(),
            relative(twin.comparison.ratio),
            or_unknown(twin.comparison.low, relative),
            or_unknown(twin.comparison.high, relative),
            twin.comparison.blocks.to_string(),
            if alarm { "yes" } else { "no" }.to_owned(),
            or_unknown(floor, percent),
        ];
        let row = Row::new(view.results.step_label(step), cells);
        table.rows.push(row.of_kind(alarm.then_some(RowKind::Marked)));
    }
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
