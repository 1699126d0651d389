//! How the generated files are named.

/// The script that creates the instance.
pub const CREATE: &str = "create.sh";
/// The cloud-init file, which [`CREATE`] reads.
pub const CLOUD_INIT: &str = "cloud-init.yaml";
/// The script that sets up the server it runs on.
pub const SCRIPT: &str = "setup.sh";
