//! The tables of machines, for an experiment that ran on several.

use judge::{OfMachine, OverMachines};
use metrics::OPS;

use super::view::{VARIANT, View};
use crate::judging::judged::Judged;
use crate::output::number::{or_unknown, percent, relative};
use crate::output::table::{Row, RowKind, Section, Table, distinct, texts};

/// A machine's part in a comparison.
struct Part<'a> {
    step: usize,
    variant: usize,
    of: &'a OfMachine,
    differs: &'static str,
}

pub(super) fn table(view: View<'_>) -> Option<Table> {
    let View { results, judged, .. } = view;
    let parts: Vec<Part<'_>> = judged
        .over_machines
        .iter()
        .flat_map(|((step, variant), over)| {
            let odd = differing(over);
            let part = |(of, differs)| Part { step: *step, variant: *variant, of, differs };
            over.machines.iter().zip(odd).map(part).collect::<Vec<_>>()
        })
        .collect();
    if parts.is_empty() {
        return None;
    }
    let kind = |part: &&Part<'_>| (!part.differs.is_empty()).then_some(RowKind::Marked);
    let mut table = Table::new(Section::Verdicts, "machines", "Machines")
        .explained([
            "ratio, low, high: of the blocks of this machine alone",
            "differs: certainly from the other machines, or its type from the other types",
        ])
        .listing_kinds(
            &parts,
            kind,
            &[
                ("step", &|part| results.step_label(&results.steps[part.step])),
                (VARIANT, &|part| results.variant_name(part.variant).to_owned()),
                ("machine", &|part| part.of.machine.clone()),
                ("type", &|part| part.of.kind.clone()),
                ("blocks", &|part| part.of.comparison.blocks.to_string()),
                ("ratio", &|part| relative(part.of.comparison.ratio)),
                ("low", &|part| or_unknown(part.of.comparison.low, relative)),
                ("high", &|part| or_unknown(part.of.comparison.high, relative)),
                ("differs", &|part| part.differs.to_owned()),
            ],
        );
    let spreads = judged.over_machines.iter().filter_map(|((step, variant), over)| {
        let spread = over.spread?;
        let step = results.step_label(&results.steps[*step]);
        Some(format!(
            "{step} {}: the true ratios of the machines scatter by {} (interval {} to {}); \
             the verdict is about the mean of these machines",
            results.variant_name(*variant),
            percent(spread.sd),
            percent(spread.low),
            percent(spread.high)
        ))
    });
    table.notes = spreads.collect();
    Some(table)
}

/// A row for each machine, with a column for each step, and one for their mean; `None` if there is
/// one machine.
pub(super) fn rows(view: View<'_>, judged: &Judged) -> Option<Table> {
    let results = view.results;
    let over = &judged.over_machines;
    let steps: Vec<usize> = distinct(over.keys().map(|(step, _)| *step));
    let what = if judged.metric == OPS.name { "Throughput" } else { judged.metric.as_str() };
    let id = format!("machines.{}", judged.metric);
    let mut table = Table::new(Section::Relative, id, format!("{what} by machine")).explained([
        &format!("ratio to {}: on this machine alone", judged.base_name(results)),
        "*: the machine certainly differs from the others, or its type from the other types",
        "mean: of these machines, each counting the same; the verdict is about it",
    ]);
    let labels = steps.iter().map(|step| results.step_label(&results.steps[*step]));
    table.columns = texts(["machine", VARIANT, "type"]);
    table.columns.extend(labels);
    let of = |step: usize, variant: usize| over.get(&(step, variant));
    for variant in distinct(judged.order(results)) {
        let name = results.variant_name(variant).to_owned();
        let all: Vec<&OverMachines> = steps.iter().filter_map(|step| of(*step, variant)).collect();
        let machines = all.iter().flat_map(|over| &over.machines);
        for (machine, kind) in distinct(machines.map(|it| (&it.machine, &it.kind))) {
            let cell = |step: &usize| {
                let over = of(*step, variant)?;
                let place = over.machines.iter().position(|it| it.machine == *machine)?;
                let mark = if differing(over)[place].is_empty() { "" } else { "*" };
                Some(format!("{}{mark}", relative(over.machines[place].comparison.ratio)))
            };
            let cells = steps.iter().map(|step| cell(step).unwrap_or_default());
            let cells = [name.clone(), kind.clone()].into_iter().chain(cells);
            table.rows.push(Row::new(machine, cells));
        }
        if !all.is_empty() {
            let cell = |step: &usize| {
                let ratio = of(*step, variant).map(|it| relative(it.fleet.ratio));
                (ratio.unwrap_or_default(), judged.of(*step, variant).map(|it| it.verdict))
            };
            let texts = [(name, None), (String::new(), None)];
            let cells = texts.into_iter().chain(steps.iter().map(cell));
            table.rows.push(Row::judged("mean", cells).by_verdicts());
        }
    }
    Some(table).filter(|table| !table.rows.is_empty())
}

/// For each machine what of it differs: the machine, its type or nothing.
fn differing(over: &OverMachines) -> Vec<&'static str> {
    let findings = over.findings();
    let of = |one: &OfMachine| {
        let machine = |it: &judge::Finding<'_>| match it {
            judge::Finding::Machine(found) => found.machine == one.machine,
            judge::Finding::Kind(_) => false,
        };
        let kind = |it: &judge::Finding<'_>| match it {
            judge::Finding::Kind(found) => found.kind == one.kind,
            judge::Finding::Machine(_) => false,
        };
        match (findings.iter().any(machine), findings.iter().any(kind)) {
            (true, _) => "machine",
            (false, true) => "type",
            (false, false) => "",
        }
    };
    over.machines.iter().map(of).collect()
}
