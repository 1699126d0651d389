//! Processes of other users: started, recorded, found and ended.
//!
//! `launch` runs a program as a `user`; `identity` acts as that user in this process. Whatever is
//! started is first recorded in the `ledger`, so that a later steelyard can identify and end it
//! (`proc`) and remove its `ipc`. A `server` is started in a `site`, a directory with everything it
//! needs, perhaps in a `network` of its own. `paused` stops processes for a while, `freeze` all
//! those of a server. `placed` gives programs another place in memory.

pub(crate) mod freeze;
pub(crate) mod identity;
pub(crate) mod ipc;
pub(crate) mod launch;
pub(crate) mod ledger;
pub(crate) mod loader;
pub(crate) mod network;
pub(crate) mod paused;
pub(crate) mod placed;
pub(crate) mod proc;
pub(crate) mod server;
pub(crate) mod site;
pub(crate) mod user;
