//! Tables as text for terminals and email, and as Markdown.

use std::borrow::Cow;

use anstyle::AnsiColor;

use super::table::{Row, RowKind, Section, Table, distinct};

/// The style of everything around the cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Columns are aligned with spaces.
    Plain,
    /// The same, and cells with a verdict have its color.
    Colored,
    /// Headings, lists and pipes.
    Markdown,
}

/// Tables in the published shape: a legend, absolute values, a line `--- relative to first result`,
/// relative values. A legend already printed above an earlier table is not repeated.
pub(crate) fn tables(tables: &[&Table], style: Style) -> String {
    let mut out = String::new();
    let mut before: Option<&Table> = None;
    let mut explained: Vec<&[String]> = Vec::new();
    let escaped = |text: &str| style.escaped(text);
    for (place, table) in tables.iter().enumerate() {
        let continues = before.is_some_and(|before| table.continues(before));
        if before.is_some() && (style == Style::Markdown || !continues) {
            out.push('\n');
        }
        if !continues {
            if !table.title.is_empty() {
                out.push_str(&style.heading(&table.title));
            }
            if !table.legend.is_empty() && !explained.contains(&table.legend.as_slice()) {
                let line = |line: &String| format!("* {}\n", escaped(line));
                let legend: String = table.legend.iter().map(line).collect();
                out.push_str(&match style {
                    Style::Markdown => format!("{legend}\n"),
                    _ => format!("Legend:\n{legend}"),
                });
                explained.push(&table.legend);
            }
        }
        out.push_str(&match style {
            _ if table.part.is_empty() => String::new(),
            Style::Markdown => format!("{}:\n\n", escaped(&table.part)),
            _ => format!("--- {}\n", table.part),
        });
        match style {
            // Only notes.
            _ if table.columns.is_empty() => {}
            Style::Markdown => pipes(&mut out, table),
            _ => aligned(&mut out, table, style == Style::Colored),
        }
        for note in table.notes.iter().filter_map(|note| told(tables, place, note)) {
            let gap = if style == Style::Markdown { "\n" } else { "" };
            out.push_str(&format!("{gap}{}\n", escaped(&note)));
        }
        before = Some(table);
    }
    out
}

/// Rows in columns under headings, aligned as in all tables.
pub fn columns(headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new(Section::Other, "", "");
    table.columns = headings.iter().map(|heading| (*heading).to_owned()).collect();
    let row = |cells: Vec<String>| {
        let mut cells = cells.into_iter();
        Row::new(cells.next().unwrap_or_default(), cells)
    };
    table.rows = rows.into_iter().map(row).collect();
    tables(&[&table], Style::Plain)
}

/// A note as it is printed under the table at `place`. One that tables of several steps have in
/// common is printed once, with these steps, under the last of them.
pub(crate) fn told<'a>(
    tables: &[&'a Table],
    place: usize,
    note: &'a String,
) -> Option<Cow<'a, str>> {
    let has = |table: &&&'a Table| table.step.is_some() && table.notes.contains(note);
    let steps = tables.iter().filter(has).filter_map(|table| table.step.as_deref());
    let steps = distinct(steps);
    let (own, later) = tables.split_at_checked(place + 1)?;
    match own.last().is_some_and(|table| table.step.is_some()) && steps.len() > 1 {
        false => Some(Cow::Borrowed(note)),
        true if later.iter().any(|table| has(&table)) => None,
        true => Some(Cow::Owned(format!("{}: {note}", steps.join(", ")))),
    }
}

impl Style {
    /// A title with the separator after it.
    pub(crate) fn heading(self, title: &str) -> String {
        match self {
            Self::Markdown => format!("### {}\n\n", self.escaped(title)),
            Self::Plain | Self::Colored => format!("{title}\n"),
        }
    }

    /// Escapes characters that Markdown would treat as markup.
    pub(crate) fn escaped(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                _ if self != Self::Markdown => out.push(c),
                '\n' | '\r' => out.push(' '),
                '\\' | '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' => out.extend(['\\', c]),
                _ => out.push(c),
            }
        }
        out
    }
}

/// A text without markup, for Markdown that is not a table.
pub(crate) fn unmarked(text: &str) -> String {
    Style::Markdown.escaped(text)
}

/// Longest label of a row in aligned tables, in characters. Functions of C++ have longer names.
const LONGEST_LABEL: usize = 72;

fn aligned(out: &mut String, table: &Table, colored: bool) {
    let mut widths: Vec<usize> = (0..table.columns.len()).map(|c| table.width(c)).collect();
    if let Some(labels) = widths.first_mut() {
        *labels = LONGEST_LABEL.min(*labels);
    }
    let numeric: Vec<bool> = (0..table.columns.len()).map(|c| table.is_numeric(c)).collect();
    let mut line = |cells: &mut dyn Iterator<Item = &str>, row: Option<&Row>| {
        let mut written = String::new();
        for (column, (cell, (width, numeric))) in cells.zip(widths.iter().zip(&numeric)).enumerate()
        {
            let clipped = if column == 0 { clipped(cell) } else { Cow::Borrowed(cell) };
            let cell = clipped.as_ref();
            // Not format's own padding, which counts differently from `chars`.
            let gap = " ".repeat(width.saturating_sub(cell.chars().count()));
            let (left, right) = if *numeric { (gap.as_str(), "") } else { ("", gap.as_str()) };
            let color = row.filter(|_| colored).map(|row| color(row, column)).unwrap_or_default();
            written.push_str(&format!("{left}{color}{cell}{color:#}{right}  "));
        }
        out.push_str(written.trim_end());
        out.push('\n');
    };
    line(&mut table.columns.iter().map(String::as_str), None);
    for row in &table.rows {
        line(&mut table.line(row), Some(row));
    }
}

/// A label that isn't longer than [`LONGEST_LABEL`].
fn clipped(label: &str) -> Cow<'_, str> {
    match label.char_indices().nth(LONGEST_LABEL) {
        None => Cow::Borrowed(label),
        Some(_) => label.chars().take(LONGEST_LABEL - 1).chain(['…']).collect(),
    }
}

/// The color of a cell by its verdict or that of its row: red for a regression, green for an
/// improvement, faint if unknown.
fn color(row: &Row, column: usize) -> anstyle::Style {
    let Some(cell) = column.checked_sub(1) else { return anstyle::Style::new() };
    let verdict = match row.kind.filter(|_| row.verdicts.is_empty()) {
        Some(RowKind::Regression) => "regression",
        Some(RowKind::Improvement) => "improvement",
        _ => row.verdicts.get(cell).map_or("", String::as_str),
    };
    match verdict {
        "regression" => AnsiColor::Red.on_default().bold(),
        "improvement" => AnsiColor::Green.on_default().bold(),
        "inconclusive" => anstyle::Style::new().dimmed(),
        _ => anstyle::Style::new(),
    }
}

fn pipes(out: &mut String, table: &Table) {
    let escaped = |cell: &str| Style::Markdown.escaped(cell);
    let mut line = |cells: Vec<String>| out.push_str(&format!("| {} |\n", cells.join(" | ")));
    line(table.columns.iter().map(|c| escaped(c)).collect());
    let rule = |c| if table.is_numeric(c) { "---:" } else { "---" }.to_owned();
    line((0..table.columns.len()).map(rule).collect());
    for row in &table.rows {
        line(table.line(row).map(escaped).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::table::Section;

    fn sample() -> [Table; 2] {
        let mut absolute = Table::new(Section::Absolute, "throughput.absolute", "Throughput");
        absolute.part = "absolute".to_owned();
        absolute.legend = vec!["rows or queries per second".to_owned()];
        absolute.columns = ["variant", "l.i0", "qr100"].map(str::to_owned).to_vec();
        absolute.rows = vec![
            Row::new("13.7", vec!["100000".to_owned(), "9500".to_owned()]),
            Row::new("14|3", vec!["93400".to_owned(), "–".to_owned()]),
        ];
        let mut relative = absolute.clone();
        relative.part = "relative to first result".to_owned();
        relative.rows = vec![Row::new("14|3", vec!["0.934".to_owned(), "–".to_owned()])];
        relative.notes = vec!["– not known".to_owned()];
        [absolute, relative]
    }

    #[test]
    fn text_has_the_published_shape() {
        let [absolute, relative] = sample();
        assert_eq!(
            tables(&[&absolute, &relative], Style::Plain),
            "Throughput\n\
             Legend:\n\
             * rows or queries per second\n\
             --- absolute\n\
             variant    l.i0  qr100\n\
             13.7     100000   9500\n\
             14|3      93400      –\n\
             --- relative to first result\n\
             variant   l.i0  qr100\n\
             14|3     0.934      –\n\
             – not known\n"
        );
    }

    #[test]
    fn a_long_label_is_clipped() {
        let [mut table, _] = sample();
        let long = "rocksdb::".repeat(20);
        table.rows.push(Row::new(&long, vec!["1".to_owned(), "2".to_owned()]));
        let text = tables(&[&table], Style::Plain);
        let line = text.lines().last().unwrap();
        assert!(line.starts_with(&format!("{}…  ", &long[..71])), "{line}");
        assert!(tables(&[&table], Style::Markdown).contains(&long));
    }

    #[test]
    fn markdown_is_escaped() {
        let [absolute, _] = sample();
        let out = tables(&[&absolute], Style::Markdown);
        assert!(out.contains("| variant | l.i0 | qr100 |\n| --- | ---: | ---: |\n"), "{out}");
        assert!(out.contains("| 14\\|3 | 93400 | – |"), "{out}");
    }

    #[test]
    fn exchanging_rows_and_columns() {
        let [absolute, _] = sample();
        let turned = absolute.transposed("step");
        assert_eq!(turned.columns, ["step", "13.7", "14|3"]);
        assert_eq!(turned.rows[1], Row::new("qr100", vec!["9500".to_owned(), "–".to_owned()]));
        assert_eq!(turned.transposed("variant").columns, absolute.columns);
    }

    #[test]
    fn verdicts_have_colors_where_these_are_wanted() {
        let [_, mut table] = sample();
        table.rows[0].verdicts = vec!["regression".to_owned(), String::new()];
        let shown = tables(&[&table], Style::Colored);
        assert!(shown.contains("14|3     \x1b[1m\x1b[31m0.934\x1b[0m      –\n"), "{shown:?}");
        assert!(!tables(&[&table], Style::Plain).contains('\x1b'));
        // The color goes with its figure where rows are steps.
        let mut other = table.rows[0].clone();
        (other.label, other.cells) = ("15.0".to_owned(), vec!["1.1".to_owned(), "1.0".to_owned()]);
        other.verdicts = vec!["improvement".to_owned(), "equivalent".to_owned()];
        table.rows.push(other);
        let turned = tables(&[&table.transposed("step")], Style::Colored);
        assert!(
            turned.contains("l.i0   \x1b[1m\x1b[31m0.934\x1b[0m   \x1b[1m\x1b[32m1.1\x1b[0m\n"),
            "{turned:?}"
        );
        assert!(turned.contains("qr100      –   1.0\n"), "{turned:?}");
        // A row about one comparison has its color throughout, except for the label.
        table.rows[0] = Row::new("l.i0", vec!["0.9".to_owned(), "slower".to_owned()])
            .of_kind(Some(RowKind::Regression));
        let row = tables(&[&table], Style::Colored);
        assert_eq!(row.matches("\x1b[31m").count(), 2, "{row:?}");
    }
}
