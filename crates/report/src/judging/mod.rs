//! Variants judged against their base.
//!
//! `steps` judges all steps of an experiment: by `figures` of the blocks that are paired, by the
//! rounds of steps that were `sliced`, or by CPU time (`by_cpu`). What comes out is `judged` or
//! `unjudged`, each said in a `sentence`; a `gate` passes or fails on it.

pub(crate) mod by_cpu;
pub(crate) mod figures;
pub(crate) mod gate;
pub(crate) mod judged;
pub(crate) mod sentence;
pub(crate) mod sliced;
pub(crate) mod steps;
pub(crate) mod unjudged;
