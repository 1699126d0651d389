//! Compares the lists "To add…" of ARCHITECTURE.md with the code: the files, apart from its own,
//! that a new member of each kind needs, such as a system or a metric.
//!
//! A list is right if its files are exactly those whose code names typical members.

mod names;
mod tests;

use std::collections::BTreeSet;
use std::path::Path;

use names::{Sources, plain};

/// A list, and members whose code shows if it is right.
#[derive(Debug)]
pub struct List {
    /// The words in bold before it.
    title: &'static str,
    /// The members: the name of each in code (`steal_worst`, for any case), and the text that NAME
    /// stands for in the list.
    members: &'static [[&'static str; 2]],
    /// Where to look.
    within: &'static str,
    /// Files and folders in which the same word names something else.
    elsewhere: &'static [&'static str],
}

impl List {
    /// The paths in an item of the document: those in backticks.
    fn paths<'d>(&self, document: &'d str) -> Vec<&'d str> {
        let begin = format!("\n- **{}**", self.title);
        let item = document.split_once(&begin).map_or("", |(_, rest)| rest);
        let end = ["\n- **", "\n## "].iter().filter_map(|end| item.find(end)).min();
        let spans = item[..end.unwrap_or(item.len())].split('`').skip(1).step_by(2);
        spans.filter(|span| span.starts_with("crates/") || span.ends_with(".md")).collect()
    }

    /// Differences between the document and the code below `root`, one sentence each.
    fn differences(&self, document: &str, root: &Path, sources: &Sources) -> Vec<String> {
        let (own, shared): (Vec<&str>, Vec<&str>) =
            self.paths(document).into_iter().partition(|path| path.contains("NAME"));
        let mut unused: BTreeSet<&str> = own.iter().chain(&shared).copied().collect();
        let mut found = Vec::new();
        for [member, name] in self.members {
            for path in &own {
                let place = path.replace("NAME", name);
                if root.join(&place).exists() || root.join(file_of(&place)).exists() {
                    unused.remove(path);
                }
            }
            let own: Vec<String> = own.iter().map(|path| path.replace("NAME", name)).collect();
            let is_own = |file: &str| own.iter().any(|path| covers(path, file));
            let other = |file: &str| self.elsewhere.iter().any(|path| covers(path, file));
            for file in sources.that_name(member) {
                let listed: Vec<_> = shared.iter().filter(|path| covers(path, file)).collect();
                unused.retain(|path| !listed.contains(&path));
                let free = !file.starts_with(self.within) || is_own(file) || other(file);
                if listed.is_empty() && !free {
                    found.push(format!("{file} names {member}, but is not in the list"));
                }
            }
            // Documents and tests may say more, so only what is listed is looked for there.
            for path in &shared {
                let is_source = sources.has(|file| covers(path, file));
                let text =
                    if is_source { None } else { std::fs::read_to_string(root.join(path)).ok() };
                if text.is_some_and(|text| plain(&text).contains(&plain(member))) {
                    unused.remove(path);
                }
            }
        }
        let members: Vec<&str> = self.members.iter().map(|[member, _]| *member).collect();
        let nobody = |path: &str| format!("{path} is in the list for nothing: {members:?}");
        found.extend(unused.into_iter().map(nobody));
        found.iter().map(|what| format!("To add {}: {what}", self.title)).collect()
    }
}

/// True if a path of a list is this file or a folder above it; a module's folder may be a file.
fn covers(path: &str, file: &str) -> bool {
    path == file || path.ends_with('/') && (file.starts_with(path) || file == file_of(path))
}

/// The file in the place of a module's folder.
fn file_of(folder: &str) -> String {
    format!("{}.rs", folder.trim_end_matches('/'))
}
