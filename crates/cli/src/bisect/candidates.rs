//! The commits or releases that are searched.

use anyhow::Context;
use dbms::History;
use reference::{Form, Reference, Repository, SourceTree};
use serde::{Deserialize, Serialize};

use crate::exit::refuse;

/// A commit or a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its name as a variant: `pg-0123456789`, `pg13.7`.
    pub name: String,
    /// What a plan calls it: `postgres@git:/src/postgres#0123…`, `postgres@13.7`.
    pub dbms: String,
    /// The commit, if it is one.
    pub commit: Option<Commit>,
}

/// A commit as git has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// The full object name.
    pub id: String,
    /// Name and address of its author.
    pub author: String,
    /// When its author wrote it, ISO 8601.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
    /// True if its files are those of the commit before it.
    pub same_files: bool,
}

impl Candidate {
    /// The word for several of its kind.
    pub fn noun(&self) -> &'static str {
        if self.commit.is_some() { "commit" } else { "release" }
    }

    /// A short name: the first digits of a commit, or the variant's name.
    pub fn short(&self) -> &str {
        self.commit.as_ref().map_or(&self.name, |commit| digits(&commit.id))
    }

    /// The short name, and the subject of a commit.
    pub fn titled(&self) -> String {
        match &self.commit {
            Some(commit) => format!("{} {}", digits(&commit.id), commit.subject),
            None => self.name.clone(),
        }
    }

    /// What names it on the command line: the revision of a commit, or what a plan calls it.
    pub fn revision(&self) -> &str {
        self.commit.as_ref().map_or(&self.dbms, |commit| &commit.id)
    }
}

/// The digits of a commit that messages have.
fn digits(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

/// A line of history and its repository.
pub struct Line {
    /// Its commits.
    pub candidates: Vec<Candidate>,
    /// For the differences between them.
    pub history: History,
}

/// The commits from `good` to `bad` of a repository, `git:…` or `postgres@git:…`, by first parents.
pub fn commits(text: &str, good: &str, bad: &str) -> anyhow::Result<Line> {
    let Reference { system, form } = text.parse().map_err(dbms::Error::from)?;
    let Form::Source(SourceTree::Git { repository, .. }) = form else {
        return refuse(format!("expected git:REPOSITORY, found `{text}`"));
    };
    if text.contains('#') {
        return refuse(format!("`{text}`: name the commits with --good and --bad, not after a #"));
    }
    let repository = match repository {
        // A stored plan has the same meaning wherever it is read.
        Repository::Local(path) if !path.starts_with("~") => Repository::Local(
            std::path::absolute(&path).with_context(|| format!("{}", path.display()))?,
        ),
        other => other,
    };
    let history = History::between(&repository, good, bad)?;
    let dbms = |id: &str| {
        let tree = SourceTree::Git { repository: repository.clone(), revision: id.to_owned() };
        format!("{}@{tree}", system.as_str())
    };
    let references: Vec<String> = history.commits.iter().map(|commit| dbms(&commit.id)).collect();
    let names = reference::variant_names(&references);
    let trees: Vec<&str> = history.commits.iter().map(|commit| commit.tree.as_str()).collect();
    let candidate = |(place, (dbms, name)): (usize, (String, String))| {
        let found = history.commits[place].clone();
        let same_files = place > 0 && trees[place] == trees[place - 1];
        let dbms::HistoryCommit { id, author, date, subject, .. } = found;
        let commit = Some(Commit { id, author, date, subject, same_files });
        Candidate { name, dbms, commit }
    };
    let candidates = references.into_iter().zip(names).enumerate().map(candidate).collect();
    Ok(Line { candidates, history })
}

/// Releases, in the given order; `postgres@13..16` stands for all known ones from 13 to 16.x.
pub fn releases(variants: Vec<(String, String)>) -> anyhow::Result<Vec<Candidate>> {
    let mut all = Vec::new();
    for (name, dbms) in variants {
        match Between::parse(&dbms) {
            Some(between) => all.extend(between.known()?),
            None => all.push((name, dbms)),
        }
    }
    if all.len() < 2 {
        return refuse(
            "name a repository with --good and --bad, or at least two releases with -v, as in: \
             steelyard bisect -v postgres@13.7 -v postgres@14.3 -v postgres@15.1 --kind insert-100",
        );
    }
    for (place, (name, dbms)) in all.iter().enumerate() {
        let reference: Reference = dbms.parse().map_err(dbms::Error::from)?;
        if matches!(reference.form, Form::Running(_)) {
            return refuse(format!("`{name}` is a running server, which bisect can't start anew"));
        }
        if all[..place].iter().any(|(known, _)| known == name) {
            return refuse(format!("`{name}` appears twice among the releases"));
        }
    }
    let candidate = |(name, dbms)| Candidate { name, dbms, commit: None };
    Ok(all.into_iter().map(candidate).collect())
}

/// All known releases of a system between two, both included.
#[derive(Debug, PartialEq)]
struct Between<'a> {
    system: &'a str,
    from: Vec<u64>,
    to: Vec<u64>,
}

impl<'a> Between<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (system, versions) = text.split_once('@')?;
        let (from, to) = versions.split_once("..")?;
        Some(Self { system, from: numbers(from)?, to: numbers(to)? })
    }

    /// Their names and references, in order of version.
    fn known(&self) -> anyhow::Result<Vec<(String, String)>> {
        let cache = dbms::Cache::open_default()?;
        let listed = dbms::versions(Some(self.system), &cache, false)?;
        let releases = listed.into_iter().filter(|listed| listed.built_from.is_none());
        let mut found: Vec<(Vec<u64>, String)> = releases
            .filter_map(|listed| Some((numbers(&listed.version)?, listed.version)))
            .filter(|(version, _)| self.has(version))
            .collect();
        found.sort();
        let named = |(_, version): (Vec<u64>, String)| {
            let dbms = format!("{}@{version}", self.system);
            (reference::variant_name(&dbms), dbms)
        };
        Ok(found.into_iter().map(named).collect())
    }

    fn has(&self, version: &[u64]) -> bool {
        *version >= self.from[..] && (version.starts_with(&self.to) || *version <= self.to[..])
    }
}

/// `13.7` as its numbers.
fn numbers(text: &str) -> Option<Vec<u64>> {
    text.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_its_ends_and_what_is_between() {
        let range = Between::parse("postgres@13.7..15").unwrap();
        assert_eq!(
            (range.system, &range.from[..], &range.to[..]),
            ("postgres", &[13, 7][..], &[15][..])
        );
        let has = |text: &str| range.has(&numbers(text).unwrap());
        assert!(["13.7", "13.22", "14.3", "15.1", "15.19"].into_iter().all(has));
        assert!(!["12.22", "13.6", "16.0"].into_iter().any(has));
        for other in ["postgres@13.7", "git:/x#v1..v2", "postgres@git:/x#1..2", "postgres@a..b"] {
            assert_eq!(Between::parse(other), None, "{other}");
        }
        let known = releases(vec![("x".to_owned(), "postgres@13..15".to_owned())]).unwrap();
        let versions: Vec<&str> = known.iter().map(|it| it.dbms.as_str()).collect();
        let place = |dbms: &str| versions.iter().position(|it| *it == dbms).unwrap();
        assert!(place("postgres@13.7") < place("postgres@13.22"), "{versions:?}");
        assert!(place("postgres@13.22") < place("postgres@15.1"), "{versions:?}");
        assert_eq!(known[place("postgres@14.3")].name, "pg14.3");
    }

    #[test]
    fn a_release_is_named_once() {
        let twice = ["postgres@13.7", "postgres@13..14"];
        let twice = twice.map(|dbms| (reference::variant_name(dbms), dbms.to_owned())).to_vec();
        let error = releases(twice).unwrap_err().to_string();
        assert!(error.contains("`pg13.7` appears twice"), "{error}");
    }
}
