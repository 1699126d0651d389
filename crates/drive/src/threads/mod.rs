//! Clients as threads of this process: started, watched, added up.

pub mod engine;
mod seat;
mod thread;
