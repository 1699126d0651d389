//! Checks if a machine is fit to measure on. The checks cover everything known to have spoiled
//! somebody's results.
//!
//! - [`settings`]: how the machine is set up, judged by rules over [`probe::host_facts`] and a few
//!   files.
//! - [`watch`]: what others do on it for some seconds.
//! - [`noise`]: how evenly it does the same work, and how fast it wakes up and writes.
//!
//! Each is a list of [`Finding`]s. [`Finding::fix`] says what could be set instead, and [`mend`]
//! sets it.

mod facts;
mod files;
mod finding;
mod mending;
mod noise;
mod watching;

pub use facts::settings;
pub use finding::{Finding, Fix, State};
pub use mending::{MendError, mend};
pub use noise::noise;
pub use watching::watch;
