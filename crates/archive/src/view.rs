//! Experiments at an address as a results directory, in the cache.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use store::Store;

use crate::Error;
use crate::archive::{Archive, Archived};

/// Selects experiments of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// All.
    All,
    /// The newest run and the newest count.
    Latest,
    /// All with one of these names or numbers.
    Named(&'a [String]),
}

/// The content hash of each number in a view.
type Contents = BTreeMap<i64, String>;

const CONTENTS: &str = "contents.json";

impl Archive {
    /// A results directory with the wanted experiments, to be opened for reading. They have the
    /// numbers that [`Archive::list`] gives them, from 1. Experiments pulled before are not pulled
    /// again.
    ///
    /// # Errors
    /// As [`Archive::list`] and [`Archive::pull`]; or if nothing that is wanted is there.
    pub fn view(&self, wanted: Wanted<'_>) -> Result<PathBuf, Error> {
        let cache = self.cache();
        let all = self.list()?;
        let lock = cache.join("lock");
        let lock = File::create(&lock).and_then(|file| file.lock().map(|()| file));
        let _lock = lock.map_err(Error::io("lock", cache))?;
        let results = cache.join("results");
        let numbered = || (1..).zip(&all);
        let kept = contents(&results);
        let right = |(number, content): (&i64, &String)| {
            numbered().any(|(n, archived)| n == *number && archived.content == *content)
        };
        let mut kept = match kept {
            Some(kept) if kept.iter().all(right) => kept,
            _ => {
                // Numbers have changed, or a pull was killed.
                if results.exists() {
                    fs::remove_dir_all(&results).map_err(Error::io("remove", &results))?;
                }
                Store::open(&results)?;
                Contents::new()
            }
        };
        for (number, archived) in numbered().filter(|it| wanted.includes(*it, &all)) {
            if kept.contains_key(&number) {
                continue;
            }
            self.pull_as(archived, &results, Some(number))?;
            kept.insert(number, archived.content.clone());
            let text = serde_json::to_vec(&kept).unwrap_or_default();
            let path = results.join(CONTENTS);
            fs::write(&path, text).map_err(Error::io("write", &path))?;
        }
        Ok(results)
    }
}

impl Wanted<'_> {
    fn includes(self, (number, archived): (i64, &Archived), all: &[Archived]) -> bool {
        let purpose = |it: &Archived| it.experiment.purpose.clone();
        match self {
            Wanted::All => true,
            Wanted::Latest => {
                let newest = all.iter().rfind(|other| purpose(other) == purpose(archived));
                newest.is_some_and(|newest| newest.content == archived.content)
            }
            Wanted::Named(names) => names.iter().any(|name| archived.is_called(name, number)),
        }
    }
}

impl Archived {
    /// True if a user means it by this name, number or beginning of its content hash.
    pub fn is_called(&self, name: &str, number: i64) -> bool {
        let hash = name.len() >= 8 && self.content.starts_with(name);
        self.experiment.name == name || name.parse() == Ok(number) || hash
    }
}

/// The contents of a view, if it can be used.
fn contents(results: &Path) -> Option<Contents> {
    let text = fs::read(results.join(CONTENTS)).ok()?;
    let contents: Contents = serde_json::from_slice(&text).ok()?;
    let store = Store::open_read_only(results).ok()?;
    let ids = store.all_experiments().ok()?;
    // Newest first.
    let same = ids.iter().rev().map(|experiment| experiment.id.0).eq(contents.keys().copied());
    same.then_some(contents)
}
