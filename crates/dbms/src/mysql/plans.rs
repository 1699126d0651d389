//! The output of EXPLAIN for a statement, in its traditional form, which all versions have.

use super::control::{Control, Table};
use crate::{Error, ParsedPlan};

/// Columns of EXPLAIN that belong to a plan. Estimates (`rows`, `filtered`, costs) don't, and
/// neither do the alternatives that were not chosen (`possible_keys`).
const COLUMNS: [&str; 8] = ["id", "select_type", "table", "type", "key", "key_len", "ref", "Extra"];

/// Asks how a statement would be executed: a line for each table.
pub(super) fn query_plan(control: &mut Control, statement: &str) -> Result<Option<String>, Error> {
    match control.table(&format!("EXPLAIN {statement}")) {
        Ok(table) => Ok(Some(lines(&table))),
        // A statement that it can't explain.
        Err(Error::Query { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// `id: 1, select_type: SIMPLE, table: pi1, type: range, key: pdc, key_len: 9`.
fn lines(table: &Table) -> String {
    let line = |row: &Vec<Option<String>>| {
        let cells = COLUMNS.iter().filter_map(|name| {
            let value = table.value(row, name).filter(|value| !value.is_empty())?;
            Some(format!("{name}: {value}"))
        });
        cells.collect::<Vec<_>>().join(", ")
    };
    table.rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Parses a plan as [`query_plan`] returns it. Tables of one kind have different numbers in their
/// names (`sbtest7`), so these are not part of the shape.
pub fn parse(plan: &str) -> ParsedPlan {
    let shape = plan.lines().map(|line| {
        let cells = line.split(", ").map(|cell| {
            if cell.starts_with("table: ") || cell.starts_with("ref: ") {
                cell.replace(|c: char| c.is_ascii_digit(), "")
            } else {
                cell.to_owned()
            }
        });
        cells.collect::<Vec<_>>().join(", ")
    });
    ParsedPlan {
        shape: shape.collect::<Vec<_>>().join("\n"),
        outline: plan.lines().map(outline).collect::<Vec<_>>().join(", "),
    }
}

/// `range on pi1 using pdc (Using where; Using index)`.
fn outline(line: &str) -> String {
    // `Extra` is the last column and may contain commas.
    let (cells, extra) = match line.split_once("Extra: ") {
        Some((cells, extra)) => (cells, Some(extra)),
        None => (line, None),
    };
    let of =
        |name: &str| cells.split(", ").find_map(|cell| cell.strip_prefix(name)?.strip_prefix(": "));
    let access = of("type").or_else(|| of("select_type")).unwrap_or("?");
    let mut text = access.to_owned();
    for (word, part) in [("on", of("table")), ("using", of("key"))] {
        if let Some(part) = part {
            text = format!("{text} {word} {part}");
        }
    }
    extra.map_or(text.clone(), |extra| format!("{text} ({extra})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RANGE: &str = "id: 1, select_type: SIMPLE, table: pi1, type: range, key: pdc, \
        key_len: 9, Extra: Using index condition; Using where";

    fn table(names: &[&str], rows: &[&[Option<&str>]]) -> Table {
        let owned = |value: &Option<&str>| value.map(str::to_owned);
        Table {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            rows: rows.iter().map(|row| row.iter().map(owned).collect()).collect(),
        }
    }

    #[test]
    fn estimates_are_left_out() {
        let explained = table(
            &["id", "select_type", "table", "partitions", "type", "key", "rows", "Extra"],
            &[&[Some("1"), Some("SIMPLE"), Some("t"), None, Some("ALL"), None, Some("9"), None]],
        );
        assert_eq!(lines(&explained), "id: 1, select_type: SIMPLE, table: t, type: ALL");
    }

    #[test]
    fn tables_with_other_numbers_have_the_same_shape() {
        let other = RANGE.replace("pi1", "pi12");
        assert_eq!(parse(RANGE).shape, parse(&other).shape);
        assert_ne!(parse(RANGE).shape, parse(&RANGE.replace("key_len: 9", "key_len: 4")).shape);
        assert_ne!(parse(RANGE).shape, parse(&RANGE.replace("range", "ref")).shape);
    }

    #[test]
    fn people_read_access_table_and_key() {
        assert_eq!(
            parse(RANGE).outline,
            "range on pi1 using pdc (Using index condition; Using where)"
        );
        assert_eq!(
            parse("id: 1, select_type: SIMPLE, Extra: No tables used").outline,
            "SIMPLE (No tables used)"
        );
        assert_eq!(
            parse("id: 1, table: a, type: ALL\nid: 1, table: b, type: eq_ref, key: PRIMARY")
                .outline,
            "ALL on a, eq_ref on b using PRIMARY"
        );
    }

    #[test]
    fn all_versions_are_read() {
        for (range, join) in [
            (
                include_str!("../../tests/fixtures/explain-range-5.6.24.tsv"),
                include_str!("../../tests/fixtures/explain-join-5.6.24.tsv"),
            ),
            (
                include_str!("../../tests/fixtures/explain-range-8.0.31.tsv"),
                include_str!("../../tests/fixtures/explain-join-8.0.31.tsv"),
            ),
            (
                include_str!("../../tests/fixtures/explain-range-10.1.23.tsv"),
                include_str!("../../tests/fixtures/explain-join-10.1.23.tsv"),
            ),
            (
                include_str!("../../tests/fixtures/explain-range-11.4.5.tsv"),
                include_str!("../../tests/fixtures/explain-join-11.4.5.tsv"),
            ),
        ] {
            let range = parse(&lines(&Table::of_tsv(range)));
            // With three rows, some read the whole index.
            let access = range.outline.split(' ').next().unwrap();
            assert!(["range", "index"].contains(&access), "{range:?}");
            assert!(range.outline.ends_with("on s1 using pdc (Using where; Using index)"));
            let join = parse(&lines(&Table::of_tsv(join)));
            assert!(join.outline.contains(", eq_ref on parts using PRIMARY"), "{join:?}");
            assert!(join.shape.contains("ref: fx.s.a"), "{join:?}");
        }
    }

    proptest! {
        #[test]
        fn a_shape_lacks_digits_and_nothing_else(text in "(table: |ref: |type: |[a-z0-9, \n]){0,40}") {
            let without = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
            let lines: Vec<&str> = text.lines().collect();
            prop_assert_eq!(without(&parse(&text).shape), without(&lines.join("\n")));
        }
    }
}
