//! A running server: its description, and its process if it is on this machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::control::Control;
use super::facts;
use crate::api::builds::{CC, CFLAGS, CONFIGURE, VERSION};
use crate::process::proc;
use crate::{Endpoint, Error, Host, Installation, Server, Sql};

/// Describes a running server.
pub(super) fn describe(endpoint: &Endpoint) -> Result<Installation, Error> {
    let mut control = Control::new(endpoint.clone());
    let shown = control.text("SHOW server_version")?;
    let version = shown.split_ascii_whitespace().next().unwrap_or(&shown).to_owned();
    let text = control.text("SELECT version()")?;
    let mut build =
        BTreeMap::from([(VERSION.to_owned(), text), ("server_version".to_owned(), shown)]);
    // The view exists since 9.6, but not for every role.
    for (key, name) in [(CONFIGURE, "CONFIGURE"), (CC, "CC"), (CFLAGS, "CFLAGS")] {
        let sql = format!("SELECT setting FROM pg_catalog.pg_config WHERE name = '{name}'");
        if let Ok(setting) = control.text(&sql) {
            build.insert(key.to_owned(), setting.trim().to_owned());
        }
    }
    facts::derive(&mut build);
    Ok(Installation {
        dbms: "postgres".to_owned(),
        version,
        source: endpoint.to_string(),
        bin_dir: None,
        build,
    })
}

/// The postmaster's pid: the process that listens on the unix socket. For a server on loopback, the
/// process in its postmaster.pid, if the file can be read and belongs to this very server.
pub(super) fn find_postmaster(control: &mut Control) -> Option<u32> {
    let Endpoint::Postgres(Server { host, .. }) = control.endpoint() else { return None };
    match host.clone() {
        Host::Socket(file) => proc::listening_on(&file),
        host => {
            if !host.is_local() {
                return None;
            }
            let directory = control.text("SHOW data_directory").ok()?;
            let started = control
                .query_i64("SELECT extract(epoch FROM date_trunc('second', pg_postmaster_start_time()))::bigint")
                .ok()?;
            let text = fs::read_to_string(Path::new(&directory).join("postmaster.pid")).ok()?;
            pid_of_lock_file(&text, started)
                .filter(|pid| Path::new(&format!("/proc/{pid}")).exists())
        }
    }
}

/// The pid in a postmaster.pid (pid, data directory, start time, …; see miscadmin.h) if the start
/// time, in seconds, agrees. A port of this machine may lead to another machine's server with the
/// same data directory.
fn pid_of_lock_file(text: &str, started: i64) -> Option<u32> {
    let mut lines = text.lines();
    let pid = lines.next()?.trim().parse().ok()?;
    let time: i64 = lines.nth(1)?.trim().parse().ok()?;
    // The two times are taken one after the other during the start.
    (time.abs_diff(started) <= 5).then_some(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_files() {
        let text =
            "4711\n/var/lib/postgresql/15/main\n1700000000\n5432\n/run\nlocalhost\n 1 2\nready\n";
        assert_eq!(pid_of_lock_file(text, 1_700_000_001), Some(4711));
        assert_eq!(pid_of_lock_file(text, 1_700_009_999), None);
        assert_eq!(pid_of_lock_file("", 0), None);
    }
}
