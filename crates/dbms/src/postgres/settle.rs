//! Settling: VACUUM and CHECKPOINT.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::control::{Control, literal};
use crate::{Error, Settled, Sql};

/// SQLSTATE insufficient_privilege.
const NOT_PERMITTED: &str = "42501";

/// Vacuums every table, as many at once as there are cores, then performs a checkpoint.
pub(super) fn settle(control: &mut Control, tables: &[String]) -> Result<Settled, Error> {
    let begin = Instant::now();
    // INDEX_CLEANUP came with 12. Without it, since 14, VACUUM may leave the indexes as they are.
    let options = if control.version()? >= 120_000 {
        "VERBOSE, ANALYZE, INDEX_CLEANUP ON"
    } else {
        "VERBOSE, ANALYZE"
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let outcome: Mutex<(Vec<String>, Option<Error>)> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..cores.min(tables.len()) {
            let mut own = control.another();
            let (next, outcome) = (&next, &outcome);
            scope.spawn(move || {
                while let Some(table) = tables.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let done = vacuum(&mut own, table, options);
                    let Ok(mut outcome) = outcome.lock() else { return };
                    match done {
                        Ok(lines) => outcome.0.extend(lines),
                        Err(error) => {
                            outcome.1.get_or_insert(error);
                            return;
                        }
                    }
                }
            });
        }
    });
    let (mut lines, error) = outcome.into_inner().unwrap_or_default();
    if let Some(error) = error {
        return Err(error);
    }
    lines.push(checkpoint(control)?);
    Ok(Settled { seconds: begin.elapsed().as_secs_f64(), lines })
}

/// Performs a checkpoint; returns what was done.
pub(super) fn checkpoint(control: &mut Control) -> Result<String, Error> {
    let begin = Instant::now();
    match control.execute("CHECKPOINT") {
        Ok(_) => Ok(format!("CHECKPOINT: {:.3} s", begin.elapsed().as_secs_f64())),
        Err(Error::Query { code: Some(code), .. }) if code == NOT_PERMITTED => {
            Ok("CHECKPOINT: skipped, this role has no permission".to_owned())
        }
        Err(error) => Err(error),
    }
}

/// Vacuums one table; returns what was done and what the server said.
fn vacuum(control: &mut Control, table: &str, options: &str) -> Result<Vec<String>, Error> {
    let begin = Instant::now();
    control.execute("SET statement_timeout = 0")?;
    // Through regclass, so a name means the same here as in sizes and counters, including quotes.
    let name = control
        .text(&format!("SELECT coalesce(to_regclass({}::text)::text, '')", literal(table)))?;
    if name.is_empty() {
        return Err(Error::answer(format!("table {table}"), "no such table"));
    }
    let command = format!("VACUUM ({options}) {name}");
    control.take_notices();
    control.execute(&command)?;
    let mut lines = vec![format!("{command}: {:.3} s", begin.elapsed().as_secs_f64())];
    let said = control.take_notices();
    lines.extend(
        said.iter().flat_map(|notice| notice.lines()).map(|line| format!("  {}", line.trim_end())),
    );
    Ok(lines)
}
