//! The directory of a server, where everything is prepared for its start.

use std::fs::{self, File, OpenOptions};
use std::net::Ipv4Addr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use super::server::{ServerProcess, Signals};
use super::{launch, loader};
use crate::data::{copy, paths, warm};
use crate::process::identity;
use crate::process::ledger::Remains;
use crate::process::network::veth::Network;
use crate::{Error, Origin, Pages, Restored, ServerSpec};

/// Longest path of a unix socket: sun_path without its final zero (unix(7)).
const LONGEST_SOCKET: usize = 107;

/// Data in `data`, the log in `server.log`, the socket in `s`. Everything is recorded in the ledger
/// before it is created, and removed if this is dropped instead of started.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    spec: &'a ServerSpec<'a>,
    /// The directory itself, links resolved.
    pub(crate) root: PathBuf,
    /// Where the data will be; not yet created.
    pub(crate) data: PathBuf,
    /// The server's program, links resolved.
    pub(crate) program: PathBuf,
    log: PathBuf,
    /// The network namespace that the server will be in, if not this one.
    namespace: Option<File>,
    remains: Remains,
}

impl<'a> Site<'a> {
    /// Creates the directory of `spec` for `program`.
    pub(crate) fn make(spec: &'a ServerSpec<'a>, program: &Path) -> Result<Self, Error> {
        let program = fs::canonicalize(program).map_err(Error::io("resolve", program))?;
        let mut remains = Remains(Some(spec.ledger.enter(spec.name)?));
        remains.make_directory(spec.directory)?;
        // The kernel shows working directories with links resolved.
        let root =
            fs::canonicalize(spec.directory).map_err(Error::io("resolve", spec.directory))?;
        spec.user.check_reach(&root)?;
        let (data, log) = (root.join("data"), root.join("server.log"));
        // Groups that cannot be resolved are still removed by the path given.
        let groups = spec.procs_files.iter().filter_map(|file| file.parent());
        remains.update(|record| {
            record.work_directory = Some(data.clone());
            let loader = loader::Loader::of(&program).map(|loader| loader.path);
            record.program = Some(loader.unwrap_or_else(|| program.clone()));
            record.cgroups = groups.map(Path::to_path_buf).collect();
        })?;
        Ok(Self { spec, root, data, program, log, namespace: None, remains })
    }

    /// The file for the socket called `name`, in a directory that only the server's user can enter:
    /// `s`, or one under /tmp if that path is too long.
    pub(crate) fn socket(&mut self, name: &str) -> Result<PathBuf, Error> {
        let mut directory = self.root.join("s");
        if directory.join(name).as_os_str().as_bytes().len() > LONGEST_SOCKET {
            let id = self.remains.0.as_ref().map_or("", |entry| &entry.record().id);
            let short = Path::new("/tmp").join(format!("steelyard-{id}"));
            self.remains.make_directory(&short)?;
            directory = short.join("s");
        }
        self.make_private(&directory)?;
        Ok(directory.join(name))
    }

    /// Makes a network namespace for the server; returns this machine's address in it, and the
    /// server's.
    pub(crate) fn isolate(&mut self) -> Result<[Ipv4Addr; 2], Error> {
        let Network { namespace, host, server } =
            Network::make(self.spec.ledger, &mut self.remains)?;
        self.namespace = Some(namespace);
        Ok([host, server])
    }

    /// Creates a directory that only the server's user can enter.
    pub(crate) fn make_private(&self, directory: &Path) -> Result<(), Error> {
        paths::make_private(directory, &self.spec.user)
    }

    /// Writes the content of `from`, then `more`, to the file `to`, keeping owner and mode.
    pub(crate) fn rewrite(&self, from: &Path, to: &Path, more: &str) -> Result<(), Error> {
        let mut bytes = fs::read(from).map_err(Error::io("read", from))?;
        bytes.extend_from_slice(more.as_bytes());
        self.write(to, &bytes)
    }

    /// Writes a file with the permissions of the server's user, who owns the directory and could
    /// have replaced the file with a link.
    pub(crate) fn write(&self, to: &Path, bytes: &[u8]) -> Result<(), Error> {
        identity::as_user(&self.spec.user, || fs::write(to, bytes).map_err(Error::io("write", to)))
    }

    /// Creates the data directory as a copy of `origin`, or else of the user's data directory, or
    /// else of `template`, or else empty. The server does not read the directories in `unread` when
    /// it starts.
    pub(crate) fn fill(
        &self,
        origin: Option<&Origin<'_>>,
        unread: &[&str],
        template: Option<&Path>,
    ) -> Result<Option<Restored>, Error> {
        let user = &self.spec.user;
        let owner = user.differs().then_some((user.uid, user.gid));
        if let Some(origin) = origin {
            let Origin { loaded, pages, interrupted } = origin;
            let mut restored = loaded.copy_to(&self.data, owner, *pages, interrupted)?;
            if *pages == Pages::Charged {
                restored.read_seconds = warm::read_in_group(self.spec, origin, &self.data, unread)?;
            }
            return Ok(Some(restored));
        }
        let go_on = &AtomicBool::new(false);
        let given = self.spec.data.map(|data| (data.path, data.interrupted));
        match given.or(template.map(|template| (template, go_on))) {
            Some((from, interrupted)) => {
                copy::copy_tree(from, &self.data, owner, interrupted)?;
            }
            None => self.make_private(&self.data)?,
        }
        Ok(None)
    }

    /// Starts the server with a command whose arguments come from `complete`; output goes to the
    /// log.
    pub(crate) fn start(
        self,
        signals: Signals,
        complete: impl FnOnce(&mut Command),
    ) -> Result<ServerProcess, Error> {
        let spec = self.spec;
        let open = || {
            let mut options = OpenOptions::new();
            let log = options.create(true).append(true).mode(0o600).open(&self.log);
            log.map_err(Error::io("open the server's log", &self.log))
        };
        let first = spec.wrapper.first().map_or(self.program.as_path(), Path::new);
        let (death, groups) = (signals.death, &spec.procs_files);
        let mut command = launch::command_in(self.namespace, death, first, &spec.user, groups)?;
        if let Some((_, before)) = spec.wrapper.split_first() {
            command.args(before).args(loader::words(&self.program));
        }
        complete(&mut command);
        command.stdout(open()?).stderr(open()?);
        let spawned = launch::spawn(command).map_err(Error::io("start", first))?;
        ServerProcess::of(spec, spawned, self.remains, self.log, signals)
    }
}
