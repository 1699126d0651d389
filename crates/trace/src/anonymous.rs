//! Constants that say nothing, in place of those of a log.

use sha2::{Digest, Sha256};

use crate::tokens::{Kind, Syntax, tokens};

/// Replaces constants by others of the same type and length, which depend on a key. Equal ones stay
/// equal, so how often each occurs is kept; without the key, nobody can check a guess.
#[derive(Debug, Clone)]
pub struct Anonymizer {
    key: Vec<u8>,
}

impl Anonymizer {
    /// With this key, which has to be secret and hard to guess.
    pub fn new(key: &[u8]) -> Self {
        Anonymizer { key: key.to_owned() }
    }

    /// The statement with other constants and without comments, which may say anything.
    pub fn statement(&self, text: &str, syntax: Syntax) -> String {
        let mut all = String::with_capacity(text.len());
        for (kind, token) in tokens(text, syntax) {
            match kind {
                Kind::Constant => all.push_str(&self.constant(token)),
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
    /// and dates stay dates.
    fn constant(&self, constant: &str) -> String {
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
            let digit = |c: char| match c.is_ascii_hexdigit() {
                true => char::from(b"0123456789abcdef"[usize::from(bytes.below(base))]),
                false => c,
            };
            return prefix.chars().chain(quoted.chars().map(digit)).collect();
        }
        // The tag of `$tag$…$tag$` stays.
        let tag = match quoted.starts_with('$') {
            true => quoted[1..].find('$').map_or(1, |end| end + 2),
            false => 1,
        };
        let inner = tag..quoted.len().saturating_sub(tag).max(tag);
        let Some(text) = quoted.get(inner.clone()) else { return constant.to_owned() };
        let mut all = format!("{prefix}{}", &quoted[..tag]);
        let mut escaped = false;
        for (place, c) in text.chars().enumerate() {
            let other = match c {
                // `\n` stays what it is.
                _ if escaped => c,
                '0'..='9' => digit(text, place, c, &mut bytes),
                'a'..='z' => char::from(b'a' + bytes.below(26)),
                'A'..='Z' => char::from(b'A' + bytes.below(26)),
                _ if c.is_alphabetic() => char::from(b'a' + bytes.below(26)),
                _ => c,
            };
            escaped = c == '\\' && !escaped;
            all.push(other);
        }
        all.push_str(&quoted[inner.end..]);
        all
    }
}

/// Another digit at this place of a text. In `2026-11-24` and in times, it leaves a date or a time.
fn digit(text: &str, place: usize, own: char, bytes: &mut Bytes) -> char {
    let is_date = text.len() >= 10
        && text.bytes().zip("dddd-dd-dd".bytes()).all(|(byte, form)| match form {
            b'd' => byte.is_ascii_digit(),
            other => byte == other,
        });
    if !is_date {
        return char::from(b'0' + bytes.below(10));
    }
    match place {
        // The century stays; months are 01 to 09, days 01 to 09 or 11 to 19.
        0 | 1 => own,
        5 => '0',
        8 => char::from(b'0' + bytes.below(2)),
        6 | 9 => char::from(b'1' + bytes.below(9)),
        // Hours 00 to 19, minutes and seconds 00 to 59.
        11 => char::from(b'0' + bytes.below(2)),
        14 | 17 => char::from(b'0' + bytes.below(6)),
        // Zones stay.
        _ if place > 19 && text.get(19..place).is_some_and(|it| it.contains(['+', '-'])) => own,
        _ => char::from(b'0' + bytes.below(10)),
    }
}

/// Another number with as many digits.
fn number(constant: &str, bytes: &mut Bytes) -> String {
    if constant.starts_with("0x") || constant.starts_with("0X") {
        let digits = constant.len() - 2;
        let digit = |_| char::from(b"0123456789abcdef"[usize::from(bytes.below(16))]);
        return constant.chars().take(2).chain((0..digits).map(digit)).collect();
    }
    let mut exponent = false;
    let mut first = true;
    let other = |c: char| {
        exponent |= c.is_ascii_alphabetic();
        let is_first = std::mem::take(&mut first);
        match c {
            _ if exponent => c,
            // Neither 0 nor 1 as a whole says anything of anyone.
            '0' | '1' if constant.len() == 1 => c,
            '0' if is_first => c,
            '1'..='9' if is_first => char::from(b'1' + bytes.below(9)),
            '0'..='9' => char::from(b'0' + bytes.below(10)),
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

    #[test]
    fn constants_keep_their_type_and_length() {
        let anonymizer = Anonymizer::new(b"a key");
        let text = "SELECT 'Ann''s', 117, 1.5e3, '2026-11-24 23:59:59+01', x'ff' -- Ann\nFROM t";
        let other = anonymizer.statement(text, Syntax::Dollars);
        assert_eq!(normal_form(&other, Syntax::Dollars), normal_form(text, Syntax::Dollars));
        assert!(
            !other.contains("Ann") && !other.contains("117") && other.contains("+01'"),
            "{other}"
        );
        let date = &other.split('\'').find(|part| part.starts_with("20")).unwrap()[..19];
        assert!(crate::stamps::micros(date).is_some(), "{date}");
        assert_eq!(other, anonymizer.statement(text, Syntax::Dollars));
        assert_ne!(other, Anonymizer::new(b"another").statement(text, Syntax::Dollars));
        assert_eq!(anonymizer.statement("LIMIT 1", Syntax::Backslashes), "LIMIT 1");
    }
}
