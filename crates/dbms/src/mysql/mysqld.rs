//! A server process: prepares its data directory, starts it, and waits until it answers.

use std::fs;
use std::path::Path;

use super::adopt;
use super::binaries::Layout;
use super::config::{self, Places, Settings};
use super::control::Control;
use super::datadir::{self, USER};
use super::flavor::Flavor;
use super::server::MysqlServer;
use super::version::Version;
use crate::api::excerpt::last_lines;
use crate::process::launch;
use crate::process::server::Signals;
use crate::process::site::Site;
use crate::{Endpoint, Error, Host, Origin, Server, ServerSpec, Sql, Started};

/// It has no signal for an end at once other than the last one.
const SIGNALS: Signals =
    Signals { graceful: libc::SIGTERM, immediate: libc::SIGKILL, death: libc::SIGKILL };

/// The redo log, from 8.0.30 on a directory. A server that was shut down cleanly reads its header.
const LOGS: [&str; 1] = ["#innodb_redo"];

/// The port in addresses of sockets, where it means nothing.
const PORT: u16 = 3306;

/// Starts a server on a copy of `origin` or of the given data, or on a fresh data directory.
pub(super) fn start(
    flavor: &'static Flavor,
    spec: &ServerSpec<'_>,
    origin: Option<&Origin<'_>>,
) -> Result<Started, Error> {
    if let Some(option) = spec.initdb.first() {
        return Err(Error::unsupported(
            format!("`initdb` ({option}) for {}", flavor.name),
            "remove it: settings that shape a data directory belong in `config`",
        ));
    }
    let bin_dir = spec.installation.programs()?;
    let settings = Settings::read(spec)?;
    spec.user.check_reach(bin_dir)?;
    let layout = Layout::find(flavor, bin_dir)?;
    let version = Version::of(spec.installation).ok_or_else(|| {
        Error::answer(format!("a version of {}", flavor.shown), &spec.installation.version)
    })?;
    // A copy of a load is checked, and has been adopted.
    let given = spec.data.filter(|_| origin.is_none());
    if let Some(data) = &given {
        adopt::check(flavor, data)?;
    }
    let mut site = Site::make(spec, &layout.program)?;
    let socket = site.socket("mysql.sock")?;
    let places = Places {
        data: site.data.clone(),
        temporary: site.root.join("tmp"),
        socket: socket.clone(),
    };
    site.make_private(&places.temporary)?;
    let text = settings.text(spec, flavor, version, &layout, &places)?;
    let file = config::file(&socket);
    let names = settings.names(spec);
    let rejection = |said: &str| config::rejection(spec, &names, said);
    let check = Check { version, text: &text, data: &places.data };
    if let Some(rejected) = check.run(spec, &site, &layout, &rejection)? {
        return Err(rejected);
    }
    let template = match spec.data {
        Some(_) => None,
        None => Some(datadir::prepare(spec, flavor, version, &layout, settings.initial(spec))?),
    };
    let restored = site.fill(origin, &LOGS, template.as_deref())?;
    let adopt = || adopt::adopt(spec, version, &site, &places.temporary);
    let statements = given.map(|_| adopt()).transpose()?;
    site.write(&file, text.as_bytes())?;
    let mut process = site.start(SIGNALS, |command| {
        // The ledger identifies a server by its working directory.
        command.arg(format!("--defaults-file={}", file.display())).current_dir(&places.data);
        command.args(statements.map(|file| format!("--init-file={}", file.display())));
        command.envs(layout.environment());
    })?;
    let mut control = Control::new(Endpoint::Mysql(Server {
        host: Host::Socket(socket.clone()),
        port: PORT,
        user: USER.to_owned(),
        password: None,
        database: spec.database(USER),
    }));
    let ready = || {
        if !socket.exists() {
            return Err("it has no socket yet".to_owned());
        }
        control.query_i64("SELECT 1").map(|_| ()).map_err(|error| error.to_string())
    };
    let reason = |said: &str| rejection(said).or_else(|| failure(spec, said));
    process.wait_ready(spec, ready, reason)?;
    // Some versions say only now that they adjusted a value.
    if let Some(rejected) = rejection(&process.log()) {
        return Err(rejected);
    }
    if let Some(data) = &given {
        adopt::check_places(data, version, &mut control)?;
    }
    let pid = Some(process.pid());
    let server = MysqlServer { control, process: Some(process), configured: names, pid };
    Ok((Box::new(server), restored))
}

/// Why a server ended while it started: the errors in its log. After them it notes the end of each
/// of its parts.
fn failure(spec: &ServerSpec<'_>, log: &str) -> Option<Error> {
    let errors: Vec<&str> = log.lines().filter(|line| line.contains("[ERROR]")).collect();
    (!errors.is_empty()).then(|| Error::Start {
        variant: spec.name.to_owned(),
        problem: "it ended".to_owned(),
        log: last_lines(&errors.join("\n"), CHECK_LINES),
    })
}

/// From here on, MySQL has an option that only checks its options.
const VALIDATES: u32 = 80_016;

/// The check of an option file.
struct Check<'a> {
    version: Version,
    text: &'a str,
    /// The directory of data in it.
    data: &'a Path,
}

impl Check<'_> {
    /// Makes the server read the file in an otherwise empty directory, before data is copied.
    /// Returns its reason if it rejects the file. A version without an option for this is told to
    /// print its help, before which it complains about unknown options.
    fn run(
        &self,
        spec: &ServerSpec<'_>,
        site: &Site<'_>,
        layout: &Layout,
        rejection: &dyn Fn(&str) -> Option<Error>,
    ) -> Result<Option<Error>, Error> {
        let check = site.root.join("check");
        site.make_private(&check)?;
        let (file, data) = (check.join("my.cnf"), check.join("data"));
        site.make_private(&data)?;
        let own = |path: &Path| path.to_string_lossy().into_owned();
        site.write(&file, self.text.replace(&own(self.data), &own(&data)).as_bytes())?;
        let mut command = layout.command(&spec.user)?;
        command.arg(format!("--defaults-file={}", file.display()));
        let validates = !self.version.mariadb && self.version.number >= VALIDATES;
        command.args(if validates { &["--validate-config"][..] } else { &["--help", "--verbose"] });
        command.current_dir(&data);
        let output = launch::output(command, None)?;
        fs::remove_dir_all(&check).map_err(Error::io("remove", &check))?;
        let said = launch::text(&output.stderr);
        // To the server, a value that it only adjusts is not a failure.
        if let Some(rejected) = rejection(&said) {
            return Ok(Some(rejected));
        }
        let refused = !output.status.success();
        Ok(refused.then(|| Error::rejected(spec.name, None, last_lines(&said, CHECK_LINES))))
    }
}

/// How many lines to show of a failure.
const CHECK_LINES: usize = 6;
