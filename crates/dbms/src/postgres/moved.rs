//! Gives counters that moved between versions their current names. Only counters of the same name
//! can be compared.

/// Columns of pg_stat_bgwriter that are in pg_stat_checkpointer since 17.
const CHECKPOINTS: [(&str, &str); 5] = [
    ("checkpoints_timed", "num_timed"),
    ("checkpoints_req", "num_requested"),
    ("checkpoint_write_time", "write_time"),
    ("checkpoint_sync_time", "sync_time"),
    ("buffers_checkpoint", "buffers_written"),
];

/// Columns of pg_stat_io that count blocks before 18, and requests of any size since. Only their
/// bytes can be compared.
const BLOCKS: [(&str, &str); 3] =
    [("reads", "read_bytes"), ("writes", "write_bytes"), ("extends", "extend_bytes")];

/// Tells rows of pg_stat_io apart.
pub(super) const IO_OBJECT: &str = "backend_type || '/' || object || '/' || context";

/// The first version in which pg_stat_io counts WAL, and pg_stat_wal no longer counts its writes.
pub(super) const WAL_IO_SINCE: u32 = 180_000;

/// The rows of pg_stat_io about WAL. They are kept apart so that the sums of the others can be
/// compared with those of earlier versions.
pub(super) const WAL_VIEW: &str = "pg_stat_io/wal";

/// The writes in pg_stat_wal before [`WAL_IO_SINCE`].
pub(super) const WAL_IO: &str = "SELECT '', to_jsonb(t)::text FROM \
     (SELECT sum(writes) AS wal_write, sum(fsyncs) AS wal_sync, \
     sum(write_time) AS wal_write_time, sum(fsync_time) AS wal_sync_time \
     FROM pg_catalog.pg_stat_io WHERE object = 'wal' AND context = 'normal') t";

/// Asks for the rows of [`WAL_VIEW`].
pub(super) fn wal_rows() -> String {
    format!(
        "SELECT {IO_OBJECT}, to_jsonb(t)::text FROM pg_catalog.pg_stat_io t WHERE object = 'wal'"
    )
}

/// Where a column is now: its view, its name, and the factor of its value. `block` is the size of a
/// block of pg_stat_io, where the version says it.
pub(super) fn now<'a>(view: &'a str, name: &'a str, block: Option<f64>) -> (&'a str, &'a str, f64) {
    let (renamed, view_now, times) = match (view, block) {
        ("pg_stat_bgwriter", _) => (&CHECKPOINTS[..], "pg_stat_checkpointer", 1.0),
        ("pg_stat_io", Some(size)) => (&BLOCKS[..], view, size),
        _ => (&[][..], view, 1.0),
    };
    let found = renamed.iter().find(|(old, _)| *old == name);
    found.map_or((view, name, 1.0), |(_, name)| (view_now, name, times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moved_is_found_where_it_is_now() {
        let checkpoints = now("pg_stat_bgwriter", "checkpoints_req", None);
        assert_eq!(checkpoints, ("pg_stat_checkpointer", "num_requested", 1.0));
        let stays = now("pg_stat_bgwriter", "buffers_alloc", None);
        assert_eq!(stays, ("pg_stat_bgwriter", "buffers_alloc", 1.0));
        assert_eq!(now("pg_stat_io", "reads", Some(8192.0)), ("pg_stat_io", "read_bytes", 8192.0));
        assert_eq!(now("pg_stat_io", "hits", Some(8192.0)), ("pg_stat_io", "hits", 1.0));
        // Since 18 they are requests.
        assert_eq!(now("pg_stat_io", "reads", None), ("pg_stat_io", "reads", 1.0));
    }
}
