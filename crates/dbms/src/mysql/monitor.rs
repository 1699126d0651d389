//! What SHOW ENGINE INNODB STATUS says: the only place where every version has the log's position,
//! its last checkpoint and the length of the history list.

use super::control::{Control, number};
use crate::Error;

/// ER_SPECIFIC_ACCESS_DENIED_ERROR: the role may not look (privilege PROCESS).
const NOT_PERMITTED: u16 = 1227;

/// Figures of InnoDB's monitor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Monitor {
    /// Bytes of redo log written since the data directory was created.
    pub(super) lsn: Option<f64>,
    /// Where recovery would begin.
    pub(super) checkpoint: Option<f64>,
    /// Undo logs of committed transactions that are not purged yet.
    pub(super) history: Option<f64>,
    /// Whether purge threads are at work.
    pub(super) purging: bool,
}

impl Monitor {
    /// Reads the monitor's text.
    pub(super) fn read(text: &str) -> Self {
        let mut found = Self::default();
        for line in text.lines() {
            for (begin, place) in [
                ("Log sequence number", &mut found.lsn),
                ("Last checkpoint at", &mut found.checkpoint),
                ("History list length", &mut found.history),
            ] {
                if let Some(rest) = line.strip_prefix(begin) {
                    *place = rest.trim().parse().ok();
                }
            }
        }
        found
    }

    /// Asks the server; nothing is known if the role may not see it or InnoDB is off.
    pub(super) fn ask(control: &mut Control) -> Result<Self, Error> {
        let rows = match control.table("SHOW ENGINE INNODB STATUS") {
            Ok(table) => table.rows,
            Err(error) if number(&error) == Some(NOT_PERMITTED) => Vec::new(),
            Err(error) => return Err(error),
        };
        let text = rows.into_iter().flatten().next_back().flatten();
        Ok(text.map_or_else(Self::default, |text| Self::read(&text)))
    }

    /// Bytes of redo log that recovery would read.
    pub(super) fn age(&self) -> Option<f64> {
        Some(self.lsn? - self.checkpoint?)
    }
}
