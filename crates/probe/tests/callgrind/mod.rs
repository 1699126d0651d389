//! Callgrind: the real program's files, and properties of any file.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod counting;
mod fixtures;
mod properties;
mod run;
