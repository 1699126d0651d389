//! One client's connection.

use std::any::Any;
use std::collections::VecDeque;
use std::os::fd::RawFd;

use workload::{Copy, Request, Sent, Statement};

use super::bulk;
use super::connect::{Mysql, connect};
use super::message::{Template, marked, prepare, query, quit};
use super::reply::{Form, Keep, Receiver};
use super::sayings::Sayings;
use crate::clock::WallClock;
use crate::error::{Error, ServerError};
use crate::wire::socket::Socket;
use crate::wire::{Breaker, Connect, Digest, Handle, Reply, Scripted, Session, Source};

/// Length of the part of a statement that an error shows.
const SHOWN: usize = 120;
/// The number of the error for a statement that can only be sent as text (`ER_UNSUPPORTED_PS`).
const UNPREPARED: &str = "1295 ";

/// Asks MySQL from 5.7 on, and MariaDB, which thread of the operating system serves a connection.
/// One of a pool serves others, too.
const THREAD: [&str; 2] = [
    "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID() \
     AND @@thread_handling = 'one-thread-per-connection'",
    "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID() \
     AND @@thread_handling = 'one-thread-per-connection'",
];

impl Connect for Mysql {
    fn connect(&self) -> Result<Box<dyn Session>, Error> {
        let (socket, receiver) = connect(self)?;
        Ok(Box::new(MysqlSession {
            socket,
            receiver,
            clock: WallClock::new(),
            statements: Vec::new(),
            sent: VecDeque::new(),
            sayings: Sayings::default(),
        }))
    }

    fn shares_threads(&self) -> bool {
        true
    }
}

/// A connection to a MySQL or MariaDB server.
#[derive(Debug)]
pub struct MysqlSession {
    pub socket: Socket,
    pub receiver: Receiver,
    clock: WallClock,
    statements: Vec<Ready>,
    /// The statements whose answers are outstanding.
    sent: VecDeque<Waiting>,
    /// The statements of scripts.
    pub sayings: Sayings,
}

#[derive(Debug)]
struct Ready {
    message: Message,
    /// The form of its answers.
    form: Form,
    shown: String,
}

#[derive(Debug)]
enum Message {
    Template(Template),
    Rows(Copy),
}

/// An outstanding answer.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    statement: usize,
    /// The rows that were sent in bulk.
    rows: u64,
}

/// The error of a statement.
pub fn failed(error: ServerError, shown: &str) -> Error {
    Error::Server { error: Box::new(error), statement: shown.to_owned() }
}

/// The error for statements that are to be parsed each time.
pub fn unextended() -> Error {
    Error::Unsupported(
        "MySQL has no way to parse a statement anew for its values; choose text (simple) or prepared",
    )
}

/// True if the server prepares no such statement, `BEGIN` for example. Clients then send the text,
/// if it has no values.
pub fn unprepared(error: &ServerError) -> bool {
    error.code.starts_with(UNPREPARED)
}

impl MysqlSession {
    /// The message that a statement is sent with, which the server has parsed if it is prepared.
    fn template(&mut self, statement: &Statement, shown: &str) -> Result<(Template, Form), Error> {
        match statement.sent {
            Sent::Text => Ok((Template::query(statement), Form::Text)),
            Sent::Extended => Err(unextended()),
            // Its client libraries bind values in binary, too, and results are always described.
            Sent::Prepared | Sent::Described => {
                self.socket.send(&prepare(&marked(statement)))?;
                match self.receiver.prepared(&mut self.socket)? {
                    Ok(number) => Ok((Template::execute(number, statement), Form::Binary)),
                    Err(error) if unprepared(&error) && statement.draws().is_empty() => {
                        Ok((Template::query(statement), Form::Text))
                    }
                    Err(error) => Err(failed(error, shown)),
                }
            }
        }
    }
}

impl Session for MysqlSession {
    fn leave(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(std::mem::take(&mut self.statements)))
    }

    fn inherit(&mut self, requests: Box<dyn Any + Send>) -> bool {
        requests.downcast().is_ok_and(|statements: Box<Vec<Ready>>| {
            self.statements = *statements;
            true
        })
    }

    fn prepare(&mut self, request: &Request) -> Result<Handle, Error> {
        let shown = match request {
            Request::Copy(copy) => bulk::statement(copy),
            other => other.to_string(),
        };
        let shown: String = shown.chars().take(SHOWN).collect();
        let (message, form) = match request {
            Request::Sql(statement) => {
                let (template, form) = self.template(statement, &shown)?;
                (Message::Template(template), form)
            }
            Request::Copy(copy) => (Message::Rows(copy.clone()), Form::Text),
            Request::Pipeline { .. } => {
                return Err(Error::Unsupported("MySQL has no pipelines; send one at a time"));
            }
            Request::Script(_) => return Err(Error::Unsupported("scripts are run by a player")),
            Request::Bound(_) => {
                return Err(Error::Unsupported("values sent apart need PostgreSQL"));
            }
            Request::KeyValue(_) => {
                return Err(Error::Unsupported("a MySQL server accepts only SQL"));
            }
        };
        self.statements.push(Ready { message, form, shown });
        Ok(Handle(self.statements.len() - 1))
    }

    #[inline]
    fn send(&mut self, handle: Handle, source: &mut Source<'_>) -> Result<(), Error> {
        let ready = self
            .statements
            .get_mut(handle.0)
            .ok_or_else(|| Error::Protocol("a statement that was never prepared".to_owned()))?;
        let mut rows = 0;
        match &mut ready.message {
            Message::Template(template) => {
                template.draw(source, &mut self.clock);
                self.socket.send(template.bytes())?;
            }
            Message::Rows(copy) => {
                let sent = bulk::send_rows(copy, source, &mut self.socket, &mut self.receiver);
                rows = sent?;
            }
        }
        self.sent.push_back(Waiting { statement: handle.0, rows });
        Ok(())
    }

    #[inline]
    fn receive(&mut self, row: Option<&mut Vec<Option<i64>>>) -> Result<Reply, Error> {
        let waiting = self.sent.pop_front();
        let ready = waiting.and_then(|waiting| self.statements.get(waiting.statement));
        let (Some(waiting), Some(ready)) = (waiting, ready) else {
            return Err(Error::Protocol("no answer is outstanding".to_owned()));
        };
        let keep = row.map_or(Keep::Nothing, Keep::Integers);
        let answer = self.receiver.answer(&mut self.socket, ready.form, keep)?;
        let reply = answer.map_err(|error| failed(error, &ready.shown))?;
        if let Message::Rows(_) = &ready.message {
            let (socket, receiver) = (&mut self.socket, &mut self.receiver);
            bulk::check(waiting.rows, reply, socket, receiver, &ready.shown)?;
        }
        Ok(reply)
    }

    fn digest(&mut self, text: &str, digest: &mut Digest) -> Result<Reply, Error> {
        self.socket.send(&query(text.as_bytes()))?;
        let answer = self.receiver.answer(&mut self.socket, Form::Text, Keep::Digest(digest))?;
        digest.end();
        answer.map_err(|error| failed(error, &text.chars().take(SHOWN).collect::<String>()))
    }

    fn roll_back(&mut self) -> Result<(), Error> {
        // After a deadlock the server has done it already. After a lock wait timeout it has rolled
        // back only the statement, unless it is set otherwise. It doesn't tell which.
        if !self.receiver.in_transaction() {
            return Ok(());
        }
        self.socket.send(&query(b"ROLLBACK"))?;
        let answer = self.receiver.answer(&mut self.socket, Form::Text, Keep::Nothing)?;
        answer.map(drop).map_err(|error| failed(error, "ROLLBACK"))
    }

    fn scripted(&mut self) -> Option<&mut dyn Scripted> {
        Some(self)
    }

    fn fd(&self) -> Option<RawFd> {
        Some(self.socket.fd())
    }

    /// `None`: a thread of the server serves this connection, not a process.
    fn server_pid(&self) -> Option<u32> {
        None
    }

    fn server_thread(&mut self) -> Option<u32> {
        if !self.socket.is_local() {
            return None;
        }
        THREAD.into_iter().find_map(|text| {
            self.socket.send(&query(text.as_bytes())).ok()?;
            let mut row = Vec::new();
            let keep = Keep::Integers(&mut row);
            self.receiver.answer(&mut self.socket, Form::Text, keep).ok()?.ok()?;
            u32::try_from(row.first().copied()??).ok()
        })
    }

    fn breaker(&self) -> Result<Breaker, Error> {
        Ok(self.socket.breaker()?)
    }

    fn stop_clock(&mut self, second: i64) {
        self.clock = WallClock::stopped(second);
    }
}

impl Drop for MysqlSession {
    fn drop(&mut self) {
        // The server also notices a closed socket, but counts it as an aborted connection.
        let _ = self.socket.send(&quit());
    }
}
