//! Fresh data directories: initdb runs once per build and options; every trial gets a copy.

use std::path::{Path, PathBuf};

use super::{binaries, shadow};
use crate::data::prepared;
use crate::process::launch;
use crate::process::loader::Loader;
use crate::{Error, ServerSpec};

/// Role and database of the servers started here.
pub(super) const ROLE: &str = "steelyard";

/// Options of initdb that steelyard chooses itself, and why.
const OWN_OPTIONS: [(&str, &str, &str); 8] = [
    ("-D", "--pgdata", "steelyard chooses the data directory"),
    ("-U", "--username", "steelyard connects with its own role"),
    (
        "-A",
        "--auth",
        "the socket directory is already private, and steelyard must be able to connect",
    ),
    ("-W", "--pwprompt", "there is nobody to answer a prompt"),
    ("--pwfile", "--pwfile", "steelyard's role has no password"),
    ("-X", "--waldir", "every trial gets its own data directory, WAL included"),
    ("-s", "--show", "it initializes nothing"),
    ("-c", "--set", "settings belong in `config`, where they are checked"),
];

/// One-letter options without a value, which others may follow in the same word.
const FLAGS: &str = "dgkNnSVW";

/// Checks the initdb options of a plan.
pub(super) fn check_options(spec: &ServerSpec<'_>) -> Result<(), Error> {
    if let (Some(_), Some(option)) = (spec.data, spec.initdb.first()) {
        let reason = "the data directory is given, and not made by initdb";
        return Err(Error::reserved(spec.name, format!("initdb {option}"), reason));
    }
    check_each(spec.name, &spec.initdb)
}

fn check_each(variant: &str, options: &[String]) -> Result<(), Error> {
    for option in options {
        for (short, long, reason) in OWN_OPTIONS {
            if is_option(option, short, long) {
                return Err(Error::reserved(variant, format!("initdb {option}"), reason));
            }
        }
    }
    Ok(())
}

/// Is this the option `short` or `long`, as parsed by getopt_long(3)? Names may be abbreviated,
/// letters combined.
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

/// The data directory that initdb creates for `spec`, created if it does not exist.
pub(super) fn prepare(spec: &ServerSpec<'_>, bin_dir: &Path) -> Result<PathBuf, Error> {
    prepared::prepare(spec, bin_dir, "pgdata-", "template 2", |made| {
        let program = bin_dir.join("initdb");
        let mut initdb = match Loader::of(&program) {
            Some(loader) => {
                let copy = shadow::make(&made.with_file_name("shadow"), &program, &loader)?;
                let mut command = binaries::command(&loader.path, &spec.user)?;
                command.args(loader.words(&copy).iter().skip(1));
                command
            }
            None => binaries::command(&program, &spec.user)?,
        };
        initdb
            .arg("-D")
            .arg(made)
            // -N is --nosync before 10 and --no-sync since then. The directory is flushed when it
            // is published.
            .args(["-N", "--encoding=UTF8", "--locale=C", "--auth=trust"])
            .arg(format!("--username={ROLE}"))
            .args(&spec.initdb);
        launch::run(initdb, &format!("preparing a data directory for {}", spec.name), None)?;
        let postgres = bin_dir.join("postgres");
        let mut single = binaries::command(&postgres, &spec.user)?;
        single.args(["--single", "-j", "-D"]).arg(made).arg("template1");
        let sql = format!("CREATE DATABASE {ROLE} OWNER {ROLE};\n\n");
        let output = launch::run(single, "creating the database", Some(&sql))?;
        if output.contains("ERROR:") {
            let program = format!("{} --single (creating the database)", postgres.display());
            return Err(Error::program(program, "an error", &output));
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_options_are_refused() {
        let check = |option: &str| check_each("a", &[option.to_owned()]);
        for bad in [
            "-D",
            "-D/x",
            "--pgdata=/x",
            "--waldir=/x",
            "--username",
            "-Ume",
            "--auth=md5",
            // Abbreviated, and after other letters.
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
