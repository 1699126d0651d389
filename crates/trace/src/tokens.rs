//! Divides SQL into tokens, without reading more of it.

/// The rules by which SQL is divided into tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// The standard's, with `E'…'`, `$tag$…$tag$` and comments inside comments.
    Dollars,
    /// A backslash in a string protects the next character, also between double quotes; `#` begins
    /// a comment, two dashes only before a blank; names may stand between backticks.
    Backslashes,
}

/// A kind of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// White space and comments.
    Gap,
    /// Keywords and names without quotes.
    Word,
    /// Names in quotes.
    Name,
    /// A string or a number.
    Constant,
    /// `$1`, `?`.
    Parameter,
    /// Anything else: one character, or several of an operator.
    Symbol,
}

/// The tokens of a text. Together, they are the text.
pub(crate) fn tokens(text: &str, syntax: Syntax) -> impl Iterator<Item = (Kind, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (kind, length) = next(rest, syntax)?;
        let (token, after) = rest.split_at(length);
        rest = after;
        Some((kind, token))
    })
}

/// The kind of the first token and its length, at least one character.
fn next(text: &str, syntax: Syntax) -> Option<(Kind, usize)> {
    let backslashes = syntax == Syntax::Backslashes;
    let first = text.chars().next()?;
    let second = text[first.len_utf8()..].chars().next().unwrap_or(' ');
    let found = match first {
        _ if first.is_whitespace() => (Kind::Gap, run(text, char::is_whitespace)),
        '-' if second == '-'
            && (!backslashes || text[2..].chars().next().is_none_or(char::is_whitespace)) =>
        {
            (Kind::Gap, text.find('\n').unwrap_or(text.len()))
        }
        '#' if backslashes => (Kind::Gap, text.find('\n').unwrap_or(text.len())),
        '/' if second == '*' => comment(text, backslashes),
        '\'' => (Kind::Constant, quoted(text, '\'', backslashes)),
        '"' if backslashes => (Kind::Constant, quoted(text, '"', true)),
        '"' => (Kind::Name, quoted(text, '"', false)),
        '`' if backslashes => (Kind::Name, quoted(text, '`', false)),
        '$' if !backslashes && second.is_ascii_digit() => {
            (Kind::Parameter, 1 + run(&text[1..], |c| c.is_ascii_digit()))
        }
        '$' if !backslashes => dollars(text),
        '?' => (Kind::Parameter, 1),
        '0'..='9' => (Kind::Constant, number(text)),
        '.' if second.is_ascii_digit() => (Kind::Constant, number(text)),
        // Strings with a letter before: E'…', X'…', b'…', N'…'.
        'e' | 'E' | 'x' | 'X' | 'b' | 'B' | 'n' | 'N' if second == '\'' => {
            let backslashes = backslashes || matches!(first, 'e' | 'E');
            (Kind::Constant, 1 + quoted(&text[1..], '\'', backslashes))
        }
        _ if first.is_alphabetic() || first == '_' || first == '@' => {
            (Kind::Word, run(text, |c| c.is_alphanumeric() || "_$@".contains(c)))
        }
        _ if is_operator(first) => (Kind::Symbol, operator(text)),
        _ => (Kind::Symbol, first.len_utf8()),
    };
    Some((found.0, found.1.max(first.len_utf8())))
}

/// The length of the characters at the beginning that are alike.
fn run(text: &str, alike: impl Fn(char) -> bool) -> usize {
    text.find(|c| !alike(c)).unwrap_or(text.len())
}

fn is_operator(c: char) -> bool {
    "<>=!~|&+-*/%^:".contains(c)
}

/// The length of an operator, which does not go on into a comment or a sign.
fn operator(text: &str) -> usize {
    let length = run(text, is_operator);
    let end = ["--", "/*"].iter().filter_map(|it| text[1..length].find(it)).min();
    let length = end.map_or(length, |end| 1 + end);
    // `=-5`: the sign belongs to the number.
    match length > 1 && text[..length].ends_with(['-', '+']) {
        true => length - 1,
        false => length,
    }
}

/// The length of what begins with a quote, up to the end of an open one.
fn quoted(text: &str, quote: char, backslashes: bool) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && backslashes {
            chars.next();
        } else if c == quote {
            match chars.peek() {
                Some((_, next)) if *next == quote => {
                    chars.next();
                }
                _ => return at + quote.len_utf8(),
            }
        }
    }
    text.len()
}

/// `/* … */`. What is executed, `/*! … */`, is no comment: its beginning and end are symbols.
fn comment(text: &str, backslashes: bool) -> (Kind, usize) {
    if backslashes {
        if let Some(version) = text.strip_prefix("/*!") {
            return (Kind::Symbol, 3 + run(version, |c| c.is_ascii_digit()));
        }
        return (Kind::Gap, text[2..].find("*/").map_or(text.len(), |end| end + 4));
    }
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                break;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    (Kind::Gap, at)
}

/// `$tag$ … $tag$`, or a `$` alone.
fn dollars(text: &str) -> (Kind, usize) {
    let tag = 1 + run(&text[1..], |c| c.is_alphanumeric() || c == '_');
    if !text[tag..].starts_with('$') {
        return (Kind::Symbol, 1);
    }
    let (tag, rest) = text.split_at(tag + 1);
    (Kind::Constant, rest.find(tag).map_or(text.len(), |end| end + 2 * tag.len()))
}

/// `17`, `1.5e-3`, `0x1F`, `1_000`.
fn number(text: &str) -> usize {
    let length = run(text, |c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let signed = text[..length].ends_with(['e', 'E']) && text[length..].starts_with(['-', '+']);
    match signed && !hexadecimal {
        true => length + 1 + run(&text[length + 1..], |c| c.is_ascii_digit()),
        false => length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constants(text: &str, syntax: Syntax) -> Vec<&str> {
        let found = tokens(text, syntax).filter(|(kind, _)| *kind == Kind::Constant);
        found.map(|(_, token)| token).collect()
    }

    #[test]
    fn constants_of_both_systems() {
        let text = r#"a1 = 'it''s' AND b = E'x\'y' AND c > -1.5e-3 AND "d ""2" = $x$ '1' $x$ -- 9"#;
        let found = ["'it''s'", r"E'x\'y'", "1.5e-3", "$x$ '1' $x$"];
        assert_eq!(constants(text, Syntax::Dollars), found);
        let text =
            "`a 1` = 'x\\'y' AND b = \"q\"\"\" AND 0x1F -- 1\n# 2\n/* 3 */ /*!40001 SQL */ 4";
        let found = [r"'x\'y'", "\"q\"\"\"", "0x1F", "4"];
        assert_eq!(constants(text, Syntax::Backslashes), found);
    }

    #[test]
    fn a_text_is_its_tokens() {
        for text in ["SELECT 'open", "/* open /* */", "a--1", "x=-1", "$$", "ä'ö", "", "a->>'b'"]
        {
            for syntax in [Syntax::Dollars, Syntax::Backslashes] {
                let all: String = tokens(text, syntax).map(|(_, token)| token).collect();
                assert_eq!(all, text);
            }
        }
    }
}
