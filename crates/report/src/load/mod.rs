//! Measured results, read from results directories.
//!
//! `experiment` reads one experiment into the `model`, with its response times (`latency`) and
//! `slices`, of which some count (`pairing`). It warns about trials of another `machine`, `starts`
//! from another page cache, other `plans`, `wrong` or missing `answers`, and statements of a log
//! that `found` other rows. `trials` reads one metric of the `chosen` experiments of several
//! directories. `across` puts variants of other experiments beside those of one.

pub(crate) mod across;
pub(crate) mod answers;
pub(crate) mod chosen;
pub(crate) mod experiment;
pub(crate) mod found;
pub(crate) mod latency;
pub(crate) mod machine;
pub(crate) mod model;
pub(crate) mod notes;
pub(crate) mod pairing;
pub(crate) mod plans;
pub(crate) mod renames;
pub(crate) mod slices;
pub(crate) mod starts;
pub(crate) mod trials;
pub(crate) mod used;
pub(crate) mod wrong;
