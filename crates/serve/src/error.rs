//! Errors of a service.

/// Why a service could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The results could not be read.
    #[error(transparent)]
    Site(#[from] site::Error),
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// The address is not one of this machine alone.
    #[error(
        "expected an address of this machine alone, such as 127.0.0.1:7700, found {0}: others could read all results, \
         because a service does not know users and tokens yet. Use an SSH tunnel, or `steelyard site`"
    )]
    NotLoopback(String),
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
            Self::NotLoopback(_) | Self::Address { .. } | Self::Listen { .. } => true,
            Self::Failed(_) => false,
        }
    }
}
