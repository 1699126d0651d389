//! The specification's answers at scale factor 1, as conditions that the data must meet.

use plan::Scale;
use tpchgen::q_and_a::answers_sf1::answer;

use super::queries;
use crate::phase::Condition;

/// The scale factor for which there are answers.
pub(super) const SCALE: Scale = Scale(100);

/// Of an answer with more rows, only the first are compared.
const MOST: usize = 1_100;
const FEW: usize = 100;

/// How the answers name a column, and its name in the query.
const COLUMNS: [(&str, &str); 2] = [("o_orderdat", "o_orderdate"), ("col6", "quantity")];

/// The conditions for a query: it has as many rows as its answer, and none that the answer lacks.
pub(super) fn conditions(number: usize) -> Vec<Condition> {
    let mut lines = answer(number as i32).unwrap_or_default().trim().lines();
    let names: Vec<&str> = cells(lines.next().unwrap_or_default()).map(column).collect();
    let rows: Vec<&str> = lines.collect();
    // A column that is made by the query needs a name.
    let made = ("o_totalprice,\n\tsum(l_quantity)", "o_totalprice,\n\tsum(l_quantity) as quantity");
    let query = queries::text(number, SCALE, 0).replace(made.0, made.1);
    let condition = |what: &str, exceptions: String| Condition {
        name: format!("{what} of q{number} is that of the specification"),
        exceptions,
    };
    let size = format!("ABS(COUNT(*) - {})", rows.len());
    if rows.len() > MOST {
        let few = others(number, &names, &rows[..FEW]);
        let first = format!("SELECT {few} FROM ({query}\nlimit {FEW}) answer");
        let whole = format!("SELECT {size} FROM ({query}) answer");
        return vec![
            condition("the number of rows", whole),
            condition("the beginning of the answer", first),
        ];
    }
    let all = others(number, &names, &rows);
    vec![condition("the answer", format!("SELECT {size} + {all} FROM ({query}) answer"))]
}

/// How many rows of a query are none of these.
fn others(number: usize, names: &[&str], rows: &[&str]) -> String {
    let row = |line: &&str| {
        let named = names.iter().zip(cells(line));
        let each: Vec<String> =
            named.filter_map(|(name, cell)| equal(number, name, cell)).collect();
        format!("({})", each.join(" AND "))
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!("COUNT(CASE WHEN {} THEN NULL ELSE 1 END)", rows.join(" OR "))
}

/// That a column of a row is what the answer says, which has two decimals where there are any
/// (clause 2.1.3.5 allows 100 for sums, and 1% for averages and ratios; the one of query 17 needs
/// some of it, because the answer here is one of floating-point arithmetic).
fn equal(number: usize, name: &str, cell: &str) -> Option<String> {
    if name == "ps_partkey" {
        // The crate's answer has only the beginnings of these keys.
        return None;
    }
    let value = cell.parse::<f64>().ok().filter(|_| cell.contains('.'));
    Some(match value {
        Some(value) => {
            let slack = if number == 17 { 1e-6 * value } else { 0.005 };
            format!("ABS({name} - {cell}) <= {slack:.3}")
        }
        None if name.ends_with("date") => format!("{name} = '{cell}'"),
        None => format!("TRIM(CAST({name} AS CHAR(200))) = '{}'", cell.replace('\'', "''")),
    })
}

/// Cells of a line, without the blanks that fill them up.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split('|').map(str::trim)
}

fn column(name: &str) -> &str {
    COLUMNS.iter().find(|(short, _)| *short == name).map_or(name, |(_, full)| full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_query_has_a_condition() {
        let all: Vec<Condition> = (1..=22).flat_map(conditions).collect();
        assert_eq!(all.len(), 23);
        let of = |number: usize| {
            let name = format!("the answer of q{number} is that of the specification");
            &all.iter().find(|it| it.name == name).unwrap().exceptions
        };
        assert!(of(6).starts_with(
            "SELECT ABS(COUNT(*) - 1) + COUNT(CASE WHEN (ABS(revenue - 123141078.23) <= 0.005) THEN \
             NULL ELSE 1 END) FROM (select"
        ));
        assert!(of(18).contains("sum(l_quantity) as quantity\n"), "{}", of(18));
        assert!(of(4).contains("TRIM(CAST(order_count AS CHAR(200))) = '10594'"));
        assert!(of(17).contains("<= 0.348"), "{}", of(17));
        assert!(of(3).contains("o_orderdate = '1995-03-05'"), "{}", of(3));
        assert!(all.iter().any(|it| it.exceptions.contains("ABS(COUNT(*) - 18314)")));
    }
}
