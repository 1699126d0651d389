//! The unprivileged user that runs servers and all other third-party code: builds, `--version`,
//! unpacking of archives.
//!
//! As root, this is the dedicated system user `steelyard`, created when first needed. `nobody` is
//! shared with other services, each of which could connect to steelyard's servers, trace them and
//! change their data. A bare number without an entry in the user database does not work: PostgreSQL
//! looks up its own user. Both initdb and `postgres --single` fail with "could not look up
//! effective user ID" in every version from 9.6 to 18, even with `--username`.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::unistd::{Uid, User, getegid, geteuid};

use crate::Error;
use crate::process::proc::wait_until;

/// The default user that servers run as.
const OWN_USER: &str = "steelyard";

/// How long to wait for another program that changes the user database.
const CREATE_LIMIT: Duration = Duration::from_secs(10);

/// The user a server runs under. Postgres refuses to run as root, and a server under test doesn't
/// need to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUser {
    /// The user's name, for messages.
    pub name: String,
    /// User id.
    pub uid: u32,
    /// Primary group id.
    pub gid: u32,
}

impl ServerUser {
    /// Chooses the user. As root: `requested`, or else the system user `steelyard`, which is
    /// created if it does not exist. Otherwise the calling user, and `requested` may not name
    /// another.
    ///
    /// # Errors
    /// [`Error::User`] if the user does not exist, cannot be created, is root, or is not permitted.
    pub fn choose(requested: Option<&str>) -> Result<Self, Error> {
        if geteuid().is_root() {
            let name = requested.unwrap_or(OWN_USER);
            let user = match (lookup(name)?, requested) {
                (Some(user), _) => user,
                (None, Some(_)) => return Err(problem(name, "there is no such user")),
                (None, None) => create()?,
            };
            if user.uid.is_root() {
                return Err(problem(name, "it is root, but servers must run without privileges"));
            }
            return Ok(Self { name: user.name, uid: user.uid.as_raw(), gid: user.gid.as_raw() });
        }
        let caller = Self::caller();
        match requested {
            Some(other) if other != caller.name => {
                Err(problem(other, "only root can run servers as another user"))
            }
            _ => Ok(caller),
        }
    }

    /// The user that steelyard itself runs as.
    pub fn caller() -> Self {
        let own = geteuid();
        Self { name: name_of(own), uid: own.as_raw(), gid: getegid().as_raw() }
    }

    /// Must the process change its identity to become this user?
    pub(crate) fn differs(&self) -> bool {
        geteuid().as_raw() != self.uid
    }

    /// Checks that this user may enter every directory on the way to `path` (as far as it exists).
    ///
    /// # Errors
    /// [`Error::Unreachable`] with the first directory that denies access.
    pub fn check_reach(&self, path: &Path) -> Result<(), Error> {
        if !self.differs() {
            return Ok(());
        }
        let mut way: Vec<PathBuf> = path.ancestors().map(Path::to_path_buf).collect();
        way.reverse();
        for directory in way {
            let Ok(metadata) = std::fs::metadata(&directory) else { return Ok(()) };
            let bit = if metadata.uid() == self.uid {
                0o100
            } else if metadata.gid() == self.gid {
                0o010
            } else {
                0o001
            };
            if metadata.is_dir() && metadata.mode() & bit == 0 {
                return Err(Error::Unreachable {
                    path: path.to_path_buf(),
                    barred_by: directory,
                    user: self.name.clone(),
                });
            }
        }
        Ok(())
    }
}

/// A user's name, or its number if it has none.
pub(crate) fn name_of(uid: Uid) -> String {
    User::from_uid(uid).ok().flatten().map_or_else(|| uid.to_string(), |user| user.name)
}

fn lookup(name: &str) -> Result<Option<User>, Error> {
    User::from_name(name).map_err(|error| problem(name, &error.to_string()))
}

/// Creates the servers' user as packages do: no password, no shell, no home.
///
/// One process does so at a time: `useradd` looks for the name before it locks the user database,
/// so the later of two would give the user another number, with which the first has begun to work.
fn create() -> Result<User, Error> {
    let database = Path::new("/etc/passwd");
    let turn = File::open(database).map_err(Error::io("open", database))?;
    turn.lock().map_err(Error::io("lock", database))?;
    if let Some(user) = lookup(OWN_USER)? {
        return Ok(user);
    }
    let mut command = Command::new("useradd");
    command.args(["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]);
    command.args(["--shell", "/usr/sbin/nologin", "--comment", "steelyard's servers", OWN_USER]);
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C");
    let mut said = String::new();
    let mut user = None;
    // It fails if another program has the user database locked.
    wait_until(CREATE_LIMIT, || match command.output() {
        Ok(output) => {
            said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            user = lookup(OWN_USER).ok().flatten();
            user.is_some() || !said.contains("try again later")
        }
        Err(error) => {
            said = format!("useradd cannot be run: {error}");
            true
        }
    });
    user.ok_or_else(|| {
        problem(OWN_USER, &format!("there is no such user, and it cannot be created ({said})"))
    })
}

fn problem(name: &str, problem: &str) -> Error {
    Error::User { name: name.to_owned(), problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn chooses_an_unprivileged_user() {
        let user = ServerUser::choose(None).unwrap();
        assert_ne!(user.uid, 0);
        assert_eq!(user.differs(), geteuid().is_root());
    }

    #[test]
    fn it_is_shared_with_no_service() {
        if !geteuid().is_root() {
            return testing::skip("not root, so servers run as the calling user");
        }
        let created: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|_| scope.spawn(|| ServerUser::choose(None).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(created.iter().all(|user| *user == created[0] && user.name == OWN_USER));
        let nobody = lookup("nobody").unwrap().unwrap();
        assert_ne!(created[0].uid, nobody.uid.as_raw());
        assert_ne!(created[0].gid, nobody.gid.as_raw());
    }

    #[test]
    fn refuses_root_and_strangers() {
        assert!(
            matches!(ServerUser::choose(Some("root")), Err(Error::User { .. }))
                || !geteuid().is_root()
        );
        assert!(matches!(ServerUser::choose(Some("no-such-user-here")), Err(Error::User { .. })));
    }

    #[test]
    fn names_the_directory_that_bars_the_way() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("a");
        fs::create_dir(&inner).unwrap();
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let user = ServerUser { name: "x".to_owned(), uid: 12_345, gid: 12_345 };
        match user.check_reach(&inner.join("b")) {
            Err(Error::Unreachable { barred_by, .. }) => assert_eq!(barred_by, inner),
            other => panic!("expected Unreachable, found {other:?}"),
        }
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o711)).unwrap();
        user.check_reach(&inner.join("b")).unwrap();
    }
}
