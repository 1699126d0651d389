//! Text that makes a bare server fit to measure on: commands that create it in a cloud, a
//! cloud-init file, and a script for an existing server; and that of a [`Cluster`] of several. This
//! crate runs none of it.
//!
//! The script is `src/setup.sh`, which runs as it is; [`Setup::script`] fills in its settings. The
//! cloud-init file carries the same script. `doctor` judges the outcome: the script writes the
//! values that it asks for.
//!
//! ```
//! use setup::{Cloud, Request, Setup};
//!
//! let request = Request {
//!     cloud: Cloud::Gcp,
//!     machine: Some("c2-standard-60".to_owned()),
//!     zone: Some("us-west1-b".to_owned()),
//!     user: Some("mark".to_owned()),
//!     ..Request::default()
//! };
//! let setup = Setup::new(request)?;
//! assert!(setup.create().is_some_and(|text| text.contains("--threads-per-core=1")));
//! assert!(setup.script().contains("OWNER='mark'"));
//! # Ok::<(), setup::Error>(())
//! ```

mod aws;
mod check;
mod cluster;
mod files;
mod gcp;
mod request;
mod script;

pub use check::Error;
pub use cluster::{Cluster, ClusterFile};
pub use files::{CLOUD_INIT, CREATE, SCRIPT};
pub use request::{Cloud, Filesystem, Request, Ubuntu};

/// A description in which everything fits together.
#[derive(Clone, Debug)]
pub struct Setup(Request);

impl Setup {
    /// Checks a description and fills in the values that depend on the cloud.
    ///
    /// # Errors
    /// If a value could not be one of its kind, or is missing, or has no meaning there.
    pub fn new(request: Request) -> Result<Setup, Error> {
        check::check(request).map(Setup)
    }

    /// The request, with the values that depend on the cloud filled in.
    pub fn request(&self) -> &Request {
        &self.0
    }

    /// A script that creates the instance; `None` without a cloud. It expects the cloud-init file
    /// in the same directory, named [`CLOUD_INIT`].
    pub fn create(&self) -> Option<String> {
        match self.0.cloud {
            Cloud::None => None,
            Cloud::Gcp => Some(gcp::create(&self.0)),
            Cloud::Aws => Some(aws::create(&self.0)),
        }
    }

    /// A script that sets up the server it runs on. Running it again changes nothing.
    pub fn script(&self) -> String {
        script::script(&self.0)
    }

    /// A cloud-init file that runs the script at the first boot.
    pub fn cloud_init(&self) -> String {
        script::cloud_init(&self.0)
    }
}
