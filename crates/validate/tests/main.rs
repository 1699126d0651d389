//! All subjects, in their short form.
//!
//! One binary for all, so that it is linked once.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod short;
