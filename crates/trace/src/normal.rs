//! The normal form of a statement, which statements that differ only in their constants share.

use crate::tokens::{Kind, Syntax, tokens};

/// In place of a list of constants.
const LIST: &str = "(...)";

/// The normal form: constants are `?`, comments are gone, words without quotes are in small
/// letters, and white space is as good as none or one blank. The constants of `IN (…)`, and the
/// rows of `VALUES (…), (…)`, are `(...)`.
///
/// The names of savepoints, cursors and prepared statements, which applications generate, are `?`.
///
/// pg_stat_statements tells statements apart by their parse tree, which also knows the types of
/// names; this one only reads their text.
pub fn normal_form(text: &str, syntax: Syntax) -> String {
    let mut form = Form::default();
    for (kind, token) in tokens(text, syntax) {
        match kind {
            Kind::Gap => {}
            Kind::Word => form.push(&token.to_lowercase()),
            Kind::Name => form.push(token),
            Kind::Constant | Kind::Parameter => form.constant(),
            Kind::Symbol => form.push(token),
        }
    }
    while form.parts.last().is_some_and(|part| part == ";") {
        form.parts.pop();
    }
    // Also an empty statement has a form that can be seen.
    if form.parts.is_empty() {
        form.parts.push(";".to_owned());
    }
    for statement in form.parts.split_mut(|part| part == ";") {
        if let Some(name) = generated(statement).and_then(|place| statement.get_mut(place)) {
            "?".clone_into(name);
        }
    }
    form.finish()
}

/// The place of the name in a statement about a savepoint, a cursor or a prepared statement.
fn generated(statement: &[String]) -> Option<usize> {
    let word = |at: usize| statement.get(at).map_or("", String::as_str);
    // What may stand before the name, unless it is the name.
    let after = |at: usize, noise: &str| match word(at) == noise && !word(at + 1).is_empty() {
        true => at + 1,
        false => at,
    };
    let place = match (word(0), word(1)) {
        ("execute", "immediate") | ("prepare", "transaction") => return None,
        ("savepoint" | "declare" | "close" | "execute" | "prepare", _) => 1,
        ("release", _) => after(1, "savepoint"),
        ("deallocate", _) => after(1, "prepare"),
        ("rollback", "to") => after(2, "savepoint"),
        ("rollback", _) if word(2) == "to" => after(3, "savepoint"),
        ("fetch" | "move", _) => statement.len() - 1,
        _ => return None,
    };
    let is_name = |c: char| c.is_alphabetic() || "_@\"`".contains(c);
    (place > 0 && word(place) != "all" && word(place).starts_with(is_name)).then_some(place)
}

/// Words before which a sign belongs to a number, and after which a bracket has a blank.
const KEYWORDS: [&str; 36] = [
    "in",
    "values",
    "and",
    "or",
    "not",
    "as",
    "from",
    "where",
    "on",
    "exists",
    "any",
    "all",
    "some",
    "select",
    "set",
    "by",
    "over",
    "union",
    "except",
    "intersect",
    "when",
    "then",
    "else",
    "using",
    "join",
    "limit",
    "offset",
    "between",
    "like",
    "is",
    "case",
    "return",
    "with",
    "distinct",
    "having",
    "into",
];

#[derive(Default)]
struct Form {
    parts: Vec<String>,
}

impl Form {
    fn push(&mut self, part: &str) {
        self.parts.push(part.to_owned());
        if part == ")" {
            self.collapse();
        }
    }

    fn constant(&mut self) {
        // `= -5` and `(-5)`: the sign belongs to the constant.
        if let [.., before, sign] = &self.parts[..]
            && (sign == "-" || sign == "+")
            && (is_keyword(before) || before == "(" || before == "," || is_operator(before))
        {
            self.parts.pop();
        }
        self.parts.push("?".to_owned());
    }

    /// Puts [`LIST`] in place of a list of constants that just ended, if it is one of `IN` or
    /// `VALUES`.
    fn collapse(&mut self) {
        let Some(open) = self.parts.iter().rposition(|part| part == "(") else { return };
        let within = &self.parts[open + 1..self.parts.len() - 1];
        let constants = within.len() % 2 == 1
            && within.iter().enumerate().all(|(at, it)| it == if at % 2 == 0 { "?" } else { "," });
        let before = open.checked_sub(1).map_or("", |at| &self.parts[at]);
        let of_row = before == "," && open >= 2 && self.parts[open - 2] == LIST;
        if constants && (of_row || ["in", "values", "value"].contains(&before)) {
            self.parts.truncate(if of_row { open - 1 } else { open });
            if !of_row {
                self.parts.push(LIST.to_owned());
            }
        }
    }

    fn finish(self) -> String {
        let mut text = String::new();
        let mut last = "";
        for part in &self.parts {
            let tight = last.is_empty()
                || matches!(part.as_str(), "," | ")" | ";" | "." | "[" | "]" | "::")
                || matches!(last, "(" | "." | "[" | "::")
                || part == "(" && !is_keyword(last) && !is_operator(last) && last != ",";
            if !tight {
                text.push(' ');
            }
            text.push_str(part);
            last = part;
        }
        text
    }
}

fn is_keyword(part: &str) -> bool {
    KEYWORDS.contains(&part)
}

fn is_operator(part: &str) -> bool {
    part.starts_with(|c| "<>=!~|&+-*/%^".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn postgres(text: &str) -> String {
        normal_form(text, Syntax::Dollars)
    }

    #[test]
    fn what_differs_only_in_constants_is_the_same() {
        for (form, texts) in [
            (
                "select c from sbtest1 where id = ?",
                &[
                    "SELECT c FROM sbtest1 WHERE id=17",
                    "select c\n from sbtest1 where id = -5;",
                    "SELECT c FROM sbtest1 /* x */ WHERE id = $1 -- y",
                ][..],
            ),
            (
                "select * from t where a in (...)",
                &["SELECT * FROM t WHERE a IN (1,2,  3)", "select * from t where a in ('x')"],
            ),
            (
                "insert into t (a, b) values (...)",
                &[
                    "INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'y')",
                    "insert into t(a,b) values(1,2)",
                ],
            ),
            (
                "select f(?, ?), a - ? from t",
                &["SELECT f(1, 2), a - 1 FROM t", "SELECT f('a','b'), a-7 FROM t"],
            ),
            ("select a::int, t.b from \"T\"", &["SELECT a :: int, t . b FROM \"T\""]),
            ("insert into t values (?, now())", &["INSERT INTO t VALUES (1, now())"]),
        ] {
            for text in texts {
                assert_eq!(postgres(text), form.replace("t (a, b)", "t(a, b)"), "{text}");
            }
        }
        assert_eq!(normal_form("SELECT \"a\" FROM `T`", Syntax::Backslashes), "select ? from `T`");
    }

    #[test]
    fn generated_names_are_no_part_of_a_form() {
        for (text, form) in [
            ("SAVEPOINT \"s140372929054400_x1\";", "savepoint ?"),
            ("RELEASE SAVEPOINT s1", "release savepoint ?"),
            ("RELEASE s1", "release ?"),
            ("ROLLBACK TO savepoint; SELECT 1", "rollback to ?; select ?"),
            ("ROLLBACK WORK TO SAVEPOINT s1", "rollback work to savepoint ?"),
            ("DECLARE c1 NO SCROLL CURSOR FOR SELECT 1", "declare ? no scroll cursor for select ?"),
            ("FETCH FORWARD 2000 FROM \"_django_curs_1\"", "fetch forward ? from ?"),
            ("MOVE c1", "move ?"),
            ("CLOSE c1", "close ?"),
            ("CLOSE ALL", "close all"),
            ("DEALLOCATE PREPARE p1", "deallocate prepare ?"),
            ("DEALLOCATE ALL", "deallocate all"),
            ("PREPARE p1 (int) AS SELECT $1", "prepare ?(int) as select ?"),
            ("EXECUTE p1(5)", "execute ?(?)"),
            ("PREPARE TRANSACTION 'x'", "prepare transaction ?"),
            ("EXECUTE IMMEDIATE 'x'", "execute immediate ?"),
            ("ROLLBACK", "rollback"),
            ("FETCH", "fetch"),
            (" ;", ";"),
            ("-- nothing", ";"),
        ] {
            assert_eq!((postgres(text), postgres(form)), (form.to_owned(), form.to_owned()));
            let effects = |text: &str| crate::effects(text, Syntax::Dollars).block;
            assert_eq!(effects(text), effects(form), "{text}");
        }
    }

    #[test]
    fn what_differs_otherwise_is_not() {
        let different = [
            "SELECT a FROM t",
            "SELECT b FROM t",
            "SELECT a FROM t WHERE b = 1",
            "SELECT a FROM t WHERE b > 1",
            "SELECT a FROM \"T\"",
            "SELECT a FROM t LIMIT 1",
            "SELECT a, b FROM t",
            "SELECT ab FROM t",
        ];
        let forms: std::collections::BTreeSet<String> =
            different.iter().map(|it| postgres(it)).collect();
        assert_eq!(forms.len(), different.len());
    }
}
