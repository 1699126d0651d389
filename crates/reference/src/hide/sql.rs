//! Passwords in statements of MySQL and MariaDB. Those of PostgreSQL follow the word itself.

use super::place::{HIDDEN, Password, length};

/// Finds the place of a password's quote in the text after a word.
type Place = fn(&str) -> Option<usize>;

/// The words that a password follows, in lower case.
const PLACES: [(&str, Place); 3] =
    [("identified ", identified), ("password(", opened), ("password for ", assigned)];

/// The passwords in `IDENTIFIED WITH plugin BY 'x'`, `PASSWORD('x')` and `SET PASSWORD FOR a =
/// 'x'`.
pub(super) fn passwords(text: &str) -> Vec<Password> {
    // ASCII lower case keeps all byte positions.
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for (key, place) in PLACES {
        let mut from = 0;
        while let Some(at) = lower[from..].find(key) {
            from += at + key.len();
            let after = &text[from..];
            let quote = place(after).filter(|at| after[*at..].starts_with(['\'', '"']));
            if let Some(at) = quote {
                let start = from + at;
                from = start + length(&text[start..], false);
                found.push(Password { at: start..from, instead: HIDDEN });
            }
        }
    }
    found
}

/// Past the words between, and past the name of a plugin, which may be quoted.
fn identified(text: &str) -> Option<usize> {
    let mut at = 0;
    let mut plugin = false;
    loop {
        at += opened(&text[at..])?;
        let rest = &text[at..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let word = rest[..end.unwrap_or(rest.len())].to_ascii_lowercase();
        match word.as_str() {
            "with" | "via" => plugin = true,
            "by" | "as" | "using" | "password" => {}
            "" if plugin && rest.starts_with(['\'', '"', '`']) => {
                plugin = false;
                at += rest[1..].find(&rest[..1])? + 2;
            }
            "" => return Some(at),
            _ if plugin => plugin = false,
            _ => return None,
        }
        at += word.len();
    }
}

fn opened(text: &str) -> Option<usize> {
    Some(text.len() - text.trim_start().len())
}

fn assigned(text: &str) -> Option<usize> {
    let statement = &text[..text.find([';', '\n']).unwrap_or(text.len())];
    let sign = statement.find('=')? + 1;
    Some(sign + opened(&statement[sign..])?)
}
