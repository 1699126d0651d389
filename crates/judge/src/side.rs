//! The two sides of a comparison.

use std::fmt;

/// Which of two compared variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The variant all others are compared with.
    Base,
    /// The one compared with it.
    Variant,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base => "base",
            Self::Variant => "variant",
        })
    }
}
