//! One figure for many steps of a kind, such as all queries: the geometric mean of their rates.

use std::collections::BTreeMap;

use judge::{Comparison, Margin, Warning};
use metrics::OPS;
use store::Better;

use super::view::{VARIANT, View};
use crate::judging::figures::{Ratio, absolute, ratio_cell};
use crate::judging::sentence::confidence;
use crate::load::model::StepResults;
use crate::output::number::{or_unknown, rate, relative};
use crate::output::table::{Section, Table, distinct};

/// Fewer steps than this speak for themselves.
const FEWEST_STEPS: usize = 5;

/// A variant's mean over those steps of a kind in which it was compared by its throughput.
struct Mean<'a> {
    kind: Kind<'a>,
    variant: usize,
    steps: usize,
    /// All steps of the kind.
    all: usize,
    /// Means of the base and of the variant.
    rates: [Option<f64>; 2],
    /// Over the blocks that have all of the steps.
    comparison: Option<Comparison>,
}

/// Steps that have a mean in common.
#[derive(Clone, Copy, PartialEq)]
struct Kind<'a> {
    group: &'a str,
    unit: &'a str,
    clients: u32,
}

impl<'a> Kind<'a> {
    fn of(step: &'a StepResults) -> Self {
        Self { group: &step.group, unit: &step.unit, clients: step.key.dop }
    }

    /// `queries, dop 1`, or with a group `writes, dop 4`.
    fn label(self) -> String {
        let Self { group, unit, clients } = self;
        format!("{}, dop {clients}", if group.is_empty() { unit } else { group })
    }
}

pub(super) fn table(view: View<'_>) -> Option<Table> {
    // Blocks of one machine depend on each other.
    if !view.results.machines.is_empty() {
        return None;
    }
    let counts = |step: &&StepResults| {
        let aside = step.loaded_once || step.warm_up || step.prepares;
        !aside && step.better == Better::More
    };
    let steps: Vec<(usize, &StepResults)> =
        view.steps().map(|(number, step, _)| (number, step)).filter(|(_, it)| counts(it)).collect();
    let level = view.judged.comparisons().map(|found| found.confidence);
    let level = level.fold(judge::CONFIDENCE, f64::max);
    let mut means = Vec::new();
    for kind in distinct(steps.iter().map(|(_, step)| Kind::of(step))) {
        let own = steps.iter().filter(|(_, step)| Kind::of(step) == kind);
        let own: Vec<(usize, &StepResults)> = own.copied().collect();
        if own.len() >= FEWEST_STEPS {
            let others = view.judged.order(view.results).into_iter().skip(1);
            means.extend(others.map(|variant| mean(view, kind, &own, variant, level)));
        }
    }
    if means.is_empty() {
        return None;
    }
    let counted = |mean: &Mean<'_>| match mean.steps == mean.all {
        true => mean.all.to_string(),
        false => format!("{} of {}", mean.steps, mean.all),
    };
    let end = |mean: &Mean<'_>, of: fn(&Comparison) -> Option<f64>| {
        let judged = mean.comparison.as_ref().filter(|it| it.blocks >= judge::ENOUGH_BLOCKS);
        or_unknown(judged.and_then(of), relative)
    };
    let ratio = |mean: &Mean<'_>| {
        let found = mean.comparison.as_ref();
        ratio_cell(found.map(|it| Ratio { value: it.ratio, pairs: it.blocks }), "")
    };
    let mut table = Table::new(Section::Verdicts, "means", "Geometric means over steps").listing(
        means,
        &[
            ("steps", &|mean| mean.kind.label()),
            ("number", &counted),
            (VARIANT, &|mean| view.results.variant_name(mean.variant).to_owned()),
            ("base", &|mean| or_unknown(mean.rates[0], rate)),
            ("o/s", &|mean| or_unknown(mean.rates[1], rate)),
            ("ratio", &ratio),
            ("low", &|mean| end(mean, |found| found.low)),
            ("high", &|mean| end(mean, |found| found.high)),
        ],
    );
    let base = view.judged.base_name(view.results);
    table.legend = vec![
        "number: of the steps, those in which the variant was compared by its throughput"
            .to_owned(),
        format!("base, o/s: operations/s of {base} and of the variant; all steps weigh the same"),
        format!("ratio: relative to {base}, of the ratios judged, over the blocks with all steps"),
        format!(
            "low, high: {} interval of the ratio (Student's t over these blocks); – below {} blocks",
            confidence(level),
            judge::ENOUGH_BLOCKS
        ),
        "no verdict: one step's regression can hide behind another's improvement".to_owned(),
    ];
    Some(table)
}

fn mean<'a>(
    view: View<'_>,
    kind: Kind<'a>,
    all: &[(usize, &StepResults)],
    variant: usize,
    level: f64,
) -> Mean<'a> {
    let by_cpu = |found: &Comparison| {
        found.warnings.iter().any(|warning| matches!(warning, Warning::ByCpu { .. }))
    };
    let compared =
        |number: usize| view.judged.of(number, variant).is_some_and(|found| !by_cpu(found));
    let steps: Vec<(usize, &StepResults)> =
        all.iter().copied().filter(|(number, _)| compared(*number)).collect();
    let base = view.judged.base_of(variant);
    let rate = |place: usize| {
        let shown = |(_, step): &(usize, &StepResults)| absolute(step, base, place, OPS.name);
        let logs: Vec<f64> = steps.iter().filter_map(shown).map(f64::ln).collect();
        judge::mean(&logs).map(f64::exp)
    };
    Mean {
        kind,
        variant,
        steps: steps.len(),
        all: all.len(),
        rates: [rate(base), rate(variant)],
        comparison: over_blocks(view, &steps, variant, level),
    }
}

/// The mean of the steps' log ratios in each block that has all of them, compared over the blocks.
fn over_blocks(
    view: View<'_>,
    steps: &[(usize, &StepResults)],
    variant: usize,
    level: f64,
) -> Option<Comparison> {
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (number, _) in steps {
        for (block, ratio) in view.judged.ratios(view.results, *number, variant) {
            blocks.entry(block).or_default().push(ratio.ln());
        }
    }
    let whole = blocks.values().filter(|logs| logs.len() == steps.len());
    let ratios: Vec<f64> = whole.filter_map(|logs| Some(judge::mean(logs)?.exp())).collect();
    let ones = vec![1.0; ratios.len()];
    judge::compare_at(&ones, &ratios, Margin::of(view.judged.margin), level).ok()
}
