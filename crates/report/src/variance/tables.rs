//! The tables of variances, in the shape of the published ones: a row per setup, a column per
//! number of clients.

use std::collections::BTreeSet;

use super::document::{SetupDocument, VarianceDocument, WorkloadVariance};
use crate::load::trials::named;
use crate::output::number::{or_unknown, relative};
use crate::output::sheet::{List, Part, Sheet};
use crate::output::table::{Row, Section, Table, distinct, texts};

/// A figure over the steps of a setup: its name in ids, its title, and a function that reads it.
type Over = (&'static str, &'static str, fn(&SetupDocument) -> Option<f64>);

pub(super) fn sheet(document: &VarianceDocument) -> Sheet {
    let mut sheet = Sheet::default();
    let several = document.workloads.len() > 1;
    let of = |workload: &WorkloadVariance, table: Table| Table {
        id: if several { format!("{}.{}", table.id, workload.workload) } else { table.id },
        part: if several { workload.workload.clone() } else { String::new() },
        ..table
    };
    let cv = format!(
        "CV: {} deviation / mean of {} over the trials of a setup",
        document.deviation, document.metric
    );
    for workload in &document.workloads {
        let mut table = of(workload, per_step(workload, &cv));
        let of = format!("trials of {}", named(&workload.experiments));
        if several {
            table.part = format!("{}; {of}", table.part);
        } else {
            table.legend.push(of);
        }
        sheet.table(table);
    }
    let max: Over = ("max", "Max", |setup| setup.max);
    let mean: Over = ("mean", "Mean", |setup| setup.mean);
    for over in [max, mean] {
        for workload in &document.workloads {
            sheet.table(of(workload, per_setup(workload, &cv, over)));
        }
    }
    sheet.parts.push(Part::List(choose(document)));
    for workload in &document.workloads {
        let table = of(workload, within(workload, &document.deviation));
        if table.says_something() {
            sheet.table(table);
        }
    }
    sheet.notes(document.notes.clone());
    sheet
}

/// One row per setup, one column per step.
fn per_step(workload: &WorkloadVariance, cv: &str) -> Table {
    let mut table =
        Table::new(Section::Other, "variance.steps", "Coefficient of variation per step");
    table.legend =
        vec![cv.to_owned(), "setup: machine, configuration; dop: number of clients".to_owned()];
    let steps = workload.setups.iter().flat_map(|setup| &setup.steps);
    let steps: Vec<&str> = distinct(steps.map(|step| step.name.as_str()));
    table.columns = texts(["setup", "dop", "trials"].into_iter().chain(steps.iter().copied()));
    table.rows = workload
        .setups
        .iter()
        .map(|setup| {
            let [least, most] = setup.trials;
            let trials = if least == most { most.to_string() } else { format!("{least}–{most}") };
            let figures = steps.iter().map(|name| {
                let step = setup.steps.iter().find(|step| step.name == *name);
                step.map_or_else(String::new, |step| or_unknown(step.cv, relative))
            });
            let cells = [setup.dop.to_string(), trials].into_iter().chain(figures).collect();
            Row::new(&setup.setup, cells)
        })
        .collect();
    table
}

/// One row per machine and configuration, one column per number of clients: the published shape.
fn per_setup(workload: &WorkloadVariance, cv: &str, (id, name, value): Over) -> Table {
    let mut table = Table::new(
        Section::Other,
        format!("variance.{id}"),
        format!("{name} coefficient of variation"),
    );
    table.legend = vec![format!("{cv}; {id} over the steps")];
    let dops: BTreeSet<u32> = workload.setups.iter().map(|setup| setup.dop).collect();
    table.columns = std::iter::once("setup".to_owned())
        .chain(dops.iter().map(|dop| format!("dop={dop}")))
        .collect();
    for setup in &workload.setups {
        if table.rows.iter().any(|row| row.label == setup.setup) {
            continue;
        }
        let cells = dops.iter().map(|dop| {
            let mut same = workload.setups.iter();
            same.find(|other| other.setup == setup.setup && other.dop == *dop)
                .map_or_else(String::new, |found| or_unknown(value(found), relative))
        });
        table.rows.push(Row::new(&setup.setup, cells.collect()));
    }
    table
}

fn choose(document: &VarianceDocument) -> List {
    let limit = document.limit;
    let workloads = match document.workloads.len() {
        0 | 1 => String::new(),
        number => format!(", in all of the {number} workloads it ran"),
    };
    List {
        id: "variance.choose".to_owned(),
        title: "Which to choose".to_owned(),
        lead: format!("setups with a maximum CV <= {limit}{workloads}:"),
        items: document
            .choose
            .iter()
            .map(|chosen| {
                let dops: Vec<String> = chosen.dop.iter().map(u32::to_string).collect();
                (chosen.setup.clone(), format!("dop={}", dops.join(",")))
            })
            .collect(),
        nothing: format!("none: every setup has a step with a larger CV than {limit}"),
    }
}

/// Deviations from second to second within a trial.
fn within(workload: &WorkloadVariance, deviation: &str) -> Table {
    let mut table = Table::new(Section::Other, "variance.within", "Within trials, per second");
    table.legend = vec![
        "medians over the trials; seconds are not evidence for a verdict because they depend on each other"
            .to_owned(),
        format!("cv: {deviation} deviation / mean of throughput over the whole seconds of a trial"),
        "lag-1: correlation of a second with the next (corrected for short series)".to_owned(),
        "worth: the number of independent seconds that would determine the mean equally well".to_owned(),
        "cv/√worth: the CV between trials if all variation were within trials; anything above it comes from restarting"
            .to_owned(),
        "trials: the CV between trials".to_owned(),
    ];
    table.columns =
        texts(["setup", "dop", "step", "seconds", "cv", "lag-1", "worth", "cv/√worth", "trials"]);
    for setup in &workload.setups {
        for step in &setup.steps {
            let Some(within) = &step.within else { continue };
            let expected = within.worth.map(|worth| within.cv / worth.sqrt());
            let cells = vec![
                setup.dop.to_string(),
                step.name.clone(),
                format!("{:.0}", within.seconds),
                relative(within.cv),
                or_unknown(within.autocorrelation, |rho| format!("{rho:.2}")),
                or_unknown(within.worth, |worth| format!("{worth:.1}")),
                or_unknown(expected, relative),
                or_unknown(step.cv, relative),
            ];
            table.rows.push(Row::new(&setup.setup, cells));
        }
    }
    table
}
