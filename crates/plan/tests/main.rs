//! The room as others see it: plans that are good, plans that are not, and any others.
//!
//! One binary for all, so it is linked once.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod fixtures;
mod properties;
mod schema;
