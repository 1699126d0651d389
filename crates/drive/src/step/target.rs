//! Where the load goes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::wire::Connect;

/// A system under test that clients connect to.
#[derive(Debug, Clone)]
pub struct Target {
    /// The variant's name, for messages.
    pub name: String,
    /// Where its clients run.
    pub reach: Reach,
}

/// Where the clients of a target run.
#[derive(Debug, Clone)]
pub enum Reach {
    /// As threads of this process, each with its own session.
    Sessions(Arc<dyn Connect>),
    /// As threads of the process that contains the system and listens on this socket for loads
    /// ([`crate::serve`]).
    Process(PathBuf),
}

impl Target {
    /// A target whose clients are threads of this process.
    pub fn new(name: &str, connect: impl Connect + 'static) -> Target {
        Target { name: name.to_owned(), reach: Reach::Sessions(Arc::new(connect)) }
    }

    /// The socket of the process in which its clients run, if that is not this one.
    pub fn process(&self) -> Option<&Path> {
        match &self.reach {
            Reach::Process(socket) => Some(socket),
            Reach::Sessions(_) => None,
        }
    }
}
