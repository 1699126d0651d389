//! The data directory of the user's that trials begin on, where the plan names one.
//!
//! It is copied once per variant, as the beginning of a load that is kept ([`super::loads`]). What
//! is there when the plan is read must still be there when it has been copied.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbms::{DataDirectory, Installation};
use plan::Plan;

use crate::error::Error;

/// How long the first start on it may take: a server may have to upgrade the copy.
pub const START_LIMIT: Duration = Duration::from_secs(1800);

/// The data directory of a plan.
pub fn data_of<'a>(plan: &'a Plan, interrupted: &'a AtomicBool) -> Option<DataDirectory<'a>> {
    let (path, database) = plan.workload.data_directory()?.named()?;
    Some(DataDirectory { path, database, interrupted })
}

/// Checks that a variant's servers can start on copies of it. Returns a note about its content, if
/// the plan names one.
///
/// # Errors
/// [`Error::Variant`].
pub fn check(
    plan: &Plan,
    (variant, installation): (&str, &Installation),
    interrupted: &AtomicBool,
) -> Result<Option<String>, Error> {
    let Some(data) = data_of(plan, interrupted) else { return Ok(None) };
    let content = dbms::check_data(installation, &data);
    let content = content.map_err(|error| Error::of(variant, error))?;
    Ok(Some(format!("copied from {}: {content}", data.path.display())))
}

/// Checks that nothing was written to it since the plan was read.
///
/// # Errors
/// [`Error::Workload`].
pub fn check_unchanged(plan: &Plan, variant: &str) -> Result<(), Error> {
    let Some(data) = plan.workload.data_directory() else { return Ok(()) };
    data.check_unchanged().map_err(|text| Error::Workload {
        variant: variant.to_owned(),
        source: workload::Error::Script(text),
    })
}
