//! Data on disk: kept between trials and between runs, copied, compared and measured.
//!
//! `prepared` data directories are kept in the cache. Data that was `loaded` once has a `manifest`
//! of every file, with a `hash`; trials start from a `copy`, whose pages may be made `warm`.
//! `given` has data directories of the user's. `disk` says what a data directory holds besides
//! tables, and `paths` where directories are and who owns them.

pub(crate) mod copy;
pub(crate) mod disk;
pub(crate) mod given;
pub(crate) mod hash;
pub(crate) mod loaded;
pub(crate) mod manifest;
pub(crate) mod paths;
pub(crate) mod prepared;
pub(crate) mod warm;
