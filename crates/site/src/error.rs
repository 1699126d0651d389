//! Errors of reading a catalog and writing a site.

use std::path::PathBuf;

/// Why a document or a site could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Results could not be read.
    #[error(transparent)]
    Report(#[from] report::ReportError),
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// The address could not be read or written.
    #[error(transparent)]
    Archive(#[from] archive::Error),
    /// A document could not be written as JSON.
    #[error("a document cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The binary was built without `web/`.
    #[error("this binary was built without the pages of a site; run `make build`")]
    NoApp,
    /// Something else is where the site should be.
    #[error(
        "expected a site of steelyard or an empty directory at {0}, found other files; name another"
    )]
    NotASite(String),
    /// The site was written by a newer steelyard.
    #[error(
        "{place} was written by a newer steelyard (format {found}, this one knows {known}); use that one, or name another place"
    )]
    Newer {
        /// Where it is.
        place: String,
        /// Its format.
        found: u32,
        /// The newest known.
        known: u32,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// `read`, `write`, `create` or `remove`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl Error {
    /// True if the request was wrong, in which case a retry can't help.
    pub fn is_request(&self) -> bool {
        match self {
            Self::Report(report::ReportError::Store(error)) | Self::Store(error) => {
                error.is_request()
            }
            Self::Archive(error) => error.is_request(),
            Self::Report(_) | Self::NoApp | Self::NotASite(_) | Self::Newer { .. } => true,
            Self::Json(_) | Self::Io { .. } => false,
        }
    }
}
