//! Experiments as files, in object storage and pushed to a service; builds, documents and pages in
//! object storage.
//!
//! [`export`] writes one experiment with its artifacts to a file, and [`import`] adds it to the
//! results on any machine, with nothing lost and nothing doubled. An experiment is identified by
//! the hash of its content ([`store::Store::content_hash`]).
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use std::path::Path;
//! let results = store::Store::open_read_only(Path::new("steelyard-results"))?;
//! archive::export(&results, store::ExperimentId(3), Path::new("load.steelyard"), "0.1.0")?;
//! archive::import(Path::new("load.steelyard"), Path::new("elsewhere"))?;
//! # Ok(())
//! # }
//! ```

mod agent;
mod archive;
mod bounded;
mod builds;
mod error;
mod export;
mod file;
mod import;
mod manifest;
mod output;
mod pages;
mod remote;
mod service;
mod shelf;
mod view;
mod workshop;

pub use archive::{Archive, Archived, Pushed, is_pushed_to};
pub use builds::{Builds, SharedBuild};
pub use error::Error;
pub use export::export;
pub use file::MAGIC;
pub use import::{Imported, import, import_named, is_archive, verify};
pub use manifest::{Entry, FORMAT, Manifest, Summary, is_hash};
pub use output::write_whole;
pub use pages::Pages;
pub use remote::{Address, Listed, Requests};
pub use service::{OFFSET, PIECE, Receipt, Received, SILENCE, Service, ServiceUrl, Stored, Token};
pub use shelf::{Shelf, Taken};
pub use view::Wanted;
