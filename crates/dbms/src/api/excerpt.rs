//! Parts of long texts, for messages.

/// The last `count` lines of a text.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(count)..).unwrap_or_default().join("\n")
}

/// The beginning of a statement, for messages.
pub(crate) fn shorten(sql: &str) -> String {
    const LONGEST: usize = 160;
    if sql.chars().count() <= LONGEST {
        sql.to_owned()
    } else {
        sql.chars().take(LONGEST).chain(['…']).collect()
    }
}
