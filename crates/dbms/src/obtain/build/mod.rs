//! From source to an installation in the cache. A commit or tarball is unpacked, configured,
//! compiled and installed as an unprivileged user. The directory is always the same, so the same
//! source gives the same binary.
//!
//! `history` lists the commits of a repository.
//!
//! `git` or a tarball → the [`Recipe`] of a kind → `work`, which runs the commands; `tools` first
//! checks that they exist. If a build with the same `key` exists elsewhere, it is obtained instead
//! (`shared`).

mod git;
pub(crate) mod history;
pub(crate) mod key;
pub(crate) mod options;
pub(crate) mod shared;
pub(crate) mod tools;
pub(crate) mod work;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use reference::SourceTree;

use crate::api::builds::{CODE_HASH, COMMIT, COMMIT_DATE, COMMIT_SUBJECT, TARBALL_HASH};
use crate::data::{hash, paths};
use crate::obtain::code::code_hash;
use crate::obtain::installed;
use crate::obtain::source::Source;
use crate::obtain::unpack::Modes;
use crate::process::identity;
use crate::resolve::Form;
use crate::{BuildOptions, Cache, Error, Installation, Kind, Recipe, Reference, ServerUser};
use key::BuildKey;
use work::{Work, words};

/// The lock and the directory of all builds of one cache. They run one after another, since each
/// uses all CPUs anyway.
const WORKSHOP: &str = "build";

/// The source to build, found and identified.
enum Code {
    Commit(git::Commit),
    Tarball { path: PathBuf, hash: String, unpacker: Option<&'static str> },
}

/// The build of `source`, cached or new.
pub(crate) fn obtain(
    kind: &dyn Kind,
    source: &Source,
    cache: &Cache,
    user: &ServerUser,
    interrupted: &AtomicBool,
    progress: &dyn Fn(&str),
) -> Result<Installation, Error> {
    let Order { recipe, what, code, key, lacking } = order(kind, source, user)?;
    let (what, key, options) = (&what, &key, &source.options);
    let mut installation = match lacking {
        None => {
            let name = &key.name();
            installed::find_or_make(kind, cache, name, WORKSHOP, user, || {
                if let Some(obtained) = shared::obtain(kind, key, cache, user, what, progress)? {
                    return Ok(obtained);
                }
                Error::check(interrupted, "obtaining a build")?;
                let begin = Instant::now();
                progress(&format!("building {what} ({})", key.short()));
                let build =
                    Build { kind, recipe, what, options, cache, key, user, interrupted, progress };
                let installation = build.make(&code)?;
                progress(&format!(
                    "built {} {} in {:.0} s: {}",
                    kind.name(),
                    installation.version,
                    begin.elapsed().as_secs_f64(),
                    cache.finished(name).display()
                ));
                Ok(installation)
            })?
        }
        // A machine that only measures.
        Some(lacking) => {
            let _lock = cache.lock(WORKSHOP)?;
            let found = match shared::only_one(kind, key, cache, user)? {
                None => shared::obtain(kind, key, cache, user, what, progress)?,
                found => found,
            };
            found.ok_or(lacking)?
        }
    };
    if !installation.build.contains_key(CODE_HASH) {
        // An earlier steelyard recorded less.
        installation.build.insert(CODE_HASH.to_owned(), code_hash(&installation)?);
        installed::rewrite(&installation);
    }
    // The same commit by another name is the same build, but a report should use the caller's
    // words.
    Ok(Installation { source: format!("{what} ({} {})", key.kind, key.short()), ..installation })
}

/// A build, as far as it is known beforehand.
struct Order<'a> {
    recipe: &'a dyn Recipe,
    what: String,
    code: Code,
    key: BuildKey,
    /// Why this machine can't make it, if it has no compiler.
    lacking: Option<Error>,
}

fn order<'a>(kind: &'a dyn Kind, source: &Source, user: &ServerUser) -> Result<Order<'a>, Error> {
    let recipe = kind.recipe().ok_or_else(|| kind.lacks("building from source"))?;
    let what = format!("{}@{}", kind.name(), source.tree);
    let options = &source.options;
    let code = find(&source.tree)?;
    let (sort, identity) = match &code {
        Code::Commit(commit) => ("git", &commit.id),
        Code::Tarball { hash, .. } => ("src", hash),
    };
    let (version, lacking) = match compiler_version(&what, options, user) {
        Ok(version) => (Some(version), None),
        Err(error @ Error::Tools { .. }) => (None, Some(error)),
        Err(error) => return Err(error),
    };
    let key = BuildKey::new(kind.name(), [recipe.form(), sort, identity], options, version);
    Ok(Order { recipe, what, code, key, lacking })
}

/// The name under which machines share the build of a source; `None` for what is not built, and
/// without a compiler. Builds nothing.
///
/// # Errors
/// [`Error::Source`] if there is no such source; [`Error::User`].
pub fn build_name(
    reference: &Reference,
    server_user: Option<&str>,
) -> Result<Option<String>, Error> {
    let Form::Source(source) = &reference.form else { return Ok(None) };
    let Order { key, lacking, .. } =
        order(reference.kind, source, &ServerUser::choose(server_user)?)?;
    Ok(lacking.is_none().then(|| key.shared_name()))
}

/// Finds the named source, without changing or fetching anything.
fn find(tree: &SourceTree) -> Result<Code, Error> {
    match tree {
        SourceTree::Git { repository, revision } => {
            git::resolve(repository, revision).map(Code::Commit)
        }
        SourceTree::Tarball(path) => {
            let path = paths::expand_home(path);
            let (hash, begin) = hash_tarball(&path)?;
            let unpacker = tools::unpacker(&begin);
            Ok(Code::Tarball { path, hash, unpacker })
        }
    }
}

/// The hash of a tarball, and its first bytes.
fn hash_tarball(path: &Path) -> Result<(String, [u8; 16]), Error> {
    let problem = |problem: &str| Error::no_source(format!("src:{}", path.display()), problem);
    if path.is_dir() {
        let advice =
            "it is a directory; name a tarball, or use git: with a repository and a commit";
        return Err(problem(advice));
    }
    let unreadable =
        |error: std::io::Error| problem(&format!("the tarball cannot be read: {error}"));
    let mut begin = [0; 16];
    File::open(path).and_then(|mut file| file.read(&mut begin)).map_err(unreadable)?;
    let (_, hash) = hash::of_file(path, &AtomicBool::new(false))?;
    Ok((hash::hex(&hash), begin))
}

/// The compiler's version text; another compiler means another build.
fn compiler_version(
    what: &str,
    options: &BuildOptions,
    user: &ServerUser,
) -> Result<String, Error> {
    let words: Vec<&str> = options.compiler.split_ascii_whitespace().collect();
    // Only the program that is started is checked; it reports problems with others itself.
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return Err(Error::BuildOption { option: options.compiler.clone(), reason: "it is empty" });
    };
    let wrapped = if *first == "ccache" { vec![*first, *last] } else { vec![*first] };
    tools::check(what, &wrapped)?;
    let command: Vec<OsString> =
        words.iter().copied().chain(["--version"]).map(OsString::from).collect();
    work::ask(&command, Some(user))?.map_err(|said| {
        let compiler = &options.compiler;
        Error::no_source(
            what,
            format!("the compiler `{compiler}` does not report its version: {said}"),
        )
    })
}

/// A build in progress.
struct Build<'a> {
    kind: &'a dyn Kind,
    recipe: &'a dyn Recipe,
    what: &'a str,
    options: &'a BuildOptions,
    cache: &'a Cache,
    key: &'a BuildKey,
    /// Who compiles.
    user: &'a ServerUser,
    interrupted: &'a AtomicBool,
    progress: &'a dyn Fn(&str),
}

impl Build<'_> {
    fn make(&self, code: &Code) -> Result<Installation, Error> {
        self.user.check_reach(self.cache.path())?;
        let workshop = self.cache.workshop(WORKSHOP)?;
        let kept_log = self.cache.finished(&format!("{}.failed.log", self.key.name()));
        let mut work = Work::begin(self.what, self.user, workshop.path(), self.interrupted)?;
        if self.options.compiler.starts_with("ccache ") {
            work.keep_ccache_in(self.cache.finished("ccache"))?;
        }
        let mut made = self.make_in(code, &work);
        if let Err(Error::Build { log, .. }) = &mut made {
            fs::rename(&*log, &kept_log).map_err(Error::io("keep the log", &kept_log))?;
            *log = kept_log;
        } else if made.is_ok() {
            let _ = fs::remove_file(kept_log);
        }
        made
    }

    fn make_in(&self, code: &Code, work: &Work<'_>) -> Result<Installation, Error> {
        let workshop = &work.workshop;
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
        paths::set_mode(&tar, 0o644)?;
        tools::check(self.what, &programs)?;
        self.unpack(&tar, work)?;
        work.directory(&work.installed)?;
        facts.extend(self.recipe.make(work, self.options, self.progress)?);
        let installed = work.installed.join(self.recipe.prefix().trim_start_matches('/'));
        let made = workshop.join("made");
        identity::take_over(self.user, &installed, &made, Modes::Open)?;
        let mut installation = self.kind.describe(&made, self.user)?;
        self.what.clone_into(&mut installation.source);
        let known = facts.into_iter().filter(|(_, value)| !value.is_empty());
        installation.build.extend(known.map(|(key, value)| (key.to_owned(), value)));
        installation.build.insert(CODE_HASH.to_owned(), code_hash(&installation)?);
        self.key.write(&made)?;
        installed::publish(self.cache, &self.key.name(), &made, &mut installation)?;
        Ok(installation)
    }

    /// Unpacks `tar` into [`Work::tree`].
    fn unpack(&self, tar: &Path, work: &Work<'_>) -> Result<(), Error> {
        let unpacked = work.workshop.join("unpacked");
        work.directory(&unpacked)?;
        let owner = "--no-same-owner";
        let extract = words!["tar", "--extract", owner, "--no-same-permissions", "--file", tar];
        work.compile(&extract, &unpacked)?;
        fs::remove_file(tar).map_err(Error::io("remove", tar))?;
        // A release's tarball contains a single directory with everything in it.
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
        self.recipe.check(&root).map_err(|problem| Error::no_source(self.what, problem))?;
        fs::rename(&root, &work.tree).map_err(Error::io("rename", &root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(source: &str) -> String {
        let source: Reference = source.parse().unwrap();
        let Form::Source(source) = source.form else { panic!("a source") };
        let kind = &crate::postgres::Postgres;
        let directory = tempfile::tempdir().unwrap();
        // The user that compiles must be able to enter.
        paths::set_mode(directory.path(), 0o755).unwrap();
        let cache = Cache::at(directory.path()).unwrap();
        let (user, interrupted) = (ServerUser::choose(None).unwrap(), AtomicBool::new(false));
        let error = obtain(kind, &source, &cache, &user, &interrupted, &|_| ()).unwrap_err();
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
    fn anything_but_a_source_is_refused() {
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
        paths::set_mode(directory.path(), 0o755).unwrap();
        let compiler = directory.path().join("cc");
        fs::write(&compiler, "#!/bin/sh\nid -u\n").unwrap();
        paths::set_mode(&compiler, 0o755).unwrap();
        let options =
            BuildOptions { compiler: compiler.display().to_string(), ..BuildOptions::default() };
        assert_eq!(compiler_version("x", &options, &user).unwrap(), user.uid.to_string());
    }
}
