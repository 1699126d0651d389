//! Clients: each runs a stream over its sessions, in the thread that calls it.

pub mod answers;
pub mod bundle;
mod check;
pub mod client;
pub mod gate;
pub mod lane;
mod linked;
mod opening;
mod order;
mod player;
mod round;
mod schedule;
pub mod single;
pub mod sliced;
