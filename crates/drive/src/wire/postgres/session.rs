//! One client's connection.

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use workload::Statement;

use super::connect::connect;
use super::message::{Template, type_oid};
use super::reply::Receiver;
use super::socket::Socket;
use crate::clock::WallClock;
use crate::error::Error;
use crate::target::Target;
use crate::wire::{Breaker, Handle, Reply, Session, Source};

/// How much of a statement an error shows.
const SHOWN: usize = 120;

/// A connection to a PostgreSQL server.
#[derive(Debug)]
pub struct PostgresSession {
    socket: Socket,
    receiver: Receiver,
    clock: WallClock,
    statements: Vec<Ready>,
}

#[derive(Debug)]
struct Ready {
    template: Template,
    shown: String,
}

impl PostgresSession {
    /// Connects to `target` and authenticates.
    ///
    /// # Errors
    ///
    /// [`Error::Connect`], [`Error::Authentication`], or what the server answered.
    pub fn connect(target: &Target) -> Result<PostgresSession, Error> {
        Ok(PostgresSession {
            socket: connect(target)?,
            receiver: Receiver::new(),
            clock: WallClock::new(),
            statements: Vec::new(),
        })
    }

    /// Has the wall clock of its parameters show `second` (since 1970) from now on.
    pub fn stop_clock(&mut self, second: i64) {
        self.clock = WallClock::stopped(second);
    }

    fn run(
        &mut self,
        handle: Handle,
        mut source: Source<'_>,
        row: Option<&mut Vec<Option<i64>>>,
    ) -> Result<Reply, Error> {
        let ready = self
            .statements
            .get_mut(handle.0)
            .ok_or_else(|| Error::Protocol("a statement that was never prepared".to_owned()))?;
        ready.template.draw(&mut source, &mut self.clock);
        self.socket.send(ready.template.bytes())?;
        self.receiver.answer(&mut self.socket, row)?.map_err(|error| Error::Server {
            error: Box::new(error),
            statement: ready.shown.clone(),
        })
    }

    /// Sends `bytes` and reads the answer.
    fn exchange(&mut self, bytes: &[u8], shown: &str) -> Result<Reply, Error> {
        self.socket.send(bytes)?;
        self.receiver
            .answer(&mut self.socket, None)?
            .map_err(|error| Error::Server { error: Box::new(error), statement: shown.to_owned() })
    }
}

impl Session for PostgresSession {
    fn prepare(&mut self, statement: &Statement) -> Result<Handle, Error> {
        let text = statement.numbered();
        let shown: String = text.chars().take(SHOWN).collect();
        let template = if statement.prepared {
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
    fn execute(&mut self, handle: Handle, source: Source<'_>) -> Result<Reply, Error> {
        self.run(handle, source, None)
    }

    fn execute_row(
        &mut self,
        handle: Handle,
        source: Source<'_>,
        row: &mut Vec<Option<i64>>,
    ) -> Result<Reply, Error> {
        self.run(handle, source, Some(row))
    }

    fn roll_back(&mut self) -> Result<(), Error> {
        if self.receiver.status == b'I' {
            return Ok(());
        }
        let mut out = BytesMut::new();
        frontend::query("ROLLBACK", &mut out)?;
        self.exchange(&out, "ROLLBACK").map(|_| ())
    }

    fn breaker(&self) -> Result<Breaker, Error> {
        Ok(self.socket.breaker()?)
    }
}

impl Drop for PostgresSession {
    fn drop(&mut self) {
        let mut out = BytesMut::new();
        frontend::terminate(&mut out);
        // The server notices a closed socket too; Terminate only keeps its log clean.
        let _ = self.socket.send(&out);
    }
}
