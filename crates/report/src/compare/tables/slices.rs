//! Steps whose load moved between the servers in slices: the figures behind their ratios.

use super::view::View;
use crate::judging::sliced::slicing_of;
use crate::output::number::or_unknown;
use crate::output::table::{Row, Section, Table, texts};

pub(super) fn table(view: View<'_>) -> Option<Table> {
    let mut table = Table::new(Section::Relative, "slices", "Pairing by slices");
    table.legend = vec![
        "the servers of all versions run at the same time and the load moves between them; each has one slice per round".to_owned(),
        "ratio: middle half of the log ratios of all rounds, or all operations where a warning says so; mean over \
         restarts".to_owned(),
        "aside: rounds in which a slice was disturbed or not measured".to_owned(),
        "within: standard error of one restart's ratio, from batches of its rounds".to_owned(),
        "between: standard deviation of the restarts' ratios".to_owned(),
        "chosen, longer: ratio by slices of the chosen length and by slices at least 1.5 times as long".to_owned(),
    ];
    table.columns = texts([
        "step", "version", "ms", "restarts", "rounds", "aside", "ratio", "within", "between",
        "chosen", "longer",
    ]);
    for (number, step, label) in view.steps() {
        for (place, name, _) in view.variants(number) {
            let found = slicing_of(view.results, step, view.judged.base_of(place), place);
            let Some(slicing) = found else { continue };
            // Slices resolve a tenth of a percent and less; three digits would hide it.
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
                or_unknown(slicing.by_chosen, ratio),
                or_unknown(slicing.by_longer, ratio),
            ];
            table.rows.push(Row::new(&label, cells));
        }
    }
    (!table.rows.is_empty()).then_some(table)
}
