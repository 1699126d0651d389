//! `pg_stat_statements`, as `\copy (…) TO 'x.csv' CSV HEADER` writes it.

use crate::digest::{Digest, Row};

/// The columns that are needed, with the names each may have. The time was `total_time` up to
/// PostgreSQL 12.
pub(crate) const COLUMNS: [&[&str]; 3] =
    [&["query"], &["calls"], &["total_exec_time", "total_time"]];
/// In place of texts that the user may not see.
const HIDDEN: &str = "<insufficient privilege>";

/// The digest in a row; `None` if it is damaged.
pub(crate) fn digest(row: &Row<'_>) -> Option<Digest> {
    let text = row.get("query").map(str::to_owned);
    let lacks = match text.as_deref() {
        None => Some("its text was lost by the server"),
        Some(HIDDEN) => {
            Some("its text is hidden from the user who exported it (pg_read_all_stats)")
        }
        Some(_) => None,
    };
    let milliseconds = row.number("total_exec_time").or_else(|| row.number("total_time"))?;
    Some(Digest {
        text: text.unwrap_or_else(|| "(no text)".to_owned()),
        sample: None,
        calls: row.whole("calls")?,
        took_us: (milliseconds * 1e3).round() as u64,
        failed: 0,
        nested: row.get("toplevel") == Some("f"),
        lacks,
    })
}
