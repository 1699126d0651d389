//! Whole experiments without a server: systems and engine are fakes that answer at once, and fail,
//! die, hang or have the user interrupt the run at the call they are told to.

mod blocks;
mod common;
mod every_point;
mod joint;
mod looks;
mod restored;
