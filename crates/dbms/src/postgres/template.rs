//! Prepared data directories: initdb runs once per build and options; every trial gets a copy. What
//! is kept is ours: a server can change its copy, but not what later servers begin with.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{ROLE, launch, local};
use crate::unpack::Modes;
use crate::{Cache, Error, ServerSpec, ServerUser, identity, place};

/// Options of initdb that steelyard chooses itself, and why.
const OWN_OPTIONS: [(&str, &str, &str); 8] = [
    ("-D", "--pgdata", "steelyard chooses the data directory"),
    ("-U", "--username", "steelyard connects with a role of its own"),
    ("-A", "--auth", "the socket directory is private already, and steelyard must get in"),
    ("-W", "--pwprompt", "there is nobody to ask"),
    ("--pwfile", "--pwfile", "steelyard's role has no password"),
    ("-X", "--waldir", "every trial gets a data directory of its own, WAL included"),
    ("-s", "--show", "it initialises nothing"),
    ("-c", "--set", "settings belong into `config`, where they are checked"),
];

/// Options of one letter without a value, after which others may follow in the same word.
const FLAGS: &str = "dgkNnSVW";

/// Checks the initdb options of a plan.
pub(super) fn check_options(variant: &str, options: &[String]) -> Result<(), Error> {
    for option in options {
        for (short, long, reason) in OWN_OPTIONS {
            if is_option(option, short, long) {
                return Err(Error::Reserved {
                    variant: variant.to_owned(),
                    setting: format!("initdb {option}"),
                    reason,
                });
            }
        }
    }
    Ok(())
}

/// Is this the option `short` or `long`, as getopt_long(3) reads it: names may be cut short,
/// letters stand together?
fn is_option(option: &str, short: &str, long: &str) -> bool {
    if option.starts_with("--") {
        let name = option.split('=').next().unwrap_or_default();
        return name.len() > 2 && long.starts_with(name);
    }
    let Some(letters) = option.strip_prefix('-') else { return false };
    let end = letters.find(|c| !FLAGS.contains(c)).map_or(letters.len(), |end| end + 1);
    letters.get(..end).is_some_and(|letters| {
        short.strip_prefix('-').is_some_and(|letter| letters.contains(letter))
    })
}

/// The prepared data directory for `spec`, made if it is not there yet.
pub(super) fn prepare(spec: &ServerSpec<'_>, bin_dir: &Path) -> Result<PathBuf, Error> {
    let name = name(spec, bin_dir);
    let finished = spec.cache.finished(&name);
    if finished.is_dir() {
        return Ok(finished);
    }
    let _lock = spec.cache.lock(&name)?;
    if finished.is_dir() {
        return Ok(finished);
    }
    spec.user.check_reach(spec.cache.path())?;
    let workshop = spec.cache.workshop(&name)?;
    let made = workshop.path().join("initialised");
    std::fs::create_dir(&made).map_err(Error::io("create", &made))?;
    place::set_mode(&made, 0o700)?;
    if spec.user.differs() {
        place::give(&made, spec.user.uid, spec.user.gid)?;
    }
    let mut initdb = launch::command(&bin_dir.join("initdb"), &spec.user, &[])?;
    initdb
        .arg("-D")
        .arg(&made)
        // -N is --nosync before 10 and --no-sync since; the directory is flushed when it is published.
        .args([
            "-N",
            "--encoding=UTF8",
            "--locale=C",
            "--auth=trust",
            &format!("--username={ROLE}"),
        ])
        .args(&spec.initdb);
    launch::run(initdb, &format!("preparing a data directory for {}", spec.name), None)?;
    let mut single = launch::command(&bin_dir.join("postgres"), &spec.user, &[])?;
    single.args(["--single", "-j", "-D"]).arg(&made).arg("template1");
    let output = launch::run(
        single,
        "creating the database",
        Some(&format!("CREATE DATABASE {ROLE} OWNER {ROLE};\n\n")),
    )?;
    if output.contains("ERROR:") {
        return Err(Error::Program {
            program: format!(
                "{} --single (creating the database)",
                bin_dir.join("postgres").display()
            ),
            status: "an error".to_owned(),
            output: launch::last_lines(&output, 12),
        });
    }
    let ours = workshop.path().join("made");
    identity::take_over(&spec.user, &made, &ours, Modes::Kept)?;
    remove_old(spec.cache)?;
    spec.cache.publish(&ours, &name)
}

/// Removes what an earlier steelyard has kept as files of the servers' user.
fn remove_old(cache: &Cache) -> Result<(), Error> {
    let own = ServerUser::caller().uid;
    for name in cache.names("pgdata-") {
        let path = cache.finished(&name);
        if std::fs::symlink_metadata(&path).is_ok_and(|found| found.uid() != own) {
            std::fs::remove_dir_all(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}

/// The name in the cache: the version for people, a hash over everything the result depends on.
fn name(spec: &ServerSpec<'_>, bin_dir: &Path) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update(text.as_bytes());
        hash.update([0]);
    };
    add("template 2");
    add(&bin_dir.to_string_lossy());
    for (key, value) in &spec.installation.build {
        add(key);
        add(value);
    }
    for option in &spec.initdb {
        add(option);
    }
    let hash = local::hex(&hash.finalize());
    format!("pgdata-{}-{}", spec.installation.version, hash.get(..16).unwrap_or(&hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_earlier_version_kept_for_nobody_is_removed() {
        if ServerUser::caller().uid != 0 {
            eprintln!("skipped: not root, so nothing can be given away");
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::at(directory.path()).unwrap();
        for name in ["pgdata-old", "pgdata-ours", "postgres-old"] {
            std::fs::create_dir_all(cache.finished(name).join("base")).unwrap();
        }
        place::give(&cache.finished("pgdata-old"), 65_534, 65_534).unwrap();
        remove_old(&cache).unwrap();
        assert_eq!(cache.names("pgdata-"), ["pgdata-ours"]);
        assert_eq!(cache.names("postgres-"), ["postgres-old"]);
    }

    #[test]
    fn own_options_are_refused() {
        let check = |option: &str| check_options("a", &[option.to_owned()]);
        for bad in [
            "-D",
            "-D/x",
            "--pgdata=/x",
            "--waldir=/x",
            "--username",
            "-Ume",
            "--auth=md5",
            // Cut short, and behind other letters.
            "--pgd=/x",
            "--waldi=/x",
            "-kX/x",
            "-NkD",
            "-cinclude=/x",
            "--set=hba_file=/x",
        ] {
            assert!(matches!(check(bad), Err(Error::Reserved { .. })), "{bad}");
        }
        for good in [
            "--wal-segsize=64",
            "-k",
            "--data-checksums",
            "--auth-is-not-this",
            "-kEUTF8",
            "UTF8-D",
            "--locale=en_US.UTF-8",
        ] {
            check(good).unwrap();
        }
    }
}
