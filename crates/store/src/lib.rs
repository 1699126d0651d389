//! Results on disk: schema, migrations, reading and writing.
//!
//! A results directory holds `steelyard.db` (SQLite) and `artifacts/` (files such as server logs).
//! A [`Store`] is written as a run goes: each finished step is one durable transaction, so that
//! nothing finished is lost when the run is killed or the power fails. Readers may work while a run
//! writes. The tables are described in `SCHEMA.md` beside this crate's manifest.
//!
//! An experiment is a run or a count ([`Purpose`]). Counts ([`CountRecord`]) have no trials; what
//! says nothing of them means runs alone.
//!
//! Only finished steps of finished trials are results; reading starts from those (see [`Scope`]).
//! What a metric means is not known here.

mod codec;
mod counts;
mod error;
mod experiments;
mod intern;
mod read;
mod records;
mod schema;
mod store;
mod write;

pub use counts::{CountFunction, CountPhase, CountRecord};
pub use error::{Result, StoreError};

pub use records::{
    Better, Counter, Experiment, ExperimentId, ExperimentState, Failure, Histogram, HostFact,
    Measure, NewExperiment, NewTrial, NewVariant, Purpose, Scope, Series, Setting, Size, Step,
    StepId, StepKind, StepRecord, StepState, StepValues, StoredWarning, Trial, TrialId, TrialState,
    Variant, VariantId, Warning,
};
pub use store::{ARTIFACTS, DATABASE, Store, now_ms};
