//! Parsers of `/proc` texts, one file per source. They read what exists and skip what an older
//! kernel does not print. None panics on garbage.

pub(crate) mod cpu;
pub(crate) mod disk;
pub(crate) mod memory;
pub(crate) mod mounts;
pub(crate) mod pressure;
pub(crate) mod task;
