//! Counting instructions in backends.

mod settings;

use super::initdb::ROLE;
use super::profile::{COUNTED, LEFT_OUT};
use crate::{CountMethod, Installation, SqlCount};

/// The first version whose `pg_stat_activity` has a server's own processes.
const LISTED_SINCE: u32 = 10;

/// The first version that can be told to report statistics, and that sets timers around a report.
const REPORT_SINCE: u32 = 15;

/// How to count on servers of an installation.
pub(super) fn method(installation: &Installation) -> CountMethod {
    let major = installation.major().unwrap_or(0);
    CountMethod {
        settings: settings::settings(major),
        kinds: 12,
        place: "backend",
        mark_function: "pg_sleep",
        only_in: &[],
        left_out: LEFT_OUT,
        phases: COUNTED,
        sql: Some(sql(major)),
    }
}

fn sql(major: u32) -> SqlCount {
    SqlCount {
        freeze: Some("VACUUM (FREEZE, ANALYZE)"),
        copy: |sql, name| sql.execute(&format!("CREATE DATABASE {name} TEMPLATE {ROLE}")).map(drop),
        finish: Some("VACUUM (FREEZE) pg_database"),
        own_process: Some("SELECT pg_backend_pid()"),
        // No backend waits for either. The WAL writer prepares log pages that a backend would
        // otherwise prepare. The background writer, after being idle for a while, makes the next
        // backend that needs a buffer wake it.
        periodic: (major >= LISTED_SINCE).then_some(
            "SELECT min(pid) FILTER (WHERE backend_type = 'walwriter'), \
             min(pid) FILTER (WHERE backend_type = 'background writer') FROM pg_stat_activity",
        ),
        bystander: None,
        warm: None,
        warm_up: 0,
        mark: "SELECT pg_sleep(0)",
        // A backend reports again after a second. By then cheap statements have been counted, which
        // would otherwise include the timers around a report.
        before_mark: (major >= REPORT_SINCE).then_some("SELECT pg_stat_force_next_flush()"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn of(version: &str) -> CountMethod {
        method(&Installation {
            dbms: "postgres".to_owned(),
            version: version.to_owned(),
            source: String::new(),
            bin_dir: None,
            build: BTreeMap::new(),
        })
    }

    #[test]
    fn old_versions_do_without_newer_settings() {
        let has = |version, name| of(version).settings.iter().any(|(setting, _)| *setting == name);
        assert!(has("18.1", "io_method") && !has("17.2", "io_method"));
        assert!(has("9.6.24", "wal_level") && !has("9.6.24", "max_logical_replication_workers"));
        assert!(sql(14).before_mark.is_none() && sql(15).before_mark.is_some());
        assert!(sql(9).periodic.is_none() && sql(10).periodic.is_some());
    }
}
