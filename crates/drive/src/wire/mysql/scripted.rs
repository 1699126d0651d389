//! The statements of scripts on a MySQL or MariaDB session: as text with values in it, or prepared
//! with values in binary.

use std::sync::Arc;

use script::{Scalar, Slot, Sql, Value};
use workload::{Scripts, Sent};

use super::message::{self, kind};
use super::reply::{Form, Keep};
use super::sayings::{Saying, Way};
use super::session::{MysqlSession, failed, unextended, unprepared};
use crate::error::Error;
use crate::wire::{Kept, Reply, Scripted, shown};

impl Scripted for MysqlSession {
    fn add(&mut self, sql: &Sql, scripts: &Scripts) -> Result<usize, Error> {
        let sayings = &mut self.sayings;
        let symbols =
            sayings.symbols.get_or_insert_with(|| Arc::new(scripts.symbols.clone())).clone();
        let shown = shown(sql, &symbols);
        let way = match scripts.sent {
            Sent::Text => Way::Text { sql: sql.clone(), symbols, literals: scripts.literals },
            Sent::Extended => return Err(unextended()),
            Sent::Prepared | Sent::Described => {
                let numbered = sql
                    .numbered(&symbols, |_| "?".to_owned())
                    .map_err(|problem| Error::Script(problem.to_string()))?;
                Way::Unparsed { text: numbered.text, parameters: numbered.parameters }
            }
        };
        sayings.statements.push(Saying { way, shown });
        Ok(sayings.statements.len() - 1)
    }

    fn parse(&mut self, statement: usize) -> Result<(), Error> {
        let Some(Saying { way, shown }) = self.sayings.statements.get_mut(statement) else {
            return Ok(());
        };
        let Way::Unparsed { text, parameters } = way else { return Ok(()) };
        self.socket.send(&message::prepare(text))?;
        *way = match self.receiver.prepared(&mut self.socket)? {
            Ok(number) => Way::Prepared { number, parameters: std::mem::take(parameters) },
            Err(error) if unprepared(&error) && parameters.is_empty() => {
                Way::Message(message::query(text.as_bytes()))
            }
            Err(error) => return Err(failed(error, shown)),
        };
        Ok(())
    }

    #[inline]
    fn push(&mut self, statement: usize, variables: &[Value], pipeline: bool) -> Result<(), Error> {
        if pipeline {
            return Err(Error::Unsupported("MySQL has no pipelines; send one at a time"));
        }
        self.parse(statement)?;
        self.sayings.sent = statement;
        let bytes = match self.sayings.statements.get(statement).map(|saying| &saying.way) {
            Some(Way::Message(message)) => return Ok(self.socket.send(message)?),
            Some(Way::Text { sql, symbols, literals }) => {
                let mut text = Vec::new();
                sql.simple(symbols, variables, *literals, &mut text);
                message::query(&text)
            }
            Some(Way::Prepared { number, parameters }) => execute(*number, parameters, variables),
            Some(Way::Unparsed { .. }) | None => {
                return Err(Error::Protocol("a statement that was never added".to_owned()));
            }
        };
        Ok(self.socket.send(&bytes)?)
    }

    fn sync(&mut self) {}

    fn send(&mut self) -> Result<(), Error> {
        Ok(())
    }

    #[inline]
    fn results(&mut self, kept: Option<&mut Kept>) -> Result<Reply, Error> {
        let keep = kept.map_or(Keep::Nothing, Keep::Named);
        let saying = self.sayings.statements.get(self.sayings.sent);
        let form = match saying {
            Some(Saying { way: Way::Prepared { .. }, .. }) => Form::Binary,
            _ => Form::Text,
        };
        let answer = self.receiver.answer(&mut self.socket, form, keep)?;
        answer.map_err(|error| failed(error, saying.map_or("", |saying| &saying.shown)))
    }

    fn in_transaction(&self) -> bool {
        self.receiver.in_transaction()
    }
}

/// The message that executes a statement with these values.
fn execute(number: u32, parameters: &[Slot], variables: &[Value]) -> Vec<u8> {
    let mut bytes = message::execute(number);
    if parameters.is_empty() {
        message::frame(&mut bytes);
        return bytes;
    }
    let nulls = bytes.len();
    bytes.resize(nulls + parameters.len().div_ceil(8), 0);
    // The types follow, then the values.
    bytes.push(1);
    let mut values = Vec::new();
    for (place, slot) in parameters.iter().enumerate() {
        let of = match variables.get(slot.index()) {
            Some(Value::Scalar(Scalar::Int(value))) => {
                values.extend_from_slice(&value.to_le_bytes());
                kind::LONGLONG
            }
            Some(Value::Scalar(Scalar::Bool(value))) => {
                values.extend_from_slice(&i64::from(*value).to_le_bytes());
                kind::LONGLONG
            }
            Some(Value::Scalar(Scalar::Double(value))) => {
                values.extend_from_slice(&value.to_le_bytes());
                kind::DOUBLE
            }
            Some(Value::Text(text)) => {
                message::string(text.as_bytes(), &mut values);
                kind::VAR_STRING
            }
            Some(Value::Scalar(Scalar::Null) | Value::Unset) | None => {
                bytes[nulls + place / 8] |= 1 << (place % 8);
                kind::NULL
            }
        };
        bytes.extend_from_slice(&[of, 0]);
    }
    bytes.extend_from_slice(&values);
    message::frame(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use script::Symbols;

    use super::*;
    use crate::wire::mysql::HEADER;

    #[test]
    fn values_are_bound_by_their_types() {
        let mut symbols = Symbols::new();
        let slots = ["a", "b", "c", "d"].map(|name| symbols.define(name));
        let mut variables = symbols.values();
        variables[slots[0].index()] = Scalar::Int(-2).into();
        variables[slots[1].index()] = Value::Text("it's".to_owned());
        variables[slots[2].index()] = Scalar::Double(0.5).into();
        let bytes = execute(7, &slots, &variables);
        assert_eq!(usize::from(bytes[0]), bytes.len() - HEADER);
        let head = [0x17, 7, 0, 0, 0, 0, 1, 0, 0, 0, 0b1000, 1];
        assert_eq!(bytes[HEADER..HEADER + 12], head);
        assert_eq!(bytes[HEADER + 12..HEADER + 20], [8, 0, 253, 0, 5, 0, 6, 0]);
        let values = [&(-2i64).to_le_bytes()[..], b"\x04it's", &0.5f64.to_le_bytes()].concat();
        assert_eq!(bytes[HEADER + 20..], values);
        assert_eq!(execute(7, &[], &variables).len(), HEADER + 10);
    }
}
