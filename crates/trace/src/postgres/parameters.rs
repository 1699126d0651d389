//! Parameters that PostgreSQL logs apart from their statement.

use crate::tokens::{Kind, Syntax, tokens};

/// The values in `parameters: $1 = 'it''s', $2 = NULL`; `None` stands for NULL.
pub(crate) fn values(detail: &str) -> Vec<Option<String>> {
    match detail.split_once(": ") {
        Some((word, list)) if word.eq_ignore_ascii_case("parameters") => listed(list).0,
        _ => Vec::new(),
    }
}

/// How the line in the context of an error begins that has all values of its statement.
const PORTALS: [&str; 2] = ["unnamed portal with", "portal \""];

/// The values in the context of an error: `unnamed portal with parameters: $1 = 'x'`, after lines
/// about functions; `None` if they are missing, or some are cut.
pub(crate) fn of_context(context: &str) -> Option<Vec<Option<String>>> {
    let lines = context.match_indices('\n').map(|(end, _)| end + 1);
    std::iter::once(0).chain(lines).find_map(|start| {
        let line = &context[start..];
        PORTALS.iter().find(|portal| line.starts_with(**portal))?;
        let (_, list) = line.split_once(" with parameters: ")?;
        let (values, rest) = listed(list);
        // What is longer than the server logs ends so, inside the quotes.
        let cut = values.iter().flatten().any(|value| value.ends_with("..."));
        (rest.is_empty() && !cut).then_some(values)
    })
}

/// The values of `$1 = 'it''s', $2 = NULL`, and the rest that has none.
fn listed(mut rest: &str) -> (Vec<Option<String>>, &str) {
    let mut values = Vec::new();
    while let Some((_, value)) = rest.split_once(" = ") {
        if let Some(after) = value.strip_prefix("NULL") {
            values.push(None);
            rest = after;
            continue;
        }
        let Some(quoted) = value.strip_prefix('\'') else { break };
        let (mut text, mut left) = (String::new(), quoted);
        loop {
            let Some((part, after)) = left.split_once('\'') else { return (values, rest) };
            text.push_str(part);
            left = after;
            match left.strip_prefix('\'') {
                Some(after) => {
                    text.push('\'');
                    left = after;
                }
                None => break,
            }
        }
        values.push(Some(text));
        rest = left;
    }
    (values, rest)
}

/// The text with these values in place of `$1`, `$2`, ….
pub(crate) fn filled(text: &str, values: &[Option<String>]) -> String {
    if values.is_empty() {
        return text.to_owned();
    }
    let mut filled = String::with_capacity(text.len() + 16 * values.len());
    for (kind, token) in tokens(text, Syntax::Dollars) {
        let number = || token.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1);
        match (kind == Kind::Parameter).then(number).flatten().and_then(|at| values.get(at)) {
            Some(Some(value)) => filled.push_str(&literal(value)),
            Some(None) => filled.push_str("NULL"),
            None => filled.push_str(token),
        }
    }
    filled
}

/// True if a text has parameters without values.
pub(crate) fn are_missing(text: &str) -> bool {
    let parameter = |(kind, token): (Kind, &str)| kind == Kind::Parameter && token.starts_with('$');
    text.contains('$') && tokens(text, Syntax::Dollars).any(parameter)
}

/// A literal without a type, which means the same whatever `standard_conforming_strings` is.
fn literal(value: &str) -> String {
    let quoted = value.replace('\'', "''");
    match quoted.contains('\\') {
        true => format!(" E'{}'", quoted.replace('\\', "\\\\")),
        false => format!("'{quoted}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_in_their_places() {
        let found = values("Parameters: $1 = 'it''s, $2 = ''x''', $2 = NULL, $3 = 'a\\b'");
        assert_eq!(found, [Some("it's, $2 = 'x'".into()), None, Some("a\\b".into())]);
        assert_eq!(
            filled("SELECT $1, '$2', $2::int, $3, $4 -- $1", &found),
            "SELECT 'it''s, $2 = ''x''', '$2', NULL::int,  E'a\\\\b', $4 -- $1"
        );
        assert_eq!(values("prepare: PREPARE x AS SELECT 1"), []);
        assert_eq!(values("parameters: $1 = 'cut"), []);
    }

    #[test]
    fn values_of_an_error_are_in_its_context() {
        let found = Some(vec![Some("a\nportal".to_owned()), None]);
        let list = "with parameters: $1 = 'a\nportal', $2 = NULL";
        for portal in ["unnamed portal", "portal \"c\"", "PL/pgSQL function f()\nunnamed portal"] {
            assert_eq!(of_context(&format!("{portal} {list}")), found, "{portal}");
        }
        for context in [
            "",
            "unnamed portal parameter $1 = 'abc'",
            "unnamed portal with parameters: $1 = 'ab...'",
            "unnamed portal with parameters: $1 = 'ab'...",
            "unnamed portal with parameters: $1 = 'ab', $2 = 'c",
            "SQL statement \"SELECT 'with parameters: $1 = '5'",
        ] {
            assert_eq!(of_context(context), None, "{context}");
        }
    }
}
