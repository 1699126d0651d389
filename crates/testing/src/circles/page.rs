//! The ties between the files of the page: their relative imports.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::graph::Ties;

/// Words of an import that are not names.
const KEYWORDS: [&str; 6] = ["", "as", "export", "from", "import", "type"];

/// The ties of all TypeScript below a directory, including imports of types only. Files are named
/// below `above`.
pub fn page_ties(directory: &Path, above: &Path) -> Ties {
    let name_of = |file: &Path| file.strip_prefix(above).unwrap_or(file).display().to_string();
    let mut ties = Ties::new();
    for file in files(directory) {
        let source =
            fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for (names, place) in source.split(';').filter_map(import) {
            if let Some(other) = imported(&file.with_file_name(place)) {
                let words = names.split(|c: char| c != '_' && !c.is_alphanumeric());
                let words = words.filter(|word| !KEYWORDS.contains(word));
                let tie = ties.entry((name_of(&file), name_of(&other))).or_default();
                tie.extend(words.map(str::to_owned));
            }
        }
    }
    ties
}

/// A statement that imports or re-exports, up to its relative place, and that place.
fn import(statement: &str) -> Option<(&str, &str)> {
    let (before, place) = statement.strip_suffix('"')?.rsplit_once('"')?;
    let begins = |line: &&str| line.starts_with("import ") || line.starts_with("export ");
    let first = before.lines().rfind(begins)?;
    place.starts_with('.').then_some((&before[before.rfind(first)?..], place))
}

/// The TypeScript below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries: io::Result<Vec<_>> = fs::read_dir(directory).and_then(Iterator::collect);
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let below = |path: PathBuf| match path.extension().and_then(|end| end.to_str()) {
        _ if path.is_dir() => files(&path),
        Some("ts" | "tsx") => vec![path],
        _ => Vec::new(),
    };
    entries.into_iter().flat_map(|entry| below(entry.path())).collect()
}

/// The file that an import means; `None` for a style sheet.
fn imported(place: &Path) -> Option<PathBuf> {
    let endings = [".ts", ".tsx", "/index.ts", "/index.tsx"];
    let candidates = endings.map(|ending| PathBuf::from(format!("{}{ending}", place.display())));
    candidates.into_iter().find_map(|candidate| candidate.canonicalize().ok())
}
