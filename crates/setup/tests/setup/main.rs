//! Tests of the generated texts: they pass checkers, and the script sets up a server.

#![allow(clippy::unwrap_used)] // a test fails by it

mod disks;
mod server;
mod texts;
mod world;
