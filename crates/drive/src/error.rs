//! Errors between a client and a server.

use std::fmt;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A failure of one client.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The connection failed.
    #[error(
        "cannot connect to {target}: {source}. Is the server up, and may user `{user}` connect?"
    )]
    Connect {
        /// The address tried.
        target: String,
        /// The user tried.
        user: String,
        /// The system's error.
        source: io::Error,
    },
    /// The server requires an authentication that is not available.
    #[error("the server requires {wanted}; {remedy}")]
    Authentication {
        /// The authentication that the server requires.
        wanted: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// The server asked for the password itself, and the user does not allow it.
    #[error("cannot log in to {target}: {withheld}")]
    Withheld {
        /// The server's address.
        target: String,
        /// The request for the password, and the remedy.
        withheld: reference::Withheld,
    },
    /// The file with the server's public key cannot be read.
    #[error("cannot read the server's public key in {}: {source}", .file.display())]
    Key {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The server does not know the password, or it breaks the rules of the exchange.
    #[error(
        "{target} does not prove that it knows the password of user `{user}`: {problem}; check that the address leads to your server, and not to something in between"
    )]
    Unproven {
        /// The server's address.
        target: String,
        /// The user.
        user: String,
        /// Describes what is wrong.
        problem: String,
    },
    /// The server closed the connection, or it failed.
    #[error("the connection broke: {0}. The server may have died; see its log")]
    Broken(#[from] io::Error),
    /// The server sent something the protocol does not allow here.
    #[error("unexpected message from the server: {0}")]
    Protocol(String),
    /// The server answered with an error.
    #[error("{error} (statement: {statement})")]
    Server {
        /// The server's error.
        error: Box<ServerError>,
        /// The start of the statement.
        statement: String,
    },
    /// The server's answer is wrong.
    #[error("wrong answer: expected {expected}, got {found} (statement: {statement})")]
    WrongAnswer {
        /// The right answer.
        expected: String,
        /// The answer received.
        found: String,
        /// The start of the statement.
        statement: String,
    },
    /// A statement kept failing with an error that a retry should cure.
    #[error("gave up after {attempts} attempts: {error} (statement: {statement})")]
    RetriesExhausted {
        /// Attempts made.
        attempts: u32,
        /// The last error.
        error: Box<ServerError>,
        /// The start of the statement.
        statement: String,
    },
    /// The process that contains the system could not do what was requested.
    #[error("the engine's process: {0}")]
    Engine(String),
    /// A request that this system does not support.
    #[error("cannot send this request: {0}")]
    Unsupported(&'static str),
    /// The load makes no sense.
    #[error("this load cannot run: {0}")]
    Load(&'static str),
    /// A script can't go on.
    #[error("{0}")]
    Script(String),
    /// A client or the process that serves it can't be kept on a CPU.
    #[error("cannot keep {what} on CPU {cpu}: {problem}")]
    Seat {
        /// Which of the two.
        what: &'static str,
        /// The CPU.
        cpu: usize,
        /// The reason, and the remedy.
        problem: String,
    },
    /// A transaction of a log waits for others, and nothing goes on.
    #[error(
        "a transaction of the log waits for others that change its tables, but no statement has ended for {seconds} s: sessions wait for each other by locks that the log doesn't show, or a statement takes far longer than in the log; --order sessions (`order` in the plan) waits for none"
    )]
    Order {
        /// How long nothing ended.
        seconds: u64,
    },
    /// The operating system refused a thread.
    #[error("cannot start a client thread: {0}. Lower `dop` or raise the limit on processes")]
    Thread(io::Error),
    /// It refused the memory that clients share with whoever watches them.
    #[error("cannot share memory with the clients of a step: {0}")]
    Memory(io::Error),
}

impl Error {
    /// The system's code for it, such as an SQLSTATE, if it gave one.
    pub fn code(&self) -> Option<&str> {
        self.answer().map(|error| error.code.as_str())
    }

    /// The meaning of the error for the caller.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Broken(_) => ErrorKind::Disconnected,
            Error::Script(_) | Error::Unsupported(_) | Error::Load(_) => ErrorKind::Invalid,
            error => error.answer().map_or(ErrorKind::Other, |error| error.kind),
        }
    }

    fn answer(&self) -> Option<&ServerError> {
        match self {
            Error::Server { error, .. } | Error::RetriesExhausted { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// The meaning of an error, for any system. The code for a protocol sets it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrorKind {
    /// The same transaction may succeed if retried.
    Retryable,
    /// A row with this key is there already.
    Duplicate,
    /// The system ended the connection, or is about to.
    Disconnected,
    /// Its disk is full.
    DiskFull,
    /// The request itself is wrong, such as a statement's syntax. It fails at every attempt.
    Invalid,
    /// Anything else.
    #[default]
    Other,
}

/// The fields of an error response that matter to people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerError {
    /// Severity, for example `ERROR` or `FATAL`.
    pub severity: String,
    /// The system's code, such as an SQLSTATE.
    pub code: String,
    /// Its meaning.
    pub kind: ErrorKind,
    /// The message.
    pub message: String,
    /// The detail; empty if there is none.
    pub detail: String,
    /// The hint; empty if there is none.
    pub hint: String,
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.severity, self.code, self.message)?;
        for more in [&self.detail, &self.hint] {
            if !more.is_empty() {
                write!(f, "; {more}")?;
            }
        }
        Ok(())
    }
}
