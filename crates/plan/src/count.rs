//! `[count]`: which statements `steelyard count` counts, and on which data.

use std::path::Path;

use serde::Serialize;
use toml::de::DeTable;

use crate::beside::read_beside;
use crate::key::{Key, Keyed, write_keys};
use crate::kind::{Kind, boolean, choice, one_or_more, string, strings, whole};
use crate::problem::Problems;
use crate::section::{Section, join, printable};

/// Rows in the table when the plan does not say. PostgreSQL's ANALYZE samples 300 rows for each of
/// the default 100 buckets (`src/backend/commands/analyze.c`, `std_typanalyze`): up to 30,000 rows
/// it reads them all, and statistics, and so plans, are the same each time.
pub const DEFAULT_COUNT_ROWS: u64 = 20_000;
/// The prefix of a statement's name in a file of statements.
const NAME: &str = "-- name:";
/// Name of the block that creates what the others use.
const SETUP: &str = "setup";

/// The statements and rows that `steelyard count` uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountPlan {
    /// Rows in the table before the first statement that is counted, > 0.
    pub rows: u64,
    /// Executions counted of each kind, after as many that are not; `None`: by the kind, fewer
    /// where a statement writes many rows.
    pub statements: Option<u32>,
    /// Protocols to count in, each once.
    pub protocols: Vec<Protocol>,
    /// Kinds to count, by name; empty: all.
    pub kinds: Vec<String>,
    /// Also simulates caches and branch prediction, and counts system calls.
    pub caches: bool,
    /// Name of the file of statements, as written in the plan.
    pub file: Option<String>,
    /// Its text; its statements replace those of the workload.
    pub file_text: Option<String>,
}

impl Default for CountPlan {
    fn default() -> Self {
        CountPlan {
            rows: DEFAULT_COUNT_ROWS,
            statements: None,
            protocols: vec![Protocol::Simple, Protocol::Prepared],
            kinds: Vec::new(),
            caches: false,
            file: None,
            file_text: None,
        }
    }
}

impl CountPlan {
    /// The statements of the file.
    pub fn own(&self) -> Option<OwnStatements> {
        OwnStatements::parse(self.file_text.as_ref()?).ok()
    }
}

impl Keyed for CountPlan {
    #[rustfmt::skip] // A table.
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            Key::whole("rows", &mut self.rows, 1..1 << 53).note("in the table at the start")
                .means("rows in the table, or keys, before the first counted execution. Up to 30000, ANALYZE reads them all, so statistics don't depend on chance"),
            Key::optional("statements", &mut self.statements, whole(6..1_000_001))
                .usual("10 to 50, by kind; 100 or 2000 calls").note("executions counted of each kind")
                .means("counted executions of each kind, after the same number of uncounted ones; at least 6, because the server replans a prepared statement five times"),
            Key::new("protocols", &mut self.protocols, protocols())
                .means("how statements are sent: as text, or parsed once and then bound; not for calls"),
            Key::new("kinds", &mut self.kinds, strings()).unless(&[""; 0]).usual("all")
                .means("which kinds, by name"),
            Key::new("caches", &mut self.caches, boolean()).unless(&false)
                .means("whether caches and branch prediction are simulated and system calls counted, too"),
            Key::optional("file", &mut self.file, string())
                .note("its text follows; the file is not read again")
                .means("a file of statements to use instead of the workload's, relative to the plan"),
            Key::optional("file_text", &mut self.file_text, string()).usual("that of `file`")
                .means("the statements"),
        ]
    }
}

/// How a request reaches the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// As text, parsed and planned each time.
    Simple,
    /// Parsed anew each time, then bound and executed.
    Extended,
    /// Parsed once, then bound and executed.
    Prepared,
    /// No statement, but a call of a library.
    #[serde(skip)]
    Call,
}

impl Protocol {
    /// Those of statements by their names in a plan.
    pub const NAMED: [(&str, Protocol); 2] =
        [("simple", Protocol::Simple), ("prepared", Protocol::Prepared)];

    /// The name in a plan.
    pub fn as_str(self) -> &'static str {
        match self {
            Protocol::Simple => "simple",
            Protocol::Extended => "extended",
            Protocol::Prepared => "prepared",
            Protocol::Call => "call",
        }
    }
}

/// Statements of the user's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnStatements {
    /// Creates the tables they use; may be empty.
    pub setup: String,
    /// Name and text of each, in order.
    pub statements: Vec<(String, String)>,
}

impl OwnStatements {
    /// Reads a file of statements: blocks, each of which begins with a line `-- name: NAME`. The
    /// one called `setup` is executed once, before the others are counted.
    ///
    /// # Errors
    /// Describes the problem in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut blocks: Vec<(String, String)> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if let Some(name) = line.trim().strip_prefix(NAME) {
                let name = name.trim();
                let fit = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
                if name.is_empty() || !name.chars().all(fit) {
                    return Err(format!(
                        "line {}: `{}` is not a valid name of a statement; expected letters, digits, `_`, `-` and `.`",
                        number + 1,
                        printable(name)
                    ));
                }
                if blocks.iter().any(|(known, _)| known == name) {
                    return Err(format!("line {}: `{name}` appears twice", number + 1));
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
        let mut own = OwnStatements::default();
        for (name, block) in blocks {
            let block = block.trim().trim_end_matches(';').trim_end().to_owned();
            if block.is_empty() {
                return Err(format!("`{name}` has no statements"));
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
    let mut section = Section::new(table, "count");
    let mut count = CountPlan::default();
    section.keys(p, count.keys());
    section.finish(p);
    if let (Some(file), None) = (&count.file, &count.file_text) {
        count.file_text = read_beside(p, folder, file, ("count.file", "file_text"));
        p.complete(&["count", "file_text"], &count.file_text);
    }
    if let Some(Err(message)) = count.file_text.as_deref().map(OwnStatements::parse) {
        p.of("count.file", format!("`file`: {message}"));
    }
    count
}

fn protocols() -> Kind<Vec<Protocol>> {
    one_or_more(choice(&Protocol::NAMED)).and_then(|found| match found.as_slice() {
        [] => Err("the list is empty; name \"simple\", \"prepared\" or both".to_owned()),
        [first, second] if first == second => Err(format!("\"{}\" appears twice", first.as_str())),
        [_, _, _, ..] => Err("name each protocol once".to_owned()),
        _ => Ok(found),
    })
}

/// Writes `[count]` where it differs from its defaults.
pub(crate) fn write_count(out: &mut String, count: &CountPlan) {
    if *count != CountPlan::default() {
        out.push_str("\n[count] # what `steelyard count` counts\n");
        write_keys(out, &mut count.clone());
    }
}

/// Reports kinds that are requested but missing from the user's file of statements.
pub(crate) fn check_count(count: &CountPlan, problems: &mut Problems) {
    let Some(own) = count.own() else { return };
    for kind in &count.kinds {
        if !own.statements.iter().any(|(name, _)| name == kind) {
            let known: Vec<&str> = own.statements.iter().map(|(name, _)| name.as_str()).collect();
            problems.of(
                &join("count", "kinds"),
                format!(
                    "`kinds`: `{}` is not a statement in the file, which has {}",
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
            ("-- name: a\n;\n", "`a` has no statements"),
            ("-- name: a\nx\n-- name: a\ny", "line 3: `a` appears twice"),
            (
                "-- name: a b\nx",
                "line 1: `a b` is not a valid name of a statement; expected letters, digits, `_`, `-` and `.`",
            ),
            ("-- name: setup\nx", "no statement to count; begin each with a line `-- name: NAME`"),
        ] {
            assert_eq!(OwnStatements::parse(text).unwrap_err(), message);
        }
    }
}
