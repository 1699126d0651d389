//! The words of backslash commands and the tokens of expressions. Both end with the line, unless a
//! backslash is before its end.

use crate::error::{Fault, Problem};
use crate::symbols::{continues_name, starts_name};
use crate::value::read_double;

/// A word of a command, with where it starts in the script.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
}

/// A token of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Token<'a> {
    Int(i64),
    /// 9223372036854775808, which is a number only after a minus sign.
    AboveMax,
    Double(f64),
    Variable(&'a str),
    /// A keyword or the name of a function.
    Name(&'a str),
    Sign(&'static str),
    End,
}

/// The signs. One that is the beginning of a longer sign comes after it.
const SIGNS: [&str; 20] = [
    "<>", "!=", "<=", ">=", "<<", ">>", "<", ">", "=", "+", "-", "*", "/", "%", "(", ")", ",", "&",
    "|", "#",
];

/// Reads a line of a script from `at` on.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    script: &'a str,
    /// Where it goes on; past the end of the line if the end was read.
    pub(crate) at: usize,
    passed: bool,
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c')
}

impl<'a> Line<'a> {
    pub(crate) fn new(script: &'a str, at: usize) -> Line<'a> {
        Line { script, at, passed: false }
    }

    fn rest(&self) -> &'a str {
        &self.script[self.at..]
    }

    /// The length of the marker that continues the line, if it is here.
    fn continuation(text: &str) -> Option<usize> {
        ["\\\n", "\\\r\n"]
            .iter()
            .find(|marker| text.starts_with(**marker))
            .map(|marker| marker.len())
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blanks = rest.bytes().take_while(|byte| is_blank(*byte)).count();
            match Line::continuation(rest) {
                Some(length) => self.at += length,
                None if blanks > 0 => self.at += blanks,
                None => return,
            }
        }
    }

    /// True if the line has ended. Passes its end.
    fn ended(&mut self) -> bool {
        if !self.passed {
            self.skip_blanks();
            let next = self.rest().bytes().next();
            self.passed = matches!(next, None | Some(b'\n'));
            self.at += usize::from(next == Some(b'\n'));
        }
        self.passed
    }

    /// The next word, or `None` at the end of the line, which is then passed.
    pub(crate) fn word(&mut self) -> Option<Word<'a>> {
        if self.ended() {
            return None;
        }
        let at = self.at;
        let rest = self.rest();
        let end = rest.find(|c: char| c == '\n' || (c.is_ascii() && is_blank(c as u8)));
        let mut text = &rest[..end.unwrap_or(rest.len())];
        if let Some(before) = text.strip_suffix('\\')
            && Line::continuation(&rest[before.len()..]).is_some()
        {
            text = before;
        }
        self.at += text.len();
        Some(Word { text, at })
    }

    /// The next token with where it starts. [`Token::End`] passes the end of the line.
    pub(crate) fn token(&mut self) -> Result<(Token<'a>, usize), Fault> {
        if !self.passed {
            self.skip_blanks();
        }
        let at = self.at;
        if self.ended() {
            return Ok((Token::End, at));
        }
        let rest = self.rest();
        let run = |from: usize, belongs: fn(u8) -> bool| {
            from + rest.bytes().skip(from).take_while(|byte| belongs(*byte)).count()
        };
        let first = rest.as_bytes()[0];
        let second = rest.as_bytes().get(1).copied().unwrap_or(0);
        let (token, length) =
            if first.is_ascii_digit() || (first == b'.' && second.is_ascii_digit()) {
                let length = number(rest);
                (constant(&rest[..length]).map_err(|problem| Fault::new(at, problem))?, length)
            } else if first == b':' && continues_name(second) {
                let length = run(1, continues_name);
                (Token::Variable(&rest[1..length]), length)
            } else if starts_name(first) {
                let length = run(0, continues_name);
                (Token::Name(&rest[..length]), length)
            } else if first == b'~' {
                (Token::Sign("~"), 1)
            } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
                (Token::Sign(sign), sign.len())
            } else {
                let character = rest.chars().next().unwrap_or_default();
                return Err(Fault::new(at, Problem::UnexpectedCharacter(character)));
            };
        self.at += length;
        Ok((token, at))
    }
}

/// How long the number is that the text starts with.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits =
        |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        let from = end + 1 + usize::from(signed);
        if bytes.get(from).is_some_and(u8::is_ascii_digit) {
            end = digits(from);
        }
    }
    end
}

fn constant(text: &str) -> Result<Token<'static>, Problem> {
    let found = || text.to_owned();
    if text == "9223372036854775808" {
        return Ok(Token::AboveMax);
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        let value = text.parse().map_err(|_| Problem::IntegerTooLarge { found: found() })?;
        return Ok(Token::Int(value));
    }
    let value = read_double(text).ok_or_else(|| Problem::DoubleOutOfRange { found: found() })?;
    Ok(Token::Double(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_with_the_line_unless_it_is_continued() {
        let mut line = Line::new("set  a\\\n  b\\c \\\r\n d\r\nnext", 0);
        let mut words = Vec::new();
        while let Some(word) = line.word() {
            words.push(word.text);
        }
        assert_eq!(words, ["set", "a", "b\\c", "d"]);
        assert_eq!(line.rest(), "next");
    }

    #[test]
    fn numbers_are_as_long_as_they_can_be() {
        for (text, length) in
            [("1", 1), ("1.5e3x", 5), ("1e", 1), ("1e+", 1), ("1.", 2), (".5", 2), ("1e-7)", 4)]
        {
            assert_eq!(number(text), length, "{text}");
        }
    }
}
