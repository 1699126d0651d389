//! How steps went whose load moved between the servers in slices: what stands behind their ratios.

use super::{View, columns};
use crate::number::or_unknown;
use crate::sliced::slicing;
use crate::table::{Row, Section, Table};

pub(super) fn table(view: View<'_>) -> Option<Table> {
    let mut table = Table::new(Section::Relative, "slices", "Pairing by slices");
    table.legend = vec![
        "the servers of all versions are up together and the load moves between them; each has one slice per round".to_owned(),
        "ratio: middle half of the log ratios of all rounds, mean over restarts of the servers".to_owned(),
        "aside: rounds in which a slice was disturbed or not measured".to_owned(),
        "within: standard error of one restart's ratio, from batches of its rounds".to_owned(),
        "between: standard deviation of the restarts' ratios".to_owned(),
        "chosen, longer: ratio by slices of the length chosen and by those at least half as long again".to_owned(),
    ];
    table.columns = columns(
        "step",
        [
            "version", "ms", "restarts", "rounds", "aside", "ratio", "within", "between", "chosen",
            "longer",
        ],
    );
    for (number, step) in view.results.steps.iter().enumerate() {
        for (place, name, figures) in view.variants(number) {
            // A twin's own ratio is that to the variant it is the same as.
            let twin_of = view.results.variants.get(place).and_then(|variant| variant.twin_of);
            let against = twin_of.unwrap_or(view.judged.base);
            let base = step.variant(against).filter(|_| place != against);
            let Some(slicing) = base.and_then(|base| slicing(base, figures)) else { continue };
            // Slices tell a tenth of a percent and less apart; three digits would hide it.
            let ratio = |ratio: f64| format!("{ratio:.4}");
            let share = |share: f64| format!("{:.2}%", 100.0 * share);
            let cells = vec![
                name.to_owned(),
                format!("{}", slicing.length_ms),
                slicing.restarts.to_string(),
                slicing.rounds.to_string(),
                format!("{:.1}%", 100.0 * slicing.set_aside),
                ratio(slicing.ratio),
                share(slicing.within),
                or_unknown(slicing.between, share),
                or_unknown(slicing.by_length.map(|(chosen, _)| chosen), ratio),
                or_unknown(slicing.by_length.map(|(_, longer)| longer), ratio),
            ];
            table.rows.push(Row::new(view.results.step_label(step), cells));
        }
    }
    (!table.rows.is_empty()).then_some(table)
}
