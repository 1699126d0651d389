//! Finds files that import each other in a loop: of a crate, and of the page's TypeScript.
//!
//! Such files can be read, moved and tested only together. What both need belongs in a file below
//! both.

mod graph;
pub mod modules;
mod names;
mod page;
mod tests;
pub mod tokens;
