//! Names and texts in SQL.

/// A text as an SQL literal. Backslashes are escapes unless sql_mode says otherwise, which
/// steelyard does not change.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// A name in backquotes, whether or not `name` has them.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", bare(name).replace('`', "``"))
}

/// A table's name without backquotes.
pub(super) fn bare(name: &str) -> String {
    match name.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
        Some(inner) => inner.replace("``", "`"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_names() {
        assert_eq!(literal("pi1"), "'pi1'");
        assert_eq!(literal("it's a\\b"), "'it''s a\\\\b'");
        assert_eq!(quoted("pi1"), "`pi1`");
        assert_eq!(quoted("`odd``name`"), "`odd``name`");
        assert_eq!(bare("`odd``name`"), "odd`name");
    }
}
