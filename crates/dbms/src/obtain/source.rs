//! A source to build.

use std::fmt;

use reference::SourceTree;

use crate::BuildOptions;

/// A source to build, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// The tree to build.
    pub(crate) tree: SourceTree,
    /// How.
    pub(crate) options: BuildOptions,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tree.fmt(formatter)
    }
}
