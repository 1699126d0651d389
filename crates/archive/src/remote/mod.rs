//! Object storage: experiments by content hash, builds by their keys.
//!
//! ```text
//! PREFIX/experiments/HASH.steelyard   an archive file
//! PREFIX/index/HASH.json              what `list` shows of it; written last
//! PREFIX/builds/KEY.SHA256.tar.gz     a packed build
//! PREFIX/builds/KEY.json              what it is; written last, and names the file by its hash
//! ```
//!
//! Nothing is ever changed or shared: a push only adds its own objects, so two pushes at once lose
//! nothing. An experiment exists once its index entry does; a killed upload leaves nothing visible.
//! Two machines may build the same commit at once, with a few different bytes in the results. Each
//! uploads its own file; only one can write the entry.

mod address;
mod connect;
mod credentials;
mod explain;
mod http;
mod objects;

pub use address::Address;
pub(crate) use objects::Objects;
pub use objects::{Listed, Requests};
