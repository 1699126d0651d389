//! Fresh data directories: initialized once per build and options; every trial gets a copy.
//!
//! MySQL from 5.7 on initializes a directory itself. For earlier versions and MariaDB, a server
//! that reads statements from its standard input makes the system tables, by the same files that
//! their own scripts use; help texts and views for people are left out. Both make the user and
//! database.

use std::fs;
use std::path::{Path, PathBuf};

use super::binaries::{Layout, not_one};
use super::flavor::Flavor;
use super::version::Version;
use crate::data::{paths, prepared};
use crate::process::{identity, launch};
use crate::{Error, ServerSpec};

/// User and database of the servers started here.
pub(super) const USER: &str = "steelyard";

/// In a prepared directory, the data itself; next to it was the file of statements.
const DATA: &str = "data";

/// The files with statements for the system tables, in order; names differ between versions.
const STATEMENTS: [&[&str]; 3] = [
    &["mysql_system_tables.sql", "mariadb_system_tables.sql"],
    &["mysql_performance_tables.sql", "mariadb_performance_tables.sql"],
    &["mysql_system_tables_data.sql", "mariadb_system_tables_data.sql"],
];

/// Keeps a prepared directory small: a server resizes its log when it starts with another size.
const SMALL: [&str; 1] = ["--innodb-log-file-size=4M"];

/// The prepared data directory for `spec`, created if it does not exist. `initial`: options that
/// shape it.
pub(super) fn prepare(
    spec: &ServerSpec<'_>,
    flavor: &'static Flavor,
    version: Version,
    layout: &Layout,
    initial: Vec<String>,
) -> Result<PathBuf, Error> {
    let bin_dir = layout.program.parent().unwrap_or(&layout.base);
    let prefix = format!("{}-data-", flavor.name);
    let spec = ServerSpec { initdb: initial, ..spec.clone() };
    let made = prepared::prepare(&spec, bin_dir, &prefix, "template 1", |made| {
        make(&spec, flavor, version, layout, made)
    })?;
    Ok(made.join(DATA))
}

fn make(
    spec: &ServerSpec<'_>,
    flavor: &'static Flavor,
    version: Version,
    layout: &Layout,
    made: &Path,
) -> Result<(), Error> {
    let data = made.join(DATA);
    paths::make_private(&data, &spec.user)?;
    let mut command = layout.command(&spec.user)?;
    command.arg("--no-defaults");
    let places = [("datadir", data.clone()), ("tmpdir", made.to_path_buf())];
    for (name, path) in layout.settings().into_iter().chain(places) {
        command.arg(format!("--{name}={}", path.display()));
    }
    command.args(SMALL).args(&spec.initdb);
    let what = format!("preparing a data directory for {}", spec.name);
    if version.number < flavor.initializes {
        let mut statements = "CREATE DATABASE mysql;\nUSE mysql;\n".to_owned();
        statements.push_str(&system_tables(flavor, layout)?);
        // Without this, it knows no users.
        statements.push_str("FLUSH PRIVILEGES;\n");
        statements.push_str(&own_statements());
        command.arg("--bootstrap");
        let said = launch::run(command, &what, Some(&statements))?;
        return complete(&data, &what, &said);
    }
    let file = made.join("init.sql");
    identity::as_user(&spec.user, || {
        fs::write(&file, own_statements()).map_err(Error::io("write", &file))
    })?;
    command.arg("--initialize-insecure").arg(format!("--init-file={}", file.display()));
    let said = launch::run(command, &what, None)?;
    fs::remove_file(&file).map_err(Error::io("remove", &file))?;
    complete(&data, &what, &said)
}

/// The user and database of servers started here. The socket is private, so there is no password.
fn own_statements() -> String {
    format!("CREATE DATABASE {USER};\n{}", grants())
}

/// The user alone.
pub(super) fn grants() -> String {
    format!(
        "CREATE USER '{USER}'@'localhost';\n\
         GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'localhost' WITH GRANT OPTION;\n"
    )
}

fn system_tables(flavor: &'static Flavor, layout: &Layout) -> Result<String, Error> {
    let mut all = String::new();
    for names in STATEMENTS {
        let found = names.iter().map(|name| layout.share.join(name)).find(|path| path.is_file());
        match found {
            // Not everything in them is UTF-8.
            Some(path) => {
                let bytes = fs::read(&path).map_err(Error::io("read", &path))?;
                all.push_str(&String::from_utf8_lossy(&bytes));
                all.push('\n');
            }
            // MySQL 5.6 has those statements in the first file.
            None if names[0].contains("performance") => {}
            None => {
                let problem = format!(
                    "{} has no {}, which are needed to create a data directory",
                    layout.share.display(),
                    names.join(" or ")
                );
                return Err(not_one(flavor, &layout.base, problem));
            }
        }
    }
    Ok(all)
}

/// Checks that the database is there, whatever the exit code says.
fn complete(data: &Path, what: &str, said: &str) -> Result<(), Error> {
    if data.join(USER).is_dir() {
        return Ok(());
    }
    Err(Error::program(what, "it made no database", said))
}
