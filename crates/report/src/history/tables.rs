//! The tables of a history: absolute and relative by run, then the change points.

use judge::Verdict;
use plan::StepKey;

use super::document::{ChangeDocument, HistoryDocument, HistoryStep, LineDocument};
use crate::output::number::{cost, or_unknown, rate, relative};
use crate::output::sheet::{List, Part, Sheet};
use crate::output::table::{Row, RowKind, Section, Table, texts};

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
    let mut table = Table::new(Section::Other, id, title);
    table.legend = legend(document);
    table.columns = std::iter::once(document.order.clone())
        .chain(line.steps.iter().map(|step| label(line, step)))
        .collect();
    let [mut absolute, mut relative_table] = table.in_two_parts();
    for (place, run) in document.runs.iter().enumerate() {
        let point = |step: &HistoryStep| step.points.iter().position(|point| point.run == place);
        if line.steps.iter().all(|step| point(step).is_none()) {
            continue;
        }
        let absolutes = line.steps.iter().map(|step| {
            or_unknown(point(step).map(|at| step.points[at].median), |median| {
                if document.metric == metrics::OPS.name { rate(median) } else { cost(median) }
            })
        });
        absolute.rows.push(Row::new(&run.name, absolutes.collect()));
        let relatives = line.steps.iter().map(|step| {
            let ratio = point(step).and_then(|at| step.points[at].relative);
            let mark = mark(step, place);
            or_unknown(ratio, |ratio| format!("{}{mark}", relative(ratio)))
        });
        let verdicts: Vec<_> =
            line.steps.iter().map(|step| verdict(document, step, place)).collect();
        let has = |wanted| verdicts.contains(&Some(wanted));
        let kind = RowKind::of(has(Verdict::Regression), has(Verdict::Improvement));
        let word = |verdict: &Option<Verdict>| verdict.map_or("", Verdict::as_str).to_owned();
        let row = Row::new(&run.name, relatives.collect()).of_kind(kind);
        let judged = verdicts.iter().any(Option::is_some);
        let verdicts = verdicts.iter().filter(|_| judged).map(word).collect();
        relative_table.rows.push(Row { verdicts, ..row });
    }
    [absolute, relative_table]
}

/// A step of a line, with the number of clients if there are several.
fn label(line: &LineDocument, step: &HistoryStep) -> String {
    let several = line.steps.iter().any(|other| other.dop != step.dop);
    StepKey::new(&step.name, step.dop).label(several)
}

fn legend(document: &HistoryDocument) -> Vec<String> {
    let what = match document.order.as_str() {
        "version" => "version: all of its trials, in order of release",
        "commit" => "commit: all of its trials",
        _ => "date: an experiment, ordered by when it began (UTC)",
    };
    vec![
        what.to_owned(),
        format!("absolute: {}, median over the trials", document.metric),
        "relative: geometric mean of the trials / that of the first row".to_owned(),
        "▼ ▲ change point: from here on the level is lower or higher than before".to_owned(),
    ]
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
    let mut table = Table::new(Section::Other, id, title);
    table.legend = vec![
        "found by E-divisive; between: the last run before the change and the first run after it"
            .to_owned(),
        "ratio: level after / level before; low, high: its 95% interval".to_owned(),
        "p: chance of an equally clear change if the order of runs were random".to_owned(),
    ];
    table.columns = texts(["step", "line", "between", "ratio", "low", "high", "p", "in words"]);
    let mut histories = 0;
    for line in &document.lines {
        for step in &line.steps {
            histories += 1;
            for change in of(step) {
                let name = |run: usize| document.runs.get(run).map_or("?", |run| &run.name);
                let cells = vec![
                    line.line.clone(),
                    format!("{} → {}", name(change.before[1]), name(change.run)),
                    relative(change.ratio),
                    relative(change.low),
                    relative(change.high),
                    relative(change.dependent_p.map_or(change.p, |p| p.max(change.p))),
                    change.sentence.clone(),
                ];
                table.rows.push(Row::new(label(line, step), cells));
            }
        }
    }
    if table.rows.is_empty() {
        return Part::List(List {
            id: id.to_owned(),
            title: title.to_owned(),
            lead: format!("searched {histories} histories (one per step of a line) by E-divisive"),
            items: Vec::new(),
            nothing: "none found".to_owned(),
        });
    }
    Part::Table(table)
}
