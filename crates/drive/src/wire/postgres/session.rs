//! One client's connection.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::os::fd::RawFd;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use workload::{Bound, Copy, Expect, Request, Sent, Statement};

use super::connect::{Postgres, connect};
use super::copy::send_rows;
use super::given::{Given, Known, Parsed, UNTYPED, forgets, with_fractions};
use super::message::{Template, type_oid};
use super::reply::{Keep, Receiver};
use super::sayings::Sayings;
use crate::clock::WallClock;
use crate::error::{Error, ServerError};
use crate::wire::socket::Socket;
use crate::wire::{Breaker, Connect, Digest, Handle, Reply, Scripted, Session, Source};

/// Length of the part of a statement that an error shows.
const SHOWN: usize = 120;

/// Why a pipeline cannot be sent.
const NO_PIPELINE: &str = "the simple protocol has no pipelines; choose extended or prepared";
/// Why a statement cannot be sent in a pipeline, or parsed anew each time.
const VARYING: &str = "in a pipeline and with the extended protocol, values have a fixed width";

impl Connect for Postgres {
    fn connect(&self) -> Result<Box<dyn Session>, Error> {
        let (socket, server_pid) = connect(self)?;
        Ok(Box::new(PostgresSession {
            // On another machine its number means nothing here.
            server_pid: server_pid.filter(|_| socket.is_local()),
            socket,
            receiver: Receiver::new(),
            sayings: Sayings::default(),
            clock: WallClock::new(),
            statements: Vec::new(),
            known: HashMap::new(),
            parsed: Parsed::default(),
            out: Vec::new(),
            sent: VecDeque::new(),
        }))
    }

    fn shares_threads(&self) -> bool {
        true
    }
}

/// A connection to a PostgreSQL server.
#[derive(Debug)]
pub struct PostgresSession {
    pub(super) socket: Socket,
    server_pid: Option<u32>,
    pub(super) receiver: Receiver,
    /// The statements of scripts.
    pub(super) sayings: Sayings,
    clock: WallClock,
    statements: Vec<Ready>,
    /// The statements of a log, by text and whether they have a name.
    known: HashMap<(String, bool), Known>,
    /// Which of them the server has parsed.
    parsed: Parsed,
    out: Vec<u8>,
    /// The statements whose answers are outstanding.
    sent: VecDeque<usize>,
}

#[derive(Debug)]
struct Ready {
    message: Message,
    shown: String,
    /// The server forgets the names of prepared statements by it.
    forgets: bool,
}

#[derive(Debug)]
enum Message {
    Template(Template),
    Rows(Copy),
    Given(Given),
}

impl PostgresSession {
    /// Sends `bytes` and reads the answer.
    pub(super) fn exchange(&mut self, bytes: &[u8], shown: &str) -> Result<Reply, Error> {
        self.socket.send(bytes)?;
        self.receiver
            .answer(&mut self.socket, Keep::Nothing)?
            .map_err(|error| Error::Server { error: Box::new(error), statement: shown.to_owned() })
    }

    /// How the server knows a statement of a log. The first time, it parses it without keeping it,
    /// which shows whether it can tell the types of its values.
    fn known(&mut self, bound: &Bound) -> Result<Known, Error> {
        let key = (bound.text.clone(), bound.named);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let name = bound.named.then_some(self.statements.len());
        let mut known = Known::new(&bound.text, name, &[])?;
        // When it is sent, it is parsed again: the log may change its tables before.
        match self.types(&known)? {
            Ok(found) => {
                if let Some(types) = with_fractions(&found, &bound.fractions) {
                    let typed = Known::new(&bound.text, name, &types)?;
                    if self.types(&typed)?.is_ok() {
                        known = typed;
                    }
                }
            }
            Err(error) => known.as_text = UNTYPED.contains(&&*error.code),
        }
        self.known.insert(key, known.clone());
        Ok(known)
    }

    /// The types of a statement's parameters, or why the server can't parse it.
    fn types(&mut self, known: &Known) -> Result<Result<Vec<u32>, ServerError>, Error> {
        let mut types = Vec::new();
        self.socket.send(&known.describe()?)?;
        let answer = self.receiver.answer(&mut self.socket, Keep::Parameters(&mut types))?;
        Ok(answer.map(|_| types))
    }

    /// The message that a statement is sent with, which the server has parsed if it is prepared;
    /// `depth`: how often it is sent before an answer is read.
    fn template(
        &mut self,
        statement: &Statement,
        depth: Option<u32>,
        shown: &str,
    ) -> Result<Template, Error> {
        let text = statement.numbered();
        let types: Vec<u32> = statement.draws().into_iter().map(type_oid).collect();
        let mut out = BytesMut::new();
        let name = match statement.sent {
            Sent::Text if depth.is_some() => return Err(Error::Unsupported(NO_PIPELINE)),
            Sent::Text => return Ok(Template::query(statement)),
            Sent::Extended => {
                frontend::parse("", &text, types, &mut out)?;
                String::new()
            }
            Sent::Prepared | Sent::Described => {
                let name = format!("s{}", self.statements.len());
                frontend::parse(&name, &text, types, &mut out)?;
                frontend::sync(&mut out);
                self.exchange(&out, shown)?;
                out.clear();
                name
            }
        };
        if depth.is_none() && statement.sent != Sent::Extended {
            return Ok(Template::bind(&name, statement));
        }
        Template::pipeline(&out, &name, statement, depth.unwrap_or(1))
            .ok_or(Error::Unsupported(VARYING))
    }
}

impl Session for PostgresSession {
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
        let text = request.to_string();
        let shown: String = text.chars().take(SHOWN).collect();
        let is_text = matches!(request, Request::Sql(_) | Request::Bound(_));
        let forgets = is_text && forgets(&text);
        let message = match request {
            Request::Sql(statement) => Message::Template(self.template(statement, None, &shown)?),
            Request::Pipeline { statement, depth } => {
                Message::Template(self.template(statement, Some(*depth), &shown)?)
            }
            Request::Copy(copy) => Message::Rows(copy.clone()),
            Request::Bound(bound) => {
                let known = self.known(bound)?;
                match known.as_text {
                    true => {
                        let text = Statement::plain(bound.filled(), Expect::Success);
                        Message::Template(Template::query(&text))
                    }
                    false => Message::Given(Given::new(known, &bound.values)),
                }
            }
            Request::Script(_) => return Err(Error::Unsupported("scripts are run by a player")),
            Request::KeyValue(_) => {
                return Err(Error::Unsupported("a PostgreSQL server accepts only SQL"));
            }
        };
        self.statements.push(Ready { message, forgets, shown });
        Ok(Handle(self.statements.len() - 1))
    }

    #[inline]
    fn send(&mut self, handle: Handle, source: &mut Source<'_>) -> Result<(), Error> {
        let ready = self
            .statements
            .get_mut(handle.0)
            .ok_or_else(|| Error::Protocol("a statement that was never prepared".to_owned()))?;
        match &mut ready.message {
            Message::Template(template) => {
                template.draw(source, &mut self.clock);
                self.socket.send(template.bytes())?;
            }
            Message::Rows(copy) => {
                send_rows(copy, source, &mut self.socket, &mut self.receiver, &ready.shown)?;
            }
            Message::Given(given) => {
                self.out.clear();
                given.write(&mut self.parsed, &mut self.out);
                self.socket.send(&self.out)?;
            }
        }
        if ready.forgets {
            self.parsed.clear();
        }
        self.sent.push_back(handle.0);
        Ok(())
    }

    #[inline]
    fn receive(&mut self, row: Option<&mut Vec<Option<i64>>>) -> Result<Reply, Error> {
        let sent = self.sent.pop_front();
        self.receiver.answer(&mut self.socket, row.map_or(Keep::Nothing, Keep::Integers))?.map_err(
            |error| {
                let statement = sent.and_then(|sent| self.statements.get(sent));
                if let Some(Ready { message: Message::Given(given), .. }) = statement {
                    given.failed(&error.code, &mut self.parsed);
                }
                let statement = statement.map_or(String::new(), |ready| ready.shown.clone());
                Error::Server { error: Box::new(error), statement }
            },
        )
    }

    fn digest(&mut self, query: &str, digest: &mut Digest) -> Result<Reply, Error> {
        let mut out = BytesMut::new();
        frontend::query(query, &mut out)?;
        self.socket.send(&out)?;
        let answer = self.receiver.answer(&mut self.socket, Keep::Digest(digest))?;
        digest.end();
        answer.map_err(|error| {
            let statement = query.chars().take(SHOWN).collect();
            Error::Server { error: Box::new(error), statement }
        })
    }

    fn scripted(&mut self) -> Option<&mut dyn Scripted> {
        Some(self)
    }

    fn roll_back(&mut self) -> Result<(), Error> {
        if self.receiver.status == b'I' {
            return Ok(());
        }
        let mut out = BytesMut::new();
        frontend::query("ROLLBACK", &mut out)?;
        self.exchange(&out, "ROLLBACK").map(|_| ())
    }

    fn fd(&self) -> Option<RawFd> {
        Some(self.socket.fd())
    }

    fn server_pid(&self) -> Option<u32> {
        self.server_pid
    }

    fn breaker(&self) -> Result<Breaker, Error> {
        Ok(self.socket.breaker()?)
    }

    fn stop_clock(&mut self, second: i64) {
        self.clock = WallClock::stopped(second);
    }
}

impl Drop for PostgresSession {
    fn drop(&mut self) {
        let mut out = BytesMut::new();
        frontend::terminate(&mut out);
        // The server also notices a closed socket; Terminate only keeps its log clean.
        let _ = self.socket.send(&out);
    }
}
