//! The tables of variances, in the shape of the published ones: a row per setup, a column per
//! number of clients.

use std::collections::BTreeSet;

use super::document::{SetupDocument, VarianceDocument, WithinDocument, WorkloadVariance};
use crate::load::trials::named;
use crate::output::number::{hundredths, or_unknown, relative, tenths, whole};
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
    if !document.leave_out.is_empty() {
        sheet.parts.push(Part::List(List {
            id: "variance.leave".to_owned(),
            title: "Which to leave out".to_owned(),
            lead: "machines so noisy that the mean of the others would be known better:".to_owned(),
            items: document
                .leave_out
                .iter()
                .map(|it| (it.machine.clone(), format!("cv={}", relative(it.cv))))
                .collect(),
            nothing: String::new(),
        }));
    }
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
    let steps = workload.setups.iter().flat_map(|setup| &setup.steps);
    let steps: Vec<&str> = distinct(steps.map(|step| step.name.as_str()));
    let title = "Coefficient of variation per step";
    let mut table = Table::new(Section::Other, "variance.steps", title)
        .explained([cv, "setup: machine, configuration; dop: number of clients"]);
    table.columns = texts(["setup", "dop", "trials"].into_iter().chain(steps.iter().copied()));
    for setup in &workload.setups {
        let [least, most] = setup.trials;
        let trials = if least == most { most.to_string() } else { format!("{least}–{most}") };
        let figures = steps.iter().map(|name| {
            let step = setup.steps.iter().find(|step| step.name == *name);
            step.map_or_else(String::new, |step| or_unknown(step.cv, relative))
        });
        let cells = [setup.dop.to_string(), trials].into_iter().chain(figures);
        table.rows.push(Row::new(&setup.setup, cells));
    }
    table
}

/// One row per machine and configuration, one column per number of clients: the published shape.
fn per_setup(workload: &WorkloadVariance, cv: &str, (id, name, value): Over) -> Table {
    let title = format!("{name} coefficient of variation");
    let mut table = Table::new(Section::Other, format!("variance.{id}"), title)
        .explained([&format!("{cv}; {id} over the steps")]);
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
        table.rows.push(Row::new(&setup.setup, cells));
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
    let steps = workload.setups.iter().flat_map(|setup| {
        let steps = setup.steps.iter();
        steps.filter_map(move |step| Some((setup, step, step.within.as_ref()?)))
    });
    let expected = |of: &WithinDocument| of.worth.map(|worth| of.cv / worth.sqrt());
    Table::new(Section::Other, "variance.within", "Within trials, per second")
        .explained([
            "medians over the trials; seconds are not evidence for a verdict because they depend on each other",
            &format!("cv: {deviation} deviation / mean of throughput over the whole seconds of a trial"),
            "lag-1: correlation of a second with the next (corrected for short series)",
            "worth: the number of independent seconds that would determine the mean equally well",
            "cv/√worth: the CV between trials if all variation were within trials; anything above it comes from restarting",
            "trials: the CV between trials",
        ])
        .listing(steps, &[
            ("setup", &|(setup, ..)| setup.setup.clone()),
            ("dop", &|(setup, ..)| setup.dop.to_string()),
            ("step", &|(_, step, _)| step.name.clone()),
            ("seconds", &|(.., within)| whole(within.seconds)),
            ("cv", &|(.., within)| relative(within.cv)),
            ("lag-1", &|(.., within)| or_unknown(within.autocorrelation, hundredths)),
            ("worth", &|(.., within)| or_unknown(within.worth, tenths)),
            ("cv/√worth", &|(.., within)| or_unknown(expected(within), relative)),
            ("trials", &|(_, step, _)| or_unknown(step.cv, relative)),
        ])
}
