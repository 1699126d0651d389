//! A joint block: the servers of all variants run at the same time and share the load.

pub mod calm;
pub mod few_cpus;
pub mod fit;
pub mod length;
pub mod lockstep;
pub mod need;
pub mod sliced;
pub mod slicing;
