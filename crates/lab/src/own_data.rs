//! The user's data directory that a variant's trials start from, where the plan names some.
//!
//! It is copied once per variant, as the beginning of a load that is kept ([`crate::trial`]). What
//! is there when the plan is read must still be there when it has been copied.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbms::{DataDirectory, Installation};
use plan::Plan;

use crate::error::Error;

/// How long the first start on it may take: a server may have to upgrade the copy.
pub const START_LIMIT: Duration = Duration::from_secs(1800);

/// The data directory of a variant.
#[derive(Debug)]
pub struct OwnData {
    directory: PathBuf,
    database: String,
    /// What identifies its content.
    content: String,
}

impl OwnData {
    /// The first of the plan's directories that a variant's servers can start on copies of, if it
    /// names some.
    ///
    /// # Errors
    /// [`Error::Variant`]; with several directories, [`Error::Workload`] with the reason for each.
    pub fn of(
        plan: &Plan,
        (variant, installation): (&str, &Installation),
        interrupted: &AtomicBool,
    ) -> Result<Option<Self>, Error> {
        let directories = plan.workload.data_directories();
        let Some((paths, database)) = directories.and_then(|it| it.named()) else {
            return Ok(None);
        };
        let mut refused = Vec::new();
        for path in paths {
            match dbms::check_data(installation, &DataDirectory { path, database, interrupted }) {
                Ok(content) => {
                    let (directory, database) = (path.to_path_buf(), database.to_owned());
                    return Ok(Some(Self { directory, database, content }));
                }
                Err(error) if error.is_request() => refused.push(error),
                Err(error) => return Err(Error::of(variant, error)),
            }
        }
        if refused.len() < 2 {
            return refused.pop().map_or(Ok(None), |error| Err(Error::of(variant, error)));
        }
        let reasons: Vec<_> = refused.iter().map(ToString::to_string).collect();
        Err(unfit(variant, reasons.join("; ")))
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where it is, for a server that starts.
    pub fn data<'a>(&'a self, interrupted: &'a AtomicBool) -> DataDirectory<'a> {
        DataDirectory { path: &self.directory, database: &self.database, interrupted }
    }

    /// What is recorded of the copy.
    pub fn note(&self) -> String {
        format!("copied from {}: {}", self.directory.display(), self.content)
    }

    /// Checks that nothing was written to it, or to one before it in the plan, since that was read.
    ///
    /// # Errors
    /// [`Error::Workload`].
    pub fn check_unchanged(&self, plan: &Plan, variant: &str) -> Result<(), Error> {
        let Some(directories) = plan.workload.data_directories() else { return Ok(()) };
        directories.check_unchanged(&self.directory).map_err(|text| unfit(variant, text))
    }
}

fn unfit(variant: &str, text: String) -> Error {
    Error::Workload { variant: variant.to_owned(), source: workload::Error::Script(text) }
}
