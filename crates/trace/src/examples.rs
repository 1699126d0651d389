//! Statements of a log as queries that can be asked again: a text of each form, with values it had.

use std::collections::HashMap;

use crate::statement::Statement;
use crate::tokens::{Kind, Syntax, tokens};

/// As many rows of values are kept of a form.
pub(crate) const ROWS: usize = 20;
/// The first words of statements that read.
pub const READS: [&str; 4] = ["select", "with", "values", "table"];
/// Words that write wherever they stand; followed by a bracket, they are functions.
const WRITES: [&str; 5] = ["insert", "update", "delete", "merge", "into"];

/// A query with the values it had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// Its text, with `{v1}`, `{v2}`, … for its values. What may be a value or not, such as a
    /// number in quotes, stays in the text.
    pub text: String,
    /// Different rows of values, in the order in which they were first seen. Text is without its
    /// quotes.
    pub rows: Vec<Vec<String>>,
}

/// The examples of a log's forms.
#[derive(Debug)]
pub struct Examples {
    syntax: Syntax,
    /// By the place of the form.
    forms: HashMap<usize, Example>,
}

impl Examples {
    /// Of statements in this syntax.
    pub fn new(syntax: Syntax) -> Self {
        Examples { syntax, forms: HashMap::new() }
    }

    /// Adds a statement of the form at `place`, unless it failed. Those are left out that differ
    /// from the first one in more than their values.
    pub fn add(&mut self, place: usize, statement: &Statement) {
        let known = self.forms.get_mut(&place);
        let full = |it: &Example| it.rows.len() >= ROWS || it.rows == [[""; 0]];
        if statement.failed || known.as_deref().is_some_and(full) {
            return;
        }
        match (known, example(statement, self.syntax)) {
            (None, Some(found)) => drop(self.forms.insert(place, found)),
            (Some(known), Some(mut found)) => {
                let row = found.rows.remove(0);
                if known.text == found.text && !known.rows.contains(&row) {
                    known.rows.push(row);
                }
            }
            (_, None) => {}
        }
    }

    /// The example of the form at `place`; `None` if no statement of it could be asked again: they
    /// write, failed, or lack values.
    pub fn of(&self, place: usize) -> Option<&Example> {
        self.forms.get(&place)
    }
}

/// A statement as an example with its own values; `None` if it is none, more than one, or not one
/// that only reads.
fn example(statement: &Statement, syntax: Syntax) -> Option<Example> {
    let text = statement.bound.as_ref().map_or(&statement.text, |bound| &bound.text);
    let mut example = Example { text: String::new(), rows: vec![Vec::new()] };
    let mut words = Vec::new();
    let mut all = single(text, syntax)?.into_iter().peekable();
    while let Some((kind, token)) = all.next() {
        let word = token.to_ascii_lowercase();
        let opens = all.peek().is_some_and(|(_, next)| *next == "(");
        match kind {
            Kind::Gap => example.text.push_str(token),
            // What another version may not execute.
            Kind::Symbol if token.starts_with("/*!") => return None,
            Kind::Parameter if token.starts_with('$') => {
                let number = token.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1)?;
                match statement.bound.as_ref()?.values.get(number)? {
                    Some(value) => example.value(value),
                    None => example.text.push_str("NULL"),
                }
            }
            Kind::Parameter if syntax == Syntax::Backslashes => return None,
            Kind::Constant => match value(token) {
                Some(value) => example.value(&value),
                None => example.text.push_str(token),
            },
            // `{name}` stands for a value.
            _ if token.contains(['{', '}']) => return None,
            Kind::Word if words.is_empty() && !READS.contains(&word.as_str()) => return None,
            Kind::Word if WRITES.contains(&word.as_str()) && !opens => return None,
            // `FOR SHARE`, `FOR KEY SHARE`.
            Kind::Word if word == "share" && words.iter().rev().take(2).any(|it| it == "for") => {
                return None;
            }
            _ => example.text.push_str(token),
        }
        if kind == Kind::Word {
            words.push(word);
        }
    }
    example.text.truncate(example.text.trim_end().len());
    (!words.is_empty()).then_some(example)
}

/// The tokens of the only statement of a text, without its semicolon and the comments to the end of
/// a line, which may mean something elsewhere (`-- name: …`); `None` if it has several.
pub(crate) fn single(text: &str, syntax: Syntax) -> Option<Vec<(Kind, &str)>> {
    let (mut found, mut ended) = (Vec::new(), false);
    for (kind, token) in tokens(text, syntax) {
        match kind {
            Kind::Gap if !token.starts_with("/*") && !token.trim().is_empty() => {}
            Kind::Symbol if token == ";" => ended = true,
            Kind::Gap => found.push((kind, token)),
            _ if ended => return None,
            _ => found.push((kind, token)),
        }
    }
    Some(found)
}

impl Example {
    /// It as files for `steelyard run queries`, with their names: its text after a comment, and its
    /// values, if it has any.
    pub fn files(&self, name: &str, comment: &str) -> Vec<(String, String)> {
        let mut files = vec![(format!("{name}.sql"), format!("-- {comment}\n{};\n", self.text))];
        let columns = self.rows.first().map_or(0, Vec::len);
        if columns > 0 {
            let header = (1..=columns).map(|column| format!("v{column}")).collect();
            let mut table = csv::Writer::from_writer(Vec::new());
            for row in [header].iter().chain(&self.rows) {
                // Writing to memory does not fail.
                let _ = table.write_record(row);
            }
            let table = table.into_inner().unwrap_or_default();
            files.push((format!("{name}.csv"), String::from_utf8_lossy(&table).into_owned()));
        }
        files
    }

    /// Adds a value to its only row.
    fn value(&mut self, value: &str) {
        self.rows[0].push(value.to_owned());
        self.text.push_str(&format!("{{v{}}}", self.rows[0].len()));
    }
}

/// The value of a constant, if it can be inserted as a value: numbers are inserted as they are,
/// anything else in quotes.
fn value(constant: &str) -> Option<String> {
    let digit = |c: char| c.is_ascii_digit();
    let number = constant.starts_with(digit)
        && constant.ends_with(digit)
        && constant.chars().all(|c| digit(c) || c == '.');
    if number {
        return Some(constant.to_owned());
    }
    let text = constant.strip_prefix('\'')?.strip_suffix('\'')?;
    let is_number = text.parse::<f64>().is_ok();
    (!is_number && !text.contains(['\\', '\0'])).then(|| text.replace("''", "'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::Bound;

    fn examples(texts: &[&str], syntax: Syntax) -> Option<Example> {
        let mut all = Examples::new(syntax);
        for text in texts {
            all.add(0, &Statement { text: (*text).to_owned(), ..Statement::default() });
        }
        all.of(0).cloned()
    }

    #[test]
    fn constants_become_values() {
        let texts = [
            "SELECT a FROM t -- name: x\n WHERE b > 17 AND c = 'it''s' AND d = '7' LIMIT 1.5;",
            "SELECT a FROM t \n WHERE b > 3 AND c = 'a,b' AND d = '7' LIMIT 10",
            "SELECT a FROM t \n WHERE b > 17 AND c = 'it''s' AND d = '7' LIMIT 1.5",
            "SELECT a FROM t \n WHERE b > 5 AND c = 'x' AND d = '8' LIMIT 10",
        ];
        let found = examples(&texts, Syntax::Dollars).unwrap();
        let text = "SELECT a FROM t \n WHERE b > {v1} AND c = {v2} AND d = '7' LIMIT {v3}";
        assert_eq!(found.text, text);
        assert_eq!(found.rows, [["17", "it's", "1.5"], ["3", "a,b", "10"]]);
        let files = found.files("q1", "twice");
        assert_eq!(files[0], ("q1.sql".to_owned(), format!("-- twice\n{text};\n")));
        let table = "v1,v2,v3\n17,it's,1.5\n3,\"a,b\",10\n";
        assert_eq!(files[1], ("q1.csv".to_owned(), table.to_owned()));
        let kept = r#"(select 0x1F, 'a\'b', "c", /*+ hint */ E)"#;
        let found = examples(&[kept], Syntax::Backslashes).unwrap();
        assert_eq!((found.text.as_str(), found.rows.len()), (kept, 1));
        let many: Vec<String> = (0..30).map(|n| format!("VALUES (-{n})")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let found = examples(&many, Syntax::Dollars).unwrap();
        assert_eq!((found.text.as_str(), found.rows.len()), ("VALUES (-{v1})", ROWS));
    }

    #[test]
    fn values_that_were_sent_apart_are_used() {
        let bound = |values: &[Option<&str>]| {
            let values = values.iter().map(|it| it.map(str::to_owned)).collect();
            let text = "SELECT a FROM t WHERE b = $2 AND c > $1 AND d ? 'k'".to_owned();
            let bound = Some(Bound { text, values, ..Bound::default() });
            Statement { bound, ..Statement::default() }
        };
        let mut all = Examples::new(Syntax::Dollars);
        // The first lacks a value.
        for values in [&[Some("1")][..], &[Some("1"), Some("x")], &[Some("2"), Some("7")]] {
            all.add(0, &bound(values));
        }
        let found = all.of(0).unwrap();
        assert_eq!(found.text, "SELECT a FROM t WHERE b = {v1} AND c > {v2} AND d ? {v3}");
        assert_eq!(found.rows, [["x", "1", "k"], ["7", "2", "k"]]);
        all.add(1, &bound(&[None, Some("2")]));
        assert!(all.of(1).unwrap().text.contains("c > NULL"));
    }

    #[test]
    fn what_does_more_than_read_is_no_example() {
        for text in [
            "UPDATE t SET a = 1",
            "SELECT 1 FROM t FOR UPDATE",
            "SELECT 1 FROM t FOR KEY SHARE",
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
        let executed = "SELECT /*!40001 SQL_NO_CACHE */ a FROM t";
        assert_eq!(examples(&[executed], Syntax::Backslashes), None);
        for text in ["SELECT replace(a, b, c), insert(a, b, c, d) FROM share", "TABLE t"] {
            assert!(examples(&[text], Syntax::Backslashes).is_some(), "{text}");
        }
    }

    #[test]
    fn what_failed_does_not_count() {
        let mut all = Examples::new(Syntax::Dollars);
        let text = "SELECT 1".to_owned();
        all.add(3, &Statement { text, failed: true, ..Statement::default() });
        assert_eq!(all.of(3), None);
    }
}
