//! Object storage: experiments by content hash.
//!
//! ```text
//! PREFIX/experiments/HASH.steelyard   an archive file
//! PREFIX/index/HASH.json              what `list` shows of it; written last
//! ```
//!
//! Nothing is ever changed or shared: whoever pushes only adds objects of his own, so two who push
//! at once lose nothing. An experiment is there once its index entry is; an upload that was killed
//! leaves nothing that anybody sees.

mod address;
mod credentials;
mod explain;
mod http;
mod objects;

pub use address::Address;
pub(crate) use objects::Objects;
