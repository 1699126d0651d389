//! A running server: its description, and its process if it is on this machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::control::Control;
use super::flavor::{MARIADB, MYSQL};
use super::version::numbers;
use crate::api::builds::VERSION;
use crate::process::proc;
use crate::{Endpoint, Error, Host, Installation, Server, Sql};

/// Describes a running server. Its URL may call MariaDB mysql.
pub(super) fn describe(endpoint: &Endpoint) -> Result<Installation, Error> {
    let mut control = Control::new(endpoint.clone());
    let text = control.text("SELECT version()")?;
    let flavor = if control.version()?.mariadb { &MARIADB } else { &MYSQL };
    let version = numbers(&text).to_owned();
    let mut build = BTreeMap::from([(VERSION.to_owned(), text)]);
    for name in ["version_comment", "version_compile_machine", "version_source_revision"] {
        if let Some(value) = control.variable(name)? {
            build.insert(name.to_owned(), value);
        }
    }
    Ok(Installation {
        dbms: flavor.name.to_owned(),
        version,
        source: endpoint.to_string(),
        bin_dir: None,
        build,
    })
}

/// The server's pid: the process that listens on the unix socket. For a server on loopback, the
/// process in its pid file, if that can be read and the process has its data open.
pub(super) fn find_process(control: &mut Control) -> Option<u32> {
    let Endpoint::Mysql(Server { host, .. }) = control.endpoint() else { return None };
    match host.clone() {
        Host::Socket(file) => proc::listening_on(&file),
        host => {
            if !host.is_local() {
                return None;
            }
            let data = control.variable("datadir").ok()??;
            let file = Path::new(&data).join(control.variable("pid_file").ok()??);
            let pid: u32 = fs::read_to_string(file).ok()?.trim().parse().ok()?;
            // A port of this machine may lead to another machine's server with the same directory.
            let works_in = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
            (fs::canonicalize(&data).ok()? == works_in).then_some(pid)
        }
    }
}
