//! Finds files that import each other in a loop, in crates and in the page's TypeScript.
//!
//! Such files can only be read, moved and tested together. Code that both need belongs in a file
//! below both.

mod graph;
pub mod modules;
mod names;
mod page;
mod tests;
pub mod tokens;
