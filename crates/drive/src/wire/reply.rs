//! The answer to a client's request.

/// The answer to a client's statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reply {
    /// Rows in the result.
    pub rows: u32,
    /// Rows inserted, updated or deleted, according to the server.
    pub affected: u64,
}
