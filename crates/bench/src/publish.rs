//! Tables, and their place between the markers of BENCHMARKS.md.

use std::path::Path;

use anyhow::{Context, Result};

/// Columns of prose.
pub const WIDTH: usize = 100;

/// A table in Markdown.
pub fn table(head: &str, rows: impl Iterator<Item = Vec<String>>) -> String {
    let dashes = "|---".repeat(head.split(" | ").count());
    let rows = rows.map(|cells| format!("| {} |\n", cells.join(" | ")));
    format!("| {head} |\n{dashes}|\n{}", rows.collect::<String>())
}

/// The markers around what `make` writes with this name.
fn markers(name: &str) -> [String; 2] {
    let begin = format!("<!-- {name}: written by `make {name}`, do not edit -->");
    [begin, format!("<!-- end of {name} -->")]
}

/// Replaces what is between the markers of this name in a file.
pub fn put(path: &Path, name: &str, tables: &str) -> Result<()> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let [begin, end] = markers(name);
    let new = replaced(&text, name, tables).with_context(|| {
        format!("expected a line `{begin}` and one `{end}` in {shown}, found none; add both lines")
    })?;
    std::fs::write(path, new).with_context(|| format!("cannot write {shown}"))
}

fn replaced(text: &str, name: &str, tables: &str) -> Option<String> {
    let [begin, end] = markers(name);
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n\n{}\n\n{end}{after}", tables.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let [begin, end] = markers("race");
        let text = format!("a\n{begin}\nold\n{end}\nb\n");
        let new = replaced(&text, "race", "new\n\n").unwrap();
        assert_eq!(new, format!("a\n{begin}\n\nnew\n\n{end}\nb\n"));
        assert_eq!(replaced(&new, "race", "new"), Some(new.clone()));
        assert_eq!(replaced(&new, "workloads", "new"), None);
    }
}
