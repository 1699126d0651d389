//! The DBMS's own counters: how much each rose during a step. Rows are counters, columns are variants.

use super::View;
use crate::model::VariantStep;
use crate::number::{UNKNOWN, count};
use crate::table::{Row, Section, Table};

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for (number, step) in view.results.steps.iter().enumerate() {
        let label = view.results.step_label(step);
        let variants = view.variants(number);
        for counted in views(&variants) {
            let mut table = Table::new(
                Section::Counters,
                format!("counters.{label}.{counted}"),
                format!("{counted}: difference over {label}"),
            );
            table.step = Some(label.clone());
            table.legend = vec![format!(
                "summed over databases, tables and indexes; counters that stood still everywhere are left out; {}",
                view.blocks()
            )];
            table.columns = std::iter::once("counter".to_owned())
                .chain(variants.iter().map(|(_, name, _)| (*name).to_owned()))
                .collect();
            table.rows = names(&variants, counted)
                .into_iter()
                .map(|name| {
                    let cells = variants.iter().map(|(_, _, figures)| {
                        figure(figures, counted, name).map_or_else(|| UNKNOWN.to_owned(), count)
                    });
                    Row::new(name, cells.collect())
                })
                .filter(|row| row.cells.iter().any(|cell| cell != "0" && cell != UNKNOWN))
                .collect();
            table.notes = variants
                .iter()
                .filter(|(_, _, figures)| figures.absent.contains(counted))
                .map(|(_, name, _)| format!("{name} has no {counted}"))
                .collect();
            if !table.rows.is_empty() {
                tables.push(table);
            }
        }
    }
    tables
}

type Variants<'a> = [(usize, &'a str, &'a VariantStep)];

fn views<'a>(variants: &Variants<'a>) -> Vec<&'a str> {
    distinct(variants.iter().flat_map(|(_, _, v)| &v.counters).map(|c| c.view.as_str()))
}

fn names<'a>(variants: &Variants<'a>, view: &str) -> Vec<&'a str> {
    let counters = variants.iter().flat_map(|(_, _, v)| &v.counters);
    distinct(counters.filter(|c| c.view == view).map(|c| c.name.as_str()))
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

fn figure(figures: &VariantStep, view: &str, name: &str) -> Option<f64> {
    figures.counters.iter().find(|c| c.view == view && c.name == name).map(|c| c.value)
}
