//! Data directories of the user's: whether a server can start on a copy of one, and how the copy
//! becomes one of steelyard's.
//!
//! Nothing of how the user's server was configured acts on a copy: it has no persisted settings,
//! and no replica of it starts ([`LINES`]).

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

use super::control::Control;
use super::datadir::{USER, grants};
use super::flavor::Flavor;
use super::names::file_name;
use super::version::Version;
use crate::data::paths::walk;
use crate::process::identity;
use crate::process::site::Site;
use crate::{DataDirectory, Error, ServerSpec, Sql};

/// Lines of the option file: otherwise a replica would connect to its source. Names differ between
/// versions.
pub(super) const LINES: [&str; 2] = ["loose_skip_slave_start", "loose_skip_replica_start"];

/// The system tablespace of InnoDB, which a server locks.
const SYSTEM: &str = "ibdata1";
/// Settings that were changed with SET PERSIST.
const PERSISTED: &str = "mysqld-auto.cnf";
/// Files that only one of the two systems makes: MySQL since 8.0, and MariaDB.
const MARKS: [(&str, bool); 2] = [("mysql.ibd", false), ("aria_log_control", true)];

/// From here on, a user that may not be there can be dropped.
const DROPS: u32 = 50_700;
/// From here on, MySQL keeps the places of tablespaces itself.
const KEEPS_PLACES: u32 = 80_000;

const ELSEWHERE: &str = "move its table back (ALTER TABLE … without DATA DIRECTORY), or load a dump \
                         with `init`";

/// Checks that a server can start on a copy of it, as far as that can be told; returns what
/// identifies it.
pub(super) fn check(flavor: &Flavor, data: &DataDirectory<'_>) -> Result<String, Error> {
    let has = |name: &str| data.path.join(name).exists();
    if let Some(missing) = [SYSTEM, "mysql"].into_iter().find(|name| !has(name)) {
        return Err(data.refuse(format!(
            "it is not a data directory of MySQL or MariaDB: there is no {missing} in it; name the \
             one that has it"
        )));
    }
    let ours = flavor.name == super::flavor::MARIADB.name;
    if let Some((mark, theirs)) = MARKS.into_iter().find(|(mark, its)| has(mark) && *its != ours) {
        let system = if theirs { "MariaDB" } else { "MySQL" };
        return Err(data.refuse(format!(
            "it is of {system}, as {mark} shows, but the variant is {}; load a dump with `init`",
            flavor.shown
        )));
    }
    if is_locked(&data.path.join(SYSTEM))? {
        let problem = format!("a server runs on it, which has locked {SYSTEM}; stop it");
        return Err(data.refuse(problem));
    }
    let (files, bytes) = data.check_plain()?;
    walk(data.path, &mut |path, _| match path.extension() {
        Some(extension) if extension == "isl" => {
            let name = path.strip_prefix(data.path).unwrap_or(path).display();
            Err(data.refuse(format!("{name} leads to a file outside of it; {ELSEWHERE}")))
        }
        _ => Ok(()),
    })?;
    if !data.path.join(file_name(data.database)).is_dir() {
        let database = data.database;
        return Err(data.refuse(format!("it has no database `{database}`; correct `database`")));
    }
    Ok(format!("{files} files, {bytes} bytes"))
}

/// True if a process of this machine has locked the file.
fn is_locked(path: &Path) -> Result<bool, Error> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    let mut lock = libc::flock {
        l_type: libc::F_WRLCK as i16,
        l_whence: libc::SEEK_SET as i16,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    fcntl(&file, FcntlArg::F_GETLK(&mut lock))
        .map_err(|error| Error::io("look at the lock of", path)(error.into()))?;
    Ok(lock.l_type != libc::F_UNLCK as i16)
}

/// Makes the copy in `site` one of steelyard's. Returns the file of statements that its first start
/// has to execute, in the directory `temporary`.
pub(super) fn adopt(
    spec: &ServerSpec<'_>,
    version: Version,
    site: &Site<'_>,
    temporary: &Path,
) -> Result<PathBuf, Error> {
    identity::as_user(&spec.user, || {
        let persisted = site.data.join(PERSISTED);
        if persisted.exists() {
            fs::remove_file(&persisted).map_err(Error::io("remove", &persisted))?;
        }
        Ok(())
    })?;
    let drops = version.mariadb || version.number >= DROPS;
    let drop =
        if drops { format!("DROP USER IF EXISTS '{USER}'@'localhost';\n") } else { String::new() };
    let file = temporary.join("adopt.sql");
    site.write(&file, (drop + &grants()).as_bytes())?;
    Ok(file)
}

/// Checks that a server, started on a copy, has all its data there.
pub(super) fn check_places(
    data: &DataDirectory<'_>,
    version: Version,
    control: &mut Control,
) -> Result<(), Error> {
    if version.mariadb || version.number < KEEPS_PLACES {
        return Ok(());
    }
    let sql = "SELECT path FROM information_schema.innodb_datafiles WHERE path LIKE '/%'";
    match control.query_rows(sql)?.into_iter().flatten().flatten().next() {
        Some(path) => Err(data.refuse(format!("{path} is outside of it; {ELSEWHERE}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::mysql::flavor::{MARIADB, MYSQL};

    static GO_ON: AtomicBool = AtomicBool::new(false);

    #[test]
    fn what_a_server_can_not_start_from_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let data = DataDirectory { path, database: "my shop", interrupted: &GO_ON };
        let refused = |flavor: &Flavor, part: &str| {
            let error = check(flavor, &data).unwrap_err();
            assert!(error.is_request() && error.to_string().contains(part), "{error}");
        };
        refused(&MYSQL, "is not a data directory of MySQL or MariaDB: there is no ibdata1");
        fs::write(path.join(SYSTEM), "x").unwrap();
        refused(&MARIADB, "there is no mysql in it");
        fs::create_dir(path.join("mysql")).unwrap();
        refused(&MARIADB, "it has no database `my shop`");
        fs::create_dir(path.join("my@0020shop")).unwrap();
        for flavor in [&MYSQL, &MARIADB] {
            assert_eq!(check(flavor, &data).unwrap(), "1 files, 1 bytes");
        }
        fs::write(path.join("mysql.ibd"), "").unwrap();
        refused(&MARIADB, "it is of MySQL, as mysql.ibd shows, but the variant is MariaDB");
        check(&MYSQL, &data).unwrap();
        fs::rename(path.join("mysql.ibd"), path.join("aria_log_control")).unwrap();
        refused(&MYSQL, "it is of MariaDB, as aria_log_control shows, but the variant is MySQL");
        fs::write(path.join("my@0020shop/t.isl"), "/elsewhere/t.ibd").unwrap();
        refused(&MARIADB, "my@0020shop/t.isl leads to a file outside");
        fs::remove_file(path.join("my@0020shop/t.isl")).unwrap();
        symlink("/elsewhere", path.join("undo")).unwrap();
        refused(&MARIADB, "undo is a symbolic link");
    }
}
