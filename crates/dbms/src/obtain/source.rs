//! A source to build.

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
