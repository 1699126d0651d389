//! The statements of scripts on a PostgreSQL session, sent as pgbench sends them through libpq.

use std::sync::Arc;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use script::{Slot, Sql, Value};
use workload::{Scripts, Sent};

use super::message::{DESCRIBE, EXECUTE, SYNC, set_length};
use super::reply::Keep;
use super::sayings::{Form, Saying};
use super::session::PostgresSession;
use crate::error::Error;
use crate::wire::{Kept, Reply, Scripted, shown};

impl Scripted for PostgresSession {
    fn add(&mut self, sql: &Sql, scripts: &Scripts) -> Result<usize, Error> {
        let sayings = &mut self.sayings;
        let number = sayings.statements.len();
        let symbols =
            sayings.symbols.get_or_insert_with(|| Arc::new(scripts.symbols.clone())).clone();
        let shown = shown(sql, &symbols);
        let form = if scripts.sent == Sent::Text {
            Form::Simple { sql: sql.clone(), symbols, literals: scripts.literals }
        } else {
            let numbered = sql
                .numbered(&symbols, |number| format!("${number}"))
                .map_err(|problem| Error::Script(problem.to_string()))?;
            let name = match scripts.sent {
                Sent::Extended => String::new(),
                _ => format!("p{number}"),
            };
            let mut parse = BytesMut::new();
            // The server determines the types, as it does for libpq.
            frontend::parse(&name, &numbered.text, [], &mut parse)?;
            let (parse, parameters) = (parse.to_vec(), numbered.parameters);
            Form::Bound { parse, name, parameters, parsed: false }
        };
        sayings.statements.push(Saying { form, shown });
        Ok(number)
    }

    fn parse(&mut self, statement: usize) -> Result<(), Error> {
        let Some(Saying { form: Form::Bound { parse, name, parsed, .. }, shown }) =
            self.sayings.statements.get_mut(statement)
        else {
            return Ok(());
        };
        if *parsed || name.is_empty() {
            return Ok(());
        }
        let message = [&parse[..], &SYNC].concat();
        *parsed = true;
        let shown = shown.clone();
        self.exchange(&message, &shown).map(drop)
    }

    #[inline]
    fn push(&mut self, statement: usize, variables: &[Value], pipeline: bool) -> Result<(), Error> {
        if !pipeline {
            self.parse(statement)?;
        }
        let sayings = &mut self.sayings;
        let out = &mut sayings.out;
        match sayings.statements.get(statement).map(|saying| &saying.form) {
            Some(Form::Simple { sql, symbols, literals }) => {
                let begin = out.len();
                out.extend_from_slice(&[b'Q', 0, 0, 0, 0]);
                sql.simple(symbols, variables, *literals, out);
                out.push(0);
                let end = out.len() - begin;
                set_length(&mut out[begin..], end);
            }
            Some(Form::Bound { parse, name, parameters, .. }) => {
                if name.is_empty() {
                    out.extend_from_slice(parse);
                }
                bind(name, parameters, variables, out);
                out.extend_from_slice(&DESCRIBE);
                out.extend_from_slice(&EXECUTE);
                if !pipeline {
                    out.extend_from_slice(&SYNC);
                }
            }
            None => return Err(Error::Protocol("a statement that was never added".to_owned())),
        }
        sayings.sent.push(statement);
        if pipeline { Ok(()) } else { self.send() }
    }

    fn sync(&mut self) {
        self.sayings.out.extend_from_slice(&SYNC);
    }

    #[inline]
    fn send(&mut self) -> Result<(), Error> {
        let sent = self.socket.send(&self.sayings.out);
        self.sayings.out.clear();
        Ok(sent?)
    }

    #[inline]
    fn results(&mut self, kept: Option<&mut Kept>) -> Result<Reply, Error> {
        let keep = kept.map_or(Keep::Nothing, Keep::Text);
        // In a pipeline it is one of several.
        let first = self.sayings.sent.first().copied();
        self.sayings.sent.clear();
        self.receiver.answer(&mut self.socket, keep)?.map_err(|error| {
            let saying = first.and_then(|place| self.sayings.statements.get(place));
            let statement = saying.map_or(String::new(), |saying| saying.shown.clone());
            Error::Server { error: Box::new(error), statement }
        })
    }

    fn in_transaction(&self) -> bool {
        self.receiver.status != b'I'
    }
}

/// Appends a Bind message with values as text.
fn bind(name: &str, parameters: &[Slot], variables: &[Value], out: &mut Vec<u8>) {
    let begin = out.len();
    out.extend_from_slice(&[b'B', 0, 0, 0, 0, 0]);
    out.extend_from_slice(name.as_bytes());
    // The statement's name ends; all parameters are text.
    out.extend_from_slice(&[0, 0, 0]);
    out.extend_from_slice(&(parameters.len() as u16).to_be_bytes());
    for slot in parameters {
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        let there = variables.get(slot.index()).is_some_and(|value| value.write(out));
        let length = if there { (out.len() - at - 4) as i32 } else { -1 };
        out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }
    // All results are text.
    out.extend_from_slice(&[0, 1, 0, 0]);
    let end = out.len() - begin;
    set_length(&mut out[begin..], end);
}
