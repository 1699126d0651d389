//! Steps of one name over the number of clients: a row for each number, a column for each line.

use judge::Verdict;
use metrics::{Metric, OPS};

use super::throughput::relative_cell;
use super::view::{VARIANT, View};
use crate::judging::figures::ratio_cell;
use crate::judging::judged::Judged;
use crate::output::number::{UNKNOWN, cost, or_unknown, rate, relative};
use crate::output::table::{RELATIVE, Row, Section, Table, texts};
use crate::sweep::{Estimate, Line, Subject, Sweep};

/// Heading of the numbers of clients.
const CLIENTS: &str = "clients";

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    view.sweeps.iter().flat_map(|sweep| of_sweep(view, sweep)).collect()
}

/// Response times and costs per operation over the number of clients, which replace the tables of
/// each point.
pub(super) fn figures(view: View<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for sweep in view.sweeps.iter().filter(|sweep| sweep.one_server) {
        for (subject, metric) in sweep.metrics(view.results) {
            let section = match subject {
                Subject::Latency => Section::Latency,
                Subject::Operation | Subject::Event => Section::Hardware,
                Subject::Other => continue,
            };
            tables.push(of_metric(view, sweep, metric, section));
        }
    }
    tables
}

fn of_sweep(view: View<'_>, sweep: &Sweep) -> Vec<Table> {
    let name = &sweep.name;
    let id = format!("sweep.{name}");
    let title = format!("Throughput over clients: {name}");
    let table = Table { step: Some(name.clone()), ..Table::new(Section::Absolute, id, title) };
    let part = |id: &str, part: &str, section: Section| Table {
        id: format!("{}.{id}", table.id),
        part: part.to_owned(),
        section,
        ..table.clone()
    };
    let lines = measured(view, sweep);
    let curves: Vec<_> = lines.iter().map(|line| line.curve(view.results, OPS.name)).collect();
    let mut absolute = part("absolute", "absolute", Section::Absolute);
    absolute.legend = legend(view, sweep);
    let mut per_client = part("per-client", "per client", Section::Absolute);
    per_client.legend.clone_from(&absolute.legend);
    for table in [&mut absolute, &mut per_client] {
        table.columns = columns(view, sweep, &lines);
    }
    for (place, clients) in sweep.clients.iter().enumerate() {
        let means = || curves.iter().map(|curve| Some(curve.get(place)?.as_ref()?.mean));
        let each = f64::from(*clients);
        let row = |cells: Vec<String>| Row::new(clients.to_string(), cells);
        absolute.rows.push(row(means().map(|mean| or_unknown(mean, rate)).collect()));
        let per = means().map(|mean| or_unknown(mean.map(|mean| mean / each), rate));
        per_client.rows.push(row(per.collect()));
    }
    let mut tables = vec![absolute, per_client];
    for judged in view.verdicts {
        tables.extend(relatives(view, sweep, judged, &table));
    }
    tables.extend(cliffs(view, sweep));
    tables.retain(|table| table.says_something() || !table.notes.is_empty());
    tables
}

/// The lines that were measured.
fn measured<'a>(view: View<'_>, sweep: &'a Sweep) -> Vec<&'a Line> {
    sweep.lines.iter().filter(|line| line.is_measured(view.results)).collect()
}

fn columns(view: View<'_>, sweep: &Sweep, lines: &[&Line]) -> Vec<String> {
    let names = lines.iter().map(|line| sweep.line_name(view.results, line));
    std::iter::once(CLIENTS.to_owned()).chain(names).collect()
}

fn legend(view: View<'_>, sweep: &Sweep) -> Vec<String> {
    let fixed: Vec<String> = sweep
        .dimensions
        .iter()
        .filter_map(|dimension| match dimension.values.as_slice() {
            [value] => Some(format!("{}={value}", dimension.name)),
            _ => None,
        })
        .collect();
    let fixed = if fixed.is_empty() { String::new() } else { format!("; {}", fixed.join(", ")) };
    let means = view.over_blocks("geometric means");
    let mut legend = vec![format!("operations/s ({}): {means}{fixed}", sweep.unit)];
    let variant = (view.results.variants.len() > 1).then_some(VARIANT);
    let varied = sweep.varied().map(|dimension| dimension.name.as_str());
    let named: Vec<&str> = variant.into_iter().chain(varied).collect();
    if !named.is_empty() {
        legend.push(format!("columns: {}", named.join(", ")));
    }
    legend.push("per client: divided by the number of clients".to_owned());
    if view.results.variants.len() > 1 {
        legend.extend(view.relative_legend());
        legend.push(SIGNS.to_owned());
    }
    legend
}

pub(super) const SIGNS: &str =
    "verdicts: ▼ regression, ▲ improvement, = equivalent, ? inconclusive";

pub(super) fn sign(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Regression) => "▼",
        Some(Verdict::Improvement) => "▲",
        Some(Verdict::Equivalent) => "=",
        Some(Verdict::Inconclusive) => "?",
        None => "",
    }
}

/// Each line as a fraction of the base's with the same labels, with its verdict.
fn relatives(view: View<'_>, sweep: &Sweep, judged: &Judged, whole: &Table) -> Option<Table> {
    let compared = |line: &&Line| judged.base_of(line.variant) != line.variant;
    let lines: Vec<&Line> = measured(view, sweep).into_iter().filter(compared).collect();
    let throughput = judged.metric == OPS.name;
    let mut table = if throughput {
        let (id, part) = (format!("{}.relative", whole.id), RELATIVE.to_owned());
        Table { id, part, legend: legend(view, sweep), ..whole.clone() }
    } else {
        let name = &judged.metric;
        let (id, title) = (
            format!("{}.verdicts.{name}", whole.id),
            format!("{name} over clients: {}", sweep.name),
        );
        let base = judged.base_name(view.results);
        let legend = vec![
            format!("{name} ({}) as a fraction of that of {base}", judged.meaning()),
            SIGNS.to_owned(),
        ];
        Table { id, title, legend, ..whole.clone() }
    };
    table.section = Section::Relative;
    table.columns = columns(view, sweep, &lines);
    for (place, clients) in sweep.clients.iter().enumerate() {
        let (mut cells, mut verdicts) = (Vec::new(), Vec::new());
        for line in &lines {
            let step = line.steps.get(place).copied().flatten();
            let finding = step.and_then(|step| judged.finding(view.results, step, line.variant));
            let verdict = finding.as_ref().and_then(|finding| finding.verdict);
            let cell = match step {
                Some(step) if throughput => relative_cell(view, step, line.variant),
                _ => ratio_cell(view.results, finding.and_then(|finding| finding.ratio), ""),
            };
            let sign = if cell == UNKNOWN || cell.starts_with('(') { "" } else { sign(verdict) };
            cells.push(format!("{cell}{sign}"));
            verdicts.push(verdict.map_or("", Verdict::as_str).to_owned());
        }
        table.rows.push(Row { verdicts, ..Row::new(clients.to_string(), cells) });
    }
    (!lines.is_empty()).then_some(table)
}

/// Where throughput falls.
fn cliffs(view: View<'_>, sweep: &Sweep) -> Option<Table> {
    let name = &sweep.name;
    let title = format!("Where throughput falls with more clients: {name}");
    let mut table = Table::new(Section::Absolute, format!("cliffs.{name}"), title);
    table.step = Some(name.clone());
    table.notes.clone_from(&sweep.cliffs.notes);
    table.legend = texts([
        "throughput falls with confidence although clients were added while cores were free",
        "ratio, low, high: throughput at `to` / at `from` clients and its 95% interval",
    ]);
    table.columns = texts(["line", "from", "to", "ratio", "low", "high", "recovers", "in words"]);
    for cliff in &sweep.cliffs.found {
        let line = sweep.lines.get(cliff.line)?;
        let cells = vec![
            cliff.found.from.to_string(),
            cliff.found.to.to_string(),
            relative(cliff.found.ratio),
            relative(cliff.found.low),
            relative(cliff.found.high),
            or_unknown(cliff.found.recovers.map(f64::from), |clients| format!("{clients:.0}")),
            cliff.words(),
        ];
        table.rows.push(Row::new(sweep.full_name(view.results, line), cells));
    }
    if table.rows.is_empty() {
        table.legend.clear();
        table.columns.clear();
    }
    Some(table).filter(|table| !table.rows.is_empty() || !table.notes.is_empty())
}

/// A metric over the number of clients.
fn of_metric(view: View<'_>, sweep: &Sweep, metric: &Metric, section: Section) -> Table {
    let (step, name) = (&sweep.name, metric.name);
    let title = format!("{name} over clients: {step}");
    let mut table = Table::new(section, format!("sweep.{step}.{name}"), title);
    table.step = Some(step.clone());
    let unit = if metric.unit.is_empty() { "" } else { ", " };
    let means = view.over_blocks("means");
    table.legend = vec![format!("{}{unit}{}; {means}", metric.meaning, metric.unit)];
    let lines = measured(view, sweep);
    table.columns = columns(view, sweep, &lines);
    let curves: Vec<_> = lines.iter().map(|line| line.curve(view.results, name)).collect();
    let shown = if section == Section::Latency { rate } else { cost };
    table.rows = sweep
        .clients
        .iter()
        .enumerate()
        .map(|(place, clients)| {
            let mean = |curve: &Vec<Option<Estimate>>| Some(curve.get(place)?.as_ref()?.mean);
            let cells = curves.iter().map(|curve| or_unknown(mean(curve), shown));
            Row::new(clients.to_string(), cells.collect())
        })
        .collect();
    table
}
