//! The tables of a history: absolute and relative by run, then the change points.

use judge::Verdict;
use plan::StepKey;

use super::document::{ChangeDocument, HistoryDocument, HistoryStep, LineDocument};
use crate::output::number::{cost, or_unknown, rate, relative};
use crate::output::sheet::{List, Part, Sheet};
use crate::output::table::{Row, Section, Table};

pub(super) fn sheet(document: &HistoryDocument) -> Sheet {
    let mut sheet = Sheet::default();
    for line in &document.lines {
        let [absolute, relative] = by_run(document, line);
        sheet.table(absolute);
        if line.steps.iter().any(|step| step.points.len() > 1) {
            sheet.table(relative);
        }
    }
    sheet.parts.push(changes(document, "history.changes", "Change points", |step| &step.changes));
    let doubtful = changes(
        document,
        "history.doubtful",
        "Doubtful: noise that drifts like these histories does as much",
        |step| &step.doubtful,
    );
    if matches!(doubtful, Part::Table(_)) {
        sheet.parts.push(doubtful);
    }
    sheet.notes(document.notes.clone());
    sheet
}

/// A row per run, a column per step.
fn by_run(document: &HistoryDocument, line: &LineDocument) -> [Table; 2] {
    let parts: [fn(&LineDocument) -> &str; 2] = [|line| &line.workload, |line| &line.machine];
    let mut title = format!("History by {}: {}", document.order, line.line);
    for of in parts {
        if document.lines.iter().any(|other| of(other) != of(line)) {
            title.push_str(&format!(", {}", of(line)));
        }
    }
    let id = format!("history.{}", title.trim_start_matches("History by "));
    let what = match document.order.as_str() {
        "version" => "version: all of its trials, in order of release",
        "commit" => "commit: all of its trials",
        _ => "date: an experiment, ordered by when it began (UTC)",
    };
    let mut table = Table::new(Section::Other, id, title).explained([
        what,
        &format!("absolute: {}, median over the trials", document.metric),
        "relative: geometric mean of the trials / that of the first row; within an experiment, the \
         ratio that `compare` gives",
        "▼ ▲ change point: from here on the level is lower or higher than before",
    ]);
    table.columns = std::iter::once(document.order.clone())
        .chain(line.steps.iter().map(|step| label(line, step)))
        .collect();
    let [mut absolute, mut relative_table] = table.in_two_parts();
    let shown = if document.metric == metrics::OPS.name { rate } else { cost };
    for (place, run) in document.runs.iter().enumerate() {
        let points = line.steps.iter().map(|step| {
            let point = step.points.iter().find(|point| point.run == place);
            (step, point)
        });
        if points.clone().all(|(_, point)| point.is_none()) {
            continue;
        }
        let medians = points.clone().map(|(_, point)| point.map(|point| point.median));
        let medians = medians.map(|median| or_unknown(median, shown));
        absolute.rows.push(Row::new(&run.name, medians));
        let mut row = Row::judged(
            &run.name,
            points.map(|(step, point)| {
                let mark = mark(step, place);
                let ratio = point.and_then(|point| point.relative);
                let cell = or_unknown(ratio, |ratio| format!("{}{mark}", relative(ratio)));
                (cell, verdict(document, step, place))
            }),
        )
        .by_verdicts();
        if row.verdicts.iter().all(String::is_empty) {
            row.verdicts.clear();
        }
        relative_table.rows.push(row);
    }
    [absolute, relative_table]
}

/// A step of a line, with the number of clients if there are several.
fn label(line: &LineDocument, step: &HistoryStep) -> String {
    let several = line.steps.iter().any(|other| other.dop != step.dop);
    StepKey::new(&step.name, step.dop).label(several)
}

/// The sign of a change that starts with this run.
fn mark(step: &HistoryStep, run: usize) -> &'static str {
    match step.changes.iter().find(|change| change.run == run) {
        Some(change) if change.ratio < 1.0 => "▼",
        Some(_) => "▲",
        None => "",
    }
}

/// The verdict on a step at a change that starts with this run; costs have no better direction
/// here.
fn verdict(document: &HistoryDocument, step: &HistoryStep, run: usize) -> Option<Verdict> {
    let slower = if step.better == "more" { "▼" } else { "▲" };
    match mark(step, run) {
        _ if document.metric != metrics::OPS.name => None,
        "" => None,
        mark if mark == slower => Some(Verdict::Regression),
        _ => Some(Verdict::Improvement),
    }
}

fn changes(
    document: &HistoryDocument,
    id: &str,
    title: &str,
    of: fn(&HistoryStep) -> &Vec<ChangeDocument>,
) -> Part {
    let steps =
        || document.lines.iter().flat_map(|line| line.steps.iter().map(move |it| (line, it)));
    let all = steps().flat_map(|(line, step)| of(step).iter().map(move |it| (line, step, it)));
    let name = |run: usize| document.runs.get(run).map_or("?", |run| &run.name);
    let table = Table::new(Section::Other, id, title)
        .explained([
            "found by E-divisive; between: the last run before the change and the first run after it",
            "ratio: level after / level before; low, high: its 95% interval",
            "p: chance of an equally clear change if the order of runs were random",
        ])
        .listing(all, &[
            ("step", &|(line, step, _)| label(line, step)),
            ("line", &|(line, ..)| line.line.clone()),
            ("between", &|(.., it)| format!("{} → {}", name(it.before[1]), name(it.run))),
            ("ratio", &|(.., it)| relative(it.ratio)),
            ("low", &|(.., it)| relative(it.low)),
            ("high", &|(.., it)| relative(it.high)),
            ("p", &|(.., it)| relative(it.dependent_p.map_or(it.p, |p| p.max(it.p)))),
            ("in words", &|(.., it)| it.sentence.clone()),
        ]);
    table.filled().map_or_else(
        || {
            let histories = steps().count();
            Part::List(List {
                id: id.to_owned(),
                title: title.to_owned(),
                lead: format!(
                    "searched {histories} histories (one per step of a line) by E-divisive"
                ),
                items: Vec::new(),
                nothing: "none found".to_owned(),
            })
        },
        Part::Table,
    )
}
