//! The commits between two of a repository.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use reference::Repository;

use super::git::{in_dir, resolve};
use super::work::{ask, words};
use crate::Error;

/// A commit in a line of history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryCommit {
    /// The full object name.
    pub id: String,
    /// The object name of its files; equal ones have equal files.
    pub tree: String,
    /// Name and address of its author, as git has them.
    pub author: String,
    /// When its author wrote it, ISO 8601.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
}

/// A line of history in a repository on this machine: a commit, and those that follow it by first
/// parents. Branches that were merged count as their merge.
#[derive(Clone, Debug)]
pub struct History {
    git_dir: PathBuf,
    /// The commits in order, at least two.
    pub commits: Vec<HistoryCommit>,
}

/// Separates the fields of a commit in what git is asked for.
const BETWEEN: char = '\u{1f}';

impl History {
    /// From commit `from` to commit `to`, both included.
    ///
    /// # Errors
    /// [`Error::Source`] for a repository elsewhere, a revision that is none, or if `from` is not
    /// before `to` in one line of first parents.
    pub fn between(repository: &Repository, from: &str, to: &str) -> Result<Self, Error> {
        if let Repository::Remote(url) = repository {
            let problem = "commits can only be listed of a repository on this machine; clone it \
                           and name the clone";
            return Err(Error::no_source(format!("git:{url}"), problem));
        }
        let first = resolve(repository, from)?;
        let last = resolve(repository, to)?;
        let Repository::Local(git_dir) = first.place else {
            return Err(Error::no_source(from, "it is not in a repository on this machine"));
        };
        let own = log(&git_dir, &["--max-count=1", &first.id])?;
        let after = log(&git_dir, &[&format!("{}..{}", first.id, last.id)])?;
        let follows = after.first().is_some_and(|(_, parent)| *parent == first.id);
        if !follows {
            let problem = format!(
                "expected {from} to be before {to} in its line of first parents (git log \
                 --first-parent {to}), found that it is not; name an earlier commit of that line, \
                 such as that of `git merge-base {from} {to}`"
            );
            return Err(Error::no_source(format!("git:{}", git_dir.display()), problem));
        }
        let commits = own.into_iter().chain(after).map(|(commit, _)| commit).collect();
        Ok(Self { git_dir, commits })
    }

    /// What git says to a command, or its error.
    fn git(&self, words: &[&str]) -> Result<Result<String, String>, Error> {
        let mut command = words!["git", in_dir(&self.git_dir)].to_vec();
        command.extend(words.iter().map(OsString::from));
        ask(&command, None)
    }

    fn problem(&self, problem: String) -> Error {
        Error::no_source(format!("git:{}", self.git_dir.display()), problem)
    }

    /// The paths of all files of a commit.
    ///
    /// # Errors
    /// [`Error::Source`] if git can't list them.
    pub fn files(&self, commit: &str) -> Result<Vec<String>, Error> {
        let said = self.git(&["ls-tree", "-r", "-z", "--name-only", commit])?.map_err(|said| {
            self.problem(format!("the files of {commit} cannot be listed: {said}"))
        })?;
        Ok(said.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
    }

    /// The files that changed between two of its commits, and by how many lines, as git shows it.
    ///
    /// # Errors
    /// [`Error::Source`] if git can't compare them.
    pub fn diffstat(&self, from: &str, to: &str) -> Result<String, Error> {
        let said = self
            .git(&["diff", "--stat=80", "--no-color", "--no-ext-diff", from, to, "--"])?
            .map_err(|said| self.problem(format!("{from} and {to} cannot be compared: {said}")))?;
        Ok(said.lines().map(str::trim).collect::<Vec<_>>().join("\n"))
    }
}

/// The commits that git lists with these arguments, in order, and the first parent of each.
fn log(git_dir: &Path, selected: &[&str]) -> Result<Vec<(HistoryCommit, String)>, Error> {
    let problem = |problem: String| Error::no_source(format!("git:{}", git_dir.display()), problem);
    // The fields are separated by a character that a subject rarely has, and it comes last.
    let format = "--format=%H%x1f%T%x1f%P%x1f%an <%ae>%x1f%aI%x1f%s";
    let plain = ["--no-show-signature", "--no-color", "--first-parent", "--reverse"];
    let mut command = words!["git", in_dir(git_dir), "log", format].to_vec();
    command.extend(plain.iter().chain(selected).map(OsString::from));
    command.push("--".into());
    let said = ask(&command, None)?
        .map_err(|said| problem(format!("its commits cannot be listed (git says: {said})")))?;
    let read = |line: &str| {
        commit(line).ok_or_else(|| problem(format!("git listed a commit as `{line}`")))
    };
    said.lines().map(read).collect()
}

/// Reads a commit and its first parent.
fn commit(line: &str) -> Option<(HistoryCommit, String)> {
    let mut fields = line.splitn(6, BETWEEN).map(str::to_owned);
    let (id, tree, parents) = (fields.next()?, fields.next()?, fields.next()?);
    let parent = parents.split(' ').next().unwrap_or_default().to_owned();
    let (author, date, subject) = (fields.next()?, fields.next()?, fields.next()?);
    Some((HistoryCommit { id, tree, author, date, subject }, parent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::repository::git;

    const EMAIL: &str = "test@example.org";

    fn commit(tree: &Path, file: &str, text: &str, subject: &str) {
        std::fs::write(tree.join(file), text).unwrap();
        testing::repository::commit(tree, EMAIL, subject).unwrap();
    }

    /// main: one, two, a merge of side, three; side: off one.
    fn repository(tree: &Path) {
        git(tree, EMAIL, &["init", "--quiet", "--initial-branch=main"]).unwrap();
        commit(tree, "a", "1\n", "one");
        git(tree, EMAIL, &["tag", "one"]).unwrap();
        git(tree, EMAIL, &["checkout", "--quiet", "-b", "side"]).unwrap();
        commit(tree, "b", "1\n", "aside");
        git(tree, EMAIL, &["checkout", "--quiet", "main"]).unwrap();
        commit(tree, "a", "2\n", "two: \u{1f}strange");
        git(tree, EMAIL, &["merge", "--quiet", "--no-ff", "-m", "a merge", "side"]).unwrap();
        commit(tree, "a", "3\n3\n", "three");
    }

    #[test]
    fn commits_are_listed_by_first_parents() {
        let directory = tempfile::tempdir().unwrap();
        repository(directory.path());
        let local = Repository::Local(directory.path().to_path_buf());
        let history = History::between(&local, "one", "main").unwrap();
        let subjects: Vec<&str> = history.commits.iter().map(|it| it.subject.as_str()).collect();
        assert_eq!(subjects, ["one", "two: \u{1f}strange", "a merge", "three"]);
        let last = &history.commits[3];
        assert_eq!(last.author, format!("steelyard <{EMAIL}>"));
        assert_eq!((last.id.len(), last.tree.len()), (40, 40));
        assert!(last.date.starts_with("2024-01-02T03:04:05"), "{}", last.date);
        assert_eq!(history.files(&last.id).unwrap(), ["a", "b"]);
        let stat = history.diffstat(&history.commits[2].id, &last.id).unwrap();
        assert!(stat.starts_with("a | 3 +"), "{stat}");
        assert!(stat.contains("1 file changed"), "{stat}");
        let two = History::between(&local, "main~1", "main").unwrap();
        assert_eq!(two.commits, history.commits[2..]);
    }

    #[test]
    fn what_is_no_line_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        repository(directory.path());
        let local = Repository::Local(directory.path().to_path_buf());
        let refused = |from: &str, to: &str| {
            let error = History::between(&local, from, to).unwrap_err();
            assert!(error.is_request(), "{error}");
            error.to_string()
        };
        for (from, to) in [("main", "one"), ("side", "main"), ("main", "main")] {
            assert!(refused(from, to).contains("first parents"), "{from} {to}");
        }
        assert!(refused("none", "main").contains("no such commit"));
        let remote = Repository::Remote("https://example.org/x".to_owned());
        let error = History::between(&remote, "a", "b").unwrap_err();
        assert!(error.to_string().contains("clone it"), "{error}");
    }
}
