//! Putting the tables between the markers of BENCHMARKS.md.

use std::path::Path;

use anyhow::{Context, Result};

const BEGIN: &str = "<!-- race: written by `make race`, do not edit -->";
const END: &str = "<!-- end of race -->";

/// Replaces what is between the markers of a file.
pub fn put(path: &Path, tables: &str) -> Result<()> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let new = replaced(&text, tables).with_context(|| {
        format!("expected a line `{BEGIN}` and one `{END}` in {shown}, found none; add both lines")
    })?;
    std::fs::write(path, new).with_context(|| format!("cannot write {shown}"))
}

fn replaced(text: &str, tables: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{}\n\n{END}{after}", tables.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let text = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        let new = replaced(&text, "new\n\n").unwrap();
        assert_eq!(new, format!("a\n{BEGIN}\n\nnew\n\n{END}\nb\n"));
        assert_eq!(replaced(&new, "new"), Some(new.clone()));
        assert_eq!(replaced("nothing", "new"), None);
    }
}
