//! Conducts a plan: the only room that sees plan, dbms, workload, drive, probe and store together.
//!
//! [`run`] obtains the binaries of every variant, sweeps up what a killed run left, takes the
//! machine for itself, and then goes through the blocks of the plan: each trial gets a fresh
//! server, goes through the benchmark's steps, and has every finished step written to the store at
//! once. It tells what it does through [`Event`]s and prints nothing.

mod adaptive;
mod attached;
mod attempt;
mod blocks;
mod budget;
mod calm;
mod count;
mod disturbance;
mod error;
mod event;
mod exclusive;
mod extent;
mod figures;
mod fitness;
mod joint;
mod noise;
mod options;
mod pin;
mod prepare;
mod profile;
mod profiling;
mod restore;
mod run;
mod settle;
mod sliced;
mod slicing;
mod step;
mod trial;

pub use count::count;
pub use error::Error;
pub use event::Event;
pub use exclusive::Exclusive;
pub use options::{Options, default_data_dir};
pub use prepare::{Prepared, Subject, prepare};
pub use run::{Resume, run};
