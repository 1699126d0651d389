//! What all systems have in common, and what callers see of them.
//!
//! A `kind` says what a system can do before it runs: how it is obtained, built and started. What
//! is obtained is an `installation`, and `builds` names and compares what is known of how it was
//! built. A start gives a `system`, which has an `endpoint`, reached by a `transport`, and
//! `counters`, and leaves something when it is `stopped`. `count_method` and `profile` are what
//! other crates must know to count its instructions and to read its call stacks. An `error` says
//! what was expected, what was found and what to do.

pub mod builds;
pub(crate) mod count_method;
pub(crate) mod counters;
pub(crate) mod endpoint;
pub(crate) mod error;
pub(crate) mod installation;
pub(crate) mod kind;
pub(crate) mod profile;
pub(crate) mod stopped;
pub(crate) mod system;
pub(crate) mod transport;
