//! When a server that was started accepts connections.

use std::fs;
use std::path::Path;

use super::control::Control;
use crate::Sql;

/// From this version on, a server writes its status to postmaster.pid, and is left alone until it
/// is ready. For an earlier client it starts a process that only refuses, and the number of those
/// shows in the memory of all later ones.
pub(super) const SAYS: u32 = 10;

/// Asks the server with this data directory; `says` if it is of version [`SAYS`] or later.
pub(super) fn ask(data: &Path, says: bool, control: &mut Control) -> Result<(), String> {
    if says && !is_ready(&data.join("postmaster.pid")) {
        return Err("its postmaster.pid does not say that it is ready".to_owned());
    }
    control.query_i64("SELECT 1").map(|_| ()).map_err(|error| error.to_string())
}

/// True if the eighth line of a postmaster.pid, the status (miscadmin.h), is that of a server that
/// accepts connections.
fn is_ready(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().nth(7).is_some_and(|status| matches!(status.trim(), "ready" | "standby"))
}
