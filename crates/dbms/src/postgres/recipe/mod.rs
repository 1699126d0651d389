//! How PostgreSQL is built: `make`, or from 16 on also `meson`.

mod make;
mod meson;

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::Postgres;
use crate::build::tools;
use crate::build::work::Making;
use crate::builds::{ASSERTS, BUILD_SYSTEM, CONFIGURE};
use crate::kind::Recipe;
use crate::{BuildSystem, Error};

/// The prefix of all builds, PostgreSQL's own default. Nothing is installed there: a server looks for its files relative to
/// its own place (make_relative_path in src/port/path.c), so that a build can lie anywhere, and two builds do not
/// differ in their paths.
pub(super) const PREFIX: &str = "/usr/local/pgsql";

impl Recipe for Postgres {
    fn form(&self) -> &'static str {
        "postgres build 2"
    }

    fn prefix(&self) -> &'static str {
        PREFIX
    }

    fn check(&self, tree: &Path) -> Result<(), String> {
        let builds = ["configure", "meson.build"].iter().any(|file| tree.join(file).is_file());
        if builds && tree.join("src/backend").is_dir() {
            return Ok(());
        }
        Err("there is no configure script, no meson.build or no src/backend in it; is it PostgreSQL?"
            .to_owned())
    }

    fn make(&self, making: &Making<'_>) -> Result<Vec<(&'static str, String)>, Error> {
        match system(making)? {
            BuildSystem::Make => {
                with_make(making)?;
                Ok(vec![(BUILD_SYSTEM, "make".to_owned())])
            }
            BuildSystem::Meson => {
                with_meson(making)?;
                let given = meson::options(making.options);
                let asserts = given.iter().any(|option| option == "-Dcassert=true");
                let quoted: Vec<String> =
                    given.iter().map(|option| format!("'{option}'")).collect();
                Ok(vec![
                    (BUILD_SYSTEM, "Meson".to_owned()),
                    (ASSERTS, if asserts { "yes" } else { "no" }.to_owned()),
                    (CONFIGURE, quoted.join(" ")),
                ])
            }
        }
    }
}

/// What builds the tree.
fn system(making: &Making<'_>) -> Result<BuildSystem, Error> {
    let has = |file: &str| making.tree.join(file).is_file();
    let missing = |file: &str| Error::Source {
        what: making.what.to_owned(),
        problem: format!("`system` of the build needs a file {file}, which is not in it"),
    };
    let script = has("configure");
    match making.options.system {
        Some(BuildSystem::Make) if !script => Err(missing("configure")),
        Some(BuildSystem::Meson) if !has("meson.build") => Err(missing("meson.build")),
        Some(system) => Ok(system),
        None => Ok(if script { BuildSystem::Make } else { BuildSystem::Meson }),
    }
}

fn with_make(making: &Making<'_>) -> Result<(), Error> {
    let Making { tree, work, .. } = making;
    tools::check(making.what, &[&["make"], make::generators(tree)].concat())?;
    let script = tree.join("configure");
    let script = fs::read(&script).map_err(Error::io("read", &script))?;
    let mut configure = vec![OsString::from("./configure")];
    let script = String::from_utf8_lossy(&script);
    configure.extend(make::configure_arguments(&script, making.options));
    (making.progress)("configuring");
    work.compile(&configure, tree)?;
    (making.progress)("compiling");
    for (directory, target) in make::targets(tree)? {
        work.compile(&make::make(directory, target, making.installed), tree)?;
    }
    Ok(())
}

fn with_meson(making: &Making<'_>) -> Result<(), Error> {
    let Making { tree, work, .. } = making;
    tools::check(making.what, &meson::PROGRAMS)?;
    let build = making.workshop.join("build");
    (making.progress)("configuring");
    work.directory(&build)?;
    work.compile(&meson::setup(making.options, tree, &build), tree)?;
    (making.progress)("compiling");
    for words in meson::steps(&build, making.installed) {
        work.compile(&words, tree)?;
    }
    Ok(())
}

/// As many jobs as there are CPUs.
fn jobs() -> String {
    format!("-j{}", std::thread::available_parallelism().map_or(1, usize::from))
}
