//! The things that clients' sessions wait for, according to pg_stat_activity.

use super::control::Control;
use crate::{Error, Sql, Waits};

/// The first version whose `pg_stat_activity` tells clients from the server's own processes.
const BACKEND_TYPE_SINCE: u32 = 100_000;

/// A connection of its own to look from.
pub(super) struct Looks {
    control: Control,
    sql: String,
}

impl Looks {
    pub(super) fn open(control: &mut Control) -> Result<Self, Error> {
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
        let mut looks = Self { control: control.another(), sql };
        looks.look()?;
        Ok(looks)
    }
}

impl Waits for Looks {
    fn look(&mut self) -> Result<Vec<(String, u32)>, Error> {
        let rows = self.control.query_rows(&self.sql)?;
        let row = |row: Vec<Option<String>>| match &row[..] {
            [Some(event), Some(count)] => Some((event.clone(), count.parse().ok()?)),
            _ => None,
        };
        Ok(rows.into_iter().filter_map(row).collect())
    }
}
