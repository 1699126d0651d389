//! Work that writing has left behind: dead rows, pages that are not all-visible, vacuums and
//! checkpoints under way.

use super::control::Control;
use super::tables::tree;
use crate::{Debt, Error, Sql};

/// The first version whose `pg_stat_activity` has the checkpointer.
const ALL_PROCESSES_SINCE: u32 = 100_000;

/// The debt of `tables`, partitions included.
pub(super) fn debt(control: &mut Control, tables: &[String]) -> Result<Debt, Error> {
    let mut debt = Debt::default();
    if !tables.is_empty() {
        // The size is that of now, relallvisible that of the last vacuum.
        let rows = control.query_rows(&format!(
            "WITH RECURSIVE {} SELECT sum(pg_stat_get_dead_tuples(relid)), \
             sum(greatest(pg_relation_size(relid) / current_setting('block_size')::int \
             - c.relallvisible, 0)), sum(pg_total_relation_size(relid)) \
             FROM tree JOIN pg_catalog.pg_class c ON c.oid = relid",
            tree(tables)
        ))?;
        control.has_read_statistics();
        let figure = |place: usize| rows.first()?.get(place)?.as_deref()?.parse().ok();
        (debt.dead_rows, debt.unseen_pages, debt.bytes) = (figure(0), figure(1), figure(2));
    }
    let checkpoint = if control.version()? >= ALL_PROCESSES_SINCE {
        "UNION ALL SELECT 'checkpoint' FROM pg_catalog.pg_stat_activity \
         WHERE backend_type = 'checkpointer' AND wait_event IS DISTINCT FROM 'CheckpointerMain'"
    } else {
        ""
    };
    let running = control.query_rows(&format!(
        "SELECT query FROM pg_catalog.pg_stat_activity WHERE query LIKE 'autovacuum: %' \
         AND state = 'active' {checkpoint}"
    ))?;
    debt.running = running.into_iter().flatten().flatten().collect();
    Ok(debt)
}
