//! The directory of one server, in which everything is made ready for it to start.

use std::fs::{self, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ledger::Entry;
use crate::{Error, ServerSpec, identity, place};

/// Longest path of a unix socket: sun_path without its final zero (unix(7)).
const LONGEST_SOCKET: usize = 107;

/// Data in `data`, the log in `server.log`, the socket in `s`.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    spec: &'a ServerSpec<'a>,
    /// The directory itself, links resolved.
    pub(crate) root: PathBuf,
    /// Where the data will be; not made yet.
    pub(crate) data: PathBuf,
    /// The server's program, links resolved.
    pub(crate) program: PathBuf,
    /// Its log.
    pub(crate) log: PathBuf,
    entry: Entry,
}

impl<'a> Site<'a> {
    /// Makes the directory of `spec` for `program`. Everything is recorded in the ledger before it
    /// is made, and removed where `prepare` fails, which makes the rest ready.
    pub(crate) fn prepare<T>(
        spec: &'a ServerSpec<'a>,
        program: &Path,
        prepare: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<(Self, T), Error> {
        let mut entry = spec.ledger.enter(spec.name)?;
        let made = Self::make(spec, program, &mut entry);
        let mut site = match made {
            Ok((root, data, program)) => {
                Self { spec, log: root.join("server.log"), root, data, program, entry }
            }
            Err(error) => {
                // The first error is the one to be told; what resists stays in the ledger.
                let _ = entry.remove();
                return Err(error);
            }
        };
        match prepare(&mut site) {
            Ok(prepared) => Ok((site, prepared)),
            Err(error) => {
                let _ = site.entry.remove();
                Err(error)
            }
        }
    }

    fn make(
        spec: &ServerSpec<'_>,
        program: &Path,
        entry: &mut Entry,
    ) -> Result<(PathBuf, PathBuf, PathBuf), Error> {
        entry.make_directory(spec.directory, 0o711)?;
        // The kernel shows working directories with links resolved.
        let root =
            fs::canonicalize(spec.directory).map_err(Error::io("resolve", spec.directory))?;
        spec.user.check_reach(&root)?;
        let data = root.join("data");
        let program = fs::canonicalize(program).map_err(Error::io("resolve", program))?;
        // Groups that cannot be resolved are still removed by the path given.
        let groups = spec.procs_files.iter().filter_map(|file| file.parent());
        let groups = groups.map(Path::to_path_buf).collect();
        entry.update(|record| {
            record.work_directory = Some(data.clone());
            record.program = Some(program.clone());
            record.cgroups = groups;
        })?;
        Ok((root, data, program))
    }

    /// The file for the socket called `name`, in a directory that only the server's user can enter:
    /// `s`, or where that path is too long, one under /tmp.
    pub(crate) fn socket(&mut self, name: &str) -> Result<PathBuf, Error> {
        let mut directory = self.root.join("s");
        if directory.join(name).as_os_str().as_bytes().len() > LONGEST_SOCKET {
            let short = Path::new("/tmp").join(format!("steelyard-{}", self.entry.record().id));
            self.entry.make_directory(&short, 0o711)?;
            directory = short.join("s");
        }
        self.make_private(&directory)?;
        Ok(directory.join(name))
    }

    /// Makes a directory that only the server's user can enter.
    pub(crate) fn make_private(&self, directory: &Path) -> Result<(), Error> {
        place::make_private(directory, &self.spec.user)
    }

    /// Gives the file `to` the content of `from` and `more` after it; owner and mode stay. It is
    /// written with the rights of the server's user, who owns the directory and could have made a
    /// link of it.
    pub(crate) fn rewrite(&self, from: &Path, to: &Path, more: &str) -> Result<(), Error> {
        let mut bytes = fs::read(from).map_err(Error::io("read", from))?;
        bytes.extend_from_slice(more.as_bytes());
        identity::as_user(&self.spec.user, || fs::write(to, bytes).map_err(Error::io("write", to)))
    }

    /// The command that starts the server, its output in the log; and the entry it belongs to.
    pub(crate) fn command(self) -> Result<(Command, Entry), Error> {
        match self.make_command() {
            Ok(command) => Ok((command, self.entry)),
            Err(error) => {
                let _ = self.entry.remove();
                Err(error)
            }
        }
    }

    fn make_command(&self) -> Result<Command, Error> {
        let spec = self.spec;
        let open = || {
            OpenOptions::new()
                .create(true)
                .append(true)
                .mode(0o600)
                .open(&self.log)
                .map_err(Error::io("open the server's log", &self.log))
        };
        let first = spec.wrapper.first().map_or(self.program.as_path(), Path::new);
        let mut command = super::command(first, &spec.user, &spec.procs_files)?;
        if let Some((_, arguments)) = spec.wrapper.split_first() {
            command.args(arguments).arg(&self.program);
        }
        command.stdout(open()?).stderr(open()?);
        Ok(command)
    }
}
