//! Parameters that PostgreSQL logs apart from their statement.

use crate::tokens::{Kind, Syntax, tokens};

/// The values in `parameters: $1 = 'it''s', $2 = NULL`; `None` stands for NULL.
pub(crate) fn values(detail: &str) -> Vec<Option<String>> {
    let mut rest = match detail.split_once(": ") {
        Some((word, rest)) if word.eq_ignore_ascii_case("parameters") => rest,
        _ => return Vec::new(),
    };
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
            // A value that is longer than the server logs ends with `...'`.
            let Some((part, after)) = left.split_once('\'') else { return values };
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
    values
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
}
