//! Statements of a log with their values, sent as their client did.

use std::sync::Arc;

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use super::message::{DESCRIBE, EXECUTE, SYNC, set_length};
use super::oid;
use crate::error::Error;

/// A statement of a log, as the server gets to know it.
#[derive(Debug, Clone)]
pub struct Known {
    /// The session's number in its name; `None`: without a name, it is parsed each time.
    pub name: Option<usize>,
    /// Has the server forget the name, if it knows it, and parse the statement.
    pub parse: Arc<[u8]>,
    /// The server can't tell the types of its values, which the client had named: it is sent as
    /// text.
    pub as_text: bool,
}

/// A statement with its values, ready to be sent.
#[derive(Debug)]
pub struct Given {
    known: Known,
    /// Binds the values and executes it.
    execute: Vec<u8>,
    /// The server was asked to parse it when it was last sent.
    parsing: bool,
}

/// Which statements the server has parsed under a name, by number.
#[derive(Debug, Default)]
pub struct Parsed(Vec<bool>);

/// Codes of a statement whose parameters have no type, or several.
pub const UNTYPED: [&str; 2] = ["42P18", "42P08"];
/// The server does not know the name, or knows it from before a table changed.
const STALE: [&str; 2] = ["26000", "0A000"];

impl Known {
    /// `name`: the number in its name at the server, if it has one.
    ///
    /// `types`: those of its parameters; 0 and those that follow are determined by the server, as
    /// it does for libpq.
    pub fn new(text: &str, name: Option<usize>, types: &[u32]) -> Result<Known, Error> {
        let mut parse = BytesMut::new();
        if name.is_some() {
            frontend::close(b'S', &named(name), &mut parse)?;
        }
        frontend::parse(&named(name), text, types.iter().copied(), &mut parse)?;
        Ok(Known { name, parse: Arc::from(&parse[..]), as_text: false })
    }

    /// Has the server parse it and describe its parameters.
    pub fn describe(&self) -> Result<BytesMut, Error> {
        let mut out = BytesMut::from(&self.parse[..]);
        frontend::describe(b'S', &named(self.name), &mut out)?;
        frontend::sync(&mut out);
        Ok(out)
    }
}

/// The types to name where the server has determined `found`, and the log has values with a
/// fraction for these parameters: as the value of an integer, such a text is an error. `None` if
/// there are none.
pub fn with_fractions(found: &[u32], fractions: &[u16]) -> Option<Vec<u32>> {
    let is_integer = |place: usize| [oid::INT2, oid::INT4, oid::INT8].contains(&found[place]);
    let places = fractions.iter().map(|it| usize::from(*it));
    let mut types = vec![0; found.len()];
    for place in places.filter(|it| *it < found.len() && is_integer(*it)) {
        types[place] = oid::FLOAT8;
    }
    types.contains(&oid::FLOAT8).then_some(types)
}

fn named(name: Option<usize>) -> String {
    name.map_or(String::new(), |number| format!("g{number}"))
}

impl Given {
    /// The statement with these values, at most 65,535.
    pub fn new(known: Known, values: &[Option<String>]) -> Given {
        let mut execute = vec![b'B', 0, 0, 0, 0, 0];
        execute.extend_from_slice(named(known.name).as_bytes());
        // The name ends; all parameters are text.
        execute.extend_from_slice(&[0, 0, 0]);
        execute.extend_from_slice(&(values.len() as u16).to_be_bytes());
        for value in values {
            let length = value.as_ref().map_or(-1, |value| value.len() as i32);
            execute.extend_from_slice(&length.to_be_bytes());
            execute.extend_from_slice(value.as_deref().unwrap_or_default().as_bytes());
        }
        // All results are text.
        execute.extend_from_slice(&[0, 1, 0, 0]);
        let end = execute.len();
        set_length(&mut execute, end);
        for message in [&DESCRIBE[..], &EXECUTE, &SYNC] {
            execute.extend_from_slice(message);
        }
        Given { known, execute, parsing: false }
    }

    /// Appends what is to be sent now.
    pub fn write(&mut self, parsed: &mut Parsed, out: &mut Vec<u8>) {
        let name = self.known.name;
        self.parsing = name.is_none_or(|name| parsed.0.get(name) != Some(&true));
        if self.parsing {
            out.extend_from_slice(&self.known.parse);
        }
        name.into_iter().for_each(|name| parsed.set(name, true));
        out.extend_from_slice(&self.execute);
    }

    /// It failed with this code: perhaps it was not parsed.
    pub fn failed(&self, code: &str, parsed: &mut Parsed) {
        if self.parsing || STALE.contains(&code) {
            self.known.name.into_iter().for_each(|name| parsed.set(name, false));
        }
    }
}

impl Parsed {
    /// The server knows a name, or does not.
    pub fn set(&mut self, name: usize, known: bool) {
        self.0.resize(self.0.len().max(name + 1), false);
        self.0[name] = known;
    }

    /// The server forgets all names.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// True for statements that have the server forget names.
pub fn forgets(text: &str) -> bool {
    let words = ["deallocate", "discard"];
    let begins = |part: &str| {
        let word = after_comments(part).split(|c: char| !c.is_ascii_alphabetic()).next();
        word.is_some_and(|word| words.iter().any(|it| it.eq_ignore_ascii_case(word)))
    };
    text.split(';').any(begins)
}

fn after_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let comment = match () {
            () if rest.starts_with("/*") => rest.split_once("*/"),
            () if rest.starts_with("--") => rest.split_once('\n'),
            () => return rest,
        };
        rest = comment.map_or("", |(_, after)| after.trim_start());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_parsed_once_until_the_server_may_not_know_it() {
        let values = [Some("5".to_owned()), None];
        let given = |name: Option<usize>| {
            Given::new(Known::new("SELECT $1, $2", name, &[]).unwrap(), &values)
        };
        let [mut named, mut unnamed] = [given(Some(3)), given(None)];
        let mut parsed = Parsed::default();
        let tags = |given: &mut Given, parsed: &mut Parsed| {
            let (mut out, mut tags) = (Vec::new(), String::new());
            given.write(parsed, &mut out);
            let mut rest = &out[..];
            while let [tag, a, b, c, d, ..] = rest {
                tags.push(char::from(*tag));
                rest = &rest[1 + u32::from_be_bytes([*a, *b, *c, *d]) as usize..];
            }
            tags
        };
        assert_eq!(tags(&mut unnamed, &mut parsed), "PBDES");
        assert_eq!(tags(&mut unnamed, &mut parsed), "PBDES");
        assert_eq!(tags(&mut named, &mut parsed), "CPBDES");
        named.failed("23505", &mut parsed);
        assert_eq!(tags(&mut named, &mut parsed), "CPBDES", "it may not have been parsed");
        assert_eq!(tags(&mut named, &mut parsed), "BDES");
        named.failed("23505", &mut parsed);
        assert_eq!(tags(&mut named, &mut parsed), "BDES", "it was");
        named.failed(STALE[0], &mut parsed);
        assert_eq!(tags(&mut named, &mut parsed), "CPBDES");
        parsed.clear();
        assert_eq!(tags(&mut named, &mut parsed), "CPBDES");
        let values = [0, 2, 0, 0, 0, 1, b'5', 255, 255, 255, 255];
        assert!(named.execute.windows(values.len()).any(|part| part == values));
    }

    #[test]
    fn fractions_are_no_integers() {
        let found = [oid::INT4, 25, oid::INT8, oid::INT2];
        assert_eq!(with_fractions(&found, &[]), None);
        assert_eq!(with_fractions(&found, &[1, 9]), None, "text keeps its type");
        let types = vec![oid::FLOAT8, 0, oid::FLOAT8, 0];
        assert_eq!(with_fractions(&found, &[0, 1, 2]), Some(types));
    }

    #[test]
    fn statements_that_forget_are_found() {
        for (text, expected) in [
            (" DISCARD ALL", true),
            ("/* a */ deallocate p", true),
            ("ROLLBACK; DISCARD ALL", true),
            ("-- a\n /* b */ /* c */DISCARD ALL", true),
            ("SELECT discarded_at, 'discard' FROM discard", false),
            ("/* DISCARD ALL", false),
            ("SELECT 1", false),
            ("", false),
        ] {
            assert_eq!(forgets(text), expected, "{text}");
        }
    }
}
