//! Runs a plan: the only crate that uses plan, dbms, workload, drive, probe and store together.
//!
//! [`run`] obtains the binaries of every variant, cleans up after killed runs, locks the machine,
//! and then runs the blocks of the plan: each trial gets a fresh server and runs the benchmark's
//! steps, and every finished step is written to the store immediately. It reports progress through
//! [`Event`]s and prints nothing.
//!
//! The folders follow an experiment from the outside in: `experiment` runs blocks and looks at
//! their results, `joint` runs the trials of a block whose servers run at the same time, `trial`
//! runs one trial, `observe` records what happened in a step. `count` is separate, and so is
//! `import`, which stores what other programs printed.

mod count;
mod error;
mod event;
mod experiment;
mod import;
mod joint;
mod lineup;
mod observe;
mod options;
mod own_data;
mod printed;
mod sharing;
mod subject;
mod systems;
mod trial;

pub use count::{
    SEED as COUNT_SEED, can_count, count, count_conditions, count_events, count_kinds,
};
pub use error::{Error, ServerLog};
pub use event::{Event, IntervalRow, Look};
pub use experiment::exclusive::Exclusive;
pub use experiment::room::check as check_budget;
pub use experiment::run::{Resume, fresh_seed, latest_unfinished, run};
pub use import::{Arranged, Finished, ImportError, Imported, Named, Pattern, arrange, describe};
pub use lineup::variant_reference;
pub use observe::profile::check_profiler;
pub use options::{Options, default_data_dir};
pub use systems::{Installed, Systems};
