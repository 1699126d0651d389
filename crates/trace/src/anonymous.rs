//! Constants that say nothing, in place of those of a log.

use sha2::{Digest, Sha256};

use crate::statement::Statement;
use crate::tokens::{Kind, Syntax, tokens};

/// Replaces constants by others of the same length, which depend on a key: letters by letters,
/// digits by digits. The same text becomes the same other text; without the key, nobody can check a
/// guess.
#[derive(Debug, Clone)]
pub struct Anonymizer {
    key: Vec<u8>,
}

impl Anonymizer {
    /// With this key, which has to be secret and hard to guess.
    pub fn new(key: &[u8]) -> Self {
        Anonymizer { key: key.to_owned() }
    }

    /// Replaces the constants of a statement, also those sent apart, and leaves out comments, which
    /// may say anything.
    pub fn statement(&self, statement: &mut Statement, syntax: Syntax) {
        let Some(bound) = &mut statement.bound else {
            statement.text = self.text(&statement.text, syntax);
            return;
        };
        bound.text = self.text(&bound.text, syntax);
        for value in bound.values.iter_mut().flatten() {
            // As if it were a literal; the text has the same.
            let mut bytes = Bytes::new(&self.key, &format!("'{}'", value.replace('\'', "''")));
            *value = other_text(value, false, &mut bytes);
        }
        statement.text = bound.filled();
    }

    /// A text with other constants and without comments.
    fn text(&self, text: &str, syntax: Syntax) -> String {
        let mut all = String::with_capacity(text.len());
        for (kind, token) in tokens(text, syntax) {
            match kind {
                Kind::Constant => all.push_str(&self.constant(token, syntax)),
                Kind::Gap if !token.trim().is_empty() => all.push(' '),
                // Not the beginning of a comment, now that one is gone.
                _ if token.starts_with('-') && all.ends_with('-') => {
                    all.push(' ');
                    all.push_str(token);
                }
                _ => all.push_str(token),
            }
        }
        all
    }

    /// Another constant: letters become letters, digits digits, the first one of a number is not 0,
    /// and dates stay dates. Words that are no names of anything stay.
    fn constant(&self, constant: &str, syntax: Syntax) -> String {
        let mut bytes = Bytes::new(&self.key, constant);
        let quote = constant.find(['\'', '"', '$']);
        let Some(quote) = quote else { return number(constant, &mut bytes) };
        let (prefix, quoted) = constant.split_at(quote);
        let base = match prefix {
            "x" | "X" => 16,
            "b" | "B" => 2,
            _ => 10,
        };
        if base != 10 {
            let digits = quoted.chars().map(|c| match c.is_alphanumeric() {
                true => hexadecimal(base, &mut bytes),
                false => c,
            });
            return prefix.chars().chain(digits).collect();
        }
        // The tag of `$tag$…$tag$` stays. An open string goes on to its end.
        let tag = match quoted.starts_with('$') {
            true => quoted[1..].find('$').map_or(1, |end| end + 2),
            false => 1,
        };
        let (open, inner) = quoted.split_at(tag);
        let (text, close) = match inner.strip_suffix(open) {
            Some(text) => (text, open),
            None => (inner, ""),
        };
        let escapes = prefix.eq_ignore_ascii_case("e") || syntax == Syntax::Backslashes;
        format!("{prefix}{open}{}{close}", other_text(text, escapes, &mut bytes))
    }
}

/// Texts that stay: they are values of types with few values.
const WORDS: [&str; 5] = ["t", "f", "true", "false", "null"];

/// Another text for one between quotes.
fn other_text(text: &str, escapes: bool, bytes: &mut Bytes) -> String {
    if WORDS.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return text.to_owned();
    }
    // UUIDs, addresses and the like.
    let is_hexadecimal = text.chars().all(|c| c.is_ascii_hexdigit() || "-:\\x".contains(c))
        && [char::is_ascii_digit, char::is_ascii_alphabetic]
            .iter()
            .all(|is| text.contains(|c| is(&c)));
    let date = is_date(text);
    let mut all = String::with_capacity(text.len());
    let mut escaped = false;
    for (place, c) in text.chars().enumerate() {
        let other = match c {
            // `\n` stays what it is, and `T` and `Z` in times.
            _ if escaped && !c.is_ascii_digit() => c,
            'T' | 'Z' if date => c,
            'x' if is_hexadecimal => c,
            '0'..='9' if date => digit(text, place, c, bytes),
            _ if is_hexadecimal && c.is_ascii_hexdigit() => hexadecimal(16, bytes),
            'A'..='Z' => char::from(b'A' + bytes.below(26)),
            _ if c.is_numeric() => char::from(b'0' + bytes.below(10)),
            _ if c.is_alphabetic() => char::from(b'a' + bytes.below(26)),
            c => c,
        };
        escaped = escapes && c == '\\' && !escaped;
        all.push(other);
    }
    all
}

/// A digit in this base.
fn hexadecimal(base: u8, bytes: &mut Bytes) -> char {
    char::from(b"0123456789abcdef"[usize::from(bytes.below(base))])
}

/// True for `2026-11-24`, with more behind it or not.
fn is_date(text: &str) -> bool {
    text.len() >= 10
        && text.bytes().zip("dddd-dd-dd".bytes()).all(|(byte, form)| match form {
            b'd' => byte.is_ascii_digit(),
            other => byte == other,
        })
}

/// True for the zone at the end of a time: `+01`, `-03:30`.
fn is_zone(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or_default().replacen(':', "", 1);
    matches!(digits.len(), 2 | 4) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Another digit at this place of a text that begins with a date: it leaves a date or a time.
fn digit(text: &str, place: usize, own: char, bytes: &mut Bytes) -> char {
    let zone = text.get(19..).and_then(|rest| Some(19 + rest.find(['+', '-'])?));
    match place {
        // The century stays; months are 01 to 09, days 01 to 09 or 11 to 19.
        0 | 1 => own,
        5 => '0',
        8 => char::from(b'0' + bytes.below(2)),
        6 | 9 => char::from(b'1' + bytes.below(9)),
        // Hours 00 to 19, minutes and seconds 00 to 59.
        11 => char::from(b'0' + bytes.below(2)),
        14 | 17 => char::from(b'0' + bytes.below(6)),
        _ if zone.is_some_and(|zone| place > zone && is_zone(&text[zone..])) => own,
        _ => char::from(b'0' + bytes.below(10)),
    }
}

/// Another number with as many digits.
fn number(constant: &str, bytes: &mut Bytes) -> String {
    let base = match constant.get(..2) {
        Some("0x" | "0X") => 16,
        Some("0o" | "0O") => 8,
        Some("0b" | "0B") => 2,
        _ => 10,
    };
    if base != 10 {
        let digits = (2..constant.len()).map(|_| hexadecimal(base, bytes));
        return constant.chars().take(2).chain(digits).collect();
    }
    let mut exponent = false;
    let mut first = true;
    let other = |c: char| {
        exponent |= matches!(c, 'e' | 'E');
        let is_first = std::mem::take(&mut first);
        match c {
            _ if exponent => c,
            // Neither 0 nor 1 as a whole says anything of anyone.
            '0' | '1' if constant.len() == 1 => c,
            '0' if is_first => c,
            '1'..='9' if is_first => char::from(b'1' + bytes.below(9)),
            '0'..='9' => char::from(b'0' + bytes.below(10)),
            c if c.is_alphabetic() => char::from(b'a' + bytes.below(26)),
            c => c,
        }
    };
    constant.chars().map(other).collect()
}

/// Pseudorandom bytes that follow from a key and a constant.
struct Bytes {
    seed: Sha256,
    block: u32,
    left: Vec<u8>,
}

impl Bytes {
    fn new(key: &[u8], constant: &str) -> Self {
        let mut seed = Sha256::new();
        seed.update((key.len() as u64).to_le_bytes());
        seed.update(key);
        seed.update(constant.as_bytes());
        Bytes { seed, block: 0, left: Vec::new() }
    }

    /// A number below a small bound, nearly uniform.
    fn below(&mut self, bound: u8) -> u8 {
        if self.left.len() < 2 {
            let mut block = self.seed.clone();
            block.update(self.block.to_le_bytes());
            self.block += 1;
            self.left = block.finalize().to_vec();
        }
        let two = self.left.split_off(self.left.len() - 2);
        (u16::from_le_bytes([two[0], two[1]]) % u16::from(bound)) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::normal_form;
    use crate::statement::Bound;

    #[test]
    fn constants_keep_their_type_and_length() {
        let anonymizer = Anonymizer::new(b"a key");
        let text = "SELECT 'Ann''s', 117, 1.5e3, '2026-11-24 23:59:59+01', x'ff' -- Ann\nFROM t";
        let other = anonymizer.text(text, Syntax::Dollars);
        assert_eq!(normal_form(&other, Syntax::Dollars), normal_form(text, Syntax::Dollars));
        assert!(
            !other.contains("Ann") && !other.contains("117") && other.contains("+01'"),
            "{other}"
        );
        let date = &other.split('\'').find(|part| part.starts_with("20")).unwrap()[..19];
        assert!(crate::stamps::micros(date).is_some(), "{date}");
        assert_eq!(other, anonymizer.text(text, Syntax::Dollars));
        assert_ne!(other, Anonymizer::new(b"another").text(text, Syntax::Dollars));
        assert_eq!(anonymizer.text("LIMIT 1", Syntax::Backslashes), "LIMIT 1");
    }

    #[test]
    fn nothing_of_a_value_is_left() {
        let anonymizer = Anonymizer::new(b"a key");
        for (text, secrets) in [
            ("SELECT 'secret käseä", &["secret", "käse"][..]),
            ("SELECT '2026-11-24 10:00:00 call +49-170-5551234'", &["49", "170", "5551234"]),
            ("SELECT 0b10110101110", &["10110101110"]),
            ("SELECT 'C:\\Ann'", &["Ann"]),
            ("SELECT $q$Ann's$q$, $$Bob$$, '١٢٣'", &["Ann", "Bob", "١٢٣"]),
            ("SELECT '\\x4a6f686e', 'a1b2c3d4-e5f6-7890-abcd-ef1234567890'", &["4a6f686e", "e5f6"]),
        ] {
            let other = anonymizer.text(text, Syntax::Dollars);
            assert!(!secrets.iter().any(|secret| other.contains(secret)), "{text}: {other}");
        }
        let other = anonymizer.text("/*/ Ann */ SELECT \"Ann\" # Ann", Syntax::Backslashes);
        assert!(!other.contains("Ann"), "{other}");
    }

    #[test]
    fn values_of_small_types_stay_valid() {
        let anonymizer = Anonymizer::new(b"a key");
        let text = "SELECT 't', 'FALSE', '2026-11-24T10:00:00Z'";
        let other = anonymizer.text(text, Syntax::Dollars);
        assert!(other.starts_with("SELECT 't', 'FALSE', '20") && other.ends_with("Z'"), "{other}");
    }

    #[test]
    fn values_sent_apart_are_replaced_as_in_the_text() {
        let values = [Some("117"), Some("-2.5"), Some("Ann"), None];
        let values = values.map(|value| value.map(str::to_owned)).to_vec();
        let text = "SELECT $1::int, $2::numeric, $3, $4, 'Ann' -- Ann".to_owned();
        let bound = Bound { text, values, named: true, ..Bound::default() };
        let mut statement =
            Statement { text: bound.filled(), bound: Some(bound), ..Statement::default() };
        Anonymizer::new(b"a key").statement(&mut statement, Syntax::Dollars);
        let bound = statement.bound.unwrap();
        assert_eq!(bound.filled(), statement.text);
        let [Some(whole), Some(part), Some(name), None] = &bound.values[..] else {
            panic!("{bound:?}")
        };
        assert!(whole.parse::<u32>().is_ok_and(|it| it != 117), "{whole}");
        assert!(part.parse::<f64>().is_ok_and(|it| it < 0.0), "{part}");
        assert!(name != "Ann" && statement.text.matches(name.as_str()).count() == 2, "{bound:?}");
    }
}
