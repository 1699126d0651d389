//! The databases of a log.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::statement::Statement;

/// The databases that statements went to, as far as their log says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Databases(BTreeMap<Arc<str>, u64>);

impl Databases {
    /// Counts a statement.
    pub fn add(&mut self, statement: &Statement) {
        if let Some(name) = &statement.database {
            *self.0.entry(Arc::clone(name)).or_default() += 1;
        }
    }

    /// Their names, in order, and how many statements each has.
    pub fn counts(&self) -> impl ExactSizeIterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, statements)| (&**name, *statements))
    }
}

impl fmt::Display for Databases {
    /// Such as `blog (120 statements), shop (3 statements)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (name, statements)) in self.counts().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            let plural = if statements == 1 { "" } else { "s" };
            write!(f, "{comma}{name} ({statements} statement{plural})")?;
        }
        Ok(())
    }
}
