//! Problems of a plan, with their positions.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use serde::Serialize;

use crate::value::toml;

/// Why a plan cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The file of the plan could not be read.
    #[error(
        "cannot read the plan {path}: {source}; give the path of a TOML file (docs/plans.md shows one)"
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The plan was read but is invalid. Displayed with one line per problem.
    #[error("{}", lines(problems))]
    Invalid {
        /// The problems, in the order of the text; never empty.
        problems: Vec<Problem>,
    },
}

impl PlanError {
    /// The problems of an invalid plan; empty when it could not be read at all.
    pub fn problems(&self) -> &[Problem] {
        match self {
            PlanError::Read { .. } => &[],
            PlanError::Invalid { problems } => problems,
        }
    }
}

fn lines(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
    lines.join("\n")
}

/// One thing wrong with a plan: `plans/x.toml:12:3: unknown key …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where the plan came from: a path or a phrase such as `command line`.
    pub origin: String,
    /// Line and column (in characters), both from 1; `None` when no text belongs to it. The message
    /// about an option begins with the option.
    pub place: Option<(usize, usize)>,
    /// The message: what was found, what was expected, what to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Collects problems while a plan is read and checked.
pub(crate) struct Problems<'t> {
    pub(crate) text: &'t str,
    origin: &'t str,
    /// True if the text was generated, so places in it mean nothing.
    pub(crate) generated: bool,
    /// Where the keys of each option end; they come after the text.
    pub(crate) options: Vec<(usize, String)>,
    /// Paths of keys with the values, as TOML, that make the plan complete without its folder.
    pub(crate) found_beside: Vec<(Vec<String>, String)>,
    /// Position of a key's value, by its path, such as `workload.insert.rows`.
    places: HashMap<String, Range<usize>>,
    found: Vec<(Option<usize>, Problem)>,
    /// Paths of keys whose value could not be understood; checks that build on them would only add
    /// noise.
    unread: HashSet<String>,
}

impl<'t> Problems<'t> {
    pub(crate) fn new(text: &'t str, origin: &'t str) -> Self {
        Problems {
            text,
            origin,
            generated: false,
            options: Vec::new(),
            found_beside: Vec::new(),
            places: HashMap::new(),
            found: Vec::new(),
            unread: HashSet::new(),
        }
    }

    /// Remembers that the value of this key could not be understood, which is already reported.
    pub(crate) fn mark_unread(&mut self, path: &str) {
        self.unread.insert(path.to_owned());
    }

    /// True if the value of this key could not be understood.
    pub(crate) fn is_unread(&self, path: &str) -> bool {
        self.unread.contains(path)
    }

    /// Remembers the position of the key at this path.
    pub(crate) fn place(&mut self, path: String, span: Range<usize>) {
        self.places.insert(path, span);
    }

    /// True if the list of steps has one written like this.
    pub(crate) fn names_step(&self, name: &str) -> bool {
        self.places.contains_key(&format!("steps.{name}"))
    }

    /// True if the key at this path comes from an option.
    pub(crate) fn is_option(&self, path: &str) -> bool {
        self.places.get(path).is_some_and(|span| span.start > self.text.len())
    }

    /// Remembers a value, if there is one, that makes the plan complete without its folder.
    pub(crate) fn complete(&mut self, path: &[&str], value: &impl Serialize) {
        let path = path.iter().map(ToString::to_string).collect();
        self.found_beside.extend(toml(value).map(|value| (path, value.to_string())));
    }

    /// Adds a problem at a span of the text, or of an option.
    pub(crate) fn at(&mut self, span: Range<usize>, message: impl Into<String>) {
        let message = message.into();
        let of_option = |(end, _): &&(usize, String)| span.start < *end;
        if span.start > self.text.len()
            && let Some((_, option)) = self.options.iter().find(of_option)
        {
            let message = format!("`{option}`: {message}");
            self.push(Some(span.start), None, message);
        } else if self.generated {
            self.push(None, None, message);
        } else {
            let place = line_and_column(self.text, span.start);
            self.push(Some(span.start), Some(place), message);
        }
    }

    /// Adds a problem of a key, by its path; when the text lacks the key, the nearest table around
    /// it is named.
    pub(crate) fn of(&mut self, path: &str, message: impl Into<String>) {
        let mut prefix = path;
        loop {
            if let Some(span) = self.places.get(prefix).cloned() {
                return self.at(span, message);
            }
            match prefix.rfind('.') {
                Some(dot) => prefix = &prefix[..dot],
                None => return self.push(None, None, message.into()),
            }
        }
    }

    fn push(&mut self, start: Option<usize>, place: Option<(usize, usize)>, message: String) {
        let problem = Problem { origin: self.origin.to_owned(), place, message };
        if !self.found.iter().any(|(_, known)| *known == problem) {
            self.found.push((start, problem));
        }
    }

    /// `Ok` when nothing was found.
    pub(crate) fn finish(self) -> Result<(), PlanError> {
        if self.found.is_empty() { Ok(()) } else { Err(self.error()) }
    }

    /// The problems found, as an error.
    pub(crate) fn error(mut self) -> PlanError {
        self.found.sort_by_key(|(start, _)| start.unwrap_or(usize::MAX));
        PlanError::Invalid { problems: self.found.into_iter().map(|(_, p)| p).collect() }
    }
}

fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_from_one() {
        assert_eq!(line_and_column("abc", 0), (1, 1));
        assert_eq!(line_and_column("é=1\nüb", 7), (2, 2));
        assert_eq!(line_and_column("a\n", 2), (2, 1));
        assert_eq!(line_and_column("é", 1), (1, 1));
        assert_eq!(line_and_column("a", 9), (1, 2));
    }
}
