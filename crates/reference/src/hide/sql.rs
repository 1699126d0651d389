//! Passwords in statements of MySQL and MariaDB. Those of PostgreSQL follow the word itself.

use super::{HIDDEN, length};

/// Finds the place of a password's quote in the text behind a word.
type Place = fn(&str) -> Option<usize>;

/// What a password follows, in lower case.
const PLACES: [(&str, Place); 3] =
    [("identified ", identified), ("password(", opened), ("password for ", assigned)];

/// Hides passwords in `IDENTIFIED WITH plugin BY 'x'`, `PASSWORD('x')` and `SET PASSWORD FOR a =
/// 'x'`.
pub(super) fn without_passwords(text: &str) -> String {
    PLACES.iter().fold(text.to_owned(), |text, (key, place)| {
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        // ASCII lower case keeps all byte positions.
        while let Some(at) = rest.to_ascii_lowercase().find(key) {
            let (before, after) = rest.split_at(at + key.len());
            out.push_str(before);
            rest = after;
            let quote = place(after).filter(|at| after[*at..].starts_with(['\'', '"']));
            if let Some(at) = quote {
                out.push_str(&after[..at]);
                out.push_str(HIDDEN);
                rest = &after[at + length(&after[at..], false)..];
            }
        }
        out + rest
    })
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
