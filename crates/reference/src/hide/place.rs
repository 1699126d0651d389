//! The place of a password in a text.

use std::ops::Range;

/// Replaces hidden text.
pub const HIDDEN: &str = "<hidden>";

/// A password's place in a text, and what is shown instead.
pub(super) struct Password {
    pub(super) at: Range<usize>,
    pub(super) instead: &'static str,
}

/// Length of the value at the beginning of a text: up to its closing quote, or without quotes, up
/// to the next blank of ASCII, as libpq reads it.
pub(super) fn length(value: &str, in_url: bool) -> usize {
    if value.starts_with(HIDDEN) {
        return HIDDEN.len();
    }
    let line = |from: usize| value[from..].find('\n').map_or(value.len(), |at| from + at);
    let mut chars = value.char_indices();
    let first = chars.next().map_or(' ', |(_, c)| c);
    if first == '$' && value[1..].contains('$') {
        // A dollar-quoted SQL string ends with the tag it begins with.
        let tag = value[1..].find('$').map_or(1, |at| at + 2);
        return value[tag..].find(&value[..tag]).map_or(value.len(), |at| at + 2 * tag);
    }
    if !matches!(first, '\'' | '"') {
        let ends = |c: char| c.is_ascii_whitespace() || (in_url && "&\"'".contains(c));
        let mut escaped = false;
        let end = value.find(|c| {
            let ends = ends(c) && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let end = end.unwrap_or(value.len());
        // The meaning of a backslash depends on how often the text was quoted.
        return if value[..end].contains('\\') { line(end) } else { end };
    }
    if value[1..].starts_with(first) {
        // Empty, or quoted inside quotes.
        let empty =
            value[2..].chars().next().is_none_or(|c| c.is_whitespace() || ",;&)}]".contains(c));
        return if empty { 2 } else { line(2) };
    }
    let mut at = 1;
    while let Some(found) = value[at..].find(['\\', first]) {
        let next = at + found + 1;
        if value[at + found..].starts_with('\\') {
            at = next + value[next..].chars().next().map_or(0, char::len_utf8);
        } else if value[next..].starts_with(first) {
            at = next + 1;
        } else {
            return if value[..next].contains('\\') { line(next) } else { next };
        }
    }
    value.len()
}
