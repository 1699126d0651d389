//! Parsers of `/proc` texts, one file per source. They read what is there and leave out what an
//! older kernel does not print; none panics on garbage.

pub(crate) mod cpu;
pub(crate) mod disk;
pub(crate) mod memory;
pub(crate) mod mounts;
pub(crate) mod pressure;
pub(crate) mod task;
