//! Steps whose load moved between the servers in slices: the figures behind their ratios.

use super::view::{VARIANT, View};
use crate::judging::sliced::slicing_of;
use crate::output::number::{or_unknown, percent, whole};
use crate::output::table::{Section, Table};

pub(super) fn table(view: View<'_>) -> Option<Table> {
    let slicing = view.points(view.steps()).filter_map(|at| {
        Some((slicing_of(view.results, at.step, view.judged.base_of(at.place), at.place)?, at))
    });
    // Slices resolve a tenth of a percent and less; three digits would hide it.
    let ratio = |ratio: f64| format!("{ratio:.4}");
    let share = |share: f64| format!("{:.2}%", 100.0 * share);
    Table::new(Section::Verdicts, "slices", "Pairing by slices")
        .explained([
            "the servers of all variants run at the same time and the load moves between them; each has one slice per round",
            "ratio: middle half of the log ratios of all rounds, or all operations where a warning says so \
             and where the other servers were frozen; mean over restarts",
            "aside: rounds in which a slice was disturbed or not measured",
            "within: standard error of one restart's ratio, from batches of its rounds",
            "between: standard deviation of the restarts' ratios",
            "chosen, longer: ratio by typical slices of the chosen length and of at least 1.5 times that",
        ])
        .listing(slicing, &[
            ("step", &|(_, at)| at.label.clone()),
            (VARIANT, &|(_, at)| at.name.to_owned()),
            ("ms", &|(found, _)| whole(found.length_ms)),
            ("restarts", &|(found, _)| found.restarts.to_string()),
            ("rounds", &|(found, _)| found.rounds.to_string()),
            ("aside", &|(found, _)| percent(found.set_aside)),
            ("ratio", &|(found, _)| ratio(found.ratio)),
            ("within", &|(found, _)| share(found.within)),
            ("between", &|(found, _)| or_unknown(found.between, share)),
            ("chosen", &|(found, _)| or_unknown(found.by_chosen, ratio)),
            ("longer", &|(found, _)| or_unknown(found.by_longer, ratio)),
        ])
        .filled()
}
