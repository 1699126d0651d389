//! The PostgreSQL protocol, version 3: a custom loop on top of `postgres-protocol`.
//!
//! Statements go out in the extended protocol (Bind, Execute, Sync in one write; parameters in
//! binary) if they are prepared, otherwise in the simple protocol. Results are text, as with libpq.

mod connect;
mod copy;
mod given;
mod message;
mod oid;
mod reply;
mod sayings;
mod scripted;
mod session;

pub use connect::Postgres;
