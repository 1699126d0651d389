//! Splits SQL into statements, and finds their names and `{parameters}`. Reads no more of it.

use trace::Syntax;

/// The statements of a text, without their semicolons.
///
/// # Errors
/// A sentence with the line: a string or comment that does not end, a command of psql.
pub fn split(text: &str, syntax: Syntax) -> Result<Vec<String>, String> {
    let found = statements(text, syntax).map_err(|(line, it)| format!("line {line}: {it}"))?;
    Ok(found.iter().map(Found::whole).collect())
}

/// A part of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// Text that is sent as it is.
    Text(&'t str),
    /// The name in a `{parameter}`.
    Parameter(&'t str),
}

/// A statement of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found<'t> {
    /// The name in the comment `-- name: X` before it, if there is one.
    pub(super) name: Option<&'t str>,
    /// The number of its first line, from 1.
    pub(super) line: usize,
    /// Its text, without the semicolon and without what comes before its first word.
    pub(super) pieces: Vec<Piece<'t>>,
    /// Its first words in small letters, as many as matter.
    pub(super) words: Vec<String>,
}

impl Found<'_> {
    /// The text as it was written.
    fn whole(&self) -> String {
        let part = |piece: &Piece<'_>| match piece {
            Piece::Text(text) => (*text).to_owned(),
            Piece::Parameter(name) => format!("{{{name}}}"),
        };
        self.pieces.iter().map(part).collect()
    }
}

/// Words of a statement that are looked at.
const WORDS: usize = 64;

/// A mistake, with its line.
pub(super) type Mistake = (usize, String);

/// The kinds of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'t> {
    Blank,
    /// A comment of one line.
    Line(&'t str),
    Comment,
    Word,
    Semicolon,
    Parameter(&'t str),
    /// A backslash outside strings, as in the commands of psql.
    Backslash,
    Other,
}

/// The statements of a text, in their order.
///
/// # Errors
/// A string or comment that does not end, a `-- name:` without a name or without a statement, or
/// a command of psql.
pub(super) fn statements(text: &str, syntax: Syntax) -> Result<Vec<Found<'_>>, Mistake> {
    let mut found: Vec<Found<'_>> = Vec::new();
    let mut open: Option<(Found<'_>, usize)> = None;
    let mut named: Option<(&str, usize)> = None;
    let (mut at, mut line) = (0, 1);
    while at < text.len() {
        let (token, length) =
            token(&text[at..], syntax).map_err(|what| (line, format!("{what} does not end")))?;
        let source = &text[at..at + length];
        let starts_line = text[..at].rsplit('\n').next().is_none_or(|it| it.trim().is_empty());
        match token {
            Token::Line(comment) if name_of(comment).is_some() && starts_line => {
                let name = name_of(comment).unwrap_or_default();
                end(&mut open, &mut found);
                if let Some((unused, line)) = named.replace((name, line)) {
                    return Err((line, format!("no statement follows `-- name: {unused}`")));
                }
                if name.is_empty() {
                    return Err((line, "expected a name after `-- name:`".to_owned()));
                }
            }
            Token::Semicolon => end(&mut open, &mut found),
            Token::Blank | Token::Line(_) | Token::Comment if open.is_none() => {}
            Token::Backslash => {
                let text = "found a backslash outside strings: commands of psql do not work here";
                return Err((line, text.to_owned()));
            }
            token => {
                let (statement, end) = open.get_or_insert_with(|| {
                    let name = named.take().map(|(name, _)| name);
                    (Found { name, line, pieces: Vec::new(), words: Vec::new() }, at)
                });
                match token {
                    Token::Parameter(name) => {
                        statement.text(&text[*end..at]);
                        statement.pieces.push(Piece::Parameter(name));
                        *end = at + length;
                    }
                    Token::Word if statement.words.len() < WORDS => {
                        statement.words.push(source.to_ascii_lowercase());
                    }
                    _ => {}
                }
                if !matches!(token, Token::Blank | Token::Line(_) | Token::Comment) {
                    statement.text(&text[*end..at + length]);
                    *end = at + length;
                }
            }
        }
        line += source.matches('\n').count();
        at += length;
    }
    end(&mut open, &mut found);
    match named {
        Some((name, line)) => Err((line, format!("no statement follows `-- name: {name}`"))),
        None => Ok(found),
    }
}

fn end<'t>(open: &mut Option<(Found<'t>, usize)>, found: &mut Vec<Found<'t>>) {
    found.extend(open.take().map(|(statement, _)| statement));
}

impl<'t> Found<'t> {
    /// Adds text, which follows the text before it in the file.
    fn text(&mut self, more: &'t str) {
        if !more.is_empty() {
            self.pieces.push(Piece::Text(more));
        }
    }
}

/// The name in a comment `-- name: X`.
fn name_of(comment: &str) -> Option<&str> {
    let rest = comment.strip_prefix("--")?.trim_start();
    Some(rest.strip_prefix("name:")?.trim())
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The length of the beginning of a text whose characters are all `fit`.
fn span(text: &str, fit: impl Fn(char) -> bool) -> usize {
    text.find(|c| !fit(c)).unwrap_or(text.len())
}

/// The first token of a text, and its length. The error names what does not end.
fn token(text: &str, syntax: Syntax) -> Result<(Token<'_>, usize), &'static str> {
    let mut letters = text.chars();
    let (Some(first), second) = (letters.next(), letters.next()) else {
        return Ok((Token::Blank, 0));
    };
    let dollars = syntax == Syntax::Dollars;
    let ends_comment = |at: usize| text[at..].chars().next().is_none_or(char::is_whitespace);
    let line = || {
        let length = span(text, |c| c != '\n');
        Ok((Token::Line(&text[..length]), length))
    };
    match (first, second) {
        ('-', Some('-')) if dollars || ends_comment(2) => line(),
        ('#', _) if !dollars => line(),
        ('/', Some('*')) => {
            comment(text, dollars).ok_or("a comment").map(|it| (Token::Comment, it))
        }
        ('\'', _) => string(text, '\'', !dollars),
        ('"', _) => string(text, '"', !dollars),
        ('`', _) if !dollars => string(text, '`', false),
        ('e' | 'E', Some('\'')) if dollars => {
            string(&text[1..], '\'', true).map(|(token, length)| (token, length + 1))
        }
        ('$', _) if dollars && tag(text).is_some() => {
            let tag = tag(text).unwrap_or_default();
            let rest = &text[tag.len()..];
            let end = rest.find(tag).ok_or("a string between dollars")?;
            Ok((Token::Other, 2 * tag.len() + end))
        }
        (';', _) => Ok((Token::Semicolon, 1)),
        ('\\', _) => Ok((Token::Backslash, 1)),
        ('{', _) => {
            let length = span(&text[1..], |c| c.is_ascii_alphanumeric() || c == '_');
            let (name, rest) = text[1..].split_at(length);
            match name.starts_with(is_name_start) && rest.starts_with('}') {
                true => Ok((Token::Parameter(name), length + 2)),
                false => Ok((Token::Other, 1)),
            }
        }
        (c, _) if c.is_whitespace() => Ok((Token::Blank, span(text, char::is_whitespace))),
        (c, _) if is_name_start(c) => Ok((Token::Word, span(text, is_name))),
        // A number, and the name that some run into it.
        (c, _) if c.is_ascii_digit() => Ok((Token::Other, span(text, is_name))),
        (c, _) => Ok((Token::Other, c.len_utf8())),
    }
}

/// A string between quotes, in which a doubled quote is one.
fn string(text: &str, quote: char, escapes: bool) -> Result<(Token<'_>, usize), &'static str> {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && escapes {
            letters.next();
        } else if letter == quote && letters.next_if(|(_, next)| *next == quote).is_none() {
            return Ok((Token::Other, at + 1));
        }
    }
    Err(if quote == '\'' { "a string" } else { "a name in quotes" })
}

/// The length of a comment, which may hold others if they are `nested`.
fn comment(text: &str, nested: bool) -> Option<usize> {
    let (mut at, mut depth) = (2, 1);
    while depth > 0 {
        let rest = &text[at..];
        let end = rest.find("*/")?;
        match rest.find("/*").filter(|begin| nested && *begin < end) {
            Some(begin) => (at, depth) = (at + begin + 2, depth + 1),
            None => (at, depth) = (at + end + 2, depth - 1),
        }
    }
    Some(at)
}

/// The `$tag$` that a text begins with.
fn tag(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('$')?;
    let length = span(rest, |c| is_name(c) && c != '$');
    let named = rest.starts_with(is_name_start) || length == 0;
    (named && rest[length..].starts_with('$')).then(|| &text[..length + 2])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str, syntax: Syntax) -> Vec<(Option<String>, String)> {
        let found = statements(text, syntax).unwrap();
        found.iter().map(|it| (it.name.map(str::to_owned), it.whole())).collect()
    }

    fn plain(text: &str, syntax: Syntax) -> Vec<String> {
        texts(text, syntax).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn semicolons_in_strings_and_comments_end_nothing() {
        let text = "-- one; two\nSELECT ';', \"a;b\" /* ; /* ; */ ; */ FROM t -- ;\n; ;\n\
                    SELECT $$;$$, $a$ ; $$ ; $a$, E'\\';', 1";
        assert_eq!(
            plain(text, Syntax::Dollars),
            [
                "SELECT ';', \"a;b\" /* ; /* ; */ ; */ FROM t",
                "SELECT $$;$$, $a$ ; $$ ; $a$, E'\\';', 1",
            ]
        );
        let text = "# one; two\nSELECT 'it\\';', `a;b`, 5--1, \"\\\";\" /* ; */ ; SELECT 2 -- ;";
        assert_eq!(
            plain(text, Syntax::Backslashes),
            ["SELECT 'it\\';', `a;b`, 5--1, \"\\\";\"", "SELECT 2"]
        );
        assert_eq!(plain("SELECT '\\'; SELECT 2", Syntax::Dollars).len(), 2);
        assert_eq!(plain("SELECT 'it''s; ', $1, a$b$; x", Syntax::Dollars).len(), 2);
        assert_eq!(plain("", Syntax::Dollars), [""; 0]);
        assert_eq!(plain(" -- nothing\n/**/;", Syntax::Dollars), [""; 0]);
    }

    #[test]
    fn sections_have_names() {
        let text = "-- a file\n-- name: a\nSELECT 1;\n\n  --name: b-2  \n-- more\nSELECT '\n-- name: c\n';";
        let (a, b) = (Some("a".to_owned()), Some("b-2".to_owned()));
        let expected = [(a, "SELECT 1".to_owned()), (b, "SELECT '\n-- name: c\n'".to_owned())];
        assert_eq!(texts(text, Syntax::Dollars), expected);
        // Without a semicolon, the next name ends a statement; behind one, nothing is a name.
        let text = "-- name: a\nSELECT 1 -- name: x\n-- name: b\nSELECT 2";
        assert_eq!(plain(text, Syntax::Dollars), ["SELECT 1", "SELECT 2"]);
        for (text, line, message) in [
            ("-- name: a\n\n-- name: b\nSELECT 1", 1, "no statement follows `-- name: a`"),
            ("SELECT 1;\n-- name: a", 2, "no statement follows `-- name: a`"),
            ("-- name:\nSELECT 1", 1, "expected a name after"),
            ("SELECT 1;\nSELECT 'a\n", 2, "a string does not end"),
            ("SELECT /* /* */", 1, "a comment does not end"),
            ("SELECT $x$ $$", 1, "a string between dollars does not end"),
            ("\\copy t from 'x'", 1, "commands of psql"),
        ] {
            let (found, said) = statements(text, Syntax::Dollars).unwrap_err();
            assert!(found == line && said.contains(message), "{text}: {found}: {said}");
        }
    }

    #[test]
    fn parameters_are_outside_strings() {
        let text = "SELECT '{a}', x[1] FROM t WHERE b = {b_1} AND c IN ({c},{b_1}) -- {d}\n";
        let found = statements(text, Syntax::Dollars).unwrap();
        let names: Vec<_> = found[0]
            .pieces
            .iter()
            .filter_map(|piece| if let Piece::Parameter(name) = piece { Some(*name) } else { None })
            .collect();
        assert_eq!(names, ["b_1", "c", "b_1"]);
        assert_eq!(found[0].words[..3], ["select", "x", "from"]);
        assert!(plain("SELECT {1}, { a }, {d '2020-01-01'}", Syntax::Dollars)[0].ends_with("}"));
    }

    /// A string, comment or name that may hold anything.
    fn held(syntax: Syntax) -> impl Strategy<Value = String> {
        "[a-z;'\"\\\\ $\\-\\{\\}é]{0,12}".prop_flat_map(move |inside| {
            let doubled = inside.replace('\'', "''").replace('"', "\"\"");
            let escaped = doubled.replace('\\', "\\\\");
            let mut all = vec![format!("/*{}*/", inside.replace(['*', '/'], ""))];
            all.push(format!("-- x{inside}\n"));
            match syntax {
                Syntax::Dollars => all.extend([
                    format!("'{doubled}'"),
                    format!("\"{doubled}\""),
                    format!("$q${inside}$q$"),
                    format!("E'{escaped}'"),
                ]),
                Syntax::Backslashes => all.extend([
                    format!("'{escaped}'"),
                    format!("\"{escaped}\""),
                    format!("`{}`", inside.replace('`', "")),
                    format!("# {inside}\n"),
                ]),
            }
            prop::sample::select(all)
        })
    }

    fn any_syntax() -> impl Strategy<Value = Syntax> {
        prop::sample::select(vec![Syntax::Dollars, Syntax::Backslashes])
    }

    proptest! {
        #[test]
        fn as_many_statements_are_found_as_were_written(
            (syntax, written) in any_syntax().prop_flat_map(|syntax| {
                let statement = prop::collection::vec(held(syntax), 0..4);
                (Just(syntax), prop::collection::vec((statement, any::<bool>()), 1..5))
            }),
        ) {
            let mut text = String::new();
            for (place, (parts, named)) in written.iter().enumerate() {
                if *named {
                    text.push_str(&format!("\n-- name: q{place}\n"));
                }
                text.push_str(&format!("SELECT {}\n;\n", parts.join(" , ")));
            }
            let found = statements(&text, syntax).unwrap();
            prop_assert_eq!(found.len(), written.len(), "{}", text);
            for (place, (found, (_, named))) in found.iter().zip(&written).enumerate() {
                let name = format!("q{place}");
                prop_assert_eq!(found.name, named.then_some(name.as_str()));
                prop_assert_eq!(&found.words[0], "select");
            }
        }

        #[test]
        fn any_text_is_read_or_refused(
            text in "([a-zA-Z0-9;'\"`\\\\ $\\-#/*\\{\\}\né]|-- name: |\\$\\$|E'){0,40}",
            syntax in any_syntax(),
        ) {
            if let Ok(found) = statements(&text, syntax) {
                // All that was found stands in the text, in its order.
                let mut rest = text.as_str();
                for piece in found.iter().flat_map(|statement| &statement.pieces) {
                    let (Piece::Text(part) | Piece::Parameter(part)) = piece;
                    let at = rest.find(part);
                    prop_assert!(at.is_some(), "{:?} of {:?}", part, text);
                    rest = &rest[at.unwrap_or_default() + part.len()..];
                }
            }
        }
    }
}
