//! Errors of a store.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why results could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The directory has no store to read.
    #[error(
        "no results in {}: `steelyard.db` is missing; name the right directory with --results, or make results with `steelyard run`",
        .0.display()
    )]
    Missing(PathBuf),
    /// The directory could not be created or read.
    #[error(
        "cannot use {path} for results: {source}; choose a directory you may write to with --results"
    )]
    Directory {
        /// The directory or file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file or directory exists, as far as can be seen, but cannot be read.
    #[error(
        "cannot read {path}: {source}; make it readable, or name another directory with --results"
    )]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is not an SQLite database, or is damaged.
    #[error(
        "{path} is not a results database ({found}); move it away, or choose another directory with --results"
    )]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// The value found.
        found: String,
    },
    /// A newer steelyard wrote it.
    #[error(
        "{path} was written by a newer steelyard: expected schema version {known}, found {found}; update steelyard, or choose another directory with --results"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// This steelyard's.
        known: i64,
    },
    /// An earlier development version of steelyard wrote it, too old to be upgraded.
    #[error(
        "{path} was written by an earlier development version of steelyard: expected schema version {known}, found {found}; measure again into another directory with --results, or read these results with that version"
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// This steelyard's.
        known: i64,
    },
    /// It has to be upgraded to be read, which was not possible.
    #[error(
        "{path} was written by an earlier steelyard and could not be upgraded from schema version {found} to {known} ({why}); use a copy of the directory, or the steelyard that wrote it"
    )]
    NotUpgraded {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// This steelyard's.
        known: i64,
        /// What prevented it.
        why: Box<StoreError>,
    },
    /// No space left.
    #[error(
        "no space left for results in {}; nothing already stored is lost; free some space, and try again",
        .0.display()
    )]
    Full(PathBuf),
    /// Another process has locked the database for too long.
    #[error("{} is in use by another process that is writing; wait until it ends, or choose another directory with --results", .0.display())]
    Busy(PathBuf),
    /// Something with this id does not exist.
    #[error("{what} {id} is not in {path}; `steelyard list` shows what is there")]
    NotFound {
        /// The file.
        path: PathBuf,
        /// `experiment`, `trial`, …
        what: &'static str,
        /// Its id.
        id: i64,
    },
    /// A trial is not in the state that the request requires.
    #[error("trial {trial} is {state}, but only a running trial can be written to")]
    NotRunning {
        /// The trial.
        trial: i64,
        /// Its state.
        state: String,
    },
    /// A step has a duplicate, or a figure that cannot be stored.
    #[error("step `{step}` cannot be stored: {what}")]
    Unfit {
        /// Name of the step.
        step: String,
        /// Describes what is wrong with it.
        what: String,
    },
    /// A count contradicts itself or already exists.
    #[error("the count of `{kind}` cannot be stored: {what}")]
    UnfitCount {
        /// Kind of statement.
        kind: String,
        /// Describes what is wrong with it.
        what: String,
    },
    /// Stored data cannot be understood.
    #[error(
        "{path}: {what}; the database is damaged or was changed by another program: restore it from a backup"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Describes what was found, and where.
        what: String,
    },
    /// Any other error of SQLite.
    #[error("{path}: {source}")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The error from SQLite.
        source: rusqlite::Error,
    },
}

/// The result of a function of the store.
pub type Result<T> = std::result::Result<T, StoreError>;

impl StoreError {
    /// True if the request was wrong (a directory without results, of another program, or that
    /// cannot be read or written), in which case a retry can't help.
    pub fn is_request(&self) -> bool {
        matches!(
            self,
            StoreError::Missing(_)
                | StoreError::Directory { .. }
                | StoreError::Unreadable { .. }
                | StoreError::NotADatabase { .. }
                | StoreError::Newer { .. }
                | StoreError::Older { .. }
                | StoreError::NotUpgraded { .. }
                | StoreError::NotFound { .. }
        )
    }

    /// Classifies an error about the file or directory at `path`.
    pub(crate) fn from_io(path: &Path, source: std::io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                StoreError::Full(path)
            }
            _ => StoreError::Directory { path, source },
        }
    }

    /// For `map_err`: an error reading a file or directory.
    pub(crate) fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> Self {
        move |source| StoreError::Unreadable { path: path.to_owned(), source }
    }

    /// Classifies an SQLite error about the database at `path`.
    pub(crate) fn from_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full(path),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy(path),
            Some(ErrorCode::NotADatabase) => {
                StoreError::NotADatabase { path, found: "not written by SQLite".to_owned() }
            }
            Some(ErrorCode::DatabaseCorrupt) => {
                StoreError::Damaged { path, what: source.to_string() }
            }
            _ => StoreError::Sqlite { path, source },
        }
    }
}
