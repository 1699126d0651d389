//! A postmaster: prepares its data directory, starts it, and waits until it accepts connections.

use std::fs;
use std::path::Path;

use reference::postgres_socket;

use super::access::Access;
use super::adopt;
use super::binaries;
use super::config;
use super::control::Control;
use super::initdb::{self, ROLE};
use super::ready;
use super::server::PostgresServer;
use crate::process::launch;
use crate::process::server::Signals;
use crate::process::site::Site;
use crate::{Endpoint, Error, Host, Origin, Server, ServerSpec, Started};

/// The stop modes of pg_ctl: "fast" and "immediate".
const SIGNALS: Signals =
    Signals { graceful: libc::SIGINT, immediate: libc::SIGQUIT, death: libc::SIGQUIT };

/// Directory names of the write-ahead log, since 10 and before. A server that was shut down cleanly
/// does not read it.
const LOGS: [&str; 2] = ["pg_wal", "pg_xlog"];

/// Starts a server on a copy of `origin` or of the given data, or on a fresh data directory. Waits
/// until it answers in all ways.
pub(super) fn start(spec: &ServerSpec<'_>, origin: Option<&Origin<'_>>) -> Result<Started, Error> {
    let bin_dir = spec.installation.programs()?;
    config::check(spec)?;
    initdb::check_options(spec)?;
    spec.user.check_reach(bin_dir)?;
    // A copy of a load is checked, and has been adopted.
    let given = spec.data.filter(|_| origin.is_none());
    if let Some(data) = &given {
        adopt::check(spec.installation, data)?;
    }
    let mut site = Site::make(spec, &bin_dir.join("postgres"))?;
    let prepared = initdb::prepare(spec, bin_dir)?;
    let template = prepared.join("postgresql.conf");
    let mut access = Access::make(spec, &mut site)?;
    let socket = site.socket(&postgres_socket(access.port))?;
    let sockets = socket.parent().unwrap_or(&socket);
    access.write_hba(&site, sockets)?;
    let settings = config::text(spec, sockets, &access)?;
    check_settings(spec, &site, &template, &settings)?;
    let restored = site.fill(origin, &LOGS, Some(&prepared))?;
    site.rewrite(&template, &site.data.join("postgresql.conf"), &settings)?;
    if let Some(given) = &given {
        adopt::adopt(spec, given, &site, bin_dir, &prepared)?;
    }
    let data = site.data.clone();
    access.release();
    let mut process = site.start(SIGNALS, |command| {
        command.arg("-D").arg(&data).envs(binaries::environment(bin_dir));
    })?;
    let mut control = Control::new(Endpoint::Postgres(Server {
        host: Host::Socket(socket),
        port: access.port,
        user: ROLE.to_owned(),
        password: None,
        database: spec.database(ROLE),
    }));
    let says = spec.installation.major().is_some_and(|major| major >= ready::SAYS);
    let ready = || ready::ask(&data, says, &mut control);
    process.wait_ready(spec, ready, |log| config::rejection(spec, log))?;
    let tcp = access.open(spec, &process, &control)?;
    let pid = Some(process.pid());
    Ok((Box::new(PostgresServer { control, tcp, postmaster: Some(process), pid }), restored))
}

/// Makes the server read its configuration in an otherwise empty directory, before data is copied.
fn check_settings(
    spec: &ServerSpec<'_>,
    site: &Site<'_>,
    template: &Path,
    text: &str,
) -> Result<(), Error> {
    let check = site.root.join("check");
    site.make_private(&check)?;
    site.rewrite(template, &check.join("postgresql.conf"), text)?;
    let mut command = binaries::command(&site.program, &spec.user)?;
    command.arg("-D").arg(&check).args(["-C", "port"]);
    let outcome = launch::run(command, "checking the configuration", None);
    fs::remove_dir_all(&check).map_err(Error::io("remove", &check))?;
    outcome.map(drop).map_err(|error| match error {
        Error::Program { output, .. } => config::rejection(spec, &output)
            .unwrap_or_else(|| Error::rejected(spec.name, None, output)),
        other => other,
    })
}
