//! Steps of one name over the number of clients: a row for each number, a column for each line.

use judge::Verdict;
use metrics::{Metric, OPS};

use super::throughput::relative_cell;
use super::view::{VARIANT, View};
use crate::judging::figures::ratio_cell;
use crate::output::number::{UNKNOWN, cost, half_width, or_unknown, rate, relative, whole};
use crate::output::table::{RELATIVE, Row, Section, Table};
use crate::sweep::{Estimate, Line, Subject, Sweep, words};

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
    let whole = of_step(
        sweep,
        format!("sweep.{name}"),
        format!("Throughput over clients: {name}"),
        Section::Absolute,
    );
    let part = |id: &str, part: &str| Table {
        id: format!("{}.{id}", whole.id),
        part: part.to_owned(),
        legend: legend(view, sweep),
        ..whole.clone()
    };
    let mut tables = vec![
        with_spreads(view, sweep, part("absolute", "absolute"), OPS.name, rate),
        curves(view, sweep, part("per-client", "per client"), OPS.name, |mean, clients| {
            rate(mean / clients)
        }),
    ];
    let relative = Table { section: Section::Relative, ..part("relative", RELATIVE) };
    tables.extend(relatives(view, sweep, relative));
    tables.extend(cliffs(view, sweep));
    tables.retain(|table| table.says_something() || !table.notes.is_empty());
    tables
}

fn of_step(sweep: &Sweep, id: String, title: String, section: Section) -> Table {
    Table { step: Some(sweep.name.clone()), ..Table::new(section, id, title) }
}

/// A row for each number of clients, a column for each line; `cell` gets the mean and the clients.
fn curves(
    view: View<'_>,
    sweep: &Sweep,
    table: Table,
    metric: &str,
    cell: impl Fn(f64, f64) -> String,
) -> Table {
    let lines = measured(view, sweep);
    let curves: Vec<_> = lines.iter().map(|line| line.curve(view.results, metric)).collect();
    let row = |(place, clients): (usize, &u32)| {
        let means = curves.iter().map(|curve| Some(curve.get(place)?.as_ref()?.mean));
        let cell = |mean| cell(mean, f64::from(*clients));
        Row::new(clients.to_string(), means.map(|mean| or_unknown(mean, cell)))
    };
    let rows = sweep.clients.iter().enumerate().map(row).collect();
    Table { columns: columns(view, sweep, &lines), rows, ..table }
}

/// The note on the ± after means.
pub(super) const SPREAD: &str = "± is half the width of the 95% interval of a mean";

/// Means, each with the half width of its interval.
fn with_spreads(
    view: View<'_>,
    sweep: &Sweep,
    table: Table,
    metric: &str,
    cell: fn(f64) -> String,
) -> Table {
    let mut table = curves(view, sweep, table, metric, |mean, _| cell(mean));
    let lines = measured(view, sweep);
    let curves: Vec<_> = lines.iter().map(|line| line.curve(view.results, metric)).collect();
    for (place, row) in table.rows.iter_mut().enumerate() {
        let of = |curve: &Vec<Option<Estimate>>| curve.get(place)?.as_ref()?.half_width();
        row.spreads =
            curves.iter().map(|curve| of(curve).map(half_width).unwrap_or_default()).collect();
    }
    if table.rows.iter().flat_map(|row| &row.spreads).any(|spread| !spread.is_empty()) {
        table.legend.push(SPREAD.to_owned());
    }
    table
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
        legend.push(SIGNS_MEAN.to_owned());
    }
    legend
}

/// The signs that stand for verdicts after ratios.
pub(super) const SIGNS: [char; 4] = ['▼', '▲', '=', '?'];
pub(super) const SIGNS_MEAN: &str =
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

/// The verdicts on the points of each sweep that is shown over its clients.
pub(super) fn verdicts(view: View<'_>, title: &str) -> Vec<Table> {
    let of_sweep = |sweep: &Sweep| {
        let title = format!("{title}; {} over clients", sweep.name);
        let table = of_step(sweep, format!("brief.{}", sweep.name), title, Section::Verdicts);
        relatives(view, sweep, table)
    };
    view.sweeps.iter().filter(|sweep| sweep.one_server).filter_map(of_sweep).collect()
}

/// Each line as a fraction of the base's with the same labels, with its verdict.
fn relatives(view: View<'_>, sweep: &Sweep, table: Table) -> Option<Table> {
    let judged = view.judged;
    let compared = |line: &&Line| judged.base_of(line.variant) != line.variant;
    let lines: Vec<&Line> = measured(view, sweep).into_iter().filter(compared).collect();
    let cell = |line: &Line, place: usize| {
        let step = line.steps.get(place).copied().flatten();
        let finding = step.and_then(|step| judged.finding(view.results, step, line.variant));
        let verdict = finding.as_ref().and_then(|finding| finding.verdict);
        let cell = match step {
            Some(step) if judged.metric == OPS.name => relative_cell(view, step, line.variant),
            _ => ratio_cell(finding.and_then(|finding| finding.ratio), ""),
        };
        let sign = if cell == UNKNOWN || cell.starts_with('(') { "" } else { sign(verdict) };
        (format!("{cell}{sign}"), verdict)
    };
    let row = |(place, clients): (usize, &u32)| {
        Row::judged(clients.to_string(), lines.iter().map(|line| cell(line, place)))
    };
    let rows = sweep.clients.iter().enumerate().map(row).collect();
    let columns = columns(view, sweep, &lines);
    (!lines.is_empty()).then_some(Table { columns, rows, ..table })
}

/// Where throughput falls.
pub(super) fn cliffs(view: View<'_>, sweep: &Sweep) -> Option<Table> {
    let name = &sweep.name;
    let title = format!("Where throughput falls with more clients: {name}");
    let mut table = of_step(sweep, format!("cliffs.{name}"), title, Section::Absolute);
    table.notes.clone_from(&sweep.notes);
    let all = sweep.lines.iter().flat_map(|line| line.cliffs.iter().map(move |it| (line, it)));
    if all.clone().next().is_none() {
        return Some(table).filter(|table| !table.notes.is_empty());
    }
    let table = table.explained([
        "with more clients throughput is lower by more than chance explains, although cores were still free",
        "ratio, low, high: throughput at `to` / at `from` clients and its 95% interval",
    ]);
    Some(table.listing(
        all,
        &[
            ("line", &|(line, _)| sweep.full_name(view.results, line)),
            ("from", &|(_, it)| it.from.to_string()),
            ("to", &|(_, it)| it.to.to_string()),
            ("ratio", &|(_, it)| relative(it.ratio)),
            ("low", &|(_, it)| relative(it.low)),
            ("high", &|(_, it)| relative(it.high)),
            ("recovers", &|(_, it)| or_unknown(it.recovers.map(f64::from), whole)),
            ("in words", &|(_, it)| words(it)),
        ],
    ))
}

/// A metric over the number of clients.
fn of_metric(view: View<'_>, sweep: &Sweep, metric: &Metric, section: Section) -> Table {
    let (step, name) = (&sweep.name, metric.name);
    let title = format!("{name} over clients: {step}");
    let unit = if metric.unit.is_empty() { "" } else { ", " };
    let means = view.over_blocks("means");
    let table = of_step(sweep, format!("sweep.{step}.{name}"), title, section)
        .explained([&format!("{}{unit}{}; {means}", metric.meaning, metric.unit)]);
    let shown = if section == Section::Latency { rate } else { cost };
    with_spreads(view, sweep, table, name, shown)
}
