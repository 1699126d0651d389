//! The life of one server process: made ready, started, watched, ended, cleared away.

use std::fs::{self, File, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::control::{Control, socket_name};
use super::{ROLE, config, launch, template, warm};
use crate::ledger::{self, Entry};
use crate::process::wait_until;
use crate::system::Ending;
use crate::{
    Endpoint, Error, Host, Origin, Pages, ProcessId, Restored, ServerSpec, ServerUser, Sql,
    Stopped, copy, identity, ipc, place,
};

/// The number in the socket's name. The directory is private, so it collides with nothing.
const PORT: u16 = 5432;

/// Longest path of a unix socket: sun_path without its final zero (unix(7)).
const LONGEST_SOCKET: usize = 107;

/// How long a server gets in each stage when it is ended without anybody waiting for it to be graceful.
const DROP_LIMIT: Duration = Duration::from_secs(10);

/// A started server process and what belongs to it.
#[derive(Debug)]
pub(super) struct Postmaster {
    name: String,
    child: Child,
    /// `None` once handed over by `stop`.
    entry: Option<Entry>,
    log: PathBuf,
    stop_limit: Duration,
    ended: Option<String>,
}

impl Postmaster {
    /// Starts a server, on a copy of `origin` or else on a fresh data directory, and waits until it answers on the
    /// control connection, which is handed back open.
    pub(super) fn start(
        spec: &ServerSpec<'_>,
        origin: Option<&Origin<'_>>,
    ) -> Result<(Self, Control, Option<Restored>), Error> {
        let bin_dir = spec.installation.bin_dir.as_ref().ok_or_else(|| Error::Unsupported {
            what: format!("starting {}, a server that already runs", spec.reference),
            remedy: "attach to it".to_owned(),
        })?;
        config::check(spec)?;
        template::check_options(spec.name, &spec.initdb)?;
        spec.user.check_reach(bin_dir)?;
        let mut entry = spec.ledger.enter(spec.name)?;
        match Site::prepare(spec, origin, bin_dir, &mut entry) {
            Ok((site, restored)) => {
                let (postmaster, control) = site.launch(spec, entry)?;
                Ok((postmaster, control, restored))
            }
            Err(error) => {
                // The first error is the one to be told; a directory that resists stays in the ledger.
                let _ = entry.remove();
                Err(error)
            }
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Where its data is.
    pub(super) fn data_directory(&self) -> Option<PathBuf> {
        self.entry.as_ref()?.record().work_directory.clone()
    }

    pub(super) fn log_tail(&self, lines: usize) -> String {
        tail(&self.log, lines)
    }

    /// Is it running? Reaps it if not.
    pub(super) fn alive(&mut self) -> bool {
        if self.ended.is_none() {
            match self.child.try_wait() {
                Ok(None) => return true,
                Ok(Some(status)) => self.ended = Some(status.to_string()),
                Err(error) => self.ended = Some(format!("no longer ours to wait for: {error}")),
            }
        }
        false
    }

    pub(super) fn died(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// Waits for the postmaster itself to end.
    fn wait(&mut self, limit: Duration) -> bool {
        wait_until(limit, || !self.alive())
    }

    fn signal(&self, signal: i32) {
        // Not reaped yet, so the pid is still this child's.
        if self.ended.is_none()
            && let Some(process) = ProcessId::of(self.child.id())
        {
            let _ = process.signal(signal);
        }
    }

    /// Ends it: fast shutdown if `gracefully`, then immediate shutdown, then SIGKILL to every process of it.
    fn end(&mut self, gracefully: bool, limit: Duration) -> Result<Ending, Error> {
        let mut ending = match (self.alive(), &self.ended) {
            (false, Some(how)) => Some(Ending::Died(how.clone())),
            _ => None,
        };
        let Some(entry) = &self.entry else { return Ok(ending.unwrap_or(Ending::Graceful)) };
        let record = entry.record().clone();
        let mut shared = record.ipc.clone();
        // The pg_ctl stop modes: SIGINT is "fast", SIGQUIT is "immediate".
        for (signal, result) in
            [(libc::SIGINT, Ending::Graceful), (libc::SIGQUIT, Ending::Immediate)]
        {
            if ending.is_none() && (gracefully || signal == libc::SIGQUIT) {
                self.signal(signal);
                if self.wait(limit) {
                    ending = Some(result);
                }
            }
        }
        let ending = ending.unwrap_or(Ending::Killed);
        // Backends notice the end of their postmaster by themselves, most of them at once.
        let orphans_go = ending != Ending::Killed
            && wait_until(Duration::from_secs(2), || ledger::processes(&record).is_empty());
        if !orphans_go {
            for process in ledger::processes(&record) {
                shared.add(&ipc::of_process(process.pid));
            }
            let left = ledger::kill_all(&record, limit.max(DROP_LIMIT));
            if !left.is_empty() {
                return Err(Error::Stuck { name: self.name.clone(), pids: left });
            }
            self.wait(limit);
        }
        shared.remove();
        Ok(ending)
    }

    /// Stops it and hands over what it left.
    pub(super) fn stop(mut self) -> Result<Stopped, Error> {
        let begin = Instant::now();
        let ending = self.end(true, self.stop_limit)?;
        Ok(Stopped {
            seconds: begin.elapsed().as_secs_f64(),
            ending,
            log: Some(self.log.clone()),
            remains: self.entry.take(),
        })
    }
}

impl Drop for Postmaster {
    fn drop(&mut self) {
        // After an error the entry stays in the ledger, and the next sweep tries again.
        if self.entry.is_some()
            && self.end(false, DROP_LIMIT).is_ok()
            && let Some(entry) = self.entry.take()
        {
            let _ = entry.remove();
        }
    }
}

/// A directory in which everything is ready for the server to start.
struct Site {
    postgres: PathBuf,
    data: PathBuf,
    sockets: PathBuf,
    log: PathBuf,
}

impl Site {
    /// Makes the trial's directory with data, configuration, sockets and log. Everything is recorded in `entry`
    /// before it is made.
    fn prepare(
        spec: &ServerSpec<'_>,
        origin: Option<&Origin<'_>>,
        bin_dir: &Path,
        entry: &mut Entry,
    ) -> Result<(Self, Option<Restored>), Error> {
        entry.make_directory(spec.directory, 0o711)?;
        // The kernel shows working directories with links resolved.
        let root =
            fs::canonicalize(spec.directory).map_err(Error::io("resolve", spec.directory))?;
        spec.user.check_reach(&root)?;
        let template = template::prepare(spec, bin_dir)?;
        let sockets = make_sockets(spec, &root, entry)?;
        let data = root.join("data");
        let program = bin_dir.join("postgres");
        let program = fs::canonicalize(&program).map_err(Error::io("resolve", &program))?;
        // Groups that cannot be resolved are still removed by the path given.
        let groups = spec
            .procs_files
            .iter()
            .filter_map(|file| file.parent().map(Path::to_path_buf))
            .collect();
        entry.update(|record| {
            record.work_directory = Some(data.clone());
            record.program = Some(program.clone());
            record.cgroups = groups;
        })?;
        let site = Self { postgres: program, data, sockets, log: root.join("server.log") };
        let settings = config::text(spec, &site.sockets, PORT)?;
        site.check_settings(spec, &template, &root, &settings)?;
        let owner = spec.user.differs().then_some((spec.user.uid, spec.user.gid));
        let conf = site.data.join("postgresql.conf");
        let restored = match origin {
            Some(origin) => {
                let mut restored =
                    origin.loaded.copy_to(&site.data, owner, origin.pages, origin.interrupted)?;
                // The configuration of the server that loaded names that server's sockets.
                rewrite(&template.join("postgresql.conf"), &conf, &spec.user)?;
                if origin.pages == Pages::Charged {
                    restored.read_seconds = warm::read_in_group(spec, origin, &site.data)?;
                }
                Some(restored)
            }
            None => {
                copy::copy_tree(&template, &site.data, owner, &AtomicBool::new(false))?;
                None
            }
        };
        identity::as_user(&spec.user, || append(&conf, &settings))?;
        Ok((site, restored))
    }

    /// Lets the server read its configuration in a directory that holds nothing else, before data is copied.
    fn check_settings(
        &self,
        spec: &ServerSpec<'_>,
        template: &Path,
        root: &Path,
        text: &str,
    ) -> Result<(), Error> {
        let check = root.join("check");
        make_private(spec, &check)?;
        let conf = check.join("postgresql.conf");
        rewrite(&template.join("postgresql.conf"), &conf, &spec.user)?;
        identity::as_user(&spec.user, || append(&conf, text))?;
        let mut command = launch::command(&self.postgres, &spec.user, &[])?;
        command.arg("-D").arg(&check).args(["-C", "port"]);
        let outcome = launch::run(command, "checking the configuration", None);
        fs::remove_dir_all(&check).map_err(Error::io("remove", &check))?;
        match outcome {
            Ok(_) => Ok(()),
            Err(Error::Program { output, .. }) => Err(config::rejection(spec, &output)
                .unwrap_or_else(|| Error::Rejected {
                    variant: spec.name.to_owned(),
                    setting: None,
                    message: output,
                })),
            Err(other) => Err(other),
        }
    }

    fn launch(self, spec: &ServerSpec<'_>, entry: Entry) -> Result<(Postmaster, Control), Error> {
        let child = match self.spawn(spec) {
            Ok(child) => child,
            Err(error) => {
                let _ = entry.remove();
                return Err(error);
            }
        };
        // From here on dropping it ends the process and removes the directory.
        let mut postmaster = Postmaster {
            name: spec.name.to_owned(),
            child,
            entry: Some(entry),
            log: self.log,
            stop_limit: spec.stop_limit,
            ended: None,
        };
        postmaster.record(|record, pid| record.process = ProcessId::of(pid))?;
        let control = wait_ready(&mut postmaster, spec, self.sockets, &self.data)?;
        // What only a kill -9 would leave behind.
        postmaster.record(|record, pid| record.ipc = ipc::of_process(pid))?;
        if !spec.wrapper.is_empty() {
            // What runs is the wrapper's program, or one that it became.
            let running = |pid: u32| fs::read_link(format!("/proc/{pid}/exe")).ok();
            postmaster
                .record(|record, pid| record.program = running(pid).or(record.program.take()))?;
        }
        Ok((postmaster, control))
    }

    fn spawn(&self, spec: &ServerSpec<'_>) -> Result<Child, Error> {
        let open = || {
            OpenOptions::new()
                .create(true)
                .append(true)
                .mode(0o600)
                .open(&self.log)
                .map_err(Error::io("open the server's log", &self.log))
        };
        let program = spec.wrapper.first().map_or(self.postgres.as_path(), Path::new);
        let mut command = launch::command(program, &spec.user, &spec.procs_files)?;
        if let Some((_, arguments)) = spec.wrapper.split_first() {
            command.args(arguments).arg(&self.postgres);
        }
        command.arg("-D").arg(&self.data).stdout(open()?).stderr(open()?);
        launch::spawn(command).map_err(Error::io("start", program))
    }
}

impl Postmaster {
    fn record(&mut self, change: impl FnOnce(&mut ledger::Record, u32)) -> Result<(), Error> {
        let pid = self.child.id();
        self.entry.as_mut().map_or(Ok(()), |entry| entry.update(|record| change(record, pid)))
    }
}

/// Connects until the server answers, it ends, or the limit has passed. One that says when it is ready is left alone until then: for a
/// client that comes earlier it starts a process that only refuses, and how many of these it had is seen in the memory of all
/// later ones.
fn wait_ready(
    postmaster: &mut Postmaster,
    spec: &ServerSpec<'_>,
    sockets: PathBuf,
    data: &Path,
) -> Result<Control, Error> {
    let begin = Instant::now();
    let mut control = Control::new(Endpoint::Postgres {
        host: Host::Socket(sockets.join(socket_name(PORT))),
        port: PORT,
        user: ROLE.to_owned(),
        password: None,
        database: ROLE.to_owned(),
    });
    // From 10 on it writes its status into postmaster.pid.
    let says = spec.installation.major().is_some_and(|major| major >= 10);
    loop {
        let log = |postmaster: &Postmaster| postmaster.log_tail(20);
        if !postmaster.alive() {
            let log = log(postmaster);
            return Err(config::rejection(spec, &log).unwrap_or_else(|| Error::Start {
                variant: spec.name.to_owned(),
                problem: format!("it ended ({})", postmaster.died().unwrap_or_default()),
                log,
            }));
        }
        let problem = if says && !is_ready(&data.join("postmaster.pid")) {
            "its postmaster.pid does not say that it is ready".to_owned()
        } else {
            match control.query_i64("SELECT 1") {
                Ok(_) => return Ok(control),
                Err(error) => error.to_string(),
            }
        };
        if begin.elapsed() >= spec.start_limit {
            return Err(Error::Start {
                variant: spec.name.to_owned(),
                problem: format!(
                    "no answer within {} s ({problem})",
                    spec.start_limit.as_secs_f64()
                ),
                log: log(postmaster),
            });
        }
        sleep(Duration::from_millis(20));
    }
}

/// Whether the eighth line of a postmaster.pid, the status (miscadmin.h), is that of a server that takes connections.
fn is_ready(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().nth(7).is_some_and(|status| matches!(status.trim(), "ready" | "standby"))
}

/// The socket directory: `s` in the trial's directory, or where that path is too long, one under /tmp.
fn make_sockets(spec: &ServerSpec<'_>, root: &Path, entry: &mut Entry) -> Result<PathBuf, Error> {
    let fits = |directory: &Path| {
        directory.join(socket_name(PORT)).as_os_str().as_bytes().len() <= LONGEST_SOCKET
    };
    let mut sockets = root.join("s");
    if !fits(&sockets) {
        let short = Path::new("/tmp").join(format!("steelyard-{}", entry.record().id));
        entry.make_directory(&short, 0o711)?;
        sockets = short.join("s");
    }
    make_private(spec, &sockets)?;
    Ok(sockets)
}

/// Makes a directory that only the server's user can enter.
fn make_private(spec: &ServerSpec<'_>, directory: &Path) -> Result<(), Error> {
    fs::create_dir(directory).map_err(Error::io("create", directory))?;
    place::set_mode(directory, 0o700)?;
    if spec.user.differs() {
        place::give(directory, spec.user.uid, spec.user.gid)?;
    }
    Ok(())
}

/// Gives the file `to` the content of `from`; owner and mode stay. It is written with the rights of
/// `user`, who owns the directory and could have made a link of it.
fn rewrite(from: &Path, to: &Path, user: &ServerUser) -> Result<(), Error> {
    let bytes = fs::read(from).map_err(Error::io("read", from))?;
    identity::as_user(user, || fs::write(to, bytes).map_err(Error::io("write", to)))
}

fn append(path: &Path, text: &str) -> Result<(), Error> {
    use std::io::Write;
    let mut file = OpenOptions::new().append(true).open(path).map_err(Error::io("open", path))?;
    file.write_all(text.as_bytes()).map_err(Error::io("write", path))
}

/// The last lines of a log, reading no more than its last 64 KB.
fn tail(path: &Path, lines: usize) -> String {
    use std::io::{Read, Seek, SeekFrom};
    const READ: u64 = 64 * 1024;
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(READ)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    launch::last_lines(&String::from_utf8_lossy(&read().unwrap_or_default()), lines)
}
