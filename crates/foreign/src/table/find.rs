//! Where in a text tables are.

use std::collections::BTreeMap;

use super::cells::{Cell, Split};
use crate::ForeignError;
use crate::lines::{Line, cut_off, lines};

/// The name of this format, for errors.
pub(super) const PROGRAM: &str = "table";

/// A table of absolute figures.
#[derive(Debug)]
pub(super) struct Found {
    /// The line above it.
    pub(super) title: Option<String>,
    pub(super) line: usize,
    pub(super) header: Vec<String>,
    /// Each row has as many cells as the header, or one more if the column of names has no header.
    pub(super) rows: Vec<Row>,
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) line: usize,
    pub(super) cells: Vec<String>,
}

/// The tables of a text, and whether it has relative ones.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) found: Vec<Found>,
    /// Names that stand for others in headers: `col-1 : pg17`.
    pub(super) names: BTreeMap<String, String>,
    pub(super) relative: bool,
}

impl Tables {
    /// Leaves out the tables whose title says that they are relative.
    fn absolute(mut self) -> Self {
        let says = |title: &String| title.to_lowercase().contains("relative");
        let all = self.found.len();
        self.found.retain(|table| !table.title.as_ref().is_some_and(says));
        self.relative |= self.found.len() < all;
        self
    }
}

pub(super) fn is_absolute(text: &str) -> bool {
    matches!(text.trim(), "--- absolute" | "absolute:")
}

fn is_relative(text: &str) -> bool {
    text.starts_with("--- ")
        || text.starts_with("Relative to:")
        || text == "per client:"
        || text.starts_with("relative to ") && text.ends_with(':')
}

/// How the lines of a table are split.
#[derive(Debug, Clone)]
struct Shape {
    split: Split,
    /// Without cells that are empty: columns may be separated by several tabs.
    dense: bool,
    header: Vec<String>,
    /// How many cells a row has.
    width: usize,
}

impl Shape {
    /// If the first line can be the header of the second; `ruled`: a rule is between them.
    fn of(header: &str, row: &str, ruled: bool) -> Option<Self> {
        Split::of(header, ruled).iter().find_map(|split| {
            [(0, false), (0, true), (1, false), (1, true)].into_iter().find_map(|(more, dense)| {
                let shape = Self { split: *split, dense, header: Vec::new(), width: 0 };
                let (header, cells) = (shape.cells(header), shape.cells(row));
                let width = header.len() + more;
                let fits = header.len() > 1 && cells.len() == width && is_row(&cells);
                fits.then_some(Self { header, width, ..shape })
            })
        })
    }

    fn cells(&self, text: &str) -> Vec<String> {
        let mut cells = self.split.cells(text);
        cells.retain(|cell| !self.dense || !cell.is_empty());
        cells
    }

    /// The row in a line; `None` if the table has ended.
    fn row(&self, line: &Line<'_>) -> Result<Option<Row>, ForeignError> {
        let (words, cells) = (line.text.trim(), self.cells(line.text));
        if words.is_empty() || !is_row(&cells) || is_relative(words) {
            return Ok(None);
        }
        if cells.len() != self.width {
            let expected = "as many cells as the header has columns";
            return Err(ForeignError::CutOff { program: PROGRAM, line: line.number, expected });
        }
        Ok(Some(Row { line: line.number, cells }))
    }
}

fn is_row(cells: &[String]) -> bool {
    cells.iter().any(|cell| matches!(Cell::of(cell), Cell::Figure(_)))
        || cells.iter().skip(1).any(|cell| !cell.is_empty() && Cell::of(cell) == Cell::Missing)
}

/// Between the header and the rows of Markdown: `| --- | ---: |`, `--- | ---:`.
fn is_rule(text: &str) -> bool {
    text.contains('|') && text.chars().all(|letter| "|-: ".contains(letter))
}

/// A part of a text, by the tables that it may hold.
enum Part {
    /// All tables are absolute, since the text has no marks.
    Unmarked,
    /// After a mark: the next table is absolute.
    Absolute,
    /// Within an absolute table.
    Rows(Shape),
    /// After a mark: rows to skip, and how many there must be.
    Relative { seen: usize, needed: usize },
    /// Tables without a mark in a text with marks are of something else.
    Other,
}

/// Finds the tables.
///
/// # Errors
/// When a row has more or fewer cells than the others, or rows are missing.
pub(super) fn tables(text: &str) -> Result<Tables, ForeignError> {
    let all: Vec<Line<'_>> = lines(text).filter(|line| !is_rule(line.text.trim())).collect();
    let marked = all.iter().any(|line| is_absolute(line.text));
    let outside = || if marked { Part::Other } else { Part::Unmarked };
    let (mut tables, mut part, mut title) = (Tables::default(), outside(), None);
    let few = |seen, needed| seen < needed;
    let missing = || cut_off(PROGRAM, "a relative row for each absolute one but the first", text);
    for (place, line) in all.iter().enumerate() {
        let words = line.text.trim();
        if let Part::Rows(shape) = &part {
            if let Some(row) = shape.row(line)? {
                if let Some(table) = tables.found.last_mut() {
                    table.rows.push(row);
                }
                continue;
            }
            part = outside();
        }
        if is_absolute(words) {
            part = Part::Absolute;
            continue;
        }
        if is_relative(words) {
            if matches!(part, Part::Relative { seen, needed } if few(seen, needed)) {
                return Err(missing());
            }
            let rows = tables.found.last().map_or(0, |table| table.rows.len());
            let needed = if words.contains("elative") { rows.saturating_sub(1) } else { 0 };
            part = Part::Relative { seen: 0, needed };
            tables.relative = true;
            continue;
        }
        match &mut part {
            Part::Relative { seen, needed } => {
                if words.is_empty() {
                    if *seen > 0 && marked {
                        if few(*seen, *needed) {
                            return Err(missing());
                        }
                        part = Part::Other;
                    }
                    continue;
                }
                let cells = words.split_whitespace().filter(|cell| *cell != "|");
                let cells: Vec<Cell> = cells.map(Cell::of).collect();
                if 2 * cells.iter().filter(|cell| **cell != Cell::Word).count() >= cells.len() {
                    *seen += 1;
                    title = None;
                    continue;
                }
            }
            Part::Absolute | Part::Unmarked => {
                let next = all.get(place + 1);
                // Only rules are left out of all lines.
                let ruled = next.is_some_and(|next| next.number > line.number + 1);
                let row = next.map_or("", |next| next.text);
                if let Some(shape) = Shape::of(line.text, row, ruled) {
                    let header = shape.header.clone();
                    let title = title.take();
                    tables.found.push(Found { title, line: line.number, header, rows: Vec::new() });
                    part = Part::Rows(shape);
                    continue;
                }
            }
            Part::Rows(_) | Part::Other => {}
        }
        match words.split_once(" : ") {
            Some((short, name)) if short.starts_with("col-") => {
                tables.names.insert(short.to_owned(), name.trim().to_owned());
            }
            _ if words.is_empty() || words == "Legend:" || words.starts_with(['*', '!', '-']) => {}
            _ => title = Some(words.to_owned()),
        }
    }
    match part {
        Part::Relative { seen, needed } if few(seen, needed) => Err(missing()),
        // A mark says more than a title.
        _ if marked => Ok(tables),
        _ => Ok(tables.absolute()),
    }
}
