//! The texts of the queries.

use plan::Scale;
use tpchgen::q_and_a::queries::query;

use super::values::values;

/// Rows that are wanted of the queries of which not all are (clause 2.1.2.9).
const FIRST: [(usize, u32); 5] = [(2, 100), (3, 10), (10, 20), (18, 100), (21, 100)];

/// What a text says for dbgen's tools and standard SQL, and how all systems here read it. Each is a
/// modification that the specification allows (clause 2.2.3.3): the precision of an interval, the
/// year of a date (which is a floating-point number before PostgreSQL 14), and names of columns
/// within a derived table instead of after it.
const READ_AS: [(usize, &str, &str); 6] = [
    (1, " day (3)", " day"),
    (7, "extract(year from l_shipdate)", "cast(extract(year from l_shipdate) as decimal)"),
    (8, "extract(year from o_orderdate)", "cast(extract(year from o_orderdate) as decimal)"),
    (9, "extract(year from o_orderdate)", "cast(extract(year from o_orderdate) as decimal)"),
    (13, "count(o_orderkey)\n", "count(o_orderkey) as c_count\n"),
    (13, "c_orders (c_custkey, c_count)", "c_orders"),
];

/// Query 15 with its view as a derived table, because sessions only read (the specification has a
/// variant with a common table expression, which MySQL 5 lacks).
const Q15: &str = "\
select s_suppkey, s_name, s_address, s_phone, total_revenue
from supplier, (VIEW) as revenue
where s_suppkey = supplier_no
  and total_revenue = (select max(total_revenue) from (VIEW) as largest)
order by s_suppkey";
const Q15_VIEW: &str = "\
select l_suppkey as supplier_no, sum(l_extendedprice * (1 - l_discount)) as total_revenue
from lineitem
where l_shipdate >= date ':1' and l_shipdate < date ':1' + interval '3' month
group by l_suppkey";

/// Query `number` (from 1) with one of its sets of values (from 0).
pub(super) fn text(number: usize, scale: Scale, set: u32) -> String {
    let values = values(number, scale, set);
    // `:10` before `:1`.
    let places = values.iter().enumerate().rev();
    places.fold(template(number), |text, (place, value)| {
        text.replace(&format!(":{}", place + 1), value)
    })
}

fn template(number: usize) -> String {
    let text = if number == 15 {
        Q15.replace("VIEW", Q15_VIEW)
    } else {
        query(number as i32).unwrap_or_default().trim().trim_end_matches(';').to_owned()
    };
    let readable = READ_AS.iter().filter(|(of, ..)| *of == number);
    let text = readable.fold(text, |text, (_, from, to)| text.replace(from, to));
    match FIRST.iter().find(|(of, _)| *of == number) {
        Some((_, rows)) => format!("{text}\nlimit {rows}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_a_value() {
        for number in 1..=22 {
            let texts = [0, 1, 2].map(|set| text(number, Scale(100), set));
            for text in &texts {
                let open = text.match_indices(':').any(|(at, _)| {
                    text[at + 1..].starts_with(|c: char| c.is_ascii_digit() || c == 's')
                });
                assert!(!open && text.starts_with("select") && !text.contains(';'), "{text}");
            }
            assert!(number == 18 || texts[1] != texts[2] || texts[0] != texts[1], "q{number}");
        }
    }

    #[test]
    fn what_is_read_otherwise_stands_in_the_texts() {
        for (number, from, to) in READ_AS {
            let text = query(number as i32).unwrap();
            assert!(text.contains(from), "q{number}: {from}");
            let read = template(number);
            assert!(read.contains(to) && !read.replace(to, "").contains(from), "q{number}: {read}");
        }
        assert!(text(16, Scale(100), 0).contains("(49, 14, 23, 45, 19, 3, 36, 9)"));
        assert!(text(3, Scale(100), 0).ends_with("limit 10"));
    }
}
