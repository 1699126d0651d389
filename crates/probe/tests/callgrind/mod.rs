//! Callgrind: what the real program writes, and what must hold for any file.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod counting;
mod fixtures;
mod properties;
mod run;
