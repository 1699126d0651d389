//! Where SQL commands end: at semicolons and backslashes outside of quotes, comments, parentheses
//! and bodies of functions, as psql sees them with `standard_conforming_strings` on.

use std::ops::Range;

use crate::Inside;
use crate::error::{Fault, Problem};
use crate::symbols::{continues_name, starts_name};

/// The reason why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Semicolon,
    Backslash,
    End,
}

/// The text of a command, without space and `--` comments at its start.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) text: String,
    pub(crate) stop: Stop,
    segments: Vec<Segment>,
}

/// A part of a chunk's text.
#[derive(Debug)]
struct Segment {
    /// Where it starts in the chunk.
    start: usize,
    /// Where it starts in the script.
    source: usize,
    inside: Inside,
}

impl Chunk {
    /// The byte of the script at a byte of this text, with its surroundings.
    pub(crate) fn source(&self, at: usize) -> (usize, Inside) {
        let after = self.segments.partition_point(|segment| segment.start <= at);
        let segment = after.checked_sub(1).and_then(|index| self.segments.get(index));
        segment.map_or((at, Inside::Nothing), |segment| {
            (segment.source + at - segment.start, segment.inside)
        })
    }

    fn push(&mut self, script: &str, range: Range<usize>, inside: Inside) {
        let joins = self.segments.last().is_some_and(|last| {
            last.inside == inside && last.source + self.text.len() - last.start == range.start
        });
        if !joins {
            let start = self.text.len();
            self.segments.push(Segment { start, source: range.start, inside });
        }
        self.text.push_str(&script[range]);
    }
}

/// Reads a script's text from `at` on.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    pub(crate) script: &'a str,
    pub(crate) at: usize,
    /// Where the open parentheses are.
    parentheses: Vec<usize>,
    body: Body,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(script: &'a str) -> Scanner<'a> {
        Scanner { script, at: 0, parentheses: Vec::new(), body: Body::default() }
    }

    fn byte(&self, at: usize) -> u8 {
        self.script.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// The first place from `at` on whose byte doesn't satisfy this.
    fn skip(&self, at: usize, belongs: impl Fn(u8) -> bool) -> usize {
        let rest = self.script.as_bytes().get(at..).unwrap_or_default();
        at + rest.iter().position(|byte| !belongs(*byte)).unwrap_or(rest.len())
    }

    /// The next command up to its semicolon (included), the next backslash (not included) or the
    /// end.
    pub(crate) fn command(&mut self) -> Result<Chunk, Fault> {
        let mut chunk = Chunk { text: String::new(), stop: Stop::End, segments: Vec::new() };
        while self.at < self.script.len() {
            let start = self.at;
            let (end, inside) = self.token(start)?;
            self.at = end;
            match self.byte(start) {
                b'\\' if matches!(self.byte(start + 1), b';' | b':') => {
                    // psql's way to write these without their meaning; the backslash goes.
                    chunk.push(self.script, start + 1..end, Inside::Nothing);
                    if self.byte(start + 1) == b';' {
                        self.body = Body::default();
                    }
                    continue;
                }
                b'\\' => {
                    chunk.stop = Stop::Backslash;
                    break;
                }
                b'(' => self.parentheses.push(start),
                b')' => drop(self.parentheses.pop()),
                _ => {}
            }
            let first = chunk.text.is_empty();
            if first && (is_space(self.byte(start)) || self.script[start..end].starts_with("--")) {
                continue;
            }
            chunk.push(self.script, start..end, inside);
            if self.byte(start) == b';' && self.parentheses.is_empty() && !self.body.is_open() {
                self.body = Body::default();
                chunk.stop = Stop::Semicolon;
                break;
            }
        }
        match self.parentheses.first() {
            Some(open) if chunk.stop != Stop::Semicolon => {
                Err(Fault::new(*open, Problem::OpenParenthesis))
            }
            _ => Ok(chunk),
        }
    }

    /// Where the token that starts here ends. Runs of space, quoted texts, comments, names and
    /// references to variables are tokens. Every other character is a token by itself.
    fn token(&mut self, start: usize) -> Result<(usize, Inside), Fault> {
        let plain = |end| Ok((end, Inside::Nothing));
        match (self.byte(start), self.byte(start + 1)) {
            (byte, _) if is_space(byte) => plain(self.skip(start, is_space)),
            (b'-', b'-') => {
                Ok((self.skip(start, |byte| !matches!(byte, b'\n' | b'\r')), Inside::Comment))
            }
            (b'/', b'*') => Ok((self.comment(start)?, Inside::Comment)),
            (b'\'', _) => self.quoted(start, start, false),
            (b'"', _) => self.quoted(start, start, false),
            (b'e' | b'E', b'\'') => self.quoted(start, start + 1, true),
            (b'$', _) => match self.dollar_tag(start) {
                Some(tag) => self.dollar_quoted(start, tag),
                None => plain(start + 1),
            },
            (b':', b':') | (b':', b'=') | (b'\\', b';' | b':') => plain(start + 2),
            (b':', _) => plain(self.skip(start + 1, continues_name)),
            (byte, _) if starts_name(byte) => {
                let end = self.skip(start, |byte| continues_name(byte) || byte == b'$');
                let word = &self.script[start..end];
                self.body.word(word, self.parentheses.is_empty());
                plain(end)
            }
            _ => plain(start + 1),
        }
    }

    /// Comments nest.
    fn comment(&self, start: usize) -> Result<usize, Fault> {
        let (mut at, mut depth) = (start + 2, 1);
        while depth > 0 {
            match (self.byte(at), self.byte(at + 1)) {
                (b'*', b'/') => (at, depth) = (at + 2, depth - 1),
                (b'/', b'*') => (at, depth) = (at + 2, depth + 1),
                _ if at >= self.script.len() => {
                    return Err(Fault::new(start, Problem::Unterminated { what: "a comment" }));
                }
                _ => at += 1,
            }
        }
        Ok(at)
    }

    /// Doubled quotes are two tokens next to each other, which is the same here.
    fn quoted(&self, start: usize, open: usize, escapes: bool) -> Result<(usize, Inside), Fault> {
        let quote = self.byte(open);
        let what = if quote == b'"' { "a quoted name" } else { "a quoted text" };
        let mut at = open + 1;
        loop {
            at = self.skip(at, |byte| byte != quote && !(escapes && byte == b'\\'));
            if at >= self.script.len() {
                return Err(Fault::new(start, Problem::Unterminated { what }));
            }
            if self.byte(at) == b'\\' {
                at = self.skip(at + 2, |byte| byte & 0xc0 == 0x80);
                continue;
            }
            at += 1;
            if !escapes {
                return Ok((at, Inside::Quotes));
            }
            // With escapes it matters that the text goes on: after a doubled quote, or after
            // space with a new line.
            let next = self.skip(at, is_space);
            let new_line = self.script[at..next].contains(['\n', '\r']);
            if self.byte(next) != quote || !(next == at || new_line) {
                return Ok((at, Inside::Quotes));
            }
            at = next + 1;
        }
    }

    /// The end of `$tag$` if one starts here.
    fn dollar_tag(&self, start: usize) -> Option<usize> {
        let end = match self.byte(start + 1) {
            byte if starts_name(byte) => self.skip(start + 1, continues_name),
            _ => start + 1,
        };
        (self.byte(end) == b'$').then_some(end + 1)
    }

    fn dollar_quoted(&self, start: usize, tag: usize) -> Result<(usize, Inside), Fault> {
        let found = self.script[tag..].find(&self.script[start..tag]);
        let unterminated = Problem::Unterminated { what: "a dollar-quoted text" };
        let found = found.ok_or_else(|| Fault::new(start, unterminated))?;
        Ok((tag + found + tag - start, Inside::Quotes))
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0b' | b'\x0c')
}

/// Finds out if the command is inside the body of `CREATE FUNCTION … BEGIN ATOMIC …; …; END`, whose
/// semicolons don't end it. psql goes by the first words, and so does this.
#[derive(Debug, Default)]
struct Body {
    /// First letters of the command's first words, if they are among those that count.
    first: [u8; 4],
    words: usize,
    depth: usize,
}

impl Body {
    fn is_open(&self) -> bool {
        self.depth > 0
    }

    fn word(&mut self, word: &str, outside_parentheses: bool) {
        let is = |other: &str| word.eq_ignore_ascii_case(other);
        if let Some(letter) = self.first.get_mut(self.words)
            && ["create", "function", "procedure", "or", "replace"].into_iter().any(is)
        {
            *letter = word.as_bytes()[0].to_ascii_lowercase();
        }
        self.words += 1;
        let creates =
            matches!(self.first, [b'c', b'f' | b'p', ..] | [b'c', b'o', b'r', b'f' | b'p']);
        if !creates || !outside_parentheses {
            return;
        }
        if is("begin") || (is("case") && self.depth > 0) {
            self.depth += 1;
        } else if is("end") {
            self.depth = self.depth.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Vec<String> {
        let mut scanner = Scanner::new(text);
        let mut commands = Vec::new();
        loop {
            let chunk = scanner.command().unwrap();
            commands.push(chunk.text);
            if chunk.stop != Stop::Semicolon {
                return commands;
            }
        }
    }

    #[test]
    fn semicolons_in_quotes_comments_and_parentheses_end_nothing() {
        for one in [
            "SELECT 'a;''b;', \"c;\", $$d;$$, $t$ $$;$u$; $t$;",
            "SELECT E'a\\';', e'x''\\';'\n  'y\\';';",
            "SELECT (1;2);",
            "SELECT 1 /* a; /* b; */ c; */ + 2;",
            "SELECT 1 -- a;\n + 2;",
            "SELECT a$b$, 1 FROM t$b$;",
            "SELECT x'a;', U&'b;';",
            "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN 1=1 THEN 1 END; END;",
            "CREATE OR REPLACE PROCEDURE p() BEGIN ATOMIC SELECT 1; SELECT 2; END;",
        ] {
            assert_eq!(commands(one), [one, ""], "{one}");
        }
        assert_eq!(commands("BEGIN; END;  -- x\n SELECT 1"), ["BEGIN;", "END;", "SELECT 1"]);
        assert_eq!(commands("SELECT 1\\; SELECT '\\:'\\:x;"), ["SELECT 1; SELECT '\\:':x;", ""]);
        assert_eq!(commands("SELECT :e'\\'; SELECT 2"), ["SELECT :e'\\';", "SELECT 2"]);
    }

    #[test]
    fn places_survive_what_is_left_out() {
        let text = " -- x\n SELECT 1\\; SELECT ':a', :b;";
        let chunk = Scanner::new(text).command().unwrap();
        for (name, inside) in [(":a", Inside::Quotes), (":b", Inside::Nothing)] {
            let at = chunk.text.find(name).unwrap();
            assert_eq!(chunk.source(at), (text.find(name).unwrap(), inside));
        }
    }
}
