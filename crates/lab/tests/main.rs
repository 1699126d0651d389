//! Whole experiments without a server: systems and engine are fakes that answer at once, and fail,
//! die, hang or have the user interrupt the run at the call they are told to.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod blocks;
mod common;
mod designed;
mod every_point;
mod frozen;
mod imported;
mod joint;
mod looks;
mod restored;
mod toy;
