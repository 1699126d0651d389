//! Loads in other processes: clients in the process of a system, and other programs.

mod files;
pub mod idle;
pub mod process;
pub mod program;
pub mod remote;
pub mod script;
