//! Pushing to a service that receives experiments (`steelyard serve`), in pieces.
//!
//! ```text
//! GET  api/v1/archives/CONTENT?began=MS       is the experiment with this content hash there,
//!                                             with these &notes= ?
//! HEAD api/v1/uploads/SHA256?length=BYTES     how much of this file is there?
//! PUT  api/v1/uploads/SHA256?length=BYTES     the next piece; the answer to the last: its number
//! ```
//!
//! Packing an experiment gives the same bytes each time, so an upload that was cut off goes on
//! where it was, also from another process.

mod client;
mod receipt;
mod token;
mod url;

pub use client::Service;
pub use receipt::{OFFSET, PIECE, Receipt, Received, Stored};
pub use token::Token;
pub use url::ServiceUrl;
