//! Logs and tables that servers wrote, and texts that are hard to read.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

pub fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    fs::read_to_string(path).unwrap()
}

/// Texts made of what lexers stumble over.
pub fn sql() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "SELECT", "a", "'x'", "'", "\"b\"", "\"", "`", "1", "-2.5e3", "0x1F", "$1", "$t$", "$",
        "?", "(", ")", ",", "IN", "VALUES", "--", "/*", "*/", "/*!", "\\", "\n", " ", "#", "ä",
        ";", "::",
    ]);
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}
