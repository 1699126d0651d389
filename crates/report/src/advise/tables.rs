//! The table of an advice, and the plan.

use super::document::{AdviseDocument, AdvisedStep};
use super::search::duration;
use crate::load::trials::named;
use crate::output::number::or_unknown;
use crate::output::sheet::{Part, Sheet};
use crate::output::table::{Row, RowKind, Section, Table, texts};

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
    let mut table = Table::new(Section::Other, "advice", title);
    table.legend = vec![
        format!("variance of {}, which ran this workload", named(&document.experiments)),
        "between: CV between trials beyond what their seconds explain; second: CV of the seconds of a trial; lag-1: their \
         autocorrelation"
            .to_owned(),
        "now, advised: seconds of the step; best: the most efficient length if each step had its own (Kalibera and Jones)"
            .to_owned(),
        "±: expected half width of the 95% interval of a ratio; in slices: the same if the budget is spent in slices"
            .to_owned(),
        format!(
            "detects: the smallest slowdown confirmed with 80% probability among all comparisons of the plan, – below 5 blocks; \
             decided: this is at most {margin}"
        ),
    ];
    table.columns = texts([
        "step",
        "dop",
        "trials",
        "between",
        "second",
        "lag-1",
        "now",
        "advised",
        "best",
        "blocks",
        "±",
        "in slices",
        "detects",
        "decided",
    ]);
    table.rows = document.steps.iter().map(|step| row(step, document.blocks)).collect();
    table
}

fn row(step: &AdvisedStep, blocks: u32) -> Row {
    let seconds = |value: Option<f64>| {
        or_unknown(value, |s| if s < 9.95 { format!("{s:.1}") } else { format!("{s:.0}") })
    };
    let decided = match step.decided {
        Some(true) => "yes",
        Some(false) => "no",
        None => "–",
    };
    let cells = vec![
        step.dop.to_string(),
        step.trials.to_string(),
        or_unknown(step.between, percent),
        or_unknown(step.second, percent),
        or_unknown(step.autocorrelation, |rho| format!("{rho:.2}")),
        seconds(step.seconds_now),
        seconds(step.seconds),
        seconds(step.optimal),
        blocks.to_string(),
        or_unknown(step.half_width, percent),
        or_unknown(step.in_slices, percent),
        or_unknown(step.detectable, percent),
        decided.to_owned(),
    ];
    let kind = (step.decided == Some(false)).then_some(RowKind::Marked);
    Row::new(&step.name, cells).of_kind(kind)
}

fn percent(fraction: f64) -> String {
    format!("{:.2}%", fraction * 100.0)
}
