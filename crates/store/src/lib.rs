//! Results on disk: schema, reading and writing.
//!
//! A results directory contains `steelyard.db` (SQLite) and `artifacts/` (files such as server
//! logs). A [`Store`] is written during a run: each finished step is one durable transaction, so
//! nothing finished is lost if the run is killed or power fails. Readers may work while a run
//! writes. `SCHEMA.md` in this crate describes the tables.
//!
//! An experiment is a run or a count ([`Purpose`]). Counts ([`CountRecord`]) have no trials.
//! Functions that don't mention counts are about runs only.
//!
//! Only finished steps of finished trials are results; reading starts from those (see [`Scope`]).
//! This crate doesn't know what a metric means.

mod content;
mod counts;
mod error;
mod experiments;
mod intern;
mod marks;
mod notes;
mod read;
mod records;
mod schema;
mod series;
mod step;
mod store;
mod transfer;
mod upgrade;
mod write;

pub use counts::{CountFunction, CountPhase, CountRecord, INSTRUCTIONS};
pub use error::{Result, StoreError};
pub use notes::{NOTED, Note, NoteKind};
pub use records::{
    Better, Experiment, ExperimentId, ExperimentState, FAILED, HostFact, IMPORTED, NewExperiment,
    NewTrial, NewVariant, Purpose, Setting, StepId, StepKind, StepState, Trial, TrialId,
    TrialState, Variant, VariantId,
};
pub use step::{
    Counter, Failure, Histogram, LogEvent, Measure, QueryPlan, Scope, Series, Size, Step,
    StepRecord, StepValues, StoredWarning, Warning,
};
pub use store::{ARTIFACTS, DATABASE, Store, now_ms};
pub use transfer::{Incoming, NewIds, Whole};
