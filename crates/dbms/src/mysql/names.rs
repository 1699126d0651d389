//! Names and texts in SQL, and names in the file system.

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

/// SQL of a list of tables' names.
pub(super) fn listed(objects: &[String]) -> String {
    objects.iter().map(|object| literal(&bare(object))).collect::<Vec<_>>().join(", ")
}

/// A name as the server encodes it in the names of files, right for names in ASCII.
pub(super) fn file_name(name: &str) -> String {
    let encode = |c: char| match c {
        '0'..='9' | 'a'..='z' | 'A'..='Z' | '_' => c.to_string(),
        other => format!("@{:04x}", u32::from(other)),
    };
    name.chars().map(encode).collect()
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

    #[test]
    fn names_of_files() {
        assert_eq!(file_name("pi1_a"), "pi1_a");
        assert_eq!(file_name("Odd name-1"), "Odd@0020name@002d1");
    }
}
