//! The findings of a subject: tables, and checks against bounds.

use std::fmt::Write;
use std::ops::RangeBounds;

use crate::rates::{Rate, bounds_in_words};

/// How many experiments to simulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// For `make long`: a second or two per subject, in a debug build.
    Short,
    /// For the document: minutes, in a release build.
    Long,
}

impl Size {
    /// The number that belongs to it.
    pub fn pick(self, short: usize, long: usize) -> usize {
        match self {
            Self::Short => short,
            Self::Long => long,
        }
    }
}

/// A table for the document.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// A sentence or two about its content.
    pub caption: String,
    /// Names of the columns.
    pub head: Vec<String>,
    /// The cells, row by row; the first column is a name, the others are figures.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows; `head` are the names of its columns, as in `noise | k = 6 | k = 8`.
    pub fn new(caption: impl Into<String>, head: impl AsRef<str>) -> Self {
        let head = head.as_ref().split(" | ").map(str::to_owned).collect();
        Self { caption: caption.into(), head, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, name: &str, figures: impl IntoIterator<Item = impl ToString>) {
        let figures = figures.into_iter().map(|figure| figure.to_string());
        self.rows.push([name.to_owned()].into_iter().chain(figures).collect());
    }

    /// The table in Markdown, with columns aligned to make the source readable.
    pub fn to_markdown(&self) -> String {
        let lines = || [&self.head].into_iter().chain(&self.rows);
        let width = |column: usize| {
            let cells = lines().filter_map(|cells| cells.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or_default().max(3)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let line = |cells: &Vec<String>| -> String {
            let cell = |(column, width): (usize, &usize)| {
                let cell = cells.get(column).map_or("", String::as_str);
                match column {
                    0 => format!(" {cell:<width$} |"),
                    _ => format!(" {cell:>width$} |"),
                }
            };
            widths.iter().enumerate().map(cell).collect()
        };
        let dashes = |(column, width): (usize, &usize)| {
            let end = if column == 0 { ' ' } else { ':' };
            format!(" {}{end}|", "-".repeat(*width))
        };
        let mut all: Vec<String> = lines().map(line).collect();
        all.insert(1, widths.iter().enumerate().map(dashes).collect());
        let lines: String = all.iter().map(|line| format!("|{line}\n")).collect();
        format!("{}\n\n{lines}", self.caption)
    }
}

/// Something that must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The subject of the check: `false alarms, 8 blocks, drift`.
    pub what: String,
    /// The figure found, with its unit.
    pub found: String,
    /// The allowed range: `≤ 5%`.
    pub bound: String,
    /// True if it holds.
    pub holds: bool,
    /// The exact rate, if the figure is one.
    pub rate: Option<Rate>,
}

impl Check {
    /// The figure found, as exactly as it is known: `187 of 200`.
    pub fn exactly(&self) -> String {
        self.rate.map_or(self.found.clone(), |rate| format!("{} of {}", rate.hits, rate.tries))
    }
}

/// Figures of a row that are of several types.
macro_rules! figures {
    ($($figure:expr),+ $(,)?) => { [$($figure.to_string()),+] };
}
pub(crate) use figures;

/// All that one subject found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// Tables, in the order in which they are shown.
    pub tables: Vec<Table>,
    /// The checks that must hold.
    pub checks: Vec<Check>,
}

impl Findings {
    /// Adds a check.
    pub fn check(
        &mut self,
        what: impl Into<String>,
        found: impl Into<String>,
        bound: impl Into<String>,
        holds: bool,
    ) {
        let (what, found, bound) = (what.into(), found.into(), bound.into());
        self.checks.push(Check { what, found, bound, holds, rate: None });
    }

    /// Checks that something happened as often as `bounds` say, within the error that the number of
    /// experiments explains.
    pub fn rate(&mut self, what: impl Into<String>, rate: Rate, bounds: impl RangeBounds<f64>) {
        let holds = rate.within(&bounds);
        self.check(what, rate.to_string(), bounds_in_words(&bounds), holds);
        if let Some(check) = self.checks.last_mut() {
            check.rate = Some(rate);
        }
    }

    /// Begins a table, to which the next rows belong (see [`Table::new`]).
    pub fn table(&mut self, caption: impl Into<String>, head: impl AsRef<str>) {
        self.tables.push(Table::new(caption, head));
    }

    /// Adds a row to the table begun last.
    pub fn row(&mut self, name: &str, figures: impl IntoIterator<Item = impl ToString>) {
        if let Some(table) = self.tables.last_mut() {
            table.row(name, figures);
        }
    }

    /// Checks that do not hold.
    pub fn missed(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.holds)
    }

    /// Tables and missed bounds in Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        for table in &self.tables {
            text.push_str(&table.to_markdown());
            text.push('\n');
        }
        let missed = self.missed().count();
        let _ = match (missed, self.checks.len()) {
            (_, 0) => Ok(()),
            (0, 1) => writeln!(text, "The one bound checked here holds."),
            (0, all) => writeln!(text, "All {all} bounds checked here hold."),
            (missed, all) => writeln!(text, "{missed} of {all} bounds checked here MISSED:\n"),
        };
        for check in self.missed() {
            let _ = writeln!(text, "- {}: {}, bound {}", check.what, check.found, check.bound);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_in_markdown() {
        let mut table = Table::new("What is what.", "noise | k = 6");
        table.row("plain", ["4.9%"]);
        assert_eq!(
            table.to_markdown(),
            "What is what.\n\n| noise | k = 6 |\n| ----- | -----:|\n| plain |  4.9% |\n"
        );
    }

    #[test]
    fn a_missed_bound_is_shown() {
        let mut findings = Findings::default();
        findings.check("coverage", "91%", "93% to 97%", false);
        findings.check("power", "90%", "≥ 85%", true);
        let text = findings.to_markdown();
        assert!(text.contains("1 of 2 bounds") && text.contains("- coverage: 91%"), "{text}");
    }
}
