//! Putting tables between the markers of VALIDATION.md.

use crate::Findings;

/// The line before what belongs to the subject `name`.
pub fn begin_marker(name: &str) -> String {
    format!("<!-- {name}: written by `make validate`, do not edit -->")
}

/// The line after it.
pub fn end_marker(name: &str) -> String {
    format!("<!-- end of {name} -->")
}

/// `text` with everything between the markers of the subject `name` replaced by its findings; `None` without the markers.
pub fn replace(text: &str, name: &str, findings: &Findings) -> Option<String> {
    let (begin, end) = (begin_marker(name), end_marker(name));
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    let tables = findings.to_markdown();
    Some(format!("{before}{begin}\n\n{}\n\n{end}{after}", tables.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let text = format!("a\n{}\nold\n{}\nb\n", begin_marker("x"), end_marker("x"));
        let findings = Findings { tables: vec![Table::new("new", &["n"])], checks: vec![] };
        let once = replace(&text, "x", &findings).unwrap();
        assert!(once.starts_with("a\n<!-- x:") && once.ends_with("-->\nb\n"), "{once}");
        assert!(once.contains("new") && !once.contains("old"));
        assert_eq!(replace(&once, "x", &findings).unwrap(), once, "twice is the same as once");
        assert_eq!(replace(&text, "y", &findings), None);
    }
}
