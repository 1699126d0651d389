//! Fetching from public places: `http` gets a file, `maven` an artifact of one version with its
//! checksum, `released` an installation into the cache. `first_seen` remembers what was fetched.

mod first_seen;
pub(crate) mod http;
pub(crate) mod maven;
pub(crate) mod released;
