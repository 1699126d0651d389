//! A server to start.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Cache, DataDirectory, Installation, Ledger, ServerUser, Transport};

/// Settings: names and values.
pub type Config = BTreeMap<String, String>;

/// A size such as `64MB`, which MySQL and RocksDB don't know, as a number of bytes; any other value
/// as it is. Units are powers of 1024.
pub(crate) fn in_bytes(value: &str) -> String {
    const UNITS: [(&str, u32); 5] = [("kB", 10), ("KB", 10), ("MB", 20), ("GB", 30), ("TB", 40)];
    let bytes = UNITS.iter().find_map(|(unit, shift)| {
        let number: u64 = value.trim().strip_suffix(unit)?.trim_end().parse().ok()?;
        number.checked_mul(1 << shift)
    });
    bytes.map_or_else(|| value.to_owned(), |bytes| bytes.to_string())
}

/// The input of [`crate::start`].
#[derive(Clone, Debug)]
pub struct ServerSpec<'a> {
    /// The binaries.
    pub installation: &'a Installation,
    /// The variant's name, for messages and the ledger.
    pub name: &'a str,
    /// The directory of this trial, created by [`crate::start`]: data in `data`, the socket in `s`,
    /// the log in `server.log`. It must not exist, or must be empty.
    pub directory: &'a Path,
    /// Settings of the plan, which override `config_file`.
    pub config: Config,
    /// A file of settings in the server's own format.
    pub config_file: Option<PathBuf>,
    /// Further options of initdb.
    pub initdb: Vec<String>,
    /// The data directory to copy if the server does not start on a load; `None`: a fresh one. The
    /// database is used in either case.
    pub data: Option<DataDirectory<'a>>,
    /// The storage engine for the tables of a workload, of a system that has several: `innodb`,
    /// `myrocks`. `None`: its usual one.
    pub engine: Option<&'a str>,
    /// `cgroup.procs` files that the server writes itself to before it runs.
    pub procs_files: Vec<PathBuf>,
    /// A program to run the server under, such as Valgrind: its full path and arguments, to which
    /// the server's command line is appended. Empty: none.
    pub wrapper: Vec<OsString>,
    /// How clients can reach it in addition to the unix socket, which every server has: at most one
    /// of [`Transport::Loopback`] and [`Transport::Veth`]. Over TCP it asks for a password that is
    /// made for this server.
    pub transports: &'a [Transport],
    /// The user to run as.
    pub user: ServerUser,
    /// How long the start may take until the server answers.
    pub start_limit: Duration,
    /// How long each stage of stopping may take.
    pub stop_limit: Duration,
    /// Where prepared data directories are kept.
    pub cache: &'a Cache,
    /// Where the start is recorded.
    pub ledger: &'a Ledger,
}

/// How long a server may take to start, unless the caller says otherwise.
pub const START_LIMIT: Duration = Duration::from_secs(60);
/// How long each stage of stopping a server may take, unless the caller says otherwise.
pub const STOP_LIMIT: Duration = Duration::from_secs(60);

impl<'a> ServerSpec<'a> {
    /// A server with its own defaults, [`START_LIMIT`] and [`STOP_LIMIT`].
    pub fn new(
        name: &'a str,
        installation: &'a Installation,
        directory: &'a Path,
        user: ServerUser,
        cache: &'a Cache,
        ledger: &'a Ledger,
    ) -> Self {
        Self {
            installation,
            name,
            directory,
            config: Config::new(),
            config_file: None,
            initdb: Vec::new(),
            data: None,
            engine: None,
            procs_files: Vec::new(),
            wrapper: Vec::new(),
            transports: &[],
            user,
            start_limit: START_LIMIT,
            stop_limit: STOP_LIMIT,
            cache,
            ledger,
        }
    }

    /// The database that clients use: that in the given data, or else `own`, which is made here.
    pub(crate) fn database(&self, own: &str) -> String {
        self.data.map_or(own, |data| data.database).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_of_powers_of_1024_and_other_values_stay() {
        for (value, bytes) in [("1GB", "1073741824"), ("64 MB", "67108864"), ("16kB", "16384")] {
            assert_eq!(in_bytes(value), bytes);
        }
        let huge = ["99999999999999999999GB", "99999999999TB"];
        for other in ["1G", "128M", "ON", "true", "O_DIRECT", "xMB", "GB", ""].iter().chain(&huge) {
            assert_eq!(in_bytes(other), *other);
        }
    }
}
