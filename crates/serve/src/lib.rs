//! The documents of a site over HTTP, from a results directory.
//!
//! A [`Service`] answers paths with the documents that [`site::Catalog`] lists, and with nothing
//! else: a path is looked up, never joined to a directory. It notices changes of the store when it
//! is asked, and may make documents that take long before that ([`Service::preparing`]). [`listen`]
//! puts it behind a socket.
//!
//! A service also shows runs under way as they go on, those in its results directory and those that
//! report from elsewhere. It may receive experiments ([`Service::receiving`]), as
//! [`archive::Service`] pushes them, from machines that have a token ([`Tokens`]). Beyond this
//! machine it is only for those who have one.
//!
//! Names in results are other people's text: answers forbid scripts that are not the app's own, and
//! requests under a foreign name of this machine are refused, so that no page on the internet can
//! read the results through a reader's browser.

mod access;
mod body;
mod cache;
mod error;
mod http;
mod listen;
mod live;
mod metrics;
mod news;
mod notes;
mod prepare;
mod prepared;
mod receive;
mod reported;
mod respond;
mod runs;
mod service;
mod start;
mod tokens;
mod uploads;
mod wrong;

pub use error::Error;
pub use listen::{Listening, listen};
pub use service::{Answer, Service};
pub use tokens::{Right, Token, Tokens};
