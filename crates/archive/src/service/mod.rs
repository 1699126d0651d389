//! Pushing to a service that receives experiments (`steelyard serve`), in pieces.
//!
//! ```text
//! GET  api/v1/archives/CONTENT?began=MS       is the experiment with this content hash there,
//!                                             with these &notes= ?
//! HEAD api/v1/uploads/SHA256?length=BYTES     how much of this file is there?
//! PUT  api/v1/uploads/SHA256?length=BYTES     the next piece; the answer to the last: its number
//! PUT  api/v1/live/PROCESS/BEGAN              how far a run is
//! DELETE api/v1/live/PROCESS/BEGAN            it has ended
//! ```
//!
//! Packing an experiment gives the same bytes each time, so an upload that was cut off goes on
//! where it was, also from another process.

use std::time::Duration;

mod client;
mod receipt;
mod token;
mod url;

pub use client::Service;
pub use receipt::{OFFSET, PIECE, Receipt, Received, Stored};
pub use token::Token;
pub use url::ServiceUrl;

/// A run on another machine that a service has not heard of for so long is not shown any more. A
/// run reports three times in this period.
pub const SILENCE: Duration = Duration::from_secs(90);
