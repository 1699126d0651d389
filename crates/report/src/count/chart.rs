//! Counts over the variants as a chart: a panel for each kind, and a line for each protocol. Each
//! system gets its own lines if names such as `mysql8.0` and `mariadb11.4` show the system.

use super::counted::noun;
use super::document::{CountDocument, CountedVariant, KindDocument};
use crate::output::panels::{Panel, Panels};
use crate::output::table::distinct;

/// The largest number of lines that can be told apart.
const MOST_LINES: usize = 4;
/// Panels in a row.
const COLUMNS: usize = 5;
/// Between two lines of the y axis: the first of these that needs no more than [`LINES`].
const STEPS: [f64; 6] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5];
const LINES: f64 = 5.0;

impl CountDocument {
    /// What is counted per statement, relative to the base, over the variants in their order: SVG.
    pub fn chart(&self) -> String {
        let place = |name: &str| self.variants.iter().position(|variant| variant == name);
        let protocols = distinct(self.counts.iter().map(|kind| kind.protocol.as_str()));
        let kinds = distinct(self.counts.iter().map(|kind| kind.kind.as_str()));
        let relative = |variant: &CountedVariant| match variant.relative {
            None if variant.name == self.base => Some(1.0),
            relative => relative,
        };
        let systems = self.systems(protocols.len().max(1));
        let series: Vec<(&str, &str)> = protocols
            .iter()
            .flat_map(|protocol| systems.iter().map(move |system| (*protocol, *system)))
            .collect();
        let points = |kind: &KindDocument, system: &str| {
            let all = kind.variants.iter().filter(|one| one.name.starts_with(system));
            let point = |one: &CountedVariant| Some((place(&one.name)? as f64, relative(one)?));
            all.filter_map(point).collect::<Vec<_>>()
        };
        let line = |name: &str, protocol: &str, system: &str| {
            let found = |one: &&KindDocument| one.kind == name && one.protocol == protocol;
            self.counts.iter().find(found).map(|kind| points(kind, system)).unwrap_or_default()
        };
        let panel = |kind: &str| Panel {
            title: kind.to_owned(),
            lines: series.iter().map(|(protocol, system)| line(kind, protocol, system)).collect(),
        };
        // A kind that the base has not been counted in has nothing to show.
        let counted = |panel: &Panel| panel.lines.iter().any(|line| !line.is_empty());
        let panels: Vec<Panel> = kinds.iter().map(|kind| panel(kind)).filter(counted).collect();
        let values =
            panels.iter().flat_map(|panel| &panel.lines).flatten().map(|(_, ratio)| *ratio);
        let (low, high) = values
            .fold((1.0, 1.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
        let number = |(place, name): (usize, &String)| {
            (place as f64, name.trim_start_matches(char::is_alphabetic).to_owned())
        };
        let per = format!("per {} relative to {}", noun(protocols.iter().copied()), self.base);
        Panels {
            title: format!("{} {per}", self.titled()),
            lines: series
                .iter()
                .map(|(protocol, system)| format!("{system} {protocol}").trim_start().to_owned())
                .collect(),
            x: self.variants.iter().enumerate().map(number).collect(),
            y: lines(low, high),
            below: format!("{} {per}", self.event),
            columns: COLUMNS,
            panels,
        }
        .svg()
    }

    /// The prefixes of the variants' names, up to their versions, if that makes a few groups;
    /// otherwise one empty text.
    fn systems(&self, protocols: usize) -> Vec<&str> {
        let begins = self.variants.iter().map(|name| {
            let version = name.find(|c: char| c.is_ascii_digit())?;
            Some(&name[..version])
        });
        let Some(begins) = begins.collect::<Option<Vec<&str>>>() else { return vec![""] };
        let systems = distinct(begins.iter().copied());
        let several = |system: &&str| begins.iter().filter(|begin| begin == &system).count() > 1;
        let few = (2..=MOST_LINES / protocols).contains(&systems.len());
        if few && systems.iter().all(several) { systems } else { vec![""] }
    }
}

/// Lines of the y axis that enclose all values.
fn lines(low: f64, high: f64) -> Vec<(f64, String)> {
    let enough = |step: &&f64| (high - low) / **step <= LINES;
    let step = STEPS.iter().find(enough).copied().unwrap_or(1.0);
    let first = (low / step).floor() as i64;
    let last = ((high / step).ceil() as i64).max(first + 1);
    (first..=last).map(|line| line as f64 * step).map(|at| (at, format!("{at:.2}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_encloses_all_values() {
        let marks = |low, high| {
            let lines = lines(low, high);
            lines.into_iter().map(|(_, label)| label).collect::<Vec<_>>()
        };
        assert_eq!(marks(0.93, 1.37), ["0.90", "1.00", "1.10", "1.20", "1.30", "1.40"]);
        assert_eq!(marks(1.0, 1.0), ["1.00", "1.01"]);
        assert_eq!(marks(0.5, 9.0).first().unwrap(), "0.00");
    }

    #[test]
    fn systems_are_told_apart_by_names_with_versions() {
        let systems = |names: &[&str]| {
            let variants = names.iter().map(|name| (*name).to_owned()).collect();
            let document = CountDocument { variants, ..CountDocument::default() };
            document.systems(2).iter().map(|system| (*system).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(systems(&["my5.7", "my8.0", "ma10.4", "ma11.4"]), ["my", "ma"]);
        let three = ["my5", "my8", "ma10", "ma11", "pg16", "pg17"];
        for mixed in
            [&["my5.7", "my8.0", "ma10.4"][..], &["base", "new"], &["pg16", "pg17"], &three]
        {
            assert_eq!(systems(mixed), [""], "{mixed:?}");
        }
    }

    #[test]
    fn every_kind_has_a_panel_with_a_line_for_each_protocol() {
        let counted = |name: &str, relative| CountedVariant {
            name: name.to_owned(),
            relative,
            ..CountedVariant::default()
        };
        let kind = |kind: &str, protocol: &str| KindDocument {
            kind: kind.to_owned(),
            protocol: protocol.to_owned(),
            variants: vec![counted("pg9.6", None), counted("pg10", Some(1.1))],
            ..KindDocument::default()
        };
        let document = CountDocument {
            event: "instructions".to_owned(),
            base: "pg9.6".to_owned(),
            variants: vec!["pg9.6".to_owned(), "pg10".to_owned()],
            counts: vec![
                kind("point", "simple"),
                kind("point", "prepared"),
                kind("scan", "simple"),
            ],
            ..CountDocument::default()
        };
        let svg = document.chart();
        assert_eq!(svg.matches("<polyline").count(), 4);
        for text in [">point<", ">scan<", ">simple<", ">prepared<", ">9.6<", ">10<", ">1.10<"] {
            assert!(svg.contains(text), "{text} is missing: {svg}");
        }
    }
}
