//! The things that clients' sessions wait for, according to pg_stat_activity.

use super::control::Control;
use crate::api::system::looks;
use crate::{Error, Waits};

/// The first version whose `pg_stat_activity` tells clients from the server's own processes.
const BACKEND_TYPE_SINCE: u32 = 100_000;

/// A connection of its own to look from.
pub(super) fn open(control: &mut Control) -> Result<Waits, Error> {
    let clients = if control.version()? >= BACKEND_TYPE_SINCE {
        "AND backend_type = 'client backend'"
    } else {
        ""
    };
    let sql = format!(
        "SELECT coalesce(wait_event_type || '/' || wait_event, 'CPU'), count(*) \
         FROM pg_catalog.pg_stat_activity \
         WHERE state = 'active' AND pid <> pg_backend_pid() {clients} GROUP BY 1"
    );
    looks(control.another(), sql)
}
