//! `performance_schema.events_statements_summary_by_digest` of MySQL and MariaDB, as CSV or as
//! `mysql --batch` prints it.

use crate::digest::{Digest, Row};

/// The columns that are needed.
pub(crate) const COLUMNS: [&[&str]; 3] = [&["digest_text"], &["count_star"], &["sum_timer_wait"]];
/// At the end of samples that were cut.
const CUT: &str = "...";

/// The digest in a row; `None` if it is damaged.
pub(crate) fn digest(row: &Row<'_>) -> Option<Digest> {
    let text = row.get("digest_text");
    // Servers don't mark where they cut a text. Values, which may have brackets, are not in it.
    let whole = |text: &str| text.matches('(').count() == text.matches(')').count();
    // MySQL 8.0 and newer have one.
    let sample = row.get("query_sample_text").filter(|text| !text.ends_with(CUT));
    let lacks = match text {
        None => Some("it stands for all statements above performance_schema_digests_size"),
        Some(text) if sample.is_none() && !whole(text) => {
            Some("its text is cut (max_digest_length, performance_schema_max_sql_text_length)")
        }
        Some(_) => None,
    };
    Some(Digest {
        text: text.unwrap_or("(all other statements)").to_owned(),
        sample: sample.map(str::to_owned),
        calls: row.whole("count_star")?,
        // From picoseconds.
        took_us: (row.number("sum_timer_wait")? / 1e6).round() as u64,
        // In an export of all columns.
        failed: row.whole("sum_errors").unwrap_or(0),
        nested: false,
        lacks,
    })
}
