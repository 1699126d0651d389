//! The generated texts: what checkers say of them, and what the script does to a server.

#![allow(clippy::unwrap_used)] // a test fails by it

mod disks;
mod server;
mod texts;
mod world;
