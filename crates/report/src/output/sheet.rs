//! The output of a command: tables, lists and texts in order, in any format.

use serde::Serialize;

use super::csv::csv;
use super::table::{Row, Section, Table, texts};
use super::text::{Style, tables};
use crate::ReportError;

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Aligned with spaces, for terminals and email.
    #[default]
    Text,
    /// Like text, with verdicts in color, for a terminal that shows them.
    Terminal,
    /// Headings, lists and pipes.
    Markdown,
    /// One line per cell.
    Csv,
    /// The document.
    Json,
}

impl Format {
    /// True if people read it, not programs.
    pub(crate) fn is_for_people(self) -> bool {
        match self {
            Self::Text | Self::Terminal | Self::Markdown => true,
            Self::Csv | Self::Json => false,
        }
    }
}

/// The output of a command, as data and as a sheet.
#[derive(Debug, Clone)]
pub struct Printable<D> {
    /// As data.
    pub document: D,
    pub(crate) sheet: Sheet,
}

impl<D: Serialize> Printable<D> {
    /// Renders it as text that ends with a line feed.
    ///
    /// # Errors
    /// When it cannot be written as JSON, which no stored result should cause.
    pub fn render(&self, format: Format) -> Result<String, ReportError> {
        self.sheet.render(format, &self.document)
    }
}

/// Tables, lists and texts in reading order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sheet {
    pub(crate) parts: Vec<Part>,
}

/// A part of a sheet.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Table(Table),
    List(List),
    /// Lines in another language to copy, such as a plan.
    Verbatim {
        title: &'static str,
        language: &'static str,
        text: String,
    },
    /// A title, and a heading with lines below it for each item. Programs get the table.
    Blocks {
        title: String,
        blocks: Vec<(String, Vec<String>)>,
        table: Table,
    },
    /// Notes, a sentence each.
    Notes(Vec<String>),
}

impl Part {
    fn table(&self) -> Option<&Table> {
        match self {
            Self::Table(table) => Some(table),
            _ => None,
        }
    }
}

/// `- label - text`, as in published lists.
#[derive(Debug, Clone)]
pub(crate) struct List {
    pub(crate) id: String,
    pub(crate) title: String,
    /// The text above it.
    pub(crate) lead: String,
    pub(crate) items: Vec<(String, String)>,
    /// The text shown if it is empty.
    pub(crate) nothing: String,
}

impl Sheet {
    pub(crate) fn table(&mut self, table: Table) {
        self.parts.push(Part::Table(table));
    }

    pub(crate) fn notes(&mut self, notes: Vec<String>) {
        if !notes.is_empty() {
            self.parts.push(Part::Notes(notes));
        }
    }

    /// Renders the sheet as text that ends with a line feed; JSON comes from `document`.
    pub(crate) fn render(
        &self,
        format: Format,
        document: &impl Serialize,
    ) -> Result<String, ReportError> {
        Ok(match format {
            Format::Text => self.printed(Style::Plain),
            Format::Terminal => self.printed(Style::Colored),
            Format::Markdown => self.printed(Style::Markdown),
            Format::Csv => self.csv(),
            Format::Json => serde_json::to_string_pretty(document)? + "\n",
        })
    }

    /// Consecutive tables are printed together, because some are parts of one.
    fn printed(&self, style: Style) -> String {
        let rows = self.parts.chunk_by(|a, b| matches!((a, b), (Part::Table(_), Part::Table(_))));
        let texts = rows.map(|parts| {
            let row: Vec<&Table> = parts.iter().filter_map(Part::table).collect();
            if row.is_empty() {
                parts.iter().map(|part| other(part, style)).collect()
            } else {
                tables(&row, style)
            }
        });
        texts.filter(|text: &String| !text.is_empty()).collect::<Vec<_>>().join("\n")
    }

    fn csv(&self) -> String {
        let of_part = |part: &Part| match part {
            Part::Table(table) | Part::Blocks { table, .. } => Some(table.clone()),
            Part::List(list) => {
                let row = |(label, text): &(String, String)| Row::new(label, vec![text.clone()]);
                let mut table = Table::new(Section::Other, &list.id, &list.title);
                table.columns = texts(["", "value"]);
                table.rows = list.items.iter().map(row).collect();
                Some(table)
            }
            Part::Verbatim { .. } | Part::Notes(_) => None,
        };
        let tables: Vec<Table> = self.parts.iter().filter_map(of_part).collect();
        csv(&tables)
    }
}

/// Writes a part that is not a table.
fn other(part: &Part, style: Style) -> String {
    let plain = style != Style::Markdown;
    match part {
        Part::Table(_) => String::new(),
        Part::List(list) => {
            let (bullet, gap) = if plain { ("-", "") } else { ("*", "\n") };
            let mut out = format!("{}{}\n{gap}", style.heading(&list.title), list.lead);
            for (label, text) in &list.items {
                out.push_str(&format!("{bullet} {label} - {text}\n"));
            }
            if list.items.is_empty() {
                out.push_str(&format!("{}\n", list.nothing));
            }
            out
        }
        Part::Blocks { title, blocks, .. } => {
            let (bullet, indent) = if plain { ("", "  ") } else { ("* ", "  * ") };
            let mut out = style.heading(title);
            for (heading, lines) in blocks {
                let gap = if plain { "\n" } else { "" };
                out.push_str(&format!("{gap}{bullet}{}\n", style.escaped(heading)));
                let line = |line: &String| format!("{indent}{}\n", style.escaped(line));
                out.extend(lines.iter().map(line));
            }
            out
        }
        Part::Verbatim { title, text, .. } if plain => format!("{title}\n\n{text}"),
        Part::Verbatim { title, language, text } => {
            format!("### {title}\n\n```{language}\n{text}```\n")
        }
        Part::Notes(notes) => {
            let bullet = if plain { "!" } else { "*" };
            notes.iter().map(|note| format!("{bullet} {note}\n")).collect()
        }
    }
}
