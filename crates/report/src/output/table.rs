//! A table, already formatted but independent of the output format.

use judge::Verdict;
use serde::{Deserialize, Serialize};

/// Heading of the label column if rows are variants.
pub(crate) const VARIANT: &str = "variant";

/// The subject of a table; the page groups by it, and `compare` can print selected ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// Measured throughput.
    Absolute,
    /// Throughput as a fraction of the base's.
    Relative,
    /// Intervals and verdicts, and what they rest on.
    Verdicts,
    /// The work of an engine with an LSM tree, in the columns of db_bench.
    Summary,
    /// Target and actual rates of paced streams.
    Rates,
    /// Response times.
    Latency,
    /// Costs per operation.
    Hardware,
    /// Sizes of tables and indexes.
    Size,
    /// The DBMS's own counters.
    Counters,
    /// Stalls, failures, warnings.
    Other,
}

impl Section {
    /// All of them with their names, as options take them.
    pub const NAMED: [(&str, Section); 10] = [
        ("absolute", Section::Absolute),
        ("relative", Section::Relative),
        ("verdicts", Section::Verdicts),
        ("summary", Section::Summary),
        ("rates", Section::Rates),
        ("latency", Section::Latency),
        ("hardware", Section::Hardware),
        ("size", Section::Size),
        ("counters", Section::Counters),
        ("other", Section::Other),
    ];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }
}

/// How a row is highlighted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum RowKind {
    /// The base.
    Base,
    /// At least one regression and no improvement.
    Regression,
    /// At least one improvement and no regression.
    Improvement,
    /// A figure in it is doubtful.
    Marked,
}

/// The part of a table that has figures as fractions of the base's.
pub(crate) const RELATIVE: &str = "relative to first result";

/// A row: its label and a cell for each other column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Row {
    /// First cell.
    pub label: String,
    /// The other cells.
    pub cells: Vec<String>,
    /// The verdict on each cell, empty where there is none; without verdicts, no entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>", optional))]
    pub verdicts: Vec<String>,
    /// How uncertain each cell is, such as `±0.5%`; shown to people only.
    #[serde(skip)]
    pub(crate) spreads: Vec<String>,
    /// How it is highlighted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<RowKind>,
}

/// A table of texts.
///
/// Consecutive tables with the same `title` and `step` are parts of one (absolute, then relative);
/// in text they share the title and the legend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Table {
    /// Stable and unique in a report, such as `hardware.l.i0.absolute`.
    pub id: String,
    /// The heading above it.
    pub title: String,
    /// The step it belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Which part of the table this is: `absolute`, `relative to first result`; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[cfg_attr(test, ts(as = "Option<String>", optional))]
    pub part: String,
    /// Notes on single figures.
    #[serde(default, rename = "note", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>", optional))]
    pub notes: Vec<String>,
    /// The meaning of the columns.
    pub legend: Vec<String>,
    /// Headings; the first is that of the labels.
    pub columns: Vec<String>,
    /// In order.
    pub rows: Vec<Row>,
    /// Its subject.
    pub section: Section,
}

/// A column of a table about items: its heading, and its cell for an item.
pub(crate) type Column<'a, T> = (&'a str, &'a dyn Fn(&T) -> String);

/// Lines of a legend, or headings.
pub(crate) fn texts<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    lines.into_iter().map(str::to_owned).collect()
}

/// `yes` or `no`.
pub(crate) fn yes_or_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

/// A line as it stands in a cell.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// True if a cell says anything.
pub(crate) fn has_content(cell: &str) -> bool {
    cell != crate::output::number::UNKNOWN && !cell.is_empty()
}

/// Each once, in order of first appearance.
pub(crate) fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// Index of the first item equal to a new one; adds the new one if there is none.
pub(crate) fn place_of<T>(all: &mut Vec<T>, new: T, same: impl Fn(&T, &T) -> bool) -> usize {
    all.iter().position(|known| same(known, &new)).unwrap_or_else(|| {
        all.push(new);
        all.len() - 1
    })
}

impl RowKind {
    /// The kind of a row with one verdict, or with several that agree.
    pub(crate) fn of(regression: bool, improvement: bool) -> Option<Self> {
        match (regression, improvement) {
            (true, false) => Some(Self::Regression),
            (false, true) => Some(Self::Improvement),
            _ => None,
        }
    }
}

impl Row {
    /// A row that is not highlighted.
    pub(crate) fn new(label: impl Into<String>, cells: impl IntoIterator<Item = String>) -> Self {
        let cells = cells.into_iter().collect();
        let (verdicts, spreads) = (Vec::new(), Vec::new());
        Self { label: label.into(), cells, verdicts, spreads, kind: None }
    }

    /// A row with a verdict on some of its cells.
    pub(crate) fn judged(
        label: impl Into<String>,
        cells: impl IntoIterator<Item = (String, Option<Verdict>)>,
    ) -> Self {
        let word = |verdict: Option<Verdict>| verdict.map_or("", Verdict::as_str).to_owned();
        let (cells, verdicts) =
            cells.into_iter().map(|(cell, verdict)| (cell, word(verdict))).unzip();
        Self { label: label.into(), cells, verdicts, spreads: Vec::new(), kind: None }
    }

    /// The same row, highlighted by its verdicts.
    pub(crate) fn by_verdicts(self) -> Self {
        let has = |verdict: Verdict| self.verdicts.iter().any(|it| it == verdict.as_str());
        let kind = RowKind::of(has(Verdict::Regression), has(Verdict::Improvement));
        self.of_kind(kind)
    }

    /// The same row, highlighted.
    pub(crate) fn of_kind(self, kind: Option<RowKind>) -> Self {
        Self { kind, ..self }
    }
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(section: Section, id: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            step: None,
            part: String::new(),
            notes: Vec::new(),
            legend: Vec::new(),
            columns: Vec::new(),
            rows: Vec::new(),
            section,
        }
    }

    /// A table about the step with this label.
    pub(crate) fn of_step(section: Section, id: &str, title: String, step: &str) -> Self {
        Self { step: Some(step.to_owned()), ..Self::new(section, format!("{id}.{step}"), title) }
    }

    /// The same table with a legend.
    pub(crate) fn explained<const N: usize>(self, legend: [&str; N]) -> Self {
        Self { legend: texts(legend), ..self }
    }

    /// The same table with these columns and a row for each item; the first column has the labels.
    pub(crate) fn listing<T>(
        self,
        items: impl IntoIterator<Item = T>,
        columns: &[Column<'_, T>],
    ) -> Self {
        self.listing_kinds(items, |_| None, columns)
    }

    /// Like [`Self::listing`], with rows highlighted as `kind` says.
    pub(crate) fn listing_kinds<T>(
        self,
        items: impl IntoIterator<Item = T>,
        kind: impl Fn(&T) -> Option<RowKind>,
        columns: &[Column<'_, T>],
    ) -> Self {
        let row = |item: T| {
            let mut cells = columns.iter().map(|(_, cell)| cell(&item));
            Row::new(cells.next().unwrap_or_default(), cells).of_kind(kind(&item))
        };
        Self {
            columns: texts(columns.iter().map(|(heading, _)| *heading)),
            rows: items.into_iter().map(row).collect(),
            ..self
        }
    }

    /// The same table with all rows highlighted.
    pub(crate) fn marked(self) -> Self {
        let rows = self.rows.into_iter().map(|row| row.of_kind(Some(RowKind::Marked))).collect();
        Self { rows, ..self }
    }

    /// This table, unless it has no rows.
    pub(crate) fn filled(self) -> Option<Self> {
        Some(self).filter(|table| !table.rows.is_empty())
    }

    /// This table as an absolute part, and the relative part that belongs to it.
    pub(crate) fn in_two_parts(self) -> [Self; 2] {
        let part = |id: &str, part: &str| Self {
            id: format!("{}.{id}", self.id),
            part: part.to_owned(),
            ..self.clone()
        };
        [part("absolute", "absolute"), part("relative", RELATIVE)]
    }

    /// The same table, with each figure's uncertainty after it.
    pub(crate) fn with_spreads(&self) -> Self {
        let mut table = self.clone();
        for row in &mut table.rows {
            for (cell, spread) in row.cells.iter_mut().zip(std::mem::take(&mut row.spreads)) {
                *cell = format!("{cell} {spread}").trim_end().to_owned();
            }
        }
        table
    }

    /// True if any cell has content.
    pub(crate) fn says_something(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.cells).any(|cell| has_content(cell))
    }

    /// The same table without the columns in which no row has content; those with these headings
    /// stay.
    pub(crate) fn without_empty_columns(&self, stay: &[String]) -> Self {
        let Some((label, heads)) = self.columns.split_first() else { return self.clone() };
        let filled = |column: usize| {
            let mut cells = self.rows.iter().filter_map(|row| row.cells.get(column));
            self.rows.is_empty() || cells.any(|cell| has_content(cell))
        };
        let kept = heads.iter().enumerate();
        let kept: Vec<usize> = kept
            .filter(|(column, head)| stay.contains(head) || filled(*column))
            .map(|(column, _)| column)
            .collect();
        let of = |all: &[String]| -> Vec<String> {
            kept.iter().filter_map(|column| all.get(*column).cloned()).collect()
        };
        let row =
            |row: &Row| Row { cells: of(&row.cells), verdicts: of(&row.verdicts), ..row.clone() };
        Self {
            columns: std::iter::once(label.clone()).chain(of(heads)).collect(),
            rows: self.rows.iter().map(row).collect(),
            ..self.clone()
        }
    }

    /// True if `other` is part of the same table.
    pub(crate) fn continues(&self, other: &Self) -> bool {
        !self.part.is_empty() && self.title == other.title && self.step == other.step
    }

    /// Exchanges rows and columns; kinds of rows are lost.
    pub(crate) fn transposed(&self, corner: &str) -> Self {
        let heads = self.columns.iter().skip(1);
        let column = |place: usize, of: fn(&Row) -> &[String]| {
            let cells = self.rows.iter().map(|row| of(row).get(place).cloned().unwrap_or_default());
            cells.collect::<Vec<String>>()
        };
        let judged = self.rows.iter().any(|row| !row.verdicts.is_empty());
        let rows = heads
            .enumerate()
            .map(|(place, head)| {
                let verdicts = judged.then(|| column(place, |row| &row.verdicts));
                let row = Row::new(head.clone(), column(place, |row| &row.cells));
                Row { verdicts: verdicts.unwrap_or_default(), ..row }
            })
            .collect();
        let columns = std::iter::once(corner.to_owned())
            .chain(self.rows.iter().map(|row| row.label.clone()))
            .collect();
        Self { columns, rows, ..self.clone() }
    }

    /// This table in parts that are at most this wide, each with the labels and some columns.
    pub(crate) fn in_columns(&self, width: usize) -> Vec<Self> {
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| self.width(column)).collect();
        let Some((label, cells)) = widths.split_first() else { return vec![self.clone()] };
        let mut parts: Vec<Self> = Vec::new();
        let mut taken = 0;
        while taken < cells.len() || parts.is_empty() {
            let mut used = *label;
            let fits = |cell: &&usize| {
                used += *cell + 2;
                used <= width
            };
            let next = taken + cells[taken..].iter().take_while(fits).count();
            // One column at least, however wide.
            let next = next.max(taken + 1).min(cells.len());
            let of = |row: &Row| Row {
                cells: row.cells.get(taken..next).unwrap_or_default().to_vec(),
                verdicts: row.verdicts.get(taken..next).unwrap_or_default().to_vec(),
                ..row.clone()
            };
            let heads = self
                .columns
                .iter()
                .take(1)
                .chain(self.columns.get(taken + 1..=next).unwrap_or_default());
            parts.push(Self {
                columns: heads.cloned().collect(),
                rows: self.rows.iter().map(of).collect(),
                ..self.clone()
            });
            taken = next.max(taken + 1);
        }
        let last = parts.len() - 1;
        for (place, part) in parts.iter_mut().enumerate() {
            if place < last {
                part.notes.clear();
            }
        }
        parts
    }

    /// The cells of a row, label first.
    pub(crate) fn line<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = &'a str> {
        std::iter::once(row.label.as_str()).chain(row.cells.iter().map(String::as_str))
    }

    /// Width of a column in characters.
    pub(crate) fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| self.line(row).nth(column));
        let all = cells.chain(self.columns.get(column).map(String::as_str));
        all.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }

    /// True if a column holds numbers, which are right-aligned.
    pub(crate) fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| self.line(row).nth(column)).peekable();
        column > 0
            && cells.peek().is_some()
            && cells.all(|cell| {
                let digits = cell.trim_start_matches(['-', '−', '+', '*', '(']);
                cell.is_empty()
                    || cell == crate::output::number::UNKNOWN
                    || cell == "nonzero"
                    || cell == "same"
                    || (digits.starts_with(|c: char| c.is_ascii_digit())
                        && !digits.replace(" ±", "").contains(' '))
            })
    }
}
