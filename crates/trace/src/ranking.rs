//! The normal forms of a log's statements, by what they cost.

use std::collections::HashMap;

use crate::digest::Digest;
use crate::normal::normal_form;
use crate::statement::Statement;
use crate::tokens::{Kind, Syntax, tokens};

/// A normal form with the statements that have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// The normal form.
    pub text: String,
    /// How many statements have it.
    pub statements: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How long they took together, in microseconds, as far as the log says.
    pub took_us: u64,
}

/// Normal forms, in the order in which they were first seen.
#[derive(Debug)]
pub struct Ranking {
    syntax: Syntax,
    forms: Vec<Form>,
    places: HashMap<String, usize>,
}

impl Ranking {
    /// Of statements in this syntax.
    pub fn new(syntax: Syntax) -> Self {
        Ranking { syntax, forms: Vec::new(), places: HashMap::new() }
    }

    /// Counts a statement; returns the place of its form.
    pub fn add(&mut self, statement: &Statement) -> usize {
        let took_us = statement.took_us.unwrap_or(0);
        let text = normal_form(&statement.text, self.syntax);
        self.count(text, 1, u64::from(statement.failed), took_us)
    }

    /// Counts the statements of a digest; returns the place of their form.
    pub fn add_digest(&mut self, digest: &Digest) -> usize {
        let mut text = normal_form(&digest.text, self.syntax);
        if let Some(lacks) = digest.lacks {
            // Apart from those of the same form that can be sent.
            text = format!("{text} ({lacks})");
        }
        self.count(text, digest.calls, digest.failed, digest.took_us)
    }

    fn count(&mut self, text: String, statements: u64, failed: u64, took_us: u64) -> usize {
        let place = *self.places.entry(text).or_insert_with_key(|text| {
            self.forms.push(Form { text: text.clone(), statements: 0, failed: 0, took_us: 0 });
            self.forms.len() - 1
        });
        let form = &mut self.forms[place];
        form.statements = form.statements.saturating_add(statements);
        form.failed = form.failed.saturating_add(failed);
        form.took_us = form.took_us.saturating_add(took_us);
        place
    }

    /// The forms.
    pub fn forms(&self) -> &[Form] {
        &self.forms
    }

    /// The places of the forms: first those that took the longest together, then the most frequent.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.forms.len()).collect();
        let cost = |place: &usize| {
            let form = &self.forms[*place];
            (form.took_us, form.statements)
        };
        order.sort_by(|one, other| cost(other).cmp(&cost(one)).then(one.cmp(other)));
        order
    }
}

/// True for statements that send rows to the client or from it in bulk, which a log does not have:
/// `COPY … FROM STDIN` and `COPY … TO STDOUT`, `LOAD DATA LOCAL` and `LOAD XML LOCAL`, also as one
/// of several in a message.
pub fn moves_data(message: &str, syntax: Syntax) -> bool {
    let mut words: Vec<&str> = Vec::new();
    let moves = |words: &[&str]| {
        let is = |at: usize, wanted: &str| {
            words.get(at).is_some_and(|word| word.eq_ignore_ascii_case(wanted))
        };
        let stream = || (1..words.len()).any(|at| is(at, "stdin") || is(at, "stdout"));
        // LOW_PRIORITY or CONCURRENT may stand before LOCAL.
        let local = || (is(1, "data") || is(1, "xml")) && (is(2, "local") || is(3, "local"));
        is(0, "copy") && stream() || is(0, "load") && local()
    };
    for (kind, token) in tokens(message, syntax) {
        match kind {
            Kind::Word => words.push(token),
            Kind::Symbol if token == ";" => {
                if moves(&words) {
                    return true;
                }
                words.clear();
            }
            _ => {}
        }
    }
    moves(&words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(text: &str, took_us: u64) -> Statement {
        Statement { text: text.into(), took_us: Some(took_us), ..Statement::default() }
    }

    #[test]
    fn what_took_longest_comes_first() {
        let mut ranking = Ranking::new(Syntax::Dollars);
        let places: Vec<usize> = [("SELECT 1", 5), ("select  2", 6), ("UPDATE t SET a = 1", 100)]
            .map(|(text, took)| ranking.add(&logged(text, took)))
            .into();
        assert_eq!((places, ranking.order()), (vec![0, 0, 1], vec![1, 0]));
        assert_eq!((ranking.forms()[0].statements, ranking.forms()[0].took_us), (2, 11));
    }

    #[test]
    fn digests_that_lack_something_are_counted_apart() {
        let mut ranking = Ranking::new(Syntax::Dollars);
        let whole = Digest { text: "SELECT $1".into(), calls: 10, ..Digest::default() };
        let cut = Digest { lacks: Some("its text is cut"), calls: 5_000, ..whole.clone() };
        let places = [&whole, &cut, &whole].map(|digest| ranking.add_digest(digest));
        assert_eq!(places, [0, 1, 0]);
        assert_eq!(ranking.forms()[0].statements, 20);
        assert_eq!(ranking.forms()[1].text, "select ? (its text is cut)");
    }

    #[test]
    fn bulk_data_is_recognized() {
        let moves = |text: &str| moves_data(text, Syntax::Dollars);
        for text in [
            "COPY t FROM STDIN",
            "copy t (a) to stdout;",
            "BEGIN; COPY t FROM STDIN(FORMAT csv)",
            "/* app */ COPY (SELECT ';') TO STDOUT",
            "LOAD DATA LOCAL INFILE 'x'",
            "load xml concurrent local infile 'x'",
        ] {
            assert!(moves(text), "{text}");
        }
        for text in [
            "SELECT 'copy t from stdin'",
            "INSERT INTO log VALUES ('x; copy t from stdin')",
            "COPY t FROM '/x'",
            "LOAD DATA INFILE 'x'",
        ] {
            assert!(!moves(text), "{text}");
        }
    }
}
