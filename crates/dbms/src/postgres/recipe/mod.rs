//! How to build PostgreSQL: `make`, or from 16 on also `meson`.

mod make;
mod meson;

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::api::builds::{ASSERTS, BUILD_SYSTEM, CONFIGURE};
use crate::obtain::build::tools;
use crate::obtain::build::work::Work;
use crate::{BuildOptions, BuildSystem, Error, Recipe};

/// The recipe for all versions.
pub(super) struct MakeOrMeson;

impl Recipe for MakeOrMeson {
    fn form(&self) -> &'static str {
        "postgres build 2"
    }

    fn prefix(&self) -> &'static str {
        make::PREFIX
    }

    fn check(&self, tree: &Path) -> Result<(), String> {
        let builds = ["configure", "meson.build"].iter().any(|file| tree.join(file).is_file());
        if builds && tree.join("src/backend").is_dir() {
            return Ok(());
        }
        Err("it has no configure script or meson.build, or no src/backend; is it PostgreSQL?"
            .to_owned())
    }

    fn make(
        &self,
        work: &Work<'_>,
        options: &BuildOptions,
        progress: &dyn Fn(&str),
    ) -> Result<Vec<(&'static str, String)>, Error> {
        match system(work, options)? {
            BuildSystem::Make => {
                with_make(work, options, progress)?;
                Ok(vec![(BUILD_SYSTEM, "make".to_owned())])
            }
            BuildSystem::Meson => {
                with_meson(work, options, progress)?;
                let given = meson::options(options);
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

/// The build system for the tree.
fn system(work: &Work<'_>, options: &BuildOptions) -> Result<BuildSystem, Error> {
    let has = |file: &str| work.tree.join(file).is_file();
    let missing = |file: &str| {
        let problem =
            format!("the build's `system` needs a file {file}, which the source does not have");
        Error::no_source(&work.what, problem)
    };
    let script = has("configure");
    match options.system {
        Some(BuildSystem::Make) if !script => Err(missing("configure")),
        Some(BuildSystem::Meson) if !has("meson.build") => Err(missing("meson.build")),
        Some(system) => Ok(system),
        None => Ok(if script { BuildSystem::Make } else { BuildSystem::Meson }),
    }
}

fn with_make(work: &Work<'_>, options: &BuildOptions, say: &dyn Fn(&str)) -> Result<(), Error> {
    let tree = &work.tree;
    tools::check(&work.what, &[&["make"], make::generators(tree)].concat())?;
    let script = tree.join("configure");
    let script = fs::read(&script).map_err(Error::io("read", &script))?;
    let mut configure = vec![OsString::from("./configure")];
    let script = String::from_utf8_lossy(&script);
    configure.extend(make::configure_arguments(&script, options));
    say("configuring");
    work.compile(&configure, tree)?;
    say("compiling");
    for (directory, target) in make::targets(tree)? {
        work.compile(&make::make(directory, target, &work.installed), tree)?;
    }
    Ok(())
}

fn with_meson(work: &Work<'_>, options: &BuildOptions, say: &dyn Fn(&str)) -> Result<(), Error> {
    let tree = &work.tree;
    tools::check(&work.what, &meson::PROGRAMS)?;
    let build = work.workshop.join("build");
    say("configuring");
    work.directory(&build)?;
    work.compile(&meson::setup(options, tree, &build), tree)?;
    say("compiling");
    for words in meson::steps(&build, &work.installed) {
        work.compile(&words, tree)?;
    }
    Ok(())
}
