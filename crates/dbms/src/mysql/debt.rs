//! Work that writing has left behind: data that is not purged yet, compactions under way.

use super::control::Control;
use super::monitor::Monitor;
use super::settle::background;
use super::tables::{engines, footprint, is_rocks};
use crate::{Debt, Error};

/// The debt of `tables`, partitions included. `dead_rows` is the length of InnoDB's history list:
/// undo logs of committed transactions that are not purged yet, each with the old versions of the
/// rows that one transaction changed. For dirty pages, see the gauges.
pub(super) fn debt(control: &mut Control, tables: &[String]) -> Result<Debt, Error> {
    let monitor = Monitor::ask(control)?;
    let mut debt = Debt { dead_rows: monitor.history, ..Debt::default() };
    if monitor.purging {
        debt.running.push("purge".to_owned());
    }
    if !tables.is_empty() {
        let sizes = footprint(control, tables)?;
        let total = sizes.iter().filter_map(|size| size.bytes.get("total")).sum::<u64>();
        debt.bytes = Some(total as f64);
        if engines(control, tables)?.iter().any(|engine| is_rocks(engine)) {
            debt.dead_rows = None;
            if background(control)?.0 > 0.0 {
                debt.running.push("compaction".to_owned());
            }
        }
    }
    Ok(debt)
}
