//! Errors of a service.

use std::path::PathBuf;

/// Why a service could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The results could not be read.
    #[error(transparent)]
    Site(#[from] site::Error),
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// The address is not one of this machine alone, and there are no tokens.
    #[error(
        "expected an address of this machine alone, such as 127.0.0.1:7700, found {0}: others could read all results, \
         because this results directory has no tokens. Make one with `steelyard serve token add NAME`, or use an SSH \
         tunnel or `steelyard site`"
    )]
    NotLoopback(String),
    /// The name of a token has other characters.
    #[error(
        "expected a name of up to 64 letters, digits, `.`, `_` and `-` for a token, found `{0}`"
    )]
    TokenName(String),
    /// There is a token of this name.
    #[error("there is a token `{0}` already; `steelyard serve token rm {0}` removes it")]
    TokenTaken(String),
    /// There is none.
    #[error("there is no token `{0}`; `steelyard serve token list` shows all")]
    NoSuchToken(String),
    /// The file of tokens cannot be used.
    #[error("cannot {action} {}: {source}", path.display())]
    Tokens {
        /// The attempted action.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The address makes no sense.
    #[error("expected an address such as 127.0.0.1:7700, found {address}: {source}")]
    Address {
        /// As given.
        address: String,
        /// Why.
        source: std::io::Error,
    },
    /// The address cannot be used.
    #[error("cannot listen on {address}: {source}; name another with --listen")]
    Listen {
        /// As given.
        address: String,
        /// Why.
        source: std::io::Error,
    },
    /// The service ended by itself.
    #[error("the service failed: {0}")]
    Failed(#[from] std::io::Error),
}

impl Error {
    /// True if the request was wrong, in which case a retry can't help.
    pub fn is_request(&self) -> bool {
        match self {
            Self::Site(error) => error.is_request(),
            Self::Store(error) => error.is_request(),
            Self::NotLoopback(_)
            | Self::TokenName(_)
            | Self::TokenTaken(_)
            | Self::NoSuchToken(_)
            | Self::Address { .. }
            | Self::Listen { .. } => true,
            Self::Tokens { .. } | Self::Failed(_) => false,
        }
    }
}
