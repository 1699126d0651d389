//! Conducts a plan: the only room that sees plan, dbms, workload, drive, probe and store together.
//!
//! [`run`] obtains the binaries of every variant, sweeps up what a killed run left, takes the
//! machine for itself, and then goes through the blocks of the plan: each trial gets a fresh
//! server, goes through the benchmark's steps, and has every finished step written to the store at
//! once. It tells what it does through [`Event`]s and prints nothing.
//!
//! The folders follow an experiment from its outside in: `experiment` goes through blocks and
//! looks at what they show, `joint` runs the trials of a block whose servers are up together,
//! `trial` runs one, `observe` says what was seen in a step. `count` is a story of its own.

mod count;
mod error;
mod event;
mod experiment;
mod joint;
mod lineup;
mod observe;
mod options;
mod systems;
mod trial;

pub use count::count;
pub use error::Error;
pub use event::{Event, IntervalRow};
pub use experiment::run::{Resume, run};
pub use options::{Options, default_data_dir};
pub use systems::{Installed, Started, Systems};
