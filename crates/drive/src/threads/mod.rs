//! Clients as threads of this process: started, watched, added up.

pub mod engine;
pub mod frozen;
mod pinning;
mod thread;
