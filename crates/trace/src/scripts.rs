//! The statements of a log, or of digests, as scripts in pgbench's language.

use std::collections::{BTreeMap, HashMap};

use crate::digest::Digest;
use crate::examples::{READS, ROWS, single};
use crate::statement::Statement;
use crate::tokens::{Kind, Syntax, tokens};

/// In scripts, in place of a value that the user has to fill in. The language has no such word, so
/// a script that has it can't run.
pub const FILL_IN: &str = "FILL_IN";
/// The first words of statements that are sent, besides those that only read. Others are about
/// transactions, the session or the server, or would succeed only once.
const SENT: [&str; 9] =
    ["insert", "update", "delete", "merge", "replace", "call", "do", "show", "explain"];
/// Why a form without a statement that succeeded is not sent.
const FAILED: &str = "each of them failed";
/// So many characters before a value say which one it is.
const SHOWN: usize = 50;

/// How to fill in values.
const ABOUT_BLANKS: &str = "-- A number goes after \\set, such as 17 or random(1, 1000). Write other values in quotes in place\n\
     -- of the :variable, and take its \\set out; also after words such as date or interval.\n";

/// A script in pgbench's language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Its text.
    pub text: String,
    /// It has so many statements, of which each transaction sends one.
    pub statements: usize,
    /// So many values are missing: [`FILL_IN`] stands in their place.
    pub blanks: usize,
}

/// The statements of forms, to be sent again.
#[derive(Debug)]
pub struct Scripts {
    syntax: Syntax,
    /// By the place of the form; or why it has none.
    forms: HashMap<usize, Result<Texts, String>>,
}

/// Different texts of a form, in the order in which they were first seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Texts {
    texts: Vec<String>,
    /// Values that are missing, by number: what is before them.
    blanks: BTreeMap<u32, String>,
}

impl Scripts {
    /// Of statements in this syntax.
    pub fn new(syntax: Syntax) -> Self {
        Scripts { syntax, forms: HashMap::new() }
    }

    /// Adds a statement of the form at `place`. Up to 20 different ones are kept.
    pub fn add(&mut self, place: usize, statement: &Statement) {
        if matches!(self.forms.get(&place), Some(Ok(known)) if known.texts.len() >= ROWS) {
            return;
        }
        let found = match statement.failed {
            true => Err(FAILED.to_owned()),
            false => texts(&statement.text, self.syntax, false),
        };
        self.keep(place, found);
    }

    /// Adds the statements of a digest of the form at `place`: the one that the server kept, or its
    /// text, whose values are then missing.
    pub fn add_digest(&mut self, place: usize, digest: &Digest) {
        let found = match (digest.lacks, &digest.sample) {
            (Some(lacks), _) => Err(lacks.to_owned()),
            _ if digest.failed > 0 && digest.failed >= digest.calls => Err(FAILED.to_owned()),
            // One that was prepared has marks too.
            (None, Some(sample)) => texts(sample, self.syntax, true),
            (None, None) if self.syntax == Syntax::Backslashes => {
                texts(&spelled(&digest.text), self.syntax, true)
            }
            (None, None) => texts(&digest.text, self.syntax, true),
        };
        self.keep(place, found);
    }

    fn keep(&mut self, place: usize, found: Result<Texts, String>) {
        match (self.forms.get_mut(&place), found) {
            (Some(Ok(known)), Ok(mut found)) => {
                // Texts with missing values would need different ones.
                let alike = known.blanks.is_empty() && found.blanks.is_empty();
                found.texts.retain(|text| alike && !known.texts.contains(text));
                known.texts.append(&mut found.texts);
                known.texts.truncate(ROWS);
            }
            (Some(Ok(_)), Err(_)) | (Some(Err(_)), Err(_)) => {}
            (_, found) => drop(self.forms.insert(place, found)),
        }
    }

    /// The script of the form at `place`, after these comments. Each transaction sends one of the
    /// statements that were kept, drawn at random.
    ///
    /// # Errors
    /// Why no statement of the form can be sent again.
    pub fn of(&self, place: usize, comments: &str) -> Result<Script, String> {
        let none = Err("there is no statement".to_owned());
        let Texts { texts, blanks } = self.forms.get(&place).cloned().unwrap_or(none)?;
        let mut text: String = comments.lines().map(|line| format!("-- {line}\n")).collect();
        if !blanks.is_empty() {
            text.push_str(ABOUT_BLANKS);
        }
        for (number, before) in &blanks {
            text.push_str(&format!("-- v{number}: {before} …\n\\set v{number} {FILL_IN}\n"));
        }
        match &texts[..] {
            [only] => text.push_str(&format!("{only};\n")),
            several => {
                text.push_str(&format!("\\set row random(1, {})\n", several.len()));
                for (row, one) in (1..).zip(several) {
                    let word = if row == 1 { "if" } else { "elif" };
                    text.push_str(&format!("\\{word} :row = {row}\n{one};\n"));
                }
                text.push_str("\\endif\n");
            }
        }
        Ok(Script { text, statements: texts.len(), blanks: blanks.len() })
    }
}

/// A statement as it stands in a script. With `marks`, marks in it stand for values that are
/// missing, which become variables.
fn texts(statement: &str, syntax: Syntax, marks: bool) -> Result<Texts, String> {
    let backslashes = syntax == Syntax::Backslashes;
    let all = single(statement, syntax).ok_or("it has several statements")?;
    let word = all.iter().find(|(kind, _)| *kind == Kind::Word).map_or("", |(_, word)| word);
    let lower = word.to_lowercase();
    if !READS.contains(&&*lower) && !SENT.contains(&&*lower) {
        return Err(format!("a mix sends no `{word}`"));
    }
    // PostgreSQL 9.6 and older mark values by `?`, newer ones by `$1`; there, it is an operator.
    let mark = backslashes || marks && !statement.contains('$');
    let (mut text, mut blanks) = (String::new(), BTreeMap::new());
    for (kind, token) in &all {
        match (kind, *token) {
            (Kind::Parameter, token) if mark || token.starts_with('$') => {
                if !marks {
                    return Err("its values are missing".to_owned());
                }
                if text.ends_with('@') {
                    return Err("it has variables, whose names are missing".to_owned());
                }
                let next = blanks.len() as u32 + 1;
                let number = token.trim_start_matches('$').parse().unwrap_or(next);
                blanks.entry(number).or_insert_with(|| end(&text));
                text.push_str(&format!(":v{number}"));
            }
            (Kind::Constant, token) if backslashes => text.push_str(&requoted(token)),
            // What follows is no variable.
            (Kind::Symbol, token) if token.ends_with(':') && token != "::" => {
                text.push_str(token);
                text.push(' ');
            }
            (_, token) => text.push_str(token),
        }
    }
    Ok(Texts { texts: vec![text.trim().to_owned()], blanks })
}

/// The text of a digest as a statement: one mark for each list of values, and no blank between the
/// name of a function and its bracket, where servers take none.
fn spelled(digest: &str) -> String {
    let digest = digest.replace("(...)", "(?)").replace("?, ...", "?");
    let all: Vec<_> = tokens(&digest, Syntax::Backslashes).collect();
    let parts = all.iter().enumerate().filter(|(at, (kind, _))| {
        let called = || all[..*at].last().is_some_and(|(before, _)| *before == Kind::Word);
        let opens = || all.get(at + 1).is_some_and(|(_, next)| *next == "(");
        !(*kind == Kind::Gap && called() && opens())
    });
    parts.map(|(_, (_, part))| *part).collect()
}

/// The end of a text, in one line.
fn end(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().rev().nth(SHOWN) {
        Some((at, _)) => {
            let whole = line[at..].split_once(' ').map_or(&line[at..], |(_, whole)| whole);
            format!("… {whole}")
        }
        None => line,
    }
}

/// A literal without a backslash before its own quotes, where the language of scripts sees its end.
fn requoted(literal: &str) -> String {
    let Some(quote) = literal.chars().next().filter(|it| "'\"".contains(*it)) else {
        return literal.to_owned();
    };
    let (mut text, mut rest) = (String::with_capacity(literal.len()), literal.chars());
    while let Some(c) = rest.next() {
        match (c, (c == '\\').then(|| rest.next()).flatten()) {
            (_, Some(next)) if next == quote => text.extend([quote, quote]),
            (c, Some(next)) => text.extend([c, next]),
            (c, None) => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(texts: &[&str], syntax: Syntax) -> Result<Script, String> {
        let mut all = Scripts::new(syntax);
        for text in texts {
            all.add(0, &Statement { text: (*text).to_owned(), ..Statement::default() });
        }
        all.of(0, "q1")
    }

    fn digest(text: &str, syntax: Syntax) -> Result<Script, String> {
        let mut all = Scripts::new(syntax);
        all.add_digest(0, &Digest { text: text.to_owned(), ..Digest::default() });
        all.of(0, "q1\nits comment")
    }

    #[test]
    fn one_of_several_statements_is_drawn() {
        let update = "UPDATE t SET a = 'x;' -- why\n WHERE b = 1;";
        let one = script(&[update, update], Syntax::Dollars).unwrap();
        assert_eq!(one.text, "-- q1\nUPDATE t SET a = 'x;' \n WHERE b = 1;\n");
        let two =
            script(&["INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"], Syntax::Dollars);
        let text = "-- q1\n\\set row random(1, 2)\n\\if :row = 1\nINSERT INTO t VALUES (1);\n\
                    \\elif :row = 2\nINSERT INTO t VALUES (2);\n\\endif\n";
        assert_eq!(two, Ok(Script { text: text.to_owned(), statements: 2, blanks: 0 }));
        let many: Vec<String> = (0..30).map(|n| format!("SELECT {n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(script(&many, Syntax::Dollars).unwrap().statements, ROWS);
    }

    #[test]
    fn missing_values_become_variables() {
        let text = "SELECT a FROM t\n WHERE b = $2 AND c ? $1 AND b <> $2 AND (d)[$3:$4]";
        let found = digest(text, Syntax::Dollars).unwrap();
        let first = "-- v1: SELECT a FROM t WHERE b = :v2 AND c ? …\n\\set v1 FILL_IN\n\
                     -- v2: SELECT a FROM t WHERE b = …\n\\set v2 FILL_IN\n";
        let begin = format!("-- q1\n-- its comment\n{ABOUT_BLANKS}{first}");
        assert!(found.text.starts_with(&begin), "{}", found.text);
        let end = "WHERE b = :v2 AND c ? :v1 AND b <> :v2 AND (d)[:v3: :v4];\n";
        assert!(found.text.ends_with(end), "{}", found.text);
        assert_eq!(found.blanks, 4);
        // As PostgreSQL 9.6 has it.
        let found = digest("SELECT ?::int", Syntax::Dollars).unwrap();
        assert!(found.text.ends_with("\nSELECT :v1::int;\n"), "{}", found.text);
        assert!(digest("SELECT @? := ?", Syntax::Backslashes).unwrap_err().contains("variables"));
        let text = "SELECT COUNT ( * ) FROM `t` WHERE `a` IN (...) AND `f` ( `b` , ?, ... )";
        let found = digest(text, Syntax::Backslashes).unwrap();
        let end = "SELECT COUNT( * ) FROM `t` WHERE `a` IN(:v1) AND `f` ( `b` , :v2 );\n";
        assert!(found.text.ends_with(end), "{}", found.text);
    }

    #[test]
    fn the_language_sees_where_literals_end() {
        let text = r#"SELECT 'it\'s', "a\"b", 'c\\', '\n\\\'', 17, x'1F', @a := 1"#;
        let found = script(&[text], Syntax::Backslashes).unwrap();
        let text = r#"SELECT 'it''s', "a""b", 'c\\', '\n\\''', 17, x'1F', @a := 1"#;
        assert_eq!(found.text, format!("-- q1\n{text};\n"));
        let found = script(&[r"SELECT E'it\'s', a[1:n], b::int"], Syntax::Dollars).unwrap();
        assert!(found.text.ends_with("SELECT E'it\\'s', a[1: n], b::int;\n"), "{}", found.text);
    }

    #[test]
    fn what_can_not_be_sent_is_told() {
        for (text, why) in [
            ("COMMIT", "a mix sends no `COMMIT`"),
            ("set work_mem = 1", "a mix sends no `set`"),
            ("DROP TABLE t", "a mix sends no `DROP`"),
            ("SELECT 1; SELECT 2", "it has several statements"),
            ("SELECT $1", "its values are missing"),
            ("", "a mix sends no ``"),
        ] {
            let told = script(&[text], Syntax::Dollars).unwrap_err();
            assert!(told.starts_with(why), "{text}: {told}");
        }
        let mut all = Scripts::new(Syntax::Dollars);
        let failed = |failed| Statement { text: "SELECT 1".into(), failed, ..Statement::default() };
        all.add(0, &failed(true));
        assert_eq!(all.of(0, ""), Err("each of them failed".to_owned()));
        all.add(0, &failed(false));
        assert!(all.of(0, "").is_ok());
        let digest = Digest { lacks: Some("its text is cut"), ..Digest::default() };
        all.add_digest(1, &digest);
        let failed = Digest { text: "SELECT 1".into(), calls: 2, failed: 2, ..Digest::default() };
        all.add_digest(2, &failed);
        assert_eq!(all.of(2, ""), Err("each of them failed".to_owned()));
        assert_eq!(all.of(1, ""), Err("its text is cut".to_owned()));
    }
}
