//! Verdicts on the response times of each class of statements: the transactions of a mix, the forms
//! of a log.

use std::collections::BTreeMap;

use metrics::{LATENCIES, MEAN, Metric};

use super::verdicts::{intervals, kind};
use super::view::{VARIANT, View};
use crate::judging::figures::{absolute, ratio_cell};
use crate::judging::judged::{Finding, Judged};
use crate::load::model::StepResults;
use crate::output::number::{UNKNOWN, or_unknown, percent, rate, relative};
use crate::output::table::{Section, Table};

/// Longest text of a class in the table, in characters.
const SHOWN: usize = 80;

/// The verdict on a class of statements of one variant.
struct Line<'a> {
    class: &'a str,
    judged: &'a Judged,
    finding: Finding<'a>,
    /// The part of the base's response times that are those of this class.
    share: f64,
    text: String,
}

/// A table for each step and response time.
pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for time in LATENCIES {
        for (number, step, label) in view.every_step() {
            tables.extend(table(view, time, (number, step, &label)));
        }
    }
    tables
}

fn table(
    view: View<'_>,
    time: &'static Metric,
    (number, step, label): (usize, &StepResults, &str),
) -> Option<Table> {
    let order = view.judged.order(view.results);
    let of_class = |judged| Some((judged, time.member_in(Judged::metric_in(judged, step)?.name)?));
    let judged: Vec<(&Judged, &str)> = view.verdicts.iter().filter_map(of_class).collect();
    if judged.is_empty() {
        return None;
    }
    let shares = shares(step);
    let mut lines: Vec<Line<'_>> = Vec::new();
    for (judged, class) in judged {
        let findings =
            order.iter().filter_map(|place| judged.finding(view.results, number, *place));
        lines.extend(findings.map(|finding| {
            let base = judged.base_of(finding.variant);
            let own =
                |place: usize| step.variant(place)?.latency.iter().find(|it| it.class == class);
            let text = own(base).or_else(|| own(finding.variant));
            let text = text.map_or(String::new(), |own| shortened(&own.text));
            let share = shares[base].get(class).copied().unwrap_or_default();
            Line { class, judged, finding, share, text }
        }));
    }
    lines.sort_by(|one, other| other.share.total_cmp(&one.share));
    let judged = lines.first()?.judged;
    let base = judged.base_name(view.results);
    let name = time.short();
    let title = format!("Response time by class, {name}: {label}");
    let table = Table::of_step(Section::Verdicts, &format!("classes.{name}"), title, label);
    let value = |line: &Line<'_>, place: usize| {
        let base = line.judged.base_of(line.finding.variant);
        let name = line.judged.metric_in(step)?.name;
        absolute(step, base, place, name)
    };
    let of = |line: &Line<'_>, end: fn(&judge::Comparison) -> Option<f64>| {
        or_unknown(line.finding.judged().and_then(end), relative)
    };
    let table = table
        .explained([
            &format!("base, value: {name} in microseconds, of {base} and of the variant; more is a regression"),
            &format!("share: of the time that all answers of {base} took together"),
            &format!(
                "low, high: the {} interval of the ratio; verdicts allow for the number of classes",
                intervals(judged)
            ),
        ])
        .listing_kinds(
            &lines,
            |line| kind(view, line.judged, &line.finding),
            &[
                ("class", &|line| line.class.to_owned()),
                (VARIANT, &|line| view.results.variant_name(line.finding.variant).to_owned()),
                ("share", &|line| percent(line.share)),
                ("base", &|line| {
                    let base = line.judged.base_of(line.finding.variant);
                    or_unknown(value(line, base), rate)
                }),
                ("value", &|line| or_unknown(value(line, line.finding.variant), rate)),
                ("ratio", &|line| ratio_cell(line.finding.ratio, "")),
                ("low", &|line| of(line, |found| found.low)),
                ("high", &|line| of(line, |found| found.high)),
                ("verdict", &|line| {
                    line.finding.verdict.map_or(UNKNOWN, |verdict| verdict.as_str()).to_owned()
                }),
                ("text", &|line| match &line.finding.reason {
                    Some(reason) => format!("{} ({reason})", line.text),
                    None => line.text.clone(),
                }),
            ],
        );
    table.filled()
}

/// The part of each class in all response times, by variant.
fn shares(step: &StepResults) -> Vec<BTreeMap<&str, f64>> {
    let parts = step.parts(&MEAN);
    let variants = step.variants.iter().map(|variant| {
        let pooled = variant.latency.iter().filter(|it| parts.contains(it.class.as_str()));
        let times: Vec<(&str, f64)> = pooled.map(|it| (it.class.as_str(), it.total())).collect();
        let all: f64 = times.iter().map(|(_, time)| time).sum();
        times.into_iter().map(|(class, time)| (class, time / all.max(f64::MIN_POSITIVE))).collect()
    });
    variants.collect()
}

fn shortened(text: &str) -> String {
    let text = crate::output::table::one_line(text);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
