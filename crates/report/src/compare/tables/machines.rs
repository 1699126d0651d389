//! The table of machines, for an experiment that ran on several.

use judge::{OfMachine, OverMachines};

use super::view::{VARIANT, View};
use crate::output::number::{or_unknown, percent, relative};
use crate::output::table::{RowKind, Section, Table};

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
