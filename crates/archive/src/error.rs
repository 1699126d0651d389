//! Errors of archives.

use std::io;
use std::path::{Path, PathBuf};

use store::StoreError;

/// Why an experiment could not be exported, imported, pushed or pulled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file is something else.
    #[error(
        "{name} is not an experiment exported by steelyard: expected a file that `steelyard export -o` wrote, found {found}"
    )]
    NotAnArchive {
        /// The file.
        name: String,
        /// The beginning of its text.
        found: String,
    },
    /// The file is cut off or was changed.
    #[error("{name} is damaged: {problem}; nothing of it was imported; copy or export it again")]
    Damaged {
        /// The file.
        name: String,
        /// The problem with it.
        problem: String,
    },
    /// The file unpacks to more bytes than allowed.
    #[error(
        "{name} unpacks to more than {gigabytes} GB; nothing of it was imported; if you trust where it came from and have the space, set {variable} to more, a number of GB"
    )]
    TooLarge {
        /// The file or object.
        name: String,
        /// The limit.
        gigabytes: f64,
        /// The environment variable that sets it.
        variable: &'static str,
    },
    /// The limit on the unpacked size of a file is invalid.
    #[error("expected a number of GB in the environment variable {variable}, found `{found}`")]
    Largest {
        /// The environment variable.
        variable: &'static str,
        /// The content found.
        found: String,
    },
    /// A build at an address doesn't match its entry.
    #[error("{name}: {problem}")]
    DamagedBuild {
        /// The object.
        name: String,
        /// The problem: what was expected and found.
        problem: String,
    },
    /// A newer steelyard wrote it.
    #[error(
        "{name} was written by a newer steelyard ({steelyard}; {found}), but this one reads up to {known}; update steelyard"
    )]
    Newer {
        /// The file or object.
        name: String,
        /// Version of the steelyard that wrote it.
        steelyard: String,
        /// Versions of format and schema found.
        found: String,
        /// The newest known.
        known: String,
    },
    /// An earlier development version of steelyard wrote it.
    #[error(
        "{name} was written by an earlier development version of steelyard ({steelyard}): expected schema {known}, found {found}; measure again, or read it with that version"
    )]
    Older {
        /// The file or object.
        name: String,
        /// Version of the steelyard that wrote it.
        steelyard: String,
        /// Version of the schema found.
        found: u32,
        /// This steelyard's.
        known: u32,
    },
    /// The results directory has the same experiment in another state.
    #[error(
        "experiment {here} in {results} is the same experiment in another state: {here_state} there, {state} in {name}; both together would count its trials twice; name another directory with --results"
    )]
    OtherState {
        /// The file or object.
        name: String,
        /// State and number of trials in it.
        state: String,
        /// The results directory.
        results: PathBuf,
        /// Number of the experiment in it.
        here: i64,
        /// State and number of trials of that.
        here_state: String,
    },
    /// An address makes no sense.
    #[error("cannot use the address `{address}`: {problem}")]
    Address {
        /// The address, without what may be a password.
        address: String,
        /// The problem with it.
        problem: String,
    },
    /// There are no credentials.
    #[error("found no credentials for object storage: {0}")]
    NoCredentials(String),
    /// Object storage refused, or could not be reached.
    #[error("could not {action} at {address}: {problem}; {remedy}")]
    Remote {
        /// Where.
        address: String,
        /// The attempted action.
        action: String,
        /// The message.
        problem: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// A service did not take an experiment.
    #[error("{address} refused: {problem}")]
    Refused {
        /// Where.
        address: String,
        /// What the service said.
        problem: String,
    },
    /// There is no token for a service.
    #[error(
        "{address} takes a token: set the environment variable STEELYARD_TOKEN, or STEELYARD_TOKEN_FILE to a file that \
         has it; `steelyard serve token add NAME` makes one on the machine of the service"
    )]
    NoToken {
        /// Where.
        address: String,
    },
    /// The file of a token cannot be used.
    #[error("expected a token in the file {}, found {problem}", path.display())]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// No space left.
    #[error("no space left in {}; nothing was changed there; free some space and try again", .0.display())]
    Full(PathBuf),
    /// A file or directory cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The results cannot be read or written.
    #[error(transparent)]
    Store(StoreError),
}

impl Error {
    /// True if the request was wrong, in which case a retry can't help.
    pub fn is_request(&self) -> bool {
        match self {
            Error::NotAnArchive { .. }
            | Error::Damaged { .. }
            | Error::DamagedBuild { .. }
            | Error::TooLarge { .. }
            | Error::Largest { .. }
            | Error::Newer { .. }
            | Error::Older { .. }
            | Error::OtherState { .. }
            | Error::Address { .. }
            | Error::Refused { .. }
            | Error::NoToken { .. }
            | Error::TokenFile { .. }
            | Error::NoCredentials(_) => true,
            Error::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
            Error::Store(error) => error.is_request(),
            Error::Full(_) | Error::Remote { .. } => false,
        }
    }

    /// True if it is about a single experiment: others can still be read and written.
    pub fn is_about_one(&self) -> bool {
        matches!(
            self,
            Error::NotAnArchive { .. }
                | Error::Damaged { .. }
                | Error::TooLarge { .. }
                | Error::Newer { .. }
                | Error::Older { .. }
                | Error::OtherState { .. }
        )
    }

    /// For `map_err`: an error at a file or directory.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                let place = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
                Error::Full(place.to_owned())
            }
            _ => Error::Io { action, path: path.to_owned(), source },
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            // Its advice on steps and resuming applies to runs.
            StoreError::Full(path) => {
                let path = path.parent().unwrap_or(&path).to_owned();
                Error::Full(path)
            }
            error => Error::Store(error),
        }
    }
}
