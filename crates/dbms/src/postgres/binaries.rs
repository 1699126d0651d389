//! An installation on this machine, and how it was built.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::facts;
use crate::api::builds::{BANNER, CC, CFLAGS, CONFIGURE};
use crate::process::{launch, loader};
use crate::{Error, Installation, ServerUser};

/// The directory above `bin` in the tree of a package or image: Debian's `usr/lib/postgresql/17`,
/// `usr/pgsql-17` of PostgreSQL's own packages for Red Hat, or that of images with a build of their
/// own.
pub(super) fn packaged(tree: &Path) -> PathBuf {
    let debian = tree.join("usr/lib/postgresql");
    let below = |place: &Path| {
        let entries = fs::read_dir(place).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let own = ["usr/local", "opt/bitnami/postgresql", "usr"].map(|place| tree.join(place));
    let mut all = [below(&debian), below(&tree.join("usr")), own.to_vec()].concat();
    all.retain(|place| place.join("bin/postgres").is_file());
    let number = |place: &PathBuf| {
        let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.rsplit('-').next().and_then(|number| number.parse::<u32>().ok())
    };
    all.into_iter().max_by_key(number).unwrap_or(debian)
}

/// The environment variable that programs in `bin_dir` need to find the libraries that were
/// unpacked with them, if they were not installed.
pub(super) fn environment(bin_dir: &Path) -> Option<(&'static str, OsString)> {
    let below = |usr: &&Path| usr.ends_with("usr") && usr.parent() != Some(Path::new("/"));
    let usr = bin_dir.ancestors().find(below)?;
    if loader::is_in_image(bin_dir) {
        // Its loader is told. The machine's shell, which initdb uses, must not find them.
        return None;
    }
    launch::libraries(&[usr.join(format!("lib/{}-linux-gnu", std::env::consts::ARCH))])
}

/// A command that runs one of the installation's programs as `user`.
pub(super) fn command(program: &Path, user: &ServerUser) -> Result<Command, Error> {
    let mut command = launch::command(program, user, &[])?;
    command.envs(environment(program));
    Ok(command)
}

/// Describes the installation in `root`. Its programs are run as `user`, like its servers.
pub(super) fn describe(root: &Path, user: &ServerUser) -> Result<Installation, Error> {
    let bin_dir = root.join("bin");
    let postgres = bin_dir.join("postgres");
    for program in [&postgres, &bin_dir.join("initdb")] {
        if !program.is_file() {
            let problem = format!(
                "there is no {}; give the directory that contains bin/postgres and bin/initdb",
                program.display()
            );
            return Err(not_one(root, problem));
        }
    }
    user.check_reach(&bin_dir)?;
    let banner = say(&postgres, "--version", user)?;
    let version = version_in(&banner)
        .ok_or_else(|| {
            let said =
                format!("`postgres --version` printed {banner:?}, which contains no version");
            not_one(root, said)
        })?
        .to_owned();
    let mut build = facts::of_binary(&postgres)?;
    build.insert(BANNER.to_owned(), banner);
    let pg_config = bin_dir.join("pg_config");
    if pg_config.is_file() {
        for (key, argument) in [(CONFIGURE, "--configure"), (CC, "--cc"), (CFLAGS, "--cflags")] {
            if let Ok(value) = say(&pg_config, argument, user) {
                build.insert(key.to_owned(), value);
            }
        }
    }
    facts::derive(&mut build);
    Ok(Installation {
        dbms: "postgres".to_owned(),
        version,
        source: String::new(),
        bin_dir: Some(bin_dir),
        build,
    })
}

fn not_one(path: &Path, problem: String) -> Error {
    Error::Installation { system: "PostgreSQL", path: path.to_path_buf(), problem }
}

/// `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)` → `15.14`.
fn version_in(banner: &str) -> Option<&str> {
    banner.split_ascii_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

fn say(program: &Path, argument: &str, user: &ServerUser) -> Result<String, Error> {
    let mut command = command(program, user)?;
    command.arg(argument);
    let output = launch::output(command, None)?;
    if output.status.success() {
        return Ok(launch::text(&output.stdout).trim().to_owned());
    }
    let program = format!("{} {argument}", program.display());
    Err(Error::program(program, output.status, launch::text(&output.stderr).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::paths;

    #[test]
    fn finds_versions() {
        assert_eq!(
            version_in("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)"),
            Some("15.14")
        );
        assert_eq!(version_in("postgres (PostgreSQL) 19devel"), Some("19devel"));
        assert_eq!(version_in("postgres"), None);
    }

    #[test]
    fn a_directory_without_postgres_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let user = ServerUser::choose(None).unwrap();
        let error = describe(directory.path(), &user).unwrap_err().to_string();
        assert!(error.contains("bin/postgres"), "{error}");
    }

    #[test]
    fn programs_of_others_run_as_the_servers_user() {
        let user = ServerUser::choose(None).unwrap();
        let directory = testing::directory();
        let (bin, told) = (directory.path().join("bin"), directory.path().join("told"));
        fs::create_dir(&bin).unwrap();
        fs::create_dir(&told).unwrap();
        paths::set_mode(&bin, 0o755).unwrap();
        paths::set_mode(&told, 0o777).unwrap();
        for (program, says) in
            [("postgres", "postgres (PostgreSQL) 15.8"), ("pg_config", "x"), ("initdb", "")]
        {
            let script = format!(
                "#!/bin/sh\nid -u >> {0}/uid; id -G > {0}/$(basename $0)\nexec echo '{says}'\n",
                told.display()
            );
            fs::write(bin.join(program), script).unwrap();
            paths::set_mode(&bin.join(program), 0o755).unwrap();
        }
        let found = describe(directory.path(), &user).unwrap();
        assert_eq!((found.version.as_str(), found.build[CFLAGS].as_str()), ("15.8", "x"));
        let uids = fs::read_to_string(told.join("uid")).unwrap();
        // `postgres --version` and three questions to pg_config.
        assert_eq!(uids.lines().collect::<Vec<_>>(), [user.uid.to_string().as_str(); 4]);
        let groups = fs::read_to_string(told.join("postgres")).unwrap();
        if user.differs() {
            assert_eq!(groups.trim(), user.gid.to_string());
        }
    }
}
