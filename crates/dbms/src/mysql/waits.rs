//! The things that clients' sessions wait for.

use super::control::Control;
use crate::api::system::looks;
use crate::{Error, Sql, Waits};

/// How a session that waits for a row lock is shown: otherwise as `Updating`, `statistics` or an
/// access to a table.
const LOCK: &str = "WHEN t.trx_state = 'LOCK WAIT' THEN 'waiting for a row lock'";

/// Wait events of performance_schema, which the server has if the consumer is enabled (not by
/// default): the innermost of each session. A session that is in no wait uses the CPU.
const EVENTS: &str = "coalesce(e.event_name, 'CPU') END, count(*) \
    FROM performance_schema.threads s \
    LEFT JOIN (SELECT thread_id, max(event_id) AS event_id \
        FROM performance_schema.events_waits_current \
        WHERE end_event_id IS NULL AND event_name <> 'idle' GROUP BY thread_id) m \
        ON m.thread_id = s.thread_id \
    LEFT JOIN performance_schema.events_waits_current e \
        ON e.thread_id = m.thread_id AND e.event_id = m.event_id \
    LEFT JOIN information_schema.innodb_trx t ON t.trx_mysql_thread_id = s.processlist_id \
    WHERE s.type = 'FOREGROUND' AND s.processlist_command IN ('Query', 'Execute') \
    AND s.processlist_id <> connection_id() GROUP BY 1";

/// The activity of sessions according to the list of processes.
const STATES: &str = "WHEN coalesce(p.state, '') = '' THEN 'no state' ELSE p.state END, count(*) \
    FROM information_schema.processlist p \
    LEFT JOIN information_schema.innodb_trx t ON t.trx_mysql_thread_id = p.id \
    WHERE p.command IN ('Query', 'Execute') AND p.id <> connection_id() GROUP BY 1";

/// A connection of its own to look from.
pub(super) fn open(control: &Control) -> Result<Waits, Error> {
    let mut session = control.another();
    let sql = if events_are_on(&mut session)? {
        format!("SELECT CASE {LOCK} ELSE {EVENTS}")
    } else {
        format!("SELECT CASE {LOCK} {STATES}")
    };
    looks(session, sql)
}

/// True if performance_schema keeps the wait events of sessions.
fn events_are_on(control: &mut Control) -> Result<bool, Error> {
    if control.variable("performance_schema")?.as_deref() != Some("ON") {
        return Ok(false);
    }
    let on = control.query_i64(
        "SELECT count(*) FROM performance_schema.setup_consumers WHERE enabled = 'YES' AND name IN \
         ('events_waits_current', 'thread_instrumentation', 'global_instrumentation')",
    )?;
    Ok(on == 3)
}
