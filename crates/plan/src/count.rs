//! `[count]`: which statements `steelyard count` counts, and on what data.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use crate::key::{line, quoted};
use crate::problem::Problems;
use crate::section::{Section, describe, integer, integer32, join, printable, string, strings};

/// Rows in the table when the plan does not say. PostgreSQL's ANALYZE samples 300 rows for each of the default 100
/// buckets (`src/backend/commands/analyze.c`, `std_typanalyze`): up to 30,000 rows it reads them all, and statistics, and so plans,
/// are the same each time.
pub const DEFAULT_COUNT_ROWS: u64 = 20_000;
/// Longest file of statements read, 1 MiB.
const MAX_STATEMENTS: u64 = 1 << 20;
/// What begins a statement's name in a file of statements.
const NAME: &str = "-- name:";
/// Name of the block that makes what the others use.
const SETUP: &str = "setup";

/// What `steelyard count` is asked to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountPlan {
    /// Rows in the table before the first statement that is counted, > 0.
    pub rows: u64,
    /// Executions counted of each kind, after as many that are not; `None`: by the kind, fewer where a statement
    /// writes many rows.
    pub statements: Option<u32>,
    /// Protocols to count in, each once.
    pub protocols: Vec<Protocol>,
    /// Kinds to count, by name; empty: all.
    pub kinds: Vec<String>,
    /// Name of the file of statements, as written in the plan.
    pub file: Option<String>,
    /// What stood in it; its statements take the place of the workload's.
    pub own: Option<OwnStatements>,
}

impl Default for CountPlan {
    fn default() -> Self {
        CountPlan {
            rows: DEFAULT_COUNT_ROWS,
            statements: None,
            protocols: vec![Protocol::Simple, Protocol::Prepared],
            kinds: Vec::new(),
            file: None,
            own: None,
        }
    }
}

/// How a statement reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// As text, parsed and planned each time.
    Simple,
    /// Parsed once, then bound and executed.
    Prepared,
}

impl Protocol {
    /// The name in a plan.
    pub fn as_str(self) -> &'static str {
        match self {
            Protocol::Simple => "simple",
            Protocol::Prepared => "prepared",
        }
    }
}

/// Statements of the user's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnStatements {
    /// The text of the file.
    pub text: String,
    /// What makes the tables they use; may be empty.
    pub setup: String,
    /// Name and text of each, in order.
    pub statements: Vec<(String, String)>,
}

impl OwnStatements {
    /// Reads a file of statements: blocks, each of which begins with a line `-- name: NAME`. The one called `setup` is
    /// executed once, before the others are counted.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut blocks: Vec<(String, String)> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if let Some(name) = line.trim().strip_prefix(NAME) {
                let name = name.trim();
                let fit = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
                if name.is_empty() || !name.chars().all(fit) {
                    return Err(format!(
                        "line {}: `{}` is no name of a statement; expected letters, digits, `_`, `-` and `.`",
                        number + 1,
                        printable(name)
                    ));
                }
                if blocks.iter().any(|(known, _)| known == name) {
                    return Err(format!("line {}: `{name}` stands a second time", number + 1));
                }
                blocks.push((name.to_owned(), String::new()));
                continue;
            }
            match blocks.last_mut() {
                Some((_, block)) => {
                    block.push_str(line);
                    block.push('\n');
                }
                None if line.trim().is_empty() || line.trim().starts_with("--") => {}
                None => {
                    return Err(format!(
                        "line {}: a statement before the first `{NAME} …`; give it a name",
                        number + 1
                    ));
                }
            }
        }
        let mut own = OwnStatements { text: text.to_owned(), ..OwnStatements::default() };
        for (name, block) in blocks {
            let block = block.trim().trim_end_matches(';').trim_end().to_owned();
            if block.is_empty() {
                return Err(format!("`{name}` has no statement"));
            }
            if name == SETUP {
                own.setup = block;
            } else {
                own.statements.push((name, block));
            }
        }
        if own.statements.is_empty() {
            return Err(format!("no statement to count; begin each with a line `{NAME} NAME`"));
        }
        Ok(own)
    }
}

/// Reads `[count]`.
pub(crate) fn read_count(p: &mut Problems, table: &DeTable, folder: Option<&Path>) -> CountPlan {
    let mut s = Section::new(table, "count");
    let default = CountPlan::default();
    let rows = s.read(p, "rows", |v| integer(v, 1..(1 << 53)));
    let statements = s.read(p, "statements", |v| integer32(v, 6..1_000_001));
    let protocols = s.read(p, "protocols", protocols).unwrap_or(default.protocols);
    let kinds = s.read(p, "kinds", strings).unwrap_or_default();
    let file = s.read(p, "file", string);
    let text = s.read(p, "file_text", string);
    let path = s.path_of("file");
    s.finish(p);
    let text = match (&file, text) {
        (_, Some(text)) => Some(text),
        (Some(file), None) => match read_statements(folder, file) {
            Ok(text) => Some(text),
            Err(message) => {
                p.of(&path, message);
                None
            }
        },
        (None, None) => None,
    };
    let own = text.and_then(|text| match OwnStatements::parse(&text) {
        Ok(own) => Some(own),
        Err(message) => {
            p.of(&path, format!("`file`: {message}"));
            None
        }
    });
    CountPlan { rows: rows.unwrap_or(default.rows), statements, protocols, kinds, file, own }
}

fn read_statements(folder: Option<&Path>, file: &str) -> Result<String, String> {
    let Some(folder) = folder else {
        return Err(format!(
            "`file`: \"{}\" cannot be read, since this plan has no folder; give its text as `file_text`",
            printable(file)
        ));
    };
    let path = folder.join(file);
    let shown = printable(&path.display().to_string());
    let cannot = |error: std::io::Error| {
        format!("`file`: cannot read {shown}: {error}; the path is relative to the plan's folder")
    };
    let meta = fs::metadata(&path).map_err(cannot)?;
    if !meta.is_file() || meta.len() > MAX_STATEMENTS {
        return Err(format!("`file`: {shown} is no text file of at most 1 MiB"));
    }
    fs::read_to_string(&path).map_err(cannot)
}

fn protocols(value: &DeValue) -> Result<Vec<Protocol>, String> {
    let one = |value: &DeValue| match value {
        DeValue::String(s) if s == "simple" => Ok(Protocol::Simple),
        DeValue::String(s) if s == "prepared" => Ok(Protocol::Prepared),
        other => Err(format!("expected \"simple\" or \"prepared\", found {}", describe(other))),
    };
    let found = match value {
        DeValue::Array(array) => {
            array.iter().map(|item| one(item.get_ref())).collect::<Result<Vec<_>, String>>()?
        }
        single => vec![one(single)?],
    };
    match found.as_slice() {
        [] => Err("the list is empty; name \"simple\", \"prepared\" or both".to_owned()),
        [first, second] if first == second => Err(format!("\"{}\" stands twice", first.as_str())),
        [_, _, _, ..] => Err("name each protocol once".to_owned()),
        _ => Ok(found),
    }
}

/// Writes `[count]` where it differs from its defaults.
pub(crate) fn write_count(out: &mut String, count: &CountPlan) {
    let default = CountPlan::default();
    if *count == default {
        return;
    }
    let _ = writeln!(out, "\n[count] # what `steelyard count` counts");
    line(out, "rows", &count.rows.to_string(), "in the table before");
    if let Some(statements) = count.statements {
        line(out, "statements", &statements.to_string(), "executions counted of each kind");
    }
    let list = |names: Vec<String>| format!("[{}]", names.join(", "));
    let protocols = count.protocols.iter().map(|protocol| quoted(protocol.as_str())).collect();
    line(out, "protocols", &list(protocols), "");
    if !count.kinds.is_empty() {
        line(out, "kinds", &list(count.kinds.iter().map(|kind| quoted(kind)).collect()), "");
    }
    if let Some(file) = &count.file {
        line(out, "file", &quoted(file), "its text follows; the file is not read again");
    }
    if let Some(own) = &count.own {
        line(out, "file_text", &quoted(&own.text), "");
    }
}

/// Complains where a kind of the user's own statements is wanted that the file lacks.
pub(crate) fn check_count(count: &CountPlan, problems: &mut Problems) {
    let Some(own) = &count.own else { return };
    for kind in &count.kinds {
        if !own.statements.iter().any(|(name, _)| name == kind) {
            let known: Vec<&str> = own.statements.iter().map(|(name, _)| name.as_str()).collect();
            problems.of(
                &join("count", "kinds"),
                format!(
                    "`kinds`: `{}` is no statement of the file; it has {}",
                    printable(kind),
                    known.join(", ")
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_by_name() {
        let text = "-- my statements\n\n-- name: setup\ncreate table t (a int);\n\n-- name: one\nselect 1;\n-- a remark\n\n  -- name: two-rows\nselect a\nfrom t;\n";
        let own = OwnStatements::parse(text).unwrap();
        assert_eq!(own.setup, "create table t (a int)");
        assert_eq!(
            own.statements,
            [
                ("one".to_owned(), "select 1;\n-- a remark".to_owned()),
                ("two-rows".to_owned(), "select a\nfrom t".to_owned()),
            ]
        );
    }

    #[test]
    fn what_is_no_file_of_statements() {
        for (text, message) in [
            ("", "no statement to count; begin each with a line `-- name: NAME`"),
            ("select 1;", "line 1: a statement before the first `-- name: …`; give it a name"),
            ("-- name: a\n;\n", "`a` has no statement"),
            ("-- name: a\nx\n-- name: a\ny", "line 3: `a` stands a second time"),
            (
                "-- name: a b\nx",
                "line 1: `a b` is no name of a statement; expected letters, digits, `_`, `-` and `.`",
            ),
            ("-- name: setup\nx", "no statement to count; begin each with a line `-- name: NAME`"),
        ] {
            assert_eq!(OwnStatements::parse(text).unwrap_err(), message);
        }
    }
}
