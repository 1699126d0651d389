//! One client's connection.

use std::collections::VecDeque;
use std::os::fd::RawFd;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use workload::{Request, Sent};

use super::connect::{Postgres, connect};
use super::message::{Template, type_oid};
use super::reply::Receiver;
use super::socket::Socket;
use crate::clock::WallClock;
use crate::error::Error;
use crate::target::Connect;
use crate::wire::{Breaker, Handle, Reply, Session, Source};

/// Length of the part of a statement that an error shows.
const SHOWN: usize = 120;

impl Connect for Postgres {
    fn connect(&self) -> Result<Box<dyn Session>, Error> {
        let (socket, server_pid) = connect(self)?;
        Ok(Box::new(PostgresSession {
            // On another machine its number means nothing here.
            server_pid: server_pid.filter(|_| socket.is_local()),
            socket,
            receiver: Receiver::new(),
            clock: WallClock::new(),
            statements: Vec::new(),
            sent: VecDeque::new(),
        }))
    }

    fn shares_threads(&self) -> bool {
        true
    }
}

/// A connection to a PostgreSQL server.
#[derive(Debug)]
struct PostgresSession {
    socket: Socket,
    server_pid: Option<u32>,
    receiver: Receiver,
    clock: WallClock,
    statements: Vec<Ready>,
    /// The statements whose answers are outstanding.
    sent: VecDeque<usize>,
}

#[derive(Debug)]
struct Ready {
    template: Template,
    shown: String,
}

impl PostgresSession {
    /// Sends `bytes` and reads the answer.
    fn exchange(&mut self, bytes: &[u8], shown: &str) -> Result<Reply, Error> {
        self.socket.send(bytes)?;
        self.receiver
            .answer(&mut self.socket, None)?
            .map_err(|error| Error::Server { error: Box::new(error), statement: shown.to_owned() })
    }
}

impl Session for PostgresSession {
    fn prepare(&mut self, request: &Request) -> Result<Handle, Error> {
        let Request::Sql(statement) = request else {
            return Err(Error::Unsupported("a PostgreSQL server accepts only SQL"));
        };
        let text = statement.numbered();
        let shown: String = text.chars().take(SHOWN).collect();
        let template = if statement.sent != Sent::Text {
            let name = format!("s{}", self.statements.len());
            let types: Vec<u32> = statement.draws().into_iter().map(type_oid).collect();
            let mut out = BytesMut::new();
            frontend::parse(&name, &text, types, &mut out)?;
            frontend::sync(&mut out);
            self.exchange(&out, &shown)?;
            Template::bind(&name, statement)
        } else {
            Template::query(statement)
        };
        self.statements.push(Ready { template, shown });
        Ok(Handle(self.statements.len() - 1))
    }

    #[inline]
    fn send(&mut self, handle: Handle, source: &mut Source<'_>) -> Result<(), Error> {
        let ready = self
            .statements
            .get_mut(handle.0)
            .ok_or_else(|| Error::Protocol("a statement that was never prepared".to_owned()))?;
        ready.template.draw(source, &mut self.clock);
        self.socket.send(ready.template.bytes())?;
        self.sent.push_back(handle.0);
        Ok(())
    }

    #[inline]
    fn receive(&mut self, row: Option<&mut Vec<Option<i64>>>) -> Result<Reply, Error> {
        let sent = self.sent.pop_front();
        self.receiver.answer(&mut self.socket, row)?.map_err(|error| {
            let statement = sent.and_then(|sent| self.statements.get(sent));
            let statement = statement.map_or(String::new(), |ready| ready.shown.clone());
            Error::Server { error: Box::new(error), statement }
        })
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
