//! The results of the comparisons, one row each: a table for each judged metric.

use judge::{Comparison, Margin, Method, Verdict};
use metrics::{Better, OPS};

use super::view::{VARIANT, View};
use crate::judging::figures::{absolute, ratio_cell};
use crate::judging::judged::{Finding, Judged};
use crate::judging::sentence::confidence;
use crate::output::number::{UNKNOWN, cost, or_unknown, percent, relative};
use crate::output::table::{Row, RowKind, Section, Table, distinct, texts};

/// The confidences of the intervals: one, unless an adaptive experiment reached looks that differ.
pub(super) fn intervals(judged: &Judged) -> String {
    let confidences: Vec<f64> = judged.comparisons().map(|found| found.confidence).collect();
    range(&confidences)
}

/// `95%`, or `97.5% to 99.2%`.
fn range(confidences: &[f64]) -> String {
    let all = || confidences.iter().copied();
    let ends = [all().min_by(f64::total_cmp), all().max_by(f64::total_cmp)];
    let ends = distinct(ends.map(|end| confidence(end.unwrap_or(judge::CONFIDENCE))));
    ends.join(" to ")
}

/// How values were paired.
fn pairings(judged: &Judged) -> &'static str {
    let has = |method| judged.comparisons().any(|comparison| comparison.method == method);
    match (has(Method::Blocks), has(Method::Slices)) {
        (_, false) => "Student's t over paired blocks",
        (false, true) => "over paired slices and restarts",
        (true, true) => {
            "over paired slices and restarts where steps ran in slices, Student's t over paired blocks elsewhere"
        }
    }
}

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    view.verdicts.iter().filter_map(|judged| table(view, judged)).collect()
}

fn table(view: View<'_>, judged: &Judged) -> Option<Table> {
    let throughput = judged.metric == OPS.name;
    let name = &judged.metric;
    let mut table = match throughput {
        true => Table::new(Section::Verdicts, "verdicts", "Verdicts"),
        false => {
            Table::new(Section::Verdicts, format!("verdicts.{name}"), format!("Verdicts: {name}"))
        }
    };
    let findings = judged.findings(view.results);
    if findings.is_empty() {
        return None;
    }
    let nothing = |finding: &Finding<'_>| finding.comparison.is_none();
    match view.too_few().filter(|_| findings.iter().all(nothing)) {
        // Each row would say the same.
        Some(too_few) => table.notes.push(too_few),
        None => {
            table.legend = legend(view, judged);
            let common = ["ratio", "low", "high", "p", "mde", "verdict", "in words"];
            let values = ["base", "value"].into_iter().filter(|_| !throughput);
            table.columns = texts(["step", VARIANT].into_iter().chain(values).chain(common));
            table.rows = findings.iter().map(|finding| row(view, judged, finding)).collect();
        }
    }
    let warnings = judged.told_warnings(view.results).map(|(_, warning)| warning);
    let notes = warnings.chain(judged.told_gaps(view.results));
    table.notes.extend(notes.map(|note| format!("! {note}")));
    Some(table).filter(|table| table.says_something() || !table.notes.is_empty())
}

fn legend(view: View<'_>, judged: &Judged) -> Vec<String> {
    let base = judged.base_name(view.results);
    let name = &judged.metric;
    let throughput = name == OPS.name;
    let meant = judged.asked();
    let what = if throughput { "throughput" } else { name };
    let mut legend = Vec::new();
    if let Some(metric) = meant.filter(|_| !throughput) {
        let unit = if metric.unit.is_empty() { "" } else { ", " };
        let meaning = format!("{}{unit}{}", judged.meaning(), metric.unit);
        let means = view.over_blocks("geometric means");
        legend.push(format!("{name} - {meaning}; {} is better", metric.better.as_str()));
        legend.push(format!("base, value: of {base} and of the variant, {means}"));
    }
    legend.push(format!("ratio: {what} relative to {base}"));
    let pairings = pairings(judged);
    let few = format!("– below {} blocks", judge::ENOUGH_BLOCKS);
    legend.push(format!("low, high: its {} interval ({pairings}); {few}", intervals(judged)));
    legend.push("p: sign-flip test of no difference at all".to_owned());
    let less = meant.is_some_and(|metric| metric.better == Better::Less);
    let effect = if less { "increase" } else { "slowdown" };
    legend.push(format!(
        "mde: minimum detectable effect, the {effect} that an experiment with as many blocks and comparisons \
         would confirm 4 times out of 5; – below 5 blocks"
    ));
    let costs = view.steps().filter(|(_, step, _)| step.better == store::Better::Less);
    let costs: Vec<String> = costs.map(|(.., label)| label).collect();
    let direction = match (less, throughput && !costs.is_empty()) {
        (true, _) => "; more is a regression".to_owned(),
        (false, true) => format!("; for {}, more is a regression", costs.join(", ")),
        (false, false) => String::new(),
    };
    let edges = |(below, above)| format!("{} to {}", relative(below), relative(above));
    legend.push(format!(
        "verdict: regression or improvement when the whole interval is outside {}, equivalent when all \
         of it is inside, otherwise and below {} blocks inconclusive{direction}",
        edges(Margin::of(judged.margin).edges()),
        judge::ENOUGH_BLOCKS
    ));
    for (number, _, label) in view.steps() {
        let margin = judged.margin_in(number);
        if margin.is_below_noise() {
            legend.push(format!(
                "{label}: a regression or improvement is outside {}, because identical variants differ by so much",
                edges(margin.outer_edges())
            ));
        }
    }
    legend
}

fn row(view: View<'_>, judged: &Judged, finding: &Finding<'_>) -> Row {
    let step = &view.results.steps[finding.step];
    let mut cells = vec![view.results.variant_name(finding.variant).to_owned()];
    if judged.metric != OPS.name {
        let base = judged.base_of(finding.variant);
        let shown = |place: usize| absolute(step, base, place, judged.metric_in(step)?.name);
        cells.extend([base, finding.variant].map(|place| or_unknown(shown(place), cost)));
    }
    let of = |figure: fn(&Comparison) -> Option<f64>| finding.judged().and_then(figure);
    cells.extend([
        ratio_cell(finding.ratio, ""),
        or_unknown(of(|found| found.low), relative),
        or_unknown(of(|found| found.high), relative),
        or_unknown(of(|found| found.sign_flip_p), relative),
        or_unknown(of(|found| found.detectable), percent),
        finding.verdict.map_or(UNKNOWN, Verdict::as_str).to_owned(),
        finding.sentence.clone(),
    ]);
    Row::new(view.results.step_label(step), cells).of_kind(kind(view, judged, finding))
}

/// How the row of a finding is highlighted.
pub(super) fn kind(view: View<'_>, judged: &Judged, finding: &Finding<'_>) -> Option<RowKind> {
    let step = &view.results.steps[finding.step];
    let held = judged.not_held(step, finding.variant).is_empty();
    match finding.verdict {
        Some(Verdict::Regression) => Some(RowKind::Regression),
        Some(Verdict::Improvement) => Some(RowKind::Improvement),
        _ => (finding.fails || !held).then_some(RowKind::Marked),
    }
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn confidences_of_several_looks_are_a_range() {
        assert_eq!(range(&[0.99, 0.975, 0.992]), "97.5% to 99.2%");
        assert_eq!(range(&[0.95, 0.95]), "95%");
        assert_eq!(range(&[]), "95%");
    }
}
