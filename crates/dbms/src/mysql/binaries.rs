//! An installation on this machine: where its parts are, and how it was built.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::flavor::Flavor;
use super::libraries;
use super::version::{Version, numbers};
use crate::obtain::elf;
use crate::process::launch;
use crate::{Error, Installation, ServerUser};

/// Key of [`Installation::build`]: the output of `mysqld --version`.
const BANNER: &str = "mysqld --version";

/// Where the programs of an installation may be, below its root. In an image, /sbin may be a link
/// to the first.
const PROGRAMS: [&str; 5] = ["usr/sbin", "bin", "sbin", "libexec", ""];
/// Where its messages may be, below its base: tarballs, packages.
const SHARES: [&str; 3] = ["share", "share/mysql", "share/mariadb"];
/// A part of them that every version has.
const MESSAGES: &str = "english/errmsg.sys";
/// Where its plugins may be.
const PLUGINS: [&str; 4] =
    ["lib/plugin", "lib/mysql/plugin", "lib64/mysql/plugin", "lib/mariadb/plugin"];

/// Where the parts of an installation are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The server.
    pub(super) program: PathBuf,
    /// The directory that its own paths are relative to.
    pub(super) base: PathBuf,
    /// The directory with its messages by language and the statements for its system tables.
    pub(super) share: PathBuf,
    /// The directory of its plugins, if it has any.
    pub(super) plugins: Option<PathBuf>,
    /// Directories with libraries that came with it.
    libraries: Vec<PathBuf>,
}

impl Layout {
    /// Looks for the parts. `root` is the server itself, or a directory that contains it.
    pub(super) fn find(flavor: &'static Flavor, root: &Path) -> Result<Self, Error> {
        let program = Self::program(flavor, root)?;
        let directory = program.parent().unwrap_or(root);
        let named = |name: &str| directory.file_name().is_some_and(|found| found == name);
        let base = match directory.parent() {
            Some(above) if ["bin", "sbin", "libexec"].into_iter().any(named) => above,
            _ => directory,
        };
        let first = |places: &[&str], part: &str| {
            places.iter().map(|place| base.join(place)).find(|place| place.join(part).exists())
        };
        // Packages for Red Hat have share/mysql-8.4.
        let versioned = || {
            let entries = fs::read_dir(base.join("share")).into_iter().flatten().flatten();
            let mut places = entries.map(|entry| entry.path());
            places.find(|place| {
                let name = place.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("mysql-") && place.join(MESSAGES).exists()
            })
        };
        let share = first(&SHARES, MESSAGES).or_else(versioned).ok_or_else(|| {
            let places: Vec<_> =
                SHARES.iter().map(|it| base.join(it).display().to_string()).collect();
            let problem = format!(
                "its messages ({MESSAGES}) are in none of {}; give the directory of a whole \
                 installation",
                places.join(", ")
            );
            not_one(flavor, root, problem)
        })?;
        let plugins = first(&PLUGINS, "");
        let libraries = libraries::beside(base);
        Ok(Self { base: base.to_path_buf(), share, plugins, libraries, program })
    }

    fn program(flavor: &'static Flavor, root: &Path) -> Result<PathBuf, Error> {
        if root.is_file() {
            return Ok(root.to_path_buf());
        }
        let places = PROGRAMS.iter().flat_map(|place| {
            flavor.programs.iter().map(move |program| root.join(place).join(program))
        });
        places.into_iter().find(|path| path.is_file()).ok_or_else(|| {
            let problem = format!(
                "there is no {0} in it, in bin or in sbin; give the directory that contains \
                 bin/{0}, or the program itself",
                flavor.programs.join(" or ")
            );
            not_one(flavor, root, problem)
        })
    }

    /// The settings that tell a server where these parts are.
    pub(super) fn settings(&self) -> [(&'static str, PathBuf); 3] {
        [
            ("basedir", self.base.clone()),
            ("lc_messages_dir", self.share.clone()),
            ("character_sets_dir", self.share.join("charsets")),
        ]
    }

    /// The environment variable that the server needs to find its libraries.
    pub(super) fn environment(&self) -> Option<(&'static str, OsString)> {
        launch::libraries(&self.libraries)
    }

    /// A command that runs the server's program as `user`. The program blocks SIGQUIT.
    pub(super) fn command(&self, user: &ServerUser) -> Result<Command, Error> {
        let mut command = launch::command_in(None, libc::SIGKILL, &self.program, user, &[])?;
        command.envs(self.environment());
        Ok(command)
    }
}

/// Describes the installation in `root`. Its programs are run as `user`, like its servers.
pub(super) fn describe(
    flavor: &'static Flavor,
    root: &Path,
    user: &ServerUser,
) -> Result<Installation, Error> {
    let layout = Layout::find(flavor, root)?;
    let bin_dir = layout.program.parent().unwrap_or(root).to_path_buf();
    user.check_reach(&bin_dir)?;
    let mut command = layout.command(user)?;
    command.args(["--no-defaults", "--version"]);
    let banner = launch::run(command, "asking for its version", None).map_err(|error| {
        let missing = layout.command(user).map_or(Vec::new(), libraries::missing);
        if missing.is_empty() {
            return error;
        }
        not_one(flavor, &layout.program, libraries::explain(&missing))
    })?;
    let banner = banner.trim().to_owned();
    let text = version_in(&banner).ok_or_else(|| {
        not_one(flavor, root, format!("`--version` printed {banner:?}, which contains no version"))
    })?;
    let version = Version::read(&banner_version(&banner, text))
        .ok_or_else(|| not_one(flavor, root, format!("its version {text} is unknown")))?;
    let other = if version.mariadb { "mariadb" } else { "mysql" };
    if other != flavor.name {
        let problem =
            format!("its server calls itself {banner:?}; write {other}@path:{}", root.display());
        return Err(not_one(flavor, root, problem));
    }
    let program = fs::read(&layout.program).map_err(Error::io("read", &layout.program))?;
    let mut build = elf::facts(&program);
    let version = numbers(text).to_owned();
    build.insert(BANNER.to_owned(), banner);
    Ok(Installation {
        dbms: flavor.name.to_owned(),
        version,
        source: String::new(),
        bin_dir: Some(bin_dir),
        build,
    })
}

pub(super) fn not_one(flavor: &Flavor, path: &Path, problem: String) -> Error {
    Error::Installation { system: flavor.shown, path: path.to_path_buf(), problem }
}

/// `mysqld  Ver 8.0.31 for Linux on x86_64 (…)` → `8.0.31`; it may begin with a path.
fn version_in(banner: &str) -> Option<&str> {
    let (_, rest) = banner.split_once(" Ver ")?;
    rest.split_ascii_whitespace()
        .next()
        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// The version with the name of the system, wherever in the banner that is.
fn banner_version(banner: &str, version: &str) -> String {
    let (_, said) = banner.split_once(version).unwrap_or_default();
    let name = if said.contains("MariaDB") { "-MariaDB" } else { "" };
    format!("{version}{name}")
}

#[cfg(test)]
mod tests {
    use super::super::flavor::{MARIADB, MYSQL};
    use super::*;
    use crate::data::paths;

    #[test]
    fn versions_in_banners() {
        let of = |banner: &str| {
            let text = version_in(banner)?;
            Version::read(&banner_version(banner, text))
        };
        let mysql = of(
            "/opt/MariaDB/mysqld  Ver 5.6.24 for linux-glibc2.5 on x86_64 (MySQL Community Server (GPL))",
        );
        assert_eq!(mysql, Some(Version { mariadb: false, number: 50_624 }));
        let debian = of(
            "mariadbd  Ver 10.11.14-MariaDB-0+deb12u2 for debian-linux-gnu on x86_64 (Debian 12)",
        );
        assert_eq!(debian, Some(Version { mariadb: true, number: 101_114 }));
        assert_eq!(of("mysqld"), None);
        assert_eq!(of("mysqld  Ver unknown"), None);
    }

    /// A server that only says its version.
    fn installation(says: &str, program: &str) -> tempfile::TempDir {
        let directory = testing::directory();
        for part in ["sbin", "share/mysql/english", "lib/mysql/plugin"] {
            fs::create_dir_all(directory.path().join(part)).unwrap();
        }
        fs::write(directory.path().join("share/mysql/english/errmsg.sys"), "").unwrap();
        let program = directory.path().join("sbin").join(program);
        fs::write(&program, format!("#!/bin/sh\necho 'x  Ver {says} for Linux'\n")).unwrap();
        paths::open_up(directory.path()).unwrap();
        paths::set_mode(&program, 0o755).unwrap();
        directory
    }

    #[test]
    fn an_installation_is_found_by_its_directory_or_program() {
        let user = ServerUser::choose(None).unwrap();
        let root = installation("10.11.14-MariaDB", "mariadbd");
        for path in [root.path().to_path_buf(), root.path().join("sbin/mariadbd")] {
            let found = describe(&MARIADB, &path, &user).unwrap();
            assert_eq!((found.dbms.as_str(), found.version.as_str()), ("mariadb", "10.11.14"));
            assert_eq!(found.bin_dir.as_deref(), Some(&*root.path().join("sbin")));
        }
        let layout = Layout::find(&MARIADB, root.path()).unwrap();
        assert_eq!(layout.base, root.path());
        assert_eq!(layout.plugins, Some(root.path().join("lib/mysql/plugin")));
        let error = describe(&MYSQL, &root.path().join("sbin/mariadbd"), &user);
        assert!(error.unwrap_err().to_string().contains("write mariadb@path:"));

        fs::remove_file(root.path().join("share/mysql/english/errmsg.sys")).unwrap();
        let error = Layout::find(&MARIADB, root.path()).unwrap_err().to_string();
        assert!(error.contains("errmsg.sys"), "{error}");
        let error = Layout::find(&MYSQL, root.path()).unwrap_err().to_string();
        assert!(
            error.contains("is not an installation of MySQL") && error.contains("bin/mysqld"),
            "{error}"
        );
    }
}
