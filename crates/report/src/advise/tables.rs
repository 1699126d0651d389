//! The table of an advice, and the plan.

use super::document::{AdviseDocument, AdvisedStep};
use super::search::duration;
use crate::load::trials::named;
use crate::output::number::{UNKNOWN, hundredths, or_unknown, tenths, whole};
use crate::output::sheet::{Part, Sheet};
use crate::output::table::{RowKind, Section, Table, yes_or_no};

pub(super) fn sheet(document: &AdviseDocument) -> Sheet {
    let mut sheet = Sheet::default();
    sheet.table(table(document));
    sheet.notes(document.notes.clone());
    let text = document.toml.clone();
    sheet.parts.push(Part::Verbatim { title: "The plan", language: "toml", text });
    sheet
}

fn table(document: &AdviseDocument) -> Table {
    let margin = percent(document.margin);
    let decided = document.steps.iter().filter(|step| step.decided == Some(true)).count();
    let known = document.steps.iter().filter(|step| step.decided.is_some()).count();
    let title = format!(
        "Advice for {}: {} blocks (now {}), {} of {} known steps decided at {margin}, {} of {}",
        document.plan,
        document.blocks,
        document.blocks_now,
        decided,
        known,
        duration(document.time),
        duration(document.budget),
    );
    let undecided = |step: &&AdvisedStep| (step.decided == Some(false)).then_some(RowKind::Marked);
    Table::new(Section::Other, "advice", title)
        .explained([
            &format!("variance of {}, which ran this workload", named(&document.experiments)),
            "between: CV between trials beyond what their seconds explain; second: CV of the seconds of a trial; lag-1: their \
             autocorrelation",
            "now, advised: seconds of the step; best: the most efficient length if each step had its own (Kalibera and Jones)",
            "±: expected half width of the 95% interval of a ratio; in slices: the same if the budget is spent in slices",
            &format!(
                "detects: the smallest slowdown confirmed with 80% probability among all comparisons of the plan, – below 5 blocks; \
                 decided: this is at most {margin}"
            ),
        ])
        .listing_kinds(&document.steps, undecided, &[
            ("step", &|step| step.name.clone()),
            ("dop", &|step| step.dop.to_string()),
            ("trials", &|step| step.trials.to_string()),
            ("between", &|step| or_unknown(step.between, percent)),
            ("second", &|step| or_unknown(step.second, percent)),
            ("lag-1", &|step| or_unknown(step.autocorrelation, hundredths)),
            ("now", &|step| or_unknown(step.seconds_now, seconds)),
            ("advised", &|step| or_unknown(step.seconds, seconds)),
            ("best", &|step| or_unknown(step.optimal, seconds)),
            ("blocks", &|_| document.blocks.to_string()),
            ("±", &|step| or_unknown(step.half_width, percent)),
            ("in slices", &|step| or_unknown(step.in_slices, percent)),
            ("detects", &|step| or_unknown(step.detectable, percent)),
            ("decided", &|step| step.decided.map_or(UNKNOWN.to_owned(), yes_or_no)),
        ])
}

fn seconds(value: f64) -> String {
    if value < 9.95 { tenths(value) } else { whole(value) }
}

fn percent(fraction: f64) -> String {
    format!("{:.2}%", fraction * 100.0)
}
