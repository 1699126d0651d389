//! The PostgreSQL protocol, version 3: our own loop over `postgres-protocol`.
//!
//! Statements go out in the extended protocol (Bind, Execute, Sync in one write; parameters in
//! binary) when they are prepared, else in the simple protocol. Results come as text, as libpq's
//! users get them.

mod connect;
mod message;
mod reply;
mod session;
mod socket;

pub use connect::Postgres;
pub use socket::Address;
