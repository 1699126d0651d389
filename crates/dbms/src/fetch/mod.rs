//! Fetching from public places: `http` gets a file, `maven` an artifact of one version with its
//! checksum, `released` an installation into the cache.

mod http;
pub(crate) mod maven;
pub(crate) mod released;
