//! The unprivileged user that servers run under.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::unistd::{User, getegid, geteuid};

use crate::Error;

/// The user a server runs under. Postgres refuses to run as root, and a server under test has no need to.
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
    /// Chooses the user. As root: `requested`, else `steelyard` if there is such a user, else `nobody`. Not as
    /// root: the calling user, and `requested` may name no other.
    ///
    /// # Errors
    /// [`Error::User`] if the user does not exist, is root, or may not be taken on.
    pub fn choose(requested: Option<&str>) -> Result<Self, Error> {
        let own = geteuid();
        if own.is_root() {
            let names = requested.map_or_else(|| vec!["steelyard", "nobody"], |name| vec![name]);
            for name in &names {
                if let Some(user) = lookup(name)? {
                    if user.uid.is_root() {
                        return Err(problem(
                            name,
                            "it is root, and servers run without privileges",
                        ));
                    }
                    return Ok(Self {
                        name: user.name,
                        uid: user.uid.as_raw(),
                        gid: user.gid.as_raw(),
                    });
                }
            }
            return Err(problem(&names.join("` or `"), "there is no such user"));
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
    pub(crate) fn caller() -> Self {
        let own = geteuid();
        let name =
            User::from_uid(own).ok().flatten().map_or_else(|| own.to_string(), |user| user.name);
        Self { name, uid: own.as_raw(), gid: getegid().as_raw() }
    }

    /// Must the process change its identity to become this user?
    pub(crate) fn differs(&self) -> bool {
        geteuid().as_raw() != self.uid
    }

    /// Checks that this user may enter every directory on the way to `path` (as far as it exists).
    ///
    /// # Errors
    /// [`Error::Unreachable`] with the first directory that bars the way.
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

fn lookup(name: &str) -> Result<Option<User>, Error> {
    User::from_name(name).map_err(|error| problem(name, &error.to_string()))
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
