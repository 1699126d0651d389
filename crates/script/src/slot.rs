//! Places of variables.

use serde::{Deserialize, Serialize};

/// The place of a variable among those of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slot(pub u32);

impl Slot {
    /// As an index into the values of [`Symbols::values`](crate::Symbols::values).
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
