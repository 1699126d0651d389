//! Statements of a log as queries that can be asked again: a text of each form, with several values
//! if only its numbers differ.

use std::collections::HashMap;

use crate::statement::Statement;
use crate::tokens::{Kind, Syntax, tokens};

/// As many rows of values are kept of a form.
const ROWS: usize = 20;
/// The first words of a statement that reads.
const READ: [&str; 4] = ["select", "with", "values", "table"];
/// Words of statements that write, or lock what they read.
const WRITE: [&str; 7] = ["insert", "update", "delete", "merge", "replace", "into", "share"];

/// A query with the values it had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// Its text, with `{v1}`, `{v2}`, … for its numbers.
    pub text: String,
    /// Rows of different numbers, in the order in which they were first seen.
    pub rows: Vec<Vec<String>>,
}

/// The examples of a log's forms.
#[derive(Debug)]
pub struct Examples {
    syntax: Syntax,
    /// By the place of the form. `None` if a statement of it does more than read, or is no query.
    forms: HashMap<usize, Option<Example>>,
}

impl Examples {
    /// Of statements in this syntax.
    pub fn new(syntax: Syntax) -> Self {
        Examples { syntax, forms: HashMap::new() }
    }

    /// Adds a statement of the form at `place`, unless it failed. Those whose other values differ
    /// from the first one's are left out.
    pub fn add(&mut self, place: usize, statement: &Statement) {
        if statement.failed {
            return;
        }
        let known = self.forms.get_mut(&place);
        if let Some(Some(example)) = &known
            && example.rows.len() >= ROWS
        {
            return;
        }
        let found = example(&statement.text, self.syntax);
        match (known, found) {
            (None, found) => drop(self.forms.insert(place, found)),
            (Some(Some(known)), Some(mut found)) => {
                let row = found.rows.remove(0);
                if known.text == found.text && !known.rows.contains(&row) {
                    known.rows.push(row);
                }
            }
            _ => {}
        }
    }

    /// The example of the form at `place`; `None` if it is not one that only reads.
    pub fn of(&self, place: usize) -> Option<&Example> {
        self.forms.get(&place)?.as_ref()
    }
}

/// A statement as an example with its own numbers; `None` if it is none, more than one, or not one
/// that only reads.
fn example(text: &str, syntax: Syntax) -> Option<Example> {
    let mut example = Example { text: String::new(), rows: vec![Vec::new()] };
    let (mut first, mut ended) = (true, false);
    for (kind, token) in tokens(text, syntax) {
        let word = token.to_ascii_lowercase();
        match kind {
            // A comment to the end of its line; `-- name: …` would mean something.
            Kind::Gap if !token.starts_with("/*") && !token.trim().is_empty() => {}
            Kind::Gap => example.text.push_str(token),
            Kind::Symbol if token == ";" => ended = true,
            // More than one statement, or a parameter without a value.
            _ if ended || kind == Kind::Parameter => return None,
            // `{name}` stands for a value.
            _ if kind != Kind::Constant && token.contains(['{', '}']) => return None,
            Kind::Word if first && !READ.contains(&word.as_str()) => return None,
            Kind::Word if WRITE.contains(&word.as_str()) => return None,
            Kind::Constant if is_plain(token) => {
                example.rows[0].push(token.to_owned());
                example.text.push_str(&format!("{{v{}}}", example.rows[0].len()));
            }
            _ => example.text.push_str(token),
        }
        first &= kind != Kind::Word;
    }
    example.text.truncate(example.text.trim_end().len());
    (!first).then_some(example)
}

/// True for a number of digits, with or without a point.
fn is_plain(constant: &str) -> bool {
    let digit = |c: char| c.is_ascii_digit();
    constant.starts_with(digit)
        && constant.ends_with(digit)
        && constant.chars().all(|c| digit(c) || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples(texts: &[&str], syntax: Syntax) -> Option<Example> {
        let mut all = Examples::new(syntax);
        for text in texts {
            all.add(0, &Statement { text: (*text).to_owned(), ..Statement::default() });
        }
        all.of(0).cloned()
    }

    #[test]
    fn numbers_become_values() {
        let texts = [
            "SELECT a FROM t -- name: x\n WHERE b > 17 AND c = '2020' LIMIT 1.5;",
            "SELECT a FROM t \n WHERE b > 3 AND c = '2020' LIMIT 10",
            "SELECT a FROM t \n WHERE b > 17 AND c = '2020' LIMIT 1.5",
            "SELECT a FROM t \n WHERE b > 5 AND c = '2021' LIMIT 10",
        ];
        let found = examples(&texts, Syntax::Dollars).unwrap();
        assert_eq!(found.text, "SELECT a FROM t \n WHERE b > {v1} AND c = '2020' LIMIT {v2}");
        assert_eq!(found.rows, [["17", "1.5"], ["3", "10"]]);
        let found = examples(&["(select 0x1F, -2, '{a}', \"b\")"], Syntax::Backslashes).unwrap();
        assert_eq!(
            (found.text.as_str(), &found.rows[..]),
            ("(select 0x1F, -{v1}, '{a}', \"b\")", &[vec!["2".to_owned()]][..])
        );
        let many: Vec<String> = (0..30).map(|n| format!("VALUES ({n})")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(examples(&many, Syntax::Dollars).unwrap().rows.len(), ROWS);
    }

    #[test]
    fn what_does_more_than_read_is_no_example() {
        for text in [
            "UPDATE t SET a = 1",
            "SELECT 1 FROM t FOR UPDATE",
            "SELECT 1; SELECT 2",
            "SELECT a INTO b FROM t",
            "WITH x AS (DELETE FROM t RETURNING a) SELECT * FROM x",
            "SELECT a FROM t WHERE b = $1",
            "SELECT {fn now()}",
            "BEGIN",
            "",
            "-- nothing",
        ] {
            assert_eq!(examples(&[text], Syntax::Dollars), None, "{text}");
        }
    }

    #[test]
    fn what_failed_does_not_count() {
        let mut all = Examples::new(Syntax::Dollars);
        all.add(
            3,
            &Statement { text: "SELECT 1".to_owned(), failed: true, ..Statement::default() },
        );
        assert_eq!(all.of(3), None);
    }
}
