//! All tables as one CSV table in long form, which any program can read and pivot.

use super::table::Table;

/// One line per cell, with the columns table, step, part, row, column, value. Quoted as in RFC
/// 4180; lines end with a line feed.
pub(crate) fn csv(tables: &[Table]) -> String {
    let mut out = String::from("table,step,part,row,column,value\n");
    for table in tables {
        for row in &table.rows {
            for (column, cell) in table.columns.iter().skip(1).zip(&row.cells) {
                let fields = [
                    table.id.as_str(),
                    table.step.as_deref().unwrap_or_default(),
                    &table.part,
                    &row.label,
                    column,
                    cell,
                ];
                out.push_str(&fields.map(quoted).join(","));
                out.push('\n');
            }
        }
    }
    out
}

pub(crate) fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::table::{Row, Section};

    #[test]
    fn cells_are_quoted_where_needed() {
        let mut table = Table::new(Section::Other, "warnings", "Warnings");
        table.columns = vec!["code".to_owned(), "text".to_owned()];
        table.rows = vec![Row::new("x", vec!["he said \"no\", twice".to_owned()])];
        assert_eq!(
            csv(&[table]),
            "table,step,part,row,column,value\nwarnings,,,x,text,\"he said \"\"no\"\", twice\"\n"
        );
    }
}
