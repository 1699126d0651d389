//! One run on one machine at a time, and one process on one experiment.

use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};

use crate::error::Error;

/// Name of the socket, in the abstract namespace: it disappears with the process that holds it,
/// however that ends, and leaves no file behind.
const NAME: &str = "steelyard-run";

/// A process that has given up its lock may seem to hold it for a moment: so long as a child that
/// another thread starts has its files, until it executes its program.
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(25);

/// Proof that this process is the only run on the machine, or the only one of an experiment; of a
/// run that lets others in, a sign that it is there.
#[derive(Debug)]
pub struct Exclusive(#[allow(dead_code)] UnixListener);

impl Exclusive {
    /// Locks the machine for this process. If the run is `concurrent`, it only shows that it is
    /// there, so that others that want the machine for themselves are refused.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] with the other run's pid, unless the run is `concurrent`.
    pub fn take(concurrent: bool) -> Result<Exclusive, Error> {
        Exclusive::take_machine(NAME, concurrent)
    }

    /// True if a run or a count is measuring on this machine, or if that can't be known.
    pub fn measuring() -> bool {
        Exclusive::measuring_machine(NAME)
    }

    fn measuring_machine(name: &str) -> bool {
        listed().map_or(true, |known| known.iter().any(|other| other.starts_with(name)))
    }

    fn take_machine(name: &str, concurrent: bool) -> Result<Exclusive, Error> {
        let shared = format!("{name}-concurrent-");
        if concurrent {
            // One process may have several, as in tests.
            static TAKEN: AtomicU32 = AtomicU32::new(0);
            let number = TAKEN.fetch_add(1, Ordering::Relaxed);
            let own = format!("{shared}{}-{number}", std::process::id());
            return Exclusive::take_named(own.as_bytes());
        }
        let alone = Exclusive::take_named(name.as_bytes())?;
        let pid = |name: &String| name.strip_prefix(&shared)?.split('-').next()?.parse().ok();
        let mut tries = TRIES;
        // If nobody can know of others, the lock is enough.
        while let Some(pid) = listed().unwrap_or_default().iter().find_map(pid) {
            tries -= 1;
            let own = pid == std::process::id() as i32;
            if tries == 0 || (!own && Path::new(&format!("/proc/{pid}")).exists()) {
                return Err(Error::Busy { pid });
            }
            std::thread::sleep(PAUSE);
        }
        Ok(alone)
    }

    /// Locks one experiment of a results database, so that no other process continues or removes
    /// it.
    ///
    /// # Errors
    ///
    /// [`Error::Resume`] with the pid of the process that runs it.
    pub fn take_experiment(database: &Path, experiment: i64) -> Result<Exclusive, Error> {
        let name = name(database, experiment).map_err(|source| Error::Io {
            path: database.to_owned(),
            source,
            remedy: "Choose a directory for results with --results",
        })?;
        Exclusive::take_named(name.as_bytes()).map_err(|error| match error {
            Error::Busy { pid } => Error::Resume(format!(
                "experiment {experiment} is being run by process {pid}; wait for it, or end it"
            )),
            other => other,
        })
    }

    /// True if a living process works on an experiment, or if that can't be known.
    pub fn is_taken(database: &Path, experiment: i64) -> bool {
        // Taking it for a moment could keep a run from taking it, so this only looks.
        let taken = || Ok::<_, std::io::Error>(listed()?.contains(&name(database, experiment)?));
        taken().unwrap_or(true)
    }

    fn take_named(name: &[u8]) -> Result<Exclusive, Error> {
        let io = |source| Error::Io {
            path: "the abstract socket steelyard-run".into(),
            source,
            remedy: "Check the limits of this process",
        };
        let address = SocketAddr::from_abstract_name(name).map_err(io)?;
        let own = std::process::id() as i32;
        let mut tries = TRIES;
        loop {
            match UnixListener::bind_addr(&address) {
                Ok(listener) => return Ok(Exclusive(listener)),
                Err(error) if error.kind() != ErrorKind::AddrInUse => return Err(io(error)),
                Err(_) => tries -= 1,
            }
            // The peer's credentials are those of the process that listens; none if it has ended.
            let peer = UnixStream::connect_addr(&address).ok();
            let credentials = peer.and_then(|stream| getsockopt(&stream, PeerCredentials).ok());
            let pid = credentials.map_or(0, |credentials| credentials.pid());
            if tries == 0 || (pid != own && pid != 0) {
                return Err(Error::Busy { pid });
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Names of all abstract sockets.
fn listed() -> std::io::Result<Vec<String>> {
    let sockets = std::fs::read("/proc/net/unix")?;
    let sockets = String::from_utf8_lossy(&sockets);
    Ok(sockets.lines().filter_map(|line| Some(line.split_once(" @")?.1.to_owned())).collect())
}

/// Name of the socket of an experiment.
fn name(database: &Path, experiment: i64) -> std::io::Result<String> {
    let file = std::fs::metadata(database)?;
    Ok(format!("steelyard-{:x}-{:x}-{experiment}", file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_looks_sees_whether_an_experiment_is_taken() {
        let database = tempfile::NamedTempFile::new().unwrap();
        let taken = |experiment| Exclusive::is_taken(database.path(), experiment);
        assert!(!taken(1));
        let first = Exclusive::take_experiment(database.path(), 1).unwrap();
        assert!(taken(1) && !taken(11));
        drop(first);
        assert!(!taken(1));
        assert!(Exclusive::is_taken(Path::new("/nowhere"), 1), "nobody knows");
    }

    #[test]
    fn a_second_run_is_refused_and_told_who_is_first() {
        let name = format!("steelyard-test-{}", std::process::id());
        let first = Exclusive::take_named(name.as_bytes()).unwrap();
        let Err(Error::Busy { pid }) = Exclusive::take_named(name.as_bytes()) else {
            panic!("the second was let in")
        };
        assert_eq!(pid, std::process::id() as i32);
        drop(first);
        Exclusive::take_named(name.as_bytes()).unwrap();
    }

    #[test]
    fn a_run_that_may_disturb_others_keeps_one_from_starting_that_may_not() {
        let name = format!("steelyard-test-shared-{}", std::process::id());
        let take = |concurrent| Exclusive::take_machine(&name, concurrent);
        let refused = || match take(false) {
            Err(Error::Busy { pid }) => assert_eq!(pid, std::process::id() as i32),
            _ => panic!("it was let in"),
        };
        let alone = take(false).unwrap();
        let measuring = || Exclusive::measuring_machine(&name);
        let (first, second) = (take(true).unwrap(), take(true).unwrap());
        drop(alone);
        refused();
        drop(first);
        refused();
        assert!(measuring());
        drop(second);
        drop(take(false).unwrap());
        let begin = std::time::Instant::now();
        // A child that another test starts may have the socket for a moment.
        while measuring() {
            assert!(begin.elapsed() < Duration::from_secs(60));
            std::thread::sleep(PAUSE);
        }
    }
}
