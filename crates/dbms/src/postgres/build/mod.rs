//! From source to an installation in the cache: a commit or a tarball is unpacked, configured, compiled and installed as
//! an unprivileged user, in a directory that is always the same one, so that the same source gives the same binary.
//!
//! `git` or a tarball → `recipe` for make or `meson` → `work`, which runs the commands; `tools` looks beforehand whether they are there.

mod git;
mod meson;
mod recipe;
mod tools;
mod work;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::local;
use super::source::{Source, SourceTree};
use crate::builds::{
    ASSERTS, BUILD_SYSTEM, COMMIT, COMMIT_DATE, COMMIT_SUBJECT, CONFIGURE, TARBALL_HASH,
};
use crate::keep::installed as kept;
use crate::unpack::Modes;
use crate::{BuildOptions, BuildSystem, Cache, Error, Installation, ServerUser, identity, place};
use work::Work;

/// The lock and the directory of all builds of one cache. One after the other: each takes all CPUs anyway.
const WORKSHOP: &str = "build";

/// What to build, found and identified.
enum Code {
    Commit(git::Commit),
    Tarball { path: PathBuf, hash: String, unpacker: Option<&'static str> },
}

/// The build of `source`, from the cache or made now.
pub(super) fn obtain(
    source: &Source,
    cache: &Cache,
    user: &ServerUser,
    interrupted: &AtomicBool,
    progress: &dyn Fn(&str),
) -> Result<Installation, Error> {
    let what = source.to_string();
    let code = find(&source.tree)?;
    let compiler = compiler_version(&what, &source.options, user)?;
    let (kind, identity) = match &code {
        Code::Commit(commit) => ("git", &commit.id),
        Code::Tarball { hash, .. } => ("src", hash),
    };
    let name = recipe::name(kind, identity, &source.options, &compiler);
    // The same commit by another name is the same build, but the caller's words are what a report should say.
    let described = |installation: Installation| Installation {
        source: format!("{what} ({kind} {})", identity.get(..12).unwrap_or(identity)),
        ..installation
    };
    if let Some(installation) = kept::find(cache, &name, user)? {
        return Ok(described(installation));
    }
    let _lock = cache.lock(WORKSHOP)?;
    // Another process may have built it while we waited.
    if let Some(installation) = kept::find(cache, &name, user)? {
        return Ok(described(installation));
    }
    let begin = Instant::now();
    progress(&format!("building {what} ({})", identity.get(..12).unwrap_or(identity)));
    let options = &source.options;
    let build = Build { what: &what, options, cache, name: &name, user, interrupted, progress };
    let installation = build.make(&code)?;
    progress(&format!(
        "built postgres {} in {:.0} s: {}",
        installation.version,
        begin.elapsed().as_secs_f64(),
        cache.finished(&name).display()
    ));
    Ok(described(installation))
}

/// Finds what is named, without changing or fetching anything.
fn find(tree: &SourceTree) -> Result<Code, Error> {
    match tree {
        SourceTree::Git { repository, revision } => {
            tools::check("a commit of git", &["git"])?;
            git::resolve(repository, revision).map(Code::Commit)
        }
        SourceTree::Tarball(path) => {
            let path = place::expand_home(path);
            let (hash, begin) = hash_tarball(&path)?;
            let unpacker = tools::unpacker(&begin);
            Ok(Code::Tarball { path, hash, unpacker })
        }
    }
}

/// BLAKE3 of a file, and its first bytes.
fn hash_tarball(path: &Path) -> Result<(String, Vec<u8>), Error> {
    let problem = |problem: &str| Error::Source {
        what: format!("src:{}", path.display()),
        problem: problem.to_owned(),
    };
    if path.is_dir() {
        return Err(problem(
            "it is a directory; name a tarball, or with git: a repository and a commit of it",
        ));
    }
    let mut file = File::open(path)
        .map_err(|error| problem(&format!("the tarball cannot be read: {error}")))?;
    let mut hash = blake3::Hasher::new();
    let mut begin = Vec::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer).map_err(Error::io("read", path))?;
        let bytes = buffer.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            return Ok((hash.finalize().to_hex().to_string(), begin));
        }
        if begin.is_empty() {
            begin.extend(bytes.iter().take(16));
        }
        hash.update(bytes);
    }
}

/// What the compiler says of itself: another one is another build.
fn compiler_version(
    what: &str,
    options: &BuildOptions,
    user: &ServerUser,
) -> Result<String, Error> {
    let words: Vec<&str> = options.compiler.split_ascii_whitespace().collect();
    // The first is started; what it starts in turn it will say itself.
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return Err(Error::BuildOption { option: options.compiler.clone(), reason: "it is empty" });
    };
    let wrapped = if *first == "ccache" { vec![*first, *last] } else { vec![*first] };
    tools::check(what, &wrapped)?;
    let command: Vec<OsString> =
        words.iter().copied().chain(["--version"]).map(OsString::from).collect();
    work::ask(&command, Some(user))?.map_err(|said| Error::Source {
        what: what.to_owned(),
        problem: format!("the compiler `{}` does not say its version: {said}", options.compiler),
    })
}

/// One build on its way.
struct Build<'a> {
    what: &'a str,
    options: &'a BuildOptions,
    cache: &'a Cache,
    /// Its name in the cache.
    name: &'a str,
    /// Who compiles.
    user: &'a ServerUser,
    interrupted: &'a AtomicBool,
    progress: &'a dyn Fn(&str),
}

impl Build<'_> {
    fn make(&self, code: &Code) -> Result<Installation, Error> {
        self.user.check_reach(self.cache.path())?;
        let workshop = self.cache.fixed_workshop(WORKSHOP)?;
        let kept_log = self.cache.finished(&format!("{}.failed.log", self.name));
        let mut work = Work::begin(self.what, self.user, workshop.path(), self.interrupted)?;
        if self.options.compiler.starts_with("ccache ") {
            work.keep_ccache_in(self.cache.finished("ccache"))?;
        }
        match self.make_in(code, &work, workshop.path()) {
            Ok(installation) => {
                let _ = fs::remove_file(kept_log);
                Ok(installation)
            }
            Err(Error::Build { what, command, status, lines, log }) => {
                fs::rename(&log, &kept_log).map_err(Error::io("keep the log", &kept_log))?;
                Err(Error::Build { what, command, status, lines, log: kept_log })
            }
            Err(other) => Err(other),
        }
    }

    fn make_in(
        &self,
        code: &Code,
        work: &Work<'_>,
        workshop: &Path,
    ) -> Result<Installation, Error> {
        let mut facts = Vec::new();
        let mut programs = vec!["tar"];
        let tar = match code {
            Code::Commit(commit) => {
                let exported = commit.export(work, workshop)?;
                facts.push((COMMIT, commit.id.clone()));
                facts.push((COMMIT_DATE, exported.date));
                facts.push((COMMIT_SUBJECT, exported.subject));
                exported.tar
            }
            Code::Tarball { path, hash, unpacker } => {
                programs.extend(*unpacker);
                facts.push((TARBALL_HASH, hash.clone()));
                // A copy that the user who compiles can read.
                let copy = workshop.join("source.tar");
                fs::copy(path, &copy).map_err(Error::io("copy", path))?;
                copy
            }
        };
        place::set_mode(&tar, 0o644)?;
        tools::check(self.what, &programs)?;
        let tree = self.unpack(&tar, work, workshop)?;
        match self.system(&tree)? {
            BuildSystem::Make => {
                self.compile(&tree, work, workshop)?;
                facts.push((BUILD_SYSTEM, "make".to_owned()));
            }
            BuildSystem::Meson => {
                facts.push((BUILD_SYSTEM, "Meson".to_owned()));
                self.compile_with_meson(&tree, work, workshop)?;
                let given = meson::options(self.options);
                let asserts = given.iter().any(|option| option == "-Dcassert=true");
                facts.push((ASSERTS, if asserts { "yes" } else { "no" }.to_owned()));
                let quoted: Vec<String> =
                    given.iter().map(|option| format!("'{option}'")).collect();
                facts.push((CONFIGURE, quoted.join(" ")));
            }
        }
        let installed = workshop.join("installed").join(recipe::PREFIX.trim_start_matches('/'));
        let made = workshop.join("made");
        identity::take_over(self.user, &installed, &made, Modes::Open)?;
        let mut installation = local::describe(&made, self.what.to_owned(), self.user)?;
        for (key, value) in facts {
            if !value.is_empty() {
                installation.build.insert(key.to_owned(), value);
            }
        }
        kept::publish(self.cache, self.name, &made, &mut installation)?;
        Ok(installation)
    }

    /// What builds the tree.
    fn system(&self, tree: &Path) -> Result<BuildSystem, Error> {
        let has = |file: &str| tree.join(file).is_file();
        let missing = |file: &str| Error::Source {
            what: self.what.to_owned(),
            problem: format!("`system` of the build needs a file {file}, which is not in it"),
        };
        let script = has("configure");
        match self.options.system {
            Some(BuildSystem::Make) if !script => Err(missing("configure")),
            Some(BuildSystem::Meson) if !has("meson.build") => Err(missing("meson.build")),
            Some(system) => Ok(system),
            None => Ok(if script { BuildSystem::Make } else { BuildSystem::Meson }),
        }
    }

    /// Unpacks `tar`; gives the directory with the configure script or what Meson reads.
    fn unpack(&self, tar: &Path, work: &Work<'_>, workshop: &Path) -> Result<PathBuf, Error> {
        let unpacked = workshop.join("unpacked");
        work.directory(&unpacked)?;
        let words = ["tar", "--extract", "--no-same-owner", "--no-same-permissions", "--file"];
        let mut words: Vec<OsString> = words.map(OsString::from).to_vec();
        words.push(tar.into());
        work.compile(&words, &unpacked)?;
        fs::remove_file(tar).map_err(Error::io("remove", tar))?;
        // A release's tarball holds one directory with everything in it.
        let mut root = unpacked;
        let entries: Vec<PathBuf> = fs::read_dir(&root)
            .map_err(Error::io("read", &root))?
            .flatten()
            .map(|entry| entry.path())
            .collect();
        if let [only] = entries.as_slice()
            && only.is_dir()
        {
            root = only.clone();
        }
        let builds = ["configure", "meson.build"].iter().any(|file| root.join(file).is_file());
        if !builds || !root.join("src/backend").is_dir() {
            return Err(Error::Source {
                what: self.what.to_owned(),
                problem: "there is no configure script, no meson.build or no src/backend in it; is it PostgreSQL?"
                    .to_owned(),
            });
        }
        // Always the same path, for it stands in the debug information.
        let tree = workshop.join("tree");
        fs::rename(&root, &tree).map_err(Error::io("rename", &root))?;
        Ok(tree)
    }

    fn compile(&self, tree: &Path, work: &Work<'_>, workshop: &Path) -> Result<(), Error> {
        tools::check(self.what, &[&["make"], recipe::generators(tree)].concat())?;
        let script = tree.join("configure");
        let script = fs::read(&script).map_err(Error::io("read", &script))?;
        let script = String::from_utf8_lossy(&script);
        let mut configure = vec![OsString::from("./configure")];
        configure.extend(recipe::configure_arguments(&script, self.options));
        (self.progress)("configuring");
        work.compile(&configure, tree)?;
        (self.progress)("compiling");
        let installed = workshop.join("installed");
        work.directory(&installed)?;
        for (directory, target) in recipe::targets(tree)? {
            work.compile(&recipe::make(directory, target, &installed), tree)?;
        }
        Ok(())
    }

    fn compile_with_meson(
        &self,
        tree: &Path,
        work: &Work<'_>,
        workshop: &Path,
    ) -> Result<(), Error> {
        tools::check(self.what, &meson::PROGRAMS)?;
        let (build, installed) = (workshop.join("build"), workshop.join("installed"));
        (self.progress)("configuring");
        work.directory(&build)?;
        work.compile(&meson::setup(self.options, tree, &build), tree)?;
        (self.progress)("compiling");
        work.directory(&installed)?;
        for words in meson::steps(&build, &installed) {
            work.compile(&words, tree)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(source: &str) -> String {
        let source = Source::parse(source).unwrap().unwrap();
        let directory = tempfile::tempdir().unwrap();
        // The user that compiles must get through.
        place::set_mode(directory.path(), 0o755).unwrap();
        let cache = Cache::at(directory.path()).unwrap();
        let (user, interrupted) = (ServerUser::choose(None).unwrap(), AtomicBool::new(false));
        let error = obtain(&source, &cache, &user, &interrupted, &|_| ()).unwrap_err();
        assert!(error.is_request(), "{error}");
        let left: Vec<_> = fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .filter(|name| name != "build.lock")
            .collect();
        assert!(left.is_empty(), "{left:?}");
        error.to_string()
    }

    #[test]
    fn what_is_no_source_is_refused() {
        // Private: the user that compiles gets a copy.
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.tar");
        assert!(refused(&format!("src:{}", path.display())).contains("cannot be read"));
        assert!(refused(&format!("src:{}", directory.path().display())).contains("directory"));
        fs::write(directory.path().join("README"), "x").unwrap();
        let status = std::process::Command::new("tar")
            .arg("-cf")
            .arg(&path)
            .arg("-C")
            .arg(directory.path())
            .arg("README")
            .status()
            .unwrap();
        assert!(status.success());
        assert!(refused(&format!("src:{}", path.display())).contains("is it PostgreSQL?"));
        assert!(refused("git:/no/such/place#master").contains("no directory"));
    }

    #[test]
    fn a_compiler_that_is_not_there_is_named() {
        let of = |compiler: &str| {
            let options = BuildOptions { compiler: compiler.to_owned(), ..BuildOptions::default() };
            compiler_version("x", &options, &ServerUser::choose(None).unwrap())
        };
        assert!(matches!(of("no-such-cc"), Err(Error::Tools { .. })));
        assert!(matches!(of("ccache no-such-cc"), Err(Error::Tools { .. })));
        assert!(!of("cc").unwrap().is_empty());
    }

    #[test]
    fn a_compiler_is_asked_as_the_servers_user() {
        let user = ServerUser::choose(None).unwrap();
        let directory = tempfile::tempdir().unwrap();
        place::set_mode(directory.path(), 0o755).unwrap();
        let compiler = directory.path().join("cc");
        fs::write(&compiler, "#!/bin/sh\nid -u\n").unwrap();
        place::set_mode(&compiler, 0o755).unwrap();
        let options =
            BuildOptions { compiler: compiler.display().to_string(), ..BuildOptions::default() };
        assert_eq!(compiler_version("x", &options, &user).unwrap(), user.uid.to_string());
    }
}
