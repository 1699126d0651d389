//! How statements are sent.

use serde::{Deserialize, Serialize};

/// How a statement reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sent {
    /// As text each time.
    Text,
    /// Parsed anew each time, without a name, then bound to values.
    Extended,
    /// Parsed once, then bound to values.
    Prepared,
    /// The same, as a DBMS's own client library does it for other programs: values are text, and
    /// the server describes the result each time. Both cost it time.
    Described,
}

impl Sent {
    /// Prepared or as text.
    pub fn prepared(yes: bool) -> Sent {
        if yes { Sent::Prepared } else { Sent::Text }
    }
}
