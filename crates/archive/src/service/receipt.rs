//! What a service and those who push to it say to each other.

use serde::{Deserialize, Serialize};

/// The largest piece of a file that is sent at once, in bytes.
pub const PIECE: usize = 8 << 20;
/// The header with the place of a piece in its file, and with the number of bytes that are there.
pub const OFFSET: &str = "upload-offset";

/// The answer to a piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Bytes of the file that are there.
    pub offset: u64,
    /// Where the experiment is, if all of it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<Stored>,
}

/// An experiment that a service has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// How it came there.
    pub state: Received,
    /// Its number there.
    pub experiment: i64,
}

/// How an experiment came to be at a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Received {
    /// It was added.
    Added,
    /// It was there already.
    Present,
}
