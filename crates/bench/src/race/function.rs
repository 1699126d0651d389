//! Differences planted in binaries: a library that comes before another one and has one of its
//! functions, with a loop before the true one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::builds::{BUILDS, Build};
use super::subjects::{Function, Place, Slowed, rounds_of};
use crate::steelyard::Steelyard;

/// Makes the builds that are not built from source, each in its own directory.
pub fn plant(directory: &Path, steelyard: &Steelyard) -> Result<()> {
    for build in &BUILDS {
        if let Slowed::Function(function) = &build.subject.slowed {
            let (new, kept) = (directory.join("function.new"), place(directory, build));
            fresh(&new)?;
            let installed = installed(steelyard, function.reference)?;
            make(&new, &kept, build, function, &installed)?;
            if kept.exists() {
                fs::remove_dir_all(&kept).with_context(|| format!("{}", kept.display()))?;
            }
            fs::rename(&new, &kept).with_context(|| format!("{}", kept.display()))?;
            println!("planted: {} ({})", kept.display(), build.name);
        }
    }
    Ok(())
}

/// The directory of a build. All have names of the same length, since these are in the arguments
/// and the environment of servers.
pub fn place(directory: &Path, build: &Build) -> PathBuf {
    let number = BUILDS.iter().position(|it| it.name == build.name).unwrap_or(BUILDS.len());
    directory.join(format!("build-{number:02}"))
}

fn fresh(directory: &Path) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("{}", directory.display()))?;
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))
}

/// The directory with the program or the library of a version, which is fetched.
fn installed(steelyard: &Steelyard, reference: &str) -> Result<PathBuf> {
    let printed = steelyard.prints(&["fetch", reference])?;
    let (_, directory) = printed
        .trim_end()
        .split_once('\t')
        .with_context(|| format!("expected a directory from steelyard fetch, found {printed:?}"))?;
    Ok(directory.into())
}

/// Makes a build in `new`, which will be called `kept`.
fn make(
    new: &Path,
    kept: &Path,
    build: &Build,
    function: &Function,
    installed: &Path,
) -> Result<()> {
    let source = new.join("planted.c");
    fs::write(&source, rounds_of(build.rounds) + function.code)?;
    match function.place {
        Place::Program(name) => {
            let library = new.join("planted.so");
            run(compile(&source, &library).arg("-ldl"))?;
            // The other parts of the installation are found beside the program's directory.
            let (bin, root) = (new.join("bin"), installed.parent().unwrap_or(installed));
            fs::create_dir(&bin)?;
            for entry in fs::read_dir(root).with_context(|| format!("{}", root.display()))? {
                let entry = entry?;
                if entry.path() != installed {
                    symlink(entry.path(), new.join(entry.file_name()))?;
                }
            }
            let program = installed.join(name);
            fs::copy(&program, bin.join(name))
                .with_context(|| format!("cannot copy {}", program.display()))?;
            let needed = kept.join("planted.so");
            run(Command::new("patchelf").arg("--add-needed").arg(needed).arg(bin.join(name)))
        }
        Place::Library(name) => {
            let behind = file_in(installed, name)?;
            let rpath = format!("-Wl,--no-as-needed,-rpath,{}", installed.display());
            let shown = format!("-DBEHIND=\"{}\"", behind.display());
            let library = new.join(format!("{name}.so"));
            run(compile(&source, &library).arg(shown).arg(rpath).arg(&behind).arg("-ldl"))
        }
    }
}

/// The shared library in a directory whose name begins so; the first of several.
fn file_in(directory: &Path, begin: &str) -> Result<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    let fits = |name: &str| name.starts_with(begin) && name.contains(".so");
    found.retain(|path| path.file_name().is_some_and(|it| fits(&it.to_string_lossy())));
    found.sort();
    let Some(first) = found.into_iter().next() else {
        bail!("expected {begin}*.so in {}, found none", directory.display());
    };
    Ok(first)
}

fn compile(source: &Path, library: &Path) -> Command {
    let mut command = Command::new("cc");
    command.args(["-D_GNU_SOURCE", "-O2", "-fPIC", "-shared", "-o"]).arg(library).arg(source);
    command
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .with_context(|| format!("cannot run {program}; run scripts/setup.sh validate"))?;
    ensure!(status.success(), "{program} failed: {status}");
    Ok(())
}
