//! What a connection sends.

use trace::Statement;

/// A statement of a log that a connection sends.
pub struct Round<'l> {
    pub statement: &'l Statement,
    /// The place of its form.
    pub form: usize,
    /// It is the first of a session that takes over the connection.
    pub connects: bool,
}
