//! Where the load goes.

use std::fmt;
use std::sync::Arc;

use crate::error::Error;
use crate::wire::Session;

/// A system under test that clients connect to.
#[derive(Debug, Clone)]
pub struct Target {
    /// The variant's name, for messages.
    pub name: String,
    /// How its clients connect.
    pub connect: Arc<dyn Connect>,
}

/// How clients come to sessions with a system: one implementation for each protocol or engine.
pub trait Connect: fmt::Debug + Send + Sync {
    /// A new session, ready for requests.
    ///
    /// # Errors
    ///
    /// [`Error::Connect`], [`Error::Authentication`], or what the system answered.
    fn connect(&self) -> Result<Box<dyn Session>, Error>;
}
