//! The output of SHOW ENGINE INNODB STATUS: the only place where every version has the log's
//! position, its last checkpoint and the length of the history list.

use super::control::{Control, permitted};
use crate::{Error, Sql};

/// Figures of InnoDB's monitor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Monitor {
    /// Bytes of redo log written since the data directory was created.
    pub(super) lsn: Option<f64>,
    /// Where recovery would begin.
    pub(super) checkpoint: Option<f64>,
    /// Undo logs of committed transactions that are not purged yet.
    pub(super) history: Option<f64>,
    /// True while purge threads are at work.
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
            // `running` or `running but idle`.
            if line.starts_with("Purge done for") {
                found.purging = line.trim_end().ends_with("state: running");
            }
        }
        found
    }

    /// Asks the server. The result is empty if the role may not see the output (privilege PROCESS)
    /// or InnoDB is off.
    pub(super) fn ask(control: &mut Control) -> Result<Self, Error> {
        let rows = permitted(control.query_rows("SHOW ENGINE INNODB STATUS"))?.unwrap_or_default();
        let text = rows.into_iter().flatten().next_back().flatten();
        Ok(text.map_or_else(Self::default, |text| Self::read(&text)))
    }

    /// Bytes of redo log that recovery would read.
    pub(super) fn age(&self) -> Option<f64> {
        Some(self.lsn? - self.checkpoint?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXTS: [(&str, Monitor); 4] = [
        (
            include_str!("../../tests/fixtures/innodb-status-5.6.24.txt"),
            of(1_643_542.0, 1_643_542.0, 5.0),
        ),
        (
            include_str!("../../tests/fixtures/innodb-status-8.0.31.txt"),
            of(19_440_946.0, 19_440_946.0, 0.0),
        ),
        (
            include_str!("../../tests/fixtures/innodb-status-10.1.23.txt"),
            of(1_616_809.0, 1_616_809.0, 0.0),
        ),
        (
            include_str!("../../tests/fixtures/innodb-status-11.4.5.txt"),
            of(47_691.0, 46_284.0, 0.0),
        ),
    ];

    const fn of(lsn: f64, checkpoint: f64, history: f64) -> Monitor {
        Monitor {
            lsn: Some(lsn),
            checkpoint: Some(checkpoint),
            history: Some(history),
            purging: false,
        }
    }

    #[test]
    fn every_version_says_where_its_log_is() {
        for (text, expected) in TEXTS {
            assert_eq!(Monitor::read(text), expected);
        }
        let busy = "Purge done for trx's n:o < 5 undo n:o < 0 state: running\n";
        assert!(Monitor::read(busy).purging);
        assert_eq!(Monitor::read("nothing of the kind"), Monitor::default());
    }

    proptest! {
        #[test]
        fn figures_are_found_among_anything(text in "\\PC*", cut in 0_usize..4000) {
            let (whole, expected) = TEXTS[1];
            prop_assert_eq!(Monitor::read(&format!("x{text}\n{whole}\nx{text}")), expected);
            let cut = whole.floor_char_boundary(cut.min(whole.len()));
            let found = Monitor::read(&whole[cut..]);
            prop_assert!(found.lsn.is_none() || found.lsn == expected.lsn);
            prop_assert!(found.history.is_none() || found.history == expected.history);
        }
    }
}
