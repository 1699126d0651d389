//! Settling: statistics, purge, dirty pages; for MyRocks memtables and level 0.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::changed::Changed;
use super::control::{Control, number, permitted};
use super::gauges::figure;
use super::monitor::Monitor;
use super::names::quoted;
use super::tables::{engines, is_rocks};
use crate::{Error, Settled, Sql};

/// How long purging, writing and compacting may take together.
const LIMIT: Duration = Duration::from_secs(1200);

/// How often to look.
const POLL: Duration = Duration::from_millis(500);

/// A backlog that has not fallen for this long does not fall.
const STALLED: Duration = Duration::from_secs(5);

/// Settings that InnoDB gets until dirty pages and history stop falling, in this order: the
/// percentage can't be less than its low-water mark. Settings that a version doesn't have are left
/// out.
const HURRY: [(&str, &str); 4] = [
    ("innodb_max_dirty_pages_pct_lwm", "1"),
    ("innodb_max_dirty_pages_pct", "1"),
    ("innodb_idle_flush_pct", "100"),
    // Otherwise the history list is only shortened after every 128 batches, so never when idle.
    ("innodb_purge_rseg_truncate_frequency", "1"),
];

/// Has MariaDB wait until the history list is empty.
const PURGE_WAIT: &str = "innodb_max_purge_lag_wait";

/// Flushes the memtables of MyRocks, then compacts level 0: the names in different versions.
const FLUSH_MEMTABLES: &str = "rocksdb_force_flush_memtable_now";
const COMPACT_L0: [&str; 2] =
    ["rocksdb_compact_lzero_now", "rocksdb_force_flush_memtable_and_lzero_now"];

/// Pays off the debt of `tables`.
pub(super) fn settle(control: &mut Control, tables: &[String]) -> Result<Settled, Error> {
    let begin = Instant::now();
    let rocks = engines(control, tables)?.iter().any(|engine| is_rocks(engine));
    let mut lines = Vec::new();
    for table in tables {
        lines.push(analyze(control, table)?);
    }
    if rocks {
        lines.extend(settle_rocks(control, begin)?);
    }
    lines.push(settle_innodb(control, begin, true)?);
    Ok(Settled { seconds: begin.elapsed().as_secs_f64(), lines })
}

/// Makes the server write what it holds back in memory.
pub(super) fn flush(control: &mut Control) -> Result<(), Error> {
    let begin = Instant::now();
    if control.variable(FLUSH_MEMTABLES)?.is_some() {
        now(control, FLUSH_MEMTABLES)?;
    }
    settle_innodb(control, begin, false).map(drop)
}

/// Computes a table's statistics; returns what was done.
fn analyze(control: &mut Control, table: &str) -> Result<String, Error> {
    let begin = Instant::now();
    let command = format!("ANALYZE NO_WRITE_TO_BINLOG TABLE {}", quoted(table));
    let said = control.table(&command)?;
    let text = |row: &Vec<Option<String>>, name: &str| {
        said.value(row, name).unwrap_or_default().to_owned()
    };
    // Failures come as rows.
    if let Some(row) = said.rows.iter().find(|row| text(row, "Msg_type") == "Error") {
        return Err(Error::answer(format!("{command}: OK"), text(row, "Msg_text")));
    }
    let status = said.rows.last().map(|row| text(row, "Msg_text")).unwrap_or_default();
    Ok(format!("{command}: {status}, {:.3} s", begin.elapsed().as_secs_f64()))
}

/// Work that InnoDB has not written and not purged.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Backlog {
    dirty: f64,
    pages: f64,
    history: f64,
}

impl Backlog {
    fn look(control: &mut Control) -> Result<Self, Error> {
        let status = control.pairs(
            "SHOW GLOBAL STATUS WHERE Variable_name IN \
             ('Innodb_buffer_pool_pages_dirty', 'Innodb_buffer_pool_pages_total')",
        )?;
        let of = |name: &str| figure(&status, name).unwrap_or(0.0);
        let history = Monitor::ask(control)?.history.unwrap_or(0.0);
        let dirty = of("Innodb_buffer_pool_pages_dirty");
        Ok(Self { dirty, pages: of("Innodb_buffer_pool_pages_total"), history })
    }

    /// True if there is nothing to wait for: at most 1% of all pages, and no history.
    fn is_done(&self, purge: bool) -> bool {
        self.dirty <= self.pages / 100.0 && (!purge || self.history <= 0.0)
    }
}

/// Has InnoDB write dirty pages and, with `purge`, remove what nobody needs. Returns what was done.
fn settle_innodb(control: &mut Control, start: Instant, purge: bool) -> Result<String, Error> {
    let begin = Instant::now();
    let mut changed = Changed::new(control.another());
    for (name, value) in HURRY {
        if permitted(changed.set(name, value))?.is_none() {
            return Ok("InnoDB: skipped, this user may not change its settings".to_owned());
        }
    }
    let told = changed.names().join(", ");
    let before = Backlog::look(control)?;
    let waits = purge && control.variable(PURGE_WAIT)?.is_some();
    let (mut last, mut fell) = (before, Instant::now());
    let end = loop {
        if last.is_done(purge) {
            break "done";
        }
        if fell.elapsed() > STALLED {
            break "no longer falling";
        }
        if start.elapsed() > LIMIT {
            break "time limit";
        }
        if waits && last.history > 0.0 {
            wait_for_purge(control)?;
        } else {
            sleep(POLL);
        }
        let now = Backlog::look(control)?;
        if now.dirty < last.dirty || purge && now.history < last.history {
            fell = Instant::now();
        }
        last = now;
    };
    changed.restore()?;
    Ok(format!(
        "InnoDB ({told}): dirty pages {} to {} of {}, history list {} to {}; {end}, {:.3} s",
        before.dirty,
        last.dirty,
        last.pages,
        before.history,
        last.history,
        begin.elapsed().as_secs_f64()
    ))
}

/// Makes MariaDB purge for about a second. The value of the variable stays the same; setting it
/// makes the server wait.
fn wait_for_purge(control: &mut Control) -> Result<(), Error> {
    let waited = control
        .execute(&format!("SET STATEMENT max_statement_time = 1 FOR SET GLOBAL {PURGE_WAIT} = 0"));
    match waited {
        // ER_STATEMENT_TIMEOUT.
        Err(error) if number(&error) != Some(1969) => Err(error),
        _ => Ok(()),
    }
}

/// Compacts everything that MyRocks has not compacted yet; returns the actions.
fn settle_rocks(control: &mut Control, start: Instant) -> Result<Vec<String>, Error> {
    let mut lines = vec![wait_for_compaction(control, start)?];
    let mut commands = vec![FLUSH_MEMTABLES];
    for name in COMPACT_L0 {
        if control.variable(name)?.is_some() {
            commands.push(name);
            break;
        }
    }
    for name in commands {
        if control.variable(name)?.is_some() {
            lines.push(now(control, name)?);
        }
    }
    lines.push(wait_for_compaction(control, start)?);
    Ok(lines)
}

/// Sets a variable of MyRocks that makes the server do something now. The value of the variable
/// stays the same.
fn now(control: &mut Control, name: &str) -> Result<String, Error> {
    let begin = Instant::now();
    Ok(match permitted(control.execute(&format!("SET GLOBAL {name} = 1")))? {
        Some(_) => format!("{name}: {:.3} s", begin.elapsed().as_secs_f64()),
        None => format!("{name}: skipped, this user has no permission"),
    })
}

/// Background work of MyRocks: the work that waits to be done, and the bytes it has written.
pub(super) fn background(control: &mut Control) -> Result<(f64, f64), Error> {
    let number = |row: Option<&Vec<Option<String>>>| {
        row.and_then(|row| row.first()?.as_deref()?.parse::<f64>().ok()).unwrap_or(0.0)
    };
    let pending = control.query_rows(
        "SELECT sum(value) FROM information_schema.rocksdb_cfstats WHERE stat_type IN \
         ('COMPACTION_PENDING', 'MEM_TABLE_FLUSH_PENDING', 'NUM_IMMUTABLE_MEM_TABLE')",
    )?;
    let written = control.pairs(
        "SHOW GLOBAL STATUS WHERE Variable_name IN \
         ('Rocksdb_compact_write_bytes', 'Rocksdb_compact_read_bytes', 'Rocksdb_flush_write_bytes')",
    )?;
    let written = written.iter().filter_map(|(_, value)| value.parse::<f64>().ok()).sum();
    Ok((number(pending.first()), written))
}

/// Waits until nothing waits to be compacted and nothing was written for two looks.
fn wait_for_compaction(control: &mut Control, start: Instant) -> Result<String, Error> {
    let begin = Instant::now();
    let mut quiet = 0;
    let (first, mut last) = (background(control)?, None);
    let end = loop {
        let now = background(control)?;
        quiet = if now.0 <= 0.0 && last == Some(now) { quiet + 1 } else { 0 };
        last = Some(now);
        if quiet >= 2 {
            break "none is running";
        }
        if start.elapsed() > LIMIT {
            break "time limit";
        }
        sleep(POLL);
    };
    let written = last.map_or(0.0, |now| now.1 - first.1) / 1e6;
    Ok(format!(
        "waiting for compactions: {end}, {written:.1} MB read and written, {:.3} s",
        begin.elapsed().as_secs_f64()
    ))
}
