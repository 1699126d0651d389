//! Reasons why a kind of table is missing.

use crate::load::model::Results;
use crate::output::table::Section;

/// A sentence that begins with the kind's name.
pub(super) fn why(results: &Results, section: Section) -> String {
    let detailed = matches!(section, Section::Latency | Section::Size | Section::Counters);
    let mut warned = results.warnings.iter().map(|noted| &noted.warning);
    if let Some(many) = warned.find(|it| detailed && it.code == "details-left-out") {
        return format!("{}: {}", section.name(), many.text);
    }
    use Section::{Absolute, Other, Relative, Verdicts};
    let measured = !matches!(section, Absolute | Relative | Verdicts | Other);
    let only = "; imported results have only what the other program printed";
    let only = if results.is_imported() && measured { only } else { "" };
    format!("{}: {}{only}", section.name(), reason(section))
}

fn reason(section: Section) -> &'static str {
    match section {
        Section::Absolute => "no finished trial has a figure",
        Section::Relative | Section::Verdicts => "no step has results of two variants to compare",
        Section::Summary => "no step has figures of an LSM tree",
        Section::Rates => "no step has a stream with a target rate besides what it counts",
        Section::Latency => "no response times were recorded",
        Section::Hardware => "no costs per operation were recorded",
        Section::Size => "no sizes were recorded",
        Section::Counters => "no counter of the DBMS was recorded, or none changed",
        Section::Other => "no stalls, failures or warnings",
    }
}
