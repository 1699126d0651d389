//! Things that a server did by itself, from its log: checkpoints, autovacuum, and canceled work.

use chrono::NaiveDateTime;

use crate::api::system::LogEvent;

/// The time stamp of a line (`log_line_prefix` begins with `%m`), in UTC.
const TIME: &str = "%Y-%m-%d %H:%M:%S%.3f";
/// Its length.
const TIME_LENGTH: usize = "2026-11-22 18:55:17.123".len();

/// The subject of a message, by its beginning.
const KINDS: [(&str, &str); 6] = [
    ("checkpoint starting", "checkpoint starts"),
    ("checkpoint complete", "checkpoint"),
    ("automatic vacuum of table", "autovacuum"),
    ("automatic aggressive vacuum of table", "autovacuum"),
    ("automatic analyze of table", "autoanalyze"),
    ("canceling autovacuum task", "autovacuum cancelled"),
];

/// The events of a log from `since_ms` on, in its order.
pub(super) fn events(log: &str, since_ms: i64) -> Vec<LogEvent> {
    let mut found: Vec<LogEvent> = Vec::new();
    let mut open = false;
    for line in log.lines() {
        // Further lines of a message are indented; its context is a message of its own.
        if line.starts_with('\t') {
            if let Some(event) = found.last_mut().filter(|_| open) {
                event.text.push(' ');
                event.text.push_str(line.trim());
            }
            continue;
        }
        let Some((at_ms, message)) = stamped(line) else {
            open = false;
            continue;
        };
        if let Some(context) = message.strip_prefix("CONTEXT:") {
            if let Some(event) = found.last_mut().filter(|_| open) {
                event.text = format!("{}: {}", event.text, context.trim());
            }
            continue;
        }
        let said = message.split_once(":  ").map_or(message, |(_, said)| said);
        let kind = KINDS.iter().find(|(begins, _)| said.starts_with(begins));
        open = kind.is_some() && at_ms >= since_ms;
        if let (Some((_, kind)), true) = (kind, open) {
            found.push(LogEvent { at_ms, kind: (*kind).to_owned(), text: said.to_owned() });
        }
    }
    found
}

/// A line's time in milliseconds since 1970, and what follows `[pid] `.
fn stamped(line: &str) -> Option<(i64, &str)> {
    let (time, rest) = line.split_at_checked(TIME_LENGTH)?;
    let time = NaiveDateTime::parse_from_str(time, TIME).ok()?;
    let (_, message) = rest.strip_prefix(" UTC [")?.split_once("] ")?;
    Some((time.and_utc().timestamp_millis(), message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LOG: &str = "\
2026-11-22 18:55:17.123 UTC [12] LOG:  starting PostgreSQL 15.15
2026-11-22 18:55:18.000 UTC [14] LOG:  checkpoint starting: time
2026-11-22 18:55:20.500 UTC [14] LOG:  checkpoint complete: wrote 43 buffers (0.3%)
2026-11-22 18:55:21.000 UTC [99] LOG:  automatic vacuum of table \"postgres.public.sbtest1\": index scans: 1
\tpages: 0 removed, 12 remain
\ttuples: 5 removed, 100 remain
2026-11-22 18:55:22.000 UTC [99] ERROR:  canceling autovacuum task
2026-11-22 18:55:22.000 UTC [99] CONTEXT:  automatic vacuum of table \"postgres.public.sbtest2\"
2026-11-22 18:55:23.000 UTC [7] ERROR:  division by zero
\tnot about vacuum
2026-11-22 18:55:23.000 UTC [7] CONTEXT:  a function
nothing of the kind
";

    #[test]
    fn what_a_server_did_is_found_in_its_log() {
        let found = events(LOG, 0);
        let told: Vec<_> = found.iter().map(|event| (&*event.kind, &*event.text)).collect();
        assert_eq!(
            told,
            [
                ("checkpoint starts", "checkpoint starting: time"),
                ("checkpoint", "checkpoint complete: wrote 43 buffers (0.3%)"),
                (
                    "autovacuum",
                    "automatic vacuum of table \"postgres.public.sbtest1\": index scans: 1 pages: 0 \
                     removed, 12 remain tuples: 5 removed, 100 remain"
                ),
                (
                    "autovacuum cancelled",
                    "canceling autovacuum task: automatic vacuum of table \"postgres.public.sbtest2\""
                ),
            ]
        );
        assert_eq!(found[1].at_ms - found[0].at_ms, 2500);
        assert_eq!(events(LOG, found[2].at_ms).len(), 2);
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
