//! Connecting: startup and authentication, all in `postgres-protocol`'s terms.

use std::io;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::{md5_hash, sasl};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use reference::Password;

use super::reply::fields;
use crate::error::Error;
use crate::wire::socket::{Address, Socket};

/// How to reach a database of a PostgreSQL server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Postgres {
    /// Where it listens.
    pub address: Address,
    /// The user to connect as.
    pub user: String,
    /// The password, if the server asks for one.
    pub password: Option<Password>,
    /// The database to connect to.
    pub database: String,
}

/// Connects and authenticates; afterwards the connection is ready for statements. Also returns the
/// process that serves it, if the server reports it.
pub fn connect(target: &Postgres) -> Result<(Socket, Option<u32>), Error> {
    let socket = Socket::connect(&target.address).map_err(|source| Error::Connect {
        target: target.address.to_string(),
        user: target.user.clone(),
        source,
    })?;
    let local = socket.is_local();
    start_up(socket, target, local)
}

/// Logs in over a new connection to a server that is, or is not, on this machine.
fn start_up(
    socket: Socket,
    target: &Postgres,
    local: bool,
) -> Result<(Socket, Option<u32>), Error> {
    let received = BytesMut::new();
    let mut starting = Starting { socket, received, target, local, server_pid: None };
    starting.start_up()?;
    Ok((starting.socket, starting.server_pid))
}

struct Starting<'a> {
    socket: Socket,
    received: BytesMut,
    target: &'a Postgres,
    /// True if nobody else can be at the other end.
    local: bool,
    server_pid: Option<u32>,
}

impl<'a> Starting<'a> {
    fn start_up(&mut self) -> Result<(), Error> {
        let parameters = [
            ("user", self.target.user.as_str()),
            ("database", self.target.database.as_str()),
            ("application_name", "steelyard"),
            ("client_encoding", "UTF8"),
        ];
        self.send(|out| frontend::startup_message(parameters, out))?;
        loop {
            match self.message()? {
                Message::AuthenticationOk
                | Message::ParameterStatus(_)
                | Message::NoticeResponse(_) => {}
                Message::BackendKeyData(body) => {
                    self.server_pid = u32::try_from(body.process_id()).ok();
                }
                Message::ReadyForQuery(_) => return Ok(()),
                Message::AuthenticationCleartextPassword => {
                    let target = self.target;
                    let password = self.password()?.cleartext(self.local);
                    let password = password.map_err(|withheld| {
                        let target = target.address.to_string();
                        Error::Withheld { target, withheld }
                    })?;
                    self.send(|out| frontend::password_message(password.as_bytes(), out))?;
                }
                Message::AuthenticationMd5Password(body) => {
                    let user = self.target.user.as_bytes();
                    let hash = md5_hash(user, self.password()?.reveal().as_bytes(), body.salt());
                    self.send(|out| frontend::password_message(hash.as_bytes(), out))?;
                }
                Message::AuthenticationSasl(body) => {
                    let mut mechanisms = Vec::new();
                    let mut all = body.mechanisms();
                    while let Some(mechanism) =
                        all.next().map_err(|error| Error::Protocol(error.to_string()))?
                    {
                        mechanisms.push(mechanism.to_owned());
                    }
                    self.scram(&mechanisms)?;
                }
                Message::ErrorResponse(body) => {
                    let error = Box::new(fields(&body)?);
                    return Err(Error::Server { error, statement: "connect".to_owned() });
                }
                _ => {
                    return Err(unsupported(
                        "an authentication method that this client does not support",
                    ));
                }
            }
        }
    }

    fn scram(&mut self, mechanisms: &[String]) -> Result<(), Error> {
        if !mechanisms.iter().any(|mechanism| mechanism == sasl::SCRAM_SHA_256) {
            return Err(unsupported(&mechanisms.join(", ")));
        }
        let password = self.password()?.reveal().as_bytes();
        let mut scram = sasl::ScramSha256::new(password, sasl::ChannelBinding::unsupported());
        let first = scram.message().to_vec();
        self.send(|out| frontend::sasl_initial_response(sasl::SCRAM_SHA_256, &first, out))?;
        let Message::AuthenticationSaslContinue(body) = self.expect_no_error()? else {
            return Err(Error::Protocol("SCRAM authentication was aborted".to_owned()));
        };
        let target = self.target;
        let unproven = |error: io::Error| Error::Unproven {
            target: target.address.to_string(),
            user: target.user.clone(),
            problem: error.to_string(),
        };
        // The server must continue this client's nonce, and may ask for 100,000 iterations at most.
        scram.update(body.data()).map_err(unproven)?;
        let second = scram.message().to_vec();
        self.send(|out| frontend::sasl_response(&second, out))?;
        let Message::AuthenticationSaslFinal(body) = self.expect_no_error()? else {
            return Err(Error::Protocol("SCRAM authentication was aborted".to_owned()));
        };
        scram.finish(body.data()).map_err(unproven)
    }

    fn expect_no_error(&mut self) -> Result<Message, Error> {
        match self.message()? {
            Message::ErrorResponse(body) => {
                let error = Box::new(fields(&body)?);
                Err(Error::Server { error, statement: "connect".to_owned() })
            }
            message => Ok(message),
        }
    }

    fn password(&self) -> Result<&'a Password, Error> {
        self.target.password.as_ref().ok_or_else(|| Error::Authentication {
            wanted: format!("a password for user `{}`", self.target.user),
            remedy: "give one in the variant's URL",
        })
    }

    fn send(&mut self, build: impl FnOnce(&mut BytesMut) -> io::Result<()>) -> Result<(), Error> {
        let mut out = BytesMut::new();
        build(&mut out)?;
        Ok(self.socket.send(&out)?)
    }

    fn message(&mut self) -> Result<Message, Error> {
        loop {
            match Message::parse(&mut self.received) {
                Ok(Some(message)) => return Ok(message),
                Ok(None) => {}
                Err(error) => return Err(Error::Protocol(error.to_string())),
            }
            let mut piece = [0; 1024];
            let length = self.socket.receive(&mut piece)?;
            self.received.extend_from_slice(&piece[..length]);
        }
    }
}

fn unsupported(wanted: &str) -> Error {
    Error::Authentication {
        wanted: wanted.to_owned(),
        remedy: "allow trust, password, md5 or scram-sha-256 for this user in pg_hba.conf",
    }
}

#[cfg(test)]
mod tests;
