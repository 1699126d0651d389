//! The traits and types that all systems share and that callers use.
//!
//! A `kind` says what a system can do before it runs: how it is obtained, built and started. An
//! obtained system is an `installation`, and `builds` names and compares the known facts about its
//! build. A start of a `spec` gives a `system`, which has an `endpoint`, reached by a `transport`,
//! and `counters`, and leaves something when it is `stopped`. `count_method` and `profile` tell
//! other crates how to count its instructions and read its call stacks; `freezing` lets time stand
//! still for it. An `error` says what was expected, what was found and what to do, with an
//! `excerpt` of what a program wrote.

pub mod builds;
pub(crate) mod count_method;
pub(crate) mod counters;
pub(crate) mod endpoint;
pub(crate) mod error;
pub(crate) mod excerpt;
pub(crate) mod freezing;
pub(crate) mod installation;
pub(crate) mod kind;
pub(crate) mod profile;
pub(crate) mod spec;
pub(crate) mod stopped;
pub(crate) mod system;
pub(crate) mod transport;
