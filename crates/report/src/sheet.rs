//! What a command prints that is more than tables: tables, lists and texts in order, in any format.

use crate::ReportError;
use crate::compare::Format;
use crate::csv::csv;
use crate::table::{Row, Section, Table};
use crate::text::{markdown, text};

/// Tables, lists and texts in the order in which they are read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sheet {
    pub(crate) parts: Vec<Part>,
}

/// A part of a sheet.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Table(Table),
    List(List),
    /// Lines that are there to be copied, such as a plan.
    Verbatim(Verbatim),
    /// What to know, a sentence each.
    Notes(Vec<String>),
}

/// `- label - text`, as published lists have it.
#[derive(Debug, Clone)]
pub(crate) struct List {
    pub(crate) id: String,
    pub(crate) title: String,
    /// What stands above it.
    pub(crate) lead: String,
    pub(crate) items: Vec<(String, String)>,
    /// What stands there when it is empty.
    pub(crate) nothing: String,
}

/// A text in another language.
#[derive(Debug, Clone)]
pub(crate) struct Verbatim {
    pub(crate) title: String,
    pub(crate) language: &'static str,
    pub(crate) text: String,
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

    /// The sheet as text that ends with a line feed; JSON is made of `document`.
    pub(crate) fn render(
        &self,
        format: Format,
        document: &impl serde::Serialize,
    ) -> Result<String, ReportError> {
        Ok(match format {
            Format::Text => self.printed(text, plain),
            Format::Markdown => self.printed(markdown, marked),
            Format::Csv => self.csv(),
            Format::Json => serde_json::to_string_pretty(document)? + "\n",
        })
    }

    /// Tables that follow each other go to the printer of tables together, since some are parts of one.
    fn printed(&self, tables: fn(&[&Table]) -> String, other: fn(&Part) -> String) -> String {
        let mut out = String::new();
        let mut row: Vec<&Table> = Vec::new();
        let mut add = |more: String| {
            if !out.is_empty() && !more.is_empty() {
                out.push('\n');
            }
            out.push_str(&more);
        };
        for part in &self.parts {
            if let Part::Table(table) = part {
                row.push(table);
                continue;
            }
            if !row.is_empty() {
                add(tables(&std::mem::take(&mut row)));
            }
            add(other(part));
        }
        if !row.is_empty() {
            add(tables(&row));
        }
        out
    }

    fn csv(&self) -> String {
        let tables: Vec<Table> = self
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Table(table) => Some(table.clone()),
                Part::List(list) => {
                    let mut table = Table::new(Section::Other, &list.id, &list.title);
                    table.columns = ["", "value"].map(str::to_owned).to_vec();
                    let row =
                        |(label, text): &(String, String)| Row::new(label, vec![text.clone()]);
                    table.rows = list.items.iter().map(row).collect();
                    Some(table)
                }
                Part::Verbatim(_) | Part::Notes(_) => None,
            })
            .collect();
        csv(&tables.iter().collect::<Vec<_>>())
    }
}

fn plain(part: &Part) -> String {
    match part {
        Part::Table(table) => text(&[table]),
        Part::List(list) => {
            let mut out = format!("{}\n{}\n", list.title, list.lead);
            for (label, text) in &list.items {
                out.push_str(&format!("- {label} - {text}\n"));
            }
            if list.items.is_empty() {
                out.push_str(&format!("{}\n", list.nothing));
            }
            out
        }
        Part::Verbatim(verbatim) => format!("{}\n\n{}", verbatim.title, verbatim.text),
        Part::Notes(notes) => notes.iter().map(|note| format!("! {note}\n")).collect(),
    }
}

fn marked(part: &Part) -> String {
    match part {
        Part::Table(table) => markdown(&[table]),
        Part::List(list) => {
            let mut out = format!("### {}\n\n{}\n\n", list.title, list.lead);
            for (label, text) in &list.items {
                out.push_str(&format!("* {label} - {text}\n"));
            }
            if list.items.is_empty() {
                out.push_str(&format!("{}\n", list.nothing));
            }
            out
        }
        Part::Verbatim(Verbatim { title, language, text }) => {
            format!("### {title}\n\n```{language}\n{text}```\n")
        }
        Part::Notes(notes) => notes.iter().map(|note| format!("* {note}\n")).collect(),
    }
}
