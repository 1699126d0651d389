//! Many experiments as a site: documents by their paths, and a static site of them that is renewed
//! in place.
//!
//! A [`Catalog`] says which paths there are at this moment, each with a mark that changes when the
//! document may have changed, and makes the document of a path. Nothing but what it lists can be
//! asked for. `report` decides what a document says; this crate only knows where it is.
//!
//! [`renew()`] writes the documents and the app that shows them to a [`Place`]; the crate `serve`
//! answers the same over HTTP.
//!
//! ```text
//! index.html                                          the app, with site.js and site.css
//! api/v1/overview.json                                what moved lately, machines, last runs
//! api/v1/experiments.json                             all experiments at a glance
//! api/v1/experiments/ID.json                          the data of a report's page
//! api/v1/live.json                                    no runs; a service tells of those under way
//! api/v1/machines.json                                machines with facts and noise
//! api/v1/history.json                                 the histories that there are
//! api/v1/history/WORKLOAD/MACHINE/ORDER/METRIC.json   one of them
//! ```
//!
//! Making the briefs of all experiments takes long, so they are kept with their marks ([`Kept`]).

mod app;
mod catalog;
mod error;
mod kept;
pub mod live;
mod mark;
mod media;
mod notes;
mod place;
mod renew;
mod workers;

pub use app::has_app;
pub use catalog::{Catalog, Entry};
pub use error::Error;
pub use kept::Kept;
pub use media::media_type;
pub use notes::{NoteError, add_note};
pub use place::{Directory, Place};
pub use renew::{MANIFEST, Renewed, renew};
