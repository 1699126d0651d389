//! Data kept between trials and between runs: prepared data directories in the cache, data that was
//! loaded once, and exact copies of both.

pub(crate) mod copy;
pub(crate) mod loaded;
pub(crate) mod manifest;
pub(crate) mod prepared;
pub(crate) mod warm;
