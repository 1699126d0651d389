//! pgbench scripts that a client runs.

use ::script::{Script, Symbols};
use serde::{Deserialize, Serialize};

use crate::sent::Sent;

/// pgbench scripts that a client runs, one after another. Each run of a script is a transaction,
/// and a round of its stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scripts {
    /// Each with how often it is chosen in relation to the others.
    pub scripts: Vec<(Script, u32)>,
    /// Their variables.
    pub symbols: Symbols,
    /// The values of variables that a user gave.
    pub given: Vec<(String, String)>,
    /// The value of `:scale`.
    pub scale: i64,
    /// True if texts become literals where they are put into statements. pgbench puts them as they
    /// are.
    pub literals: bool,
    /// How statements are sent.
    pub sent: Sent,
    /// How often a transaction is tried in all, if it fails by a deadlock or because it can't be
    /// serialized; 0: until it succeeds.
    pub max_tries: u32,
    /// Seconds that a transaction may take. One of a stream with a rate that is late by more is
    /// skipped.
    pub latency_limit: Option<f64>,
    /// True if `\sleep` is a client's own time, no part of a transaction's response time: a user
    /// types and thinks. pgbench counts it.
    pub thinks: bool,
}
