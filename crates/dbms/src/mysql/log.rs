//! Things that a server did by itself, from its error log. The log has only a few of them: late
//! flushing, a lack of redo log or of free pages, long waits for a latch, and truncated undo logs.

use chrono::{DateTime, NaiveDateTime};

use crate::api::system::LogEvent;

/// The time in logs of MySQL 5.6 and MariaDB, in UTC; hours before ten have one digit in MariaDB.
const TIME: &str = "%Y-%m-%d %k:%M:%S";
/// Its length.
const TIME_LENGTH: usize = "2026-11-22 18:55:17".len();

/// The subject of a message, by a text that it contains.
const KINDS: [(&str, &str); 11] = [
    ("intended loop took", "page cleaner late"),
    ("difficult to find free blocks", "no free pages"),
    ("age of the last checkpoint", "redo log full"),
    ("insufficient innodb_log_file_size", "redo log full"),
    ("Out of space in the redo log", "redo log full"),
    ("Redo log writer is waiting", "redo log full"),
    ("long semaphore wait", "long wait"),
    ("A long wait (", "long wait"),
    ("Long wait (", "long wait"),
    ("ompleted truncate", "undo truncated"),
    ("InnoDB: Truncated ", "undo truncated"),
];

/// The events of a log from `since_ms` on, in its order.
pub(super) fn events(log: &str, since_ms: i64) -> Vec<LogEvent> {
    let event = |line: &str| {
        let (at_ms, message) = stamped(line)?;
        let (_, kind) = KINDS.iter().find(|(part, _)| message.contains(part))?;
        let text = said(message).to_owned();
        (at_ms >= since_ms).then(|| LogEvent { at_ms, kind: (*kind).to_owned(), text })
    };
    log.lines().filter_map(event).collect()
}

/// A line's time in milliseconds since 1970, and what follows it.
fn stamped(line: &str) -> Option<(i64, &str)> {
    // MySQL since 5.7: 2026-11-22T18:55:17.123456Z.
    let (first, rest) = line.split_once(' ')?;
    if first.contains('T') {
        let time = DateTime::parse_from_rfc3339(first).ok()?;
        return Some((time.timestamp_millis(), rest));
    }
    let (time, rest) = line.split_at_checked(TIME_LENGTH)?;
    let time = NaiveDateTime::parse_from_str(time, TIME).ok()?;
    Some((time.and_utc().timestamp_millis(), rest))
}

/// A message without thread, level and component: `0 [Note] [MY-011953] [InnoDB] …`.
fn said(message: &str) -> &str {
    let mut rest = message.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    while let Some(inner) = rest.trim_start().strip_prefix('[') {
        rest = inner.split_once(']').map_or(inner, |(_, after)| after);
    }
    rest.trim().trim_start_matches("InnoDB: ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LOG: &str = "\
2026-11-22T18:55:17.123456Z 0 [System] [MY-010116] [Server] /usr/sbin/mysqld (mysqld 8.0.31) starting
2026-11-22T18:55:18.000000Z 0 [Note] [MY-011953] [InnoDB] Page cleaner took 5010ms to flush 2000 pages
2026-11-22T18:55:19.500000Z 0 [Note] InnoDB: page_cleaner: 1000ms intended loop took 5010ms. The settings might not be optimal.
2026-11-22 18:55:20 7f0 InnoDB: ERROR: the age of the last checkpoint is 80000, which exceeds the log group capacity.
2026-11-22  8:55:21 0 [Warning] InnoDB: A long wait (301 seconds) was observed for dict_sys.latch
2026-11-22  8:55:22 5 [Note] Aborted connection
nothing of the kind
";

    #[test]
    fn what_a_server_did_is_found_in_its_log() {
        let found = events(LOG, 0);
        let kinds: Vec<&str> = found.iter().map(|event| &*event.kind).collect();
        assert_eq!(kinds, ["page cleaner late", "redo log full", "long wait"]);
        assert_eq!(
            found[0].text,
            "page_cleaner: 1000ms intended loop took 5010ms. The settings might not be optimal."
        );
        assert_eq!(found[1].at_ms - found[0].at_ms, 500);
        assert_eq!(events(LOG, found[0].at_ms).len(), 2);
    }

    proptest! {
        /// Text that was cut off is missing, and nothing else; other lines change nothing.
        #[test]
        fn events_stay_what_they_are(text in "\\PC*", cut in 0_usize..800) {
            let of = |log: &str| -> Vec<(String, String)> {
                events(log, 0).into_iter().map(|event| (event.kind, event.text)).collect()
            };
            let cut = LOG.floor_char_boundary(cut.min(LOG.len()));
            let (all, found) = (of(LOG), of(&LOG[cut..]));
            prop_assert_eq!(&all[all.len() - found.len()..], &found[..]);
            prop_assert_eq!(of(&format!("x{text}\n{LOG}")), all);
        }
    }
}
