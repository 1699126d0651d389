//! Tables as text for a terminal or a mail, and as Markdown.

use crate::table::Table;

/// Tables in the published shape: a legend, absolute values, a line `--- relative to first result`, relative values.
/// Columns are aligned with spaces. A legend that stood above an earlier table is not repeated.
pub(crate) fn text(tables: &[&Table]) -> String {
    let mut out = String::new();
    let mut before: Option<&Table> = None;
    let mut explained: Vec<&[String]> = Vec::new();
    for table in tables {
        if !before.is_some_and(|before| table.continues(before)) {
            if before.is_some() {
                out.push('\n');
            }
            out.push_str(&format!("{}\n", table.title));
            legend(&mut out, table, &mut explained);
        }
        if !table.part.is_empty() {
            out.push_str(&format!("--- {}\n", table.part));
        }
        grid(&mut out, table);
        for note in &table.notes {
            out.push_str(&format!("{note}\n"));
        }
        before = Some(table);
    }
    out
}

fn legend<'a>(out: &mut String, table: &'a Table, explained: &mut Vec<&'a [String]>) {
    if table.legend.is_empty() || explained.contains(&table.legend.as_slice()) {
        return;
    }
    out.push_str("Legend:\n");
    for line in &table.legend {
        out.push_str(&format!("* {line}\n"));
    }
    explained.push(&table.legend);
}

fn grid(out: &mut String, table: &Table) {
    let widths: Vec<usize> = (0..table.columns.len())
        .map(|column| {
            table
                .rows
                .iter()
                .filter_map(|row| table.line(row).nth(column))
                .chain(table.columns.get(column).map(String::as_str))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let numeric: Vec<bool> = (0..table.columns.len()).map(|c| table.is_numeric(c)).collect();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut written = String::new();
        for ((cell, width), numeric) in cells.zip(&widths).zip(&numeric) {
            // Not by format's own padding: it would not count what `chars` counts.
            let gap = " ".repeat(width.saturating_sub(cell.chars().count()));
            let (left, right) = if *numeric { (gap.as_str(), "") } else { ("", gap.as_str()) };
            written.push_str(&format!("{left}{cell}{right}  "));
        }
        out.push_str(written.trim_end());
        out.push('\n');
    };
    line(&mut table.columns.iter().map(String::as_str));
    for row in &table.rows {
        line(&mut table.line(row));
    }
}

/// Tables as Markdown: a heading, the legend as a list, pipes.
pub(crate) fn markdown(tables: &[&Table]) -> String {
    let mut out = String::new();
    let mut before: Option<&Table> = None;
    let mut explained: Vec<&[String]> = Vec::new();
    for table in tables {
        if !before.is_some_and(|before| table.continues(before)) {
            if before.is_some() {
                out.push('\n');
            }
            out.push_str(&format!("### {}\n\n", escaped(&table.title)));
            if !table.legend.is_empty() && !explained.contains(&table.legend.as_slice()) {
                for line in &table.legend {
                    out.push_str(&format!("* {}\n", escaped(line)));
                }
                out.push('\n');
                explained.push(&table.legend);
            }
        } else {
            out.push('\n');
        }
        if !table.part.is_empty() {
            out.push_str(&format!("{}:\n\n", escaped(&table.part)));
        }
        let mut line = |cells: Vec<String>| out.push_str(&format!("| {} |\n", cells.join(" | ")));
        line(table.columns.iter().map(|c| escaped(c)).collect());
        line(
            (0..table.columns.len())
                .map(|c| if table.is_numeric(c) { "---:" } else { "---" }.to_owned())
                .collect(),
        );
        for row in &table.rows {
            line(table.line(row).map(escaped).collect());
        }
        for note in &table.notes {
            out.push_str(&format!("\n{}\n", escaped(note)));
        }
        before = Some(table);
    }
    out
}

/// What Markdown would take as markup is made text.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' => {
                out.push('\\');
                out.push(c);
            }
            '\n' | '\r' => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Row, Section};

    fn sample() -> [Table; 2] {
        let mut absolute = Table::new(Section::Absolute, "throughput.absolute", "Throughput");
        absolute.part = "absolute".to_owned();
        absolute.legend = vec!["rows or queries per second".to_owned()];
        absolute.columns = ["version", "l.i0", "qr100"].map(str::to_owned).to_vec();
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
            text(&[&absolute, &relative]),
            "Throughput\n\
             Legend:\n\
             * rows or queries per second\n\
             --- absolute\n\
             version    l.i0  qr100\n\
             13.7     100000   9500\n\
             14|3      93400      –\n\
             --- relative to first result\n\
             version   l.i0  qr100\n\
             14|3     0.934      –\n\
             – not known\n"
        );
    }

    #[test]
    fn markdown_is_escaped() {
        let [absolute, _] = sample();
        let out = markdown(&[&absolute]);
        assert!(out.contains("| version | l.i0 | qr100 |\n| --- | ---: | ---: |\n"), "{out}");
        assert!(out.contains("| 14\\|3 | 93400 | – |"), "{out}");
    }

    #[test]
    fn exchanging_rows_and_columns() {
        let [absolute, _] = sample();
        let turned = absolute.transposed("step");
        assert_eq!(turned.columns, ["step", "13.7", "14|3"]);
        assert_eq!(turned.rows[1], Row::new("qr100", vec!["9500".to_owned(), "–".to_owned()]));
        assert_eq!(turned.transposed("version").columns, absolute.columns);
    }
}
