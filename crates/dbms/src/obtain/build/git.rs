//! A commit of a git repository: resolving a revision, and exporting its files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use reference::Repository;

use super::tools;
use super::work::{Work, ask, words};
use crate::Error;
use crate::data::paths;

/// A resolved revision.
pub(super) struct Commit {
    /// The full object name.
    pub(super) id: String,
    /// Its repository; for one on this machine, its `.git`.
    pub(super) place: Repository,
}

/// Finds the commit that `revision` currently means. A remote repository is only asked for its list
/// of names.
pub(super) fn resolve(repository: &Repository, revision: &str) -> Result<Commit, Error> {
    match repository {
        // A full object name needs no lookup, so builds in the cache or from elsewhere need neither
        // network nor git.
        Repository::Remote(_) if is_whole_id(revision) => {
            return Ok(Commit { id: revision.to_owned(), place: repository.clone() });
        }
        _ => need_git()?,
    }
    match repository {
        Repository::Local(path) => resolve_local(&paths::expand_home(path), revision),
        Repository::Remote(url) => resolve_remote(url, revision),
    }
}

fn resolve_local(path: &Path, revision: &str) -> Result<Commit, Error> {
    let what = || format!("git:{}#{revision}", path.display());
    let problem = |problem: String| Error::no_source(what(), problem);
    if !path.is_dir() {
        return Err(problem(format!("there is no directory {}", path.display())));
    }
    let found = ask(&words!["git", "-C", path, "rev-parse", "--absolute-git-dir"], None)?
        .map_err(|said| problem(format!("git cannot use it as a repository: {said}")))?;
    let git_dir = PathBuf::from(found);
    let commit = format!("{revision}^{{commit}}");
    let verify = words!["git", in_dir(&git_dir), "rev-parse", "--verify", commit];
    let id = ask(&verify, None)?.map_err(|said| {
        problem(format!(
            "the repository has no such commit (git says: {said}); name a branch, tag or commit that is in it, or fetch the commit first"
        ))
    })?;
    Ok(Commit { id, place: Repository::Local(git_dir) })
}

fn resolve_remote(url: &str, revision: &str) -> Result<Commit, Error> {
    let problem = |problem: &str| Error::no_source(format!("git:{url}#{revision}"), problem);
    let place = Repository::Remote(url.to_owned());
    // A name followed by `^{}` is what an annotated tag points to.
    let names = if revision == "HEAD" {
        vec!["HEAD".to_owned()]
    } else {
        ["", "refs/", "refs/tags/", "refs/heads/"]
            .iter()
            .flat_map(|prefix| [format!("{prefix}{revision}^{{}}"), format!("{prefix}{revision}")])
            .filter(|name| name.starts_with("refs/"))
            .collect()
    };
    let listing = ask(&words!["git", "ls-remote", "--", url], None)?.map_err(|said| {
        problem(&format!("its branches and tags cannot be listed (git says: {said})"))
    })?;
    let id = find(&listing, &names).ok_or_else(|| {
        problem(
            "there is no such branch or tag; for a repository that is not on this machine, name a branch, a tag or a full commit hash of 40 digits, or clone it and name the clone",
        )
    })?;
    Ok(Commit { id, place })
}

fn need_git() -> Result<(), Error> {
    tools::check("a commit of git", &["git"])
}

/// The object of the first of `names` in the output of `git ls-remote`: object, tab, name.
fn find(listing: &str, names: &[String]) -> Option<String> {
    let lines: Vec<(&str, &str)> =
        listing.lines().filter_map(|line| line.split_once('\t')).collect();
    names.iter().find_map(|wanted| {
        let (id, _) = lines.iter().find(|(id, name)| name == wanted && is_whole_id(id))?;
        Some((*id).to_owned())
    })
}

/// SHA-1 or SHA-256, all digits.
fn is_whole_id(text: &str) -> bool {
    [40, 64].contains(&text.len()) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

impl Commit {
    /// Writes the commit's files as a tar file, `workshop`/source.tar, and says when and why the
    /// commit was made. The repository's work tree is not touched.
    pub(super) fn export(&self, work: &Work<'_>, workshop: &Path) -> Result<Exported, Error> {
        need_git()?;
        let id = &self.id;
        let git_dir = match &self.place {
            Repository::Local(path) => in_dir(path),
            Repository::Remote(url) => {
                let fetched = workshop.join("fetched.git");
                work.git(&words!["git", "init", "--quiet", "--bare", &fetched], workshop)?;
                let git_dir = in_dir(&fetched);
                let (head, only) = ("--depth=1", "--no-tags");
                let fetch = words!["git", &git_dir, "fetch", "--quiet", head, only, "--", url, id];
                work.git(&fetch, workshop)?;
                git_dir
            }
        };
        let tar = workshop.join("source.tar");
        let archive = words!["git", &git_dir, "archive", "--format=tar", "-o", &tar, id];
        work.git(&archive, workshop)?;
        let (plain, format) = ("--no-show-signature", "--format=%cI%n%s");
        let show = words!["git", &git_dir, "show", "--no-patch", plain, format, id];
        let said = ask(&show, None)?.unwrap_or_default();
        let (date, subject) = said.split_once('\n').unwrap_or((&said, ""));
        Ok(Exported { tar, date: date.to_owned(), subject: subject.to_owned() })
    }
}

/// An exported source.
pub(super) struct Exported {
    pub(super) tar: PathBuf,
    /// When it was committed, ISO 8601; empty if unknown.
    pub(super) date: String,
    /// The first line of its message.
    pub(super) subject: String,
}

/// Given its directory, git reads this whole repository and nothing else, wherever it is called.
pub(super) fn in_dir(git_dir: &Path) -> OsString {
    let mut option = OsString::from("--git-dir=");
    option.push(git_dir);
    option
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    use crate::ServerUser;

    /// A repository with two commits, the second tagged `new`; returns their object names.
    fn repository(directory: &Path) -> [String; 2] {
        let script = "git init -q -b main . && echo one > file && git add file && git commit -qm 'the first' \
            && mkdir sub && echo two > sub/file && git add sub && git commit -qm 'the second' && git tag -am 'a tag' new";
        let status = std::process::Command::new("sh")
            .args(["-c", script])
            .current_dir(directory)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "a")))
            .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "a@example.org")))
            .envs(
                ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"]
                    .map(|name| (name, "2024-05-06T07:08:09Z")),
            )
            .status()
            .unwrap();
        assert!(status.success());
        ["new~1", "new"]
            .map(|name| resolve(&Repository::Local(directory.to_path_buf()), name).unwrap().id)
    }

    #[test]
    fn revisions_of_a_local_and_of_another_repository() {
        let directory = tempfile::tempdir().unwrap();
        let [first, second] = repository(directory.path());
        assert!(is_whole_id(&first) && is_whole_id(&second) && first != second);
        let local = Repository::Local(directory.path().to_path_buf());
        let remote = Repository::Remote(format!("file://{}", directory.path().display()));
        for (repository, revision, expected) in [
            (&local, "HEAD", &second),
            (&local, &first[..9], &first),
            (&local, "main^", &first),
            (&remote, "HEAD", &second),
            (&remote, "main", &second),
            (&remote, "new", &second),
            (&remote, "refs/heads/main", &second),
            (&remote, &first, &first),
        ] {
            assert_eq!(resolve(repository, revision).unwrap().id, *expected, "{revision}");
        }
        let said = |repository, revision| match resolve(repository, revision) {
            Err(error @ Error::Source { .. }) => error.to_string(),
            Err(other) => panic!("expected Source, found {other}"),
            Ok(commit) => panic!("found {}", commit.id),
        };
        assert!(said(&local, "other").contains("no such commit"));
        assert!(said(&local, "HEAD:file").contains("no such commit"));
        assert!(said(&remote, "other").contains("clone"));
        let elsewhere = Repository::Local("/no/such/place".into());
        assert!(said(&elsewhere, "HEAD").contains("no directory"));
        let none = Repository::Remote("file:///no/such/place".to_owned());
        assert!(said(&none, "main").contains("cannot be listed"));
        let empty = tempfile::tempdir().unwrap();
        let no_repository = Repository::Local(empty.path().to_path_buf());
        assert!(said(&no_repository, "HEAD").contains("as a repository"));
    }

    #[test]
    fn a_commit_is_exported_whole_and_the_work_tree_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let [first, second] = repository(directory.path());
        std::fs::write(directory.path().join("file"), "changed\n").unwrap();
        let sub = Repository::Local(directory.path().join("sub"));
        let remote = Repository::Remote(format!("file://{}", directory.path().display()));
        let user = ServerUser::caller();
        let interrupted = AtomicBool::new(false);
        for (repository, revision, expected) in [
            (&sub, &second, "file\nsub/\nsub/file\n"),
            (&remote, &first, "file\n"),
            (&sub, &first, "file\n"),
        ] {
            let workshop = tempfile::tempdir().unwrap();
            let work = Work::begin("x", &user, workshop.path(), &interrupted).unwrap();
            let commit = resolve(repository, revision).unwrap();
            let exported = commit.export(&work, workshop.path()).unwrap();
            assert!(exported.subject.starts_with("the "), "{}", exported.subject);
            assert!(exported.date.starts_with("2024-05-06T07:08:09"), "{}", exported.date);
            let listing =
                std::process::Command::new("tar").arg("-tf").arg(&exported.tar).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&listing.stdout), expected);
        }
        let kept = std::fs::read_to_string(directory.path().join("file")).unwrap();
        assert_eq!(kept, "changed\n");
    }

    #[test]
    fn the_target_of_a_tag_comes_first() {
        let id = |c: char| c.to_string().repeat(40);
        let listing = format!("{}\trefs/tags/v1\n{}\trefs/tags/v1^{{}}\nx\ty\n", id('a'), id('b'));
        let names = ["refs/tags/v1^{}".to_owned(), "refs/tags/v1".to_owned()];
        assert_eq!(find(&listing, &names), Some(id('b')));
        assert_eq!(find(&listing, &names[1..]), Some(id('a')));
        assert_eq!(find(&listing, &["refs/heads/v1".to_owned()]), None);
    }
}
