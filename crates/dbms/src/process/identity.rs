//! Work on files with the permissions of the servers' user, and taking over that user's files.
//!
//! Unpacked archives, builds and prepared data directories are made by the servers' user and then
//! copied to files of steelyard's own user. Changing owners in place would be a race with any
//! remaining process of that user: it could replace files with links, or keep a file open for
//! writing. With copies, no server can change the binaries or data that later servers start with.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::data::paths;
use crate::obtain::unpack::{Modes, unpack};
use crate::{Error, ServerUser};

/// Does `work` in a thread that can access only the files of `user`, as a file server would
/// (setfsuid(2)): without root's permissions on files, and without this process's groups. If `user`
/// is the current user, nothing changes.
pub(crate) fn as_user<T: Send>(
    user: &ServerUser,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    if !user.differs() {
        return work();
    }
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            take_on(user).map_err(|error| Error::User {
                name: user.name.clone(),
                problem: format!("its permissions cannot be assumed ({error})"),
            })?;
            work()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Gives this thread the file permissions of `user`, for as long as it lives.
fn take_on(user: &ServerUser) -> io::Result<()> {
    // SAFETY: the system call itself, unlike the library's setgroups, concerns this thread alone.
    // It gets one valid gid.
    if unsafe { libc::syscall(libc::SYS_setgroups, 1_usize, &raw const user.gid) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: these take and return integers.
    let now = unsafe {
        libc::setfsgid(user.gid);
        libc::setfsuid(user.uid);
        // They report no errors. Given an invalid id, they change nothing and return the current
        // one.
        (libc::setfsuid(u32::MAX).cast_unsigned(), libc::setfsgid(u32::MAX).cast_unsigned())
    };
    if now == (user.uid, user.gid) { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// Makes `to` a copy of the tree `from` that only the current user can write, and removes `from`.
/// The files are read with the permissions of `user` and written to new ones. A remaining process
/// of `user` can't change these, and can't redirect the copy by replacing files with links.
pub(crate) fn take_over(
    user: &ServerUser,
    from: &Path,
    to: &Path,
    modes: Modes,
) -> Result<(), Error> {
    if !user.differs() {
        fs::rename(from, to).map_err(Error::io("rename", from))?;
        return if modes == Modes::Open { paths::open_up(to) } else { Ok(()) };
    }
    let (reader, writer) = io::pipe().map_err(Error::io("make a pipe for", to))?;
    std::thread::scope(|scope| {
        let reading = scope.spawn(move || {
            as_user(user, || {
                let mut builder = tar::Builder::new(io::BufWriter::with_capacity(1 << 16, writer));
                builder.follow_symlinks(false);
                builder.sparse(false);
                builder
                    .append_dir_all(".", from)
                    .and_then(|()| builder.into_inner()?.flush())
                    .map_err(Error::io("read", from))
            })
        });
        // The pipe is closed on return, which ends the other thread.
        let written = unpack(reader, to, modes, &from.display().to_string());
        let read = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (read, written) {
            // The reader stopped because this thread did.
            (Err(Error::Io { source, .. }), Err(error))
                if source.kind() == io::ErrorKind::BrokenPipe =>
            {
                Err(error)
            }
            (Err(error), _) | (_, Err(error)) => Err(error),
            (Ok(()), Ok(())) => Ok(()),
        }
    })?;
    fs::remove_dir_all(from).map_err(Error::io("remove", from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn servers_user() -> Option<ServerUser> {
        let user = ServerUser::choose(None).unwrap();
        if !user.differs() {
            testing::skip("not root, so servers run as the calling user");
            return None;
        }
        Some(user)
    }

    #[test]
    fn the_thread_has_the_rights_of_the_user_alone() {
        let Some(user) = servers_user() else { return };
        let directory = tempfile::tempdir().unwrap();
        paths::set_mode(directory.path(), 0o755).unwrap();
        let (secret, theirs) = (directory.path().join("secret"), directory.path().join("theirs"));
        fs::write(&secret, "x").unwrap();
        // The group is root's, of which this process is a member.
        paths::set_mode(&secret, 0o640).unwrap();
        fs::create_dir(&theirs).unwrap();
        paths::give(&theirs, user.uid, user.gid).unwrap();
        as_user(&user, || {
            let denied = io::ErrorKind::PermissionDenied;
            assert_eq!(fs::read(&secret).unwrap_err().kind(), denied);
            assert_eq!(fs::write(directory.path().join("new"), "x").unwrap_err().kind(), denied);
            fs::write(theirs.join("file"), "x").map_err(Error::io("write", &theirs))
        })
        .unwrap();
        assert_eq!(fs::metadata(theirs.join("file")).unwrap().uid(), user.uid);
        // Only that thread's.
        assert_eq!(fs::read(&secret).unwrap(), b"x");
    }

    #[test]
    fn taken_over_files_change_owner_and_nothing_else_is_touched() {
        let Some(user) = servers_user() else { return };
        let directory = tempfile::tempdir().unwrap();
        paths::set_mode(directory.path(), 0o755).unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        let secret = directory.path().join("secret");
        fs::write(&secret, "x").unwrap();
        paths::set_mode(&secret, 0o600).unwrap();
        fs::create_dir_all(from.join("bin")).unwrap();
        fs::write(from.join("bin/postgres"), "x").unwrap();
        paths::set_mode(&from.join("bin/postgres"), 0o4777).unwrap();
        symlink("postgres", from.join("bin/postmaster")).unwrap();
        paths::walk(&from, &mut |path, _| paths::give(path, user.uid, user.gid)).unwrap();
        take_over(&user, &from, &to, Modes::Open).unwrap();
        assert!(!from.exists());
        paths::walk(&to, &mut |path, metadata| {
            assert_eq!(metadata.uid(), 0, "{}", path.display());
            assert!(metadata.is_symlink() || metadata.permissions().mode() & 0o7777 == 0o755);
            Ok(())
        })
        .unwrap();
        assert_eq!(fs::read_link(to.join("bin/postmaster")).unwrap(), Path::new("postgres"));

        // A link to root's file is not followed; root's file is not read.
        for (what, add) in [
            ("link", &(|path: &Path| symlink(&secret, path)) as &dyn Fn(&Path) -> io::Result<()>),
            ("hard link", &|path: &Path| fs::hard_link(&secret, path)),
        ] {
            fs::create_dir(&from).unwrap();
            paths::give(&from, user.uid, user.gid).unwrap();
            add(&from.join("found")).unwrap();
            let other = directory.path().join(what);
            let error = take_over(&user, &from, &other, Modes::Open).unwrap_err();
            assert!(matches!(error, Error::Unpack { .. } | Error::Io { .. }), "{what}: {error}");
            assert!(!other.join("found").exists(), "{what}");
            fs::remove_dir_all(&from).unwrap();
        }
        assert_eq!(fs::metadata(&secret).unwrap().mode() & 0o777, 0o600);
    }
}
