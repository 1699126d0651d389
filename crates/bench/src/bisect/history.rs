//! A history of PostgreSQL with 64 commits after the released source: two slow a function down, one
//! takes the first of these back, one does not build, and all others are harmless.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use testing::repository::{commit, git};

use crate::planted;

/// Commits after the first one, which has the tag `c0`.
pub const COMMITS: usize = 64;
/// Who commits.
pub const EMAIL: &str = "bisect@example.org";

/// Where the commits lie that are not harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// Slows down the function that stores a row.
    pub first: usize,
    /// Slows down the one that stores a key in an index, by less.
    pub second: usize,
    /// Takes the first back, at least half of the range later.
    pub fix: usize,
    /// Does not build.
    pub broken: usize,
}

const fn order(first: usize, second: usize, fix: usize, broken: usize) -> Order {
    Order { first, second, fix, broken }
}

/// The histories.
pub const ORDERS: [Order; 6] = [
    order(9, 31, 52, 29),
    order(3, 40, 60, 20),
    order(17, 33, 55, 53),
    order(25, 12, 61, 48),
    order(6, 50, 44, 7),
    order(20, 57, 53, 32),
];

impl Order {
    /// The commits that move the instructions, in order.
    pub fn culprits(&self) -> Vec<usize> {
        let mut all = vec![self.first, self.second, self.fix];
        all.sort_unstable();
        all
    }
}

/// A function that is slowed down. A round is six instructions with GCC 12, so the smaller change
/// is 1.3% of a statement. Close to the margin, a search would look at many more commits.
pub struct Slowed {
    pub file: &'static str,
    /// The line before which the loop goes, the first of several.
    pub before: &'static str,
    /// Rounds of the loop in each call.
    pub rounds: u32,
}

impl Slowed {
    fn longer(&self, times: u32) -> Slowed {
        Slowed { rounds: self.rounds * times, ..*self }
    }
}

const ROW: Slowed = Slowed {
    file: "src/backend/access/heap/heapam.c",
    before: "\t/* Cheap, simplistic check that the tuple matches the rel's rowtype. */\n",
    rounds: 250,
};

const KEY: Slowed = Slowed {
    file: "src/backend/access/nbtree/nbtinsert.c",
    before: "\t/* we need an insertion scan key to do our search, so build one */\n",
    rounds: 100,
};

/// Files of the server to which harmless commits add something.
const FILES: [&str; 4] = [
    "src/backend/access/heap/heapam_visibility.c",
    "src/backend/executor/nodeModifyTable.c",
    "src/backend/optimizer/plan/planner.c",
    "src/backend/utils/adt/ascii.c",
];

/// The file with a commit that does not build.
const BROKEN: &str = "src/backend/utils/adt/bool.c";

/// Makes the repository of a history from the source that `scripts/setup.sh` fetches, unless it is
/// there already. Its loops are `times` as long as those that are counted.
pub fn plant(sources: &Path, tree: &Path, order: &Order, times: u32) -> Result<()> {
    if tree.exists() {
        return Ok(());
    }
    planted::repository(sources, tree, |tree| commits(tree, order, times))
}

/// Makes the commits in a tree that has the source.
fn commits(tree: &Path, order: &Order, times: u32) -> Result<()> {
    git(tree, EMAIL, &["init", "--quiet", "--initial-branch=main"])?;
    tagged(tree, 0, "PostgreSQL as released")?;
    let broken = tree.join(BROKEN);
    let intact = fs::read_to_string(&broken).with_context(|| BROKEN)?;
    for place in 1..=COMMITS {
        if place == order.broken + 1 {
            fs::write(&broken, &intact)?;
        }
        let message = if place == order.first {
            slow(tree, &ROW.longer(times))?
        } else if place == order.second {
            slow(tree, &KEY.longer(times))?
        } else if place == order.fix {
            // No other commit changes this file.
            git(tree, EMAIL, &["checkout", "--quiet", "c0", "--", ROW.file])?;
            "Store rows as fast as before".to_owned()
        } else if place == order.broken {
            fs::write(&broken, format!("{intact}this does not compile\n"))?;
            "Break the build".to_owned()
        } else {
            harmless(tree, place)?
        };
        tagged(tree, place, &message)?;
    }
    Ok(())
}

/// The full name of a commit of the history.
pub fn id(tree: &Path, place: usize) -> Result<String> {
    Ok(git(tree, EMAIL, &["rev-parse", &tag(place)])?.trim().to_owned())
}

/// The tag of a commit.
pub fn tag(place: usize) -> String {
    format!("c{place}")
}

fn tagged(tree: &Path, place: usize, message: &str) -> Result<()> {
    commit(tree, EMAIL, message)?;
    git(tree, EMAIL, &["tag", &tag(place)])?;
    Ok(())
}

/// Puts a loop into a function. Each round waits for memory that was just written.
fn slow(tree: &Path, slowed: &Slowed) -> Result<String> {
    let Slowed { file, before, rounds } = slowed;
    let text = read(tree, file)?;
    let Some((head, tail)) = text.split_once(before) else {
        bail!("expected `{}` in {file}", before.trim());
    };
    let planted = format!("\tfor (volatile int left = {rounds}; left > 0; left--)\n\t\t;\n");
    fs::write(tree.join(file), format!("{head}{planted}{before}{tail}"))?;
    Ok(format!("Go {rounds} times around a loop in {file}"))
}

/// Commits a slowdown on top of what is checked out.
pub fn commit_slowed(tree: &Path, slowed: &Slowed) -> Result<()> {
    let message = slow(tree, slowed)?;
    Ok(commit(tree, EMAIL, &message)?)
}

/// Changes something that moves no instructions of a statement.
fn harmless(tree: &Path, place: usize) -> Result<String> {
    let file = FILES[place % FILES.len()];
    let message = match place % 5 {
        0 => {
            // The numbers of all lines below it change, and the server has some of them.
            let text = read(tree, file)?;
            fs::write(tree.join(file), format!("/* Remark {place}. */\n{text}"))?;
            format!("Begin {file} with a remark")
        }
        1 => {
            let text = read(tree, file)?;
            fs::write(tree.join(file), format!("{text}/* Remark {place}. */\n"))?;
            format!("End {file} with a remark")
        }
        2 => {
            let text = read(tree, file)?;
            let unused = format!("extern int unused_{place}(int x);\n");
            let body = format!("int\nunused_{place}(int x)\n{{\n\treturn x + {place};\n}}\n");
            fs::write(tree.join(file), format!("{text}\n{unused}\n{body}"))?;
            format!("Add a function to {file} that nobody calls")
        }
        3 => {
            // No part of the server.
            let file = "src/bin/psql/startup.c";
            let text = read(tree, file)?;
            fs::write(tree.join(file), format!("{text}/* Remark {place}. */\n"))?;
            "Remark something in psql".to_owned()
        }
        _ => {
            fs::write(tree.join("NOTES"), format!("{place}\n"))?;
            "Note something".to_owned()
        }
    };
    Ok(message)
}

fn read(tree: &Path, file: &str) -> Result<String> {
    let path: PathBuf = tree.join(file);
    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_is_half_of_the_range_after_what_it_fixes() {
        for order in ORDERS {
            assert!(order.fix - order.first >= COMMITS / 2, "{order:?}");
            let mut all = order.culprits();
            all.push(order.broken);
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), 4, "{order:?}");
            assert!(all.iter().all(|place| (1..COMMITS).contains(place)), "{order:?}");
            // It could not be told apart from a culprit that comes next.
            assert!(!all.contains(&(order.broken + 1)), "{order:?}");
        }
    }
}
