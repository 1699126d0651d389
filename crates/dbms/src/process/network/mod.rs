//! Ways to reach a server over TCP, in addition to its unix socket.
//!
//! `veth` gives a server its own network namespace, `route` finds addresses for it, and `link` is
//! its record in the ledger. Both run the program `ip`.

mod ip;
pub(crate) mod link;
mod route;
pub(crate) mod veth;
