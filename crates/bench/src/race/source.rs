//! Differences planted in source: a git repository of PostgreSQL whose branches differ in one
//! constant.

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, Result, bail};
use testing::repository::commit;

use super::builds::{BUILDS, Build};
use super::subjects::{Slowed, rounds_of};
use crate::planted;

/// Where statements begin.
const FILE: &str = "src/backend/tcop/postgres.c";
const FUNCTION: &str = "/*\n * exec_simple_query\n";
/// The line where a statement of the simple protocol begins.
const SIMPLE: &str = "TRACE_POSTGRESQL_QUERY_START(query_string);\n";
/// The line where the execution of a prepared one begins.
const PREPARED: &str = "\t/* Adjust destination to tell printtup.c what to do */\n";
/// The commit that all branches leave from.
const RELEASED: &str = "released";
/// Who commits.
const EMAIL: &str = "race@example.org";

/// Makes the repository in `directory/postgres` from the source that `scripts/setup.sh` fetches;
/// one that is there already is kept.
pub fn plant(sources: &Path, directory: &Path) -> Result<PathBuf> {
    let tree = directory.join("postgres");
    if is_planted(&tree) {
        return Ok(tree);
    }
    planted::repository(sources, &tree, branch_off)?;
    Ok(tree)
}

/// The builds that come from source.
fn branches() -> impl Iterator<Item = &'static Build> {
    BUILDS.iter().filter(|build| matches!(build.subject.slowed, Slowed::Source))
}

/// True if the repository has all branches as they should be.
fn is_planted(tree: &Path) -> bool {
    let show = |branch: &str| git(tree, &["show", &format!("{branch}:{FILE}")]);
    let planted = |released: &str| {
        let same = |branch: &str, rounds: u32| {
            Some(show(branch).ok()? == with_loop(released, rounds).ok()?)
        };
        branches().all(|build| same(build.name, build.rounds) == Some(true))
    };
    tree.join(".git").is_dir() && show(RELEASED).is_ok_and(|released| planted(&released))
}

/// Makes a repository of an unpacked source, with a branch for each build.
fn branch_off(tree: &Path) -> Result<()> {
    git(tree, &["init", "--quiet", &format!("--initial-branch={RELEASED}")])?;
    commit(tree, EMAIL, "PostgreSQL as released")?;
    let file = tree.join(FILE);
    let released = fs::read_to_string(&file)
        .with_context(|| format!("expected {FILE} in the source of PostgreSQL"))?;
    for build in branches() {
        git(tree, &["checkout", "--quiet", "-b", build.name, RELEASED])?;
        fs::write(&file, with_loop(&released, build.rounds)?)?;
        let Build { name, rounds, .. } = build;
        let message = format!("{name}: go {rounds} times around a loop before each statement");
        commit(tree, EMAIL, &message)?;
    }
    Ok(())
}

/// `source` with a loop of this many rounds at the beginning of each statement, simple or prepared.
/// The number is read from memory: the code is the same for every number, down to the place of
/// every function.
fn with_loop(source: &str, rounds: u32) -> Result<String> {
    let planted = rounds_of(rounds);
    let Some((before, function)) = source.split_once(FUNCTION) else {
        bail!("expected a comment that begins with exec_simple_query in {FILE}");
    };
    let mut text = format!("{before}{planted}{FUNCTION}");
    let mut rest = function;
    for begin in [SIMPLE, PREPARED] {
        let Some((head, body)) = rest.split_once(begin) else {
            bail!("expected `{}` after exec_simple_query in {FILE}", begin.trim());
        };
        text += &format!("{head}{begin}\tplanted_loop();\n");
        rest = body;
    }
    Ok(text + rest)
}

fn git(tree: &Path, arguments: &[&str]) -> io::Result<String> {
    testing::repository::git(tree, EMAIL, arguments)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const SOURCE: &str = "static int other;\n\n/*\n * exec_simple_query\n *\n */\nstatic void\n\
        exec_simple_query(void)\n{\n\tTRACE_POSTGRESQL_QUERY_START(query_string);\n\trest();\n}\n\n\
        /* Adjust */\n{\n\t/* Adjust destination to tell printtup.c what to do */\n\tmore();\n}\n";

    /// A source in the form of a released tarball.
    fn sources(directory: &Path) -> PathBuf {
        let file = directory.join("postgresql-15.99").join(FILE);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, SOURCE).unwrap();
        let tar = Command::new("tar")
            .args(["--create", "--file", "postgresql-15_15.99.orig.tar.gz", "postgresql-15.99"])
            .current_dir(directory)
            .status();
        assert!(tar.unwrap().success());
        directory.to_owned()
    }

    #[test]
    fn branches_differ_in_the_number_of_rounds_alone() {
        let directory = tempfile::tempdir().unwrap();
        let sources = sources(directory.path());
        let race = directory.path().join("race");
        let tree = plant(&sources, &race).unwrap();
        let of = |branch: &str| git(&tree, &["show", &format!("{branch}:{FILE}")]).unwrap();
        let same = of("same");
        assert!(
            same.contains("QUERY_START(query_string);\n\tplanted_loop();\n\trest();"),
            "{same}"
        );
        assert!(same.contains("to do */\n\tplanted_loop();\n\tmore();"), "{same}");
        assert!(same.find("planted_loop(void)\n{").unwrap() < same.find("exec_simple").unwrap());
        for build in branches() {
            let own = format!("planted_rounds = {};", build.rounds);
            assert_eq!(of(build.name), same.replace("planted_rounds = 0;", &own));
        }
        assert_eq!(of(RELEASED), SOURCE);
        let names = || git(&tree, &["rev-parse", "minus-2", "minus-5"]).unwrap();
        let (first, made) = (names(), fs::metadata(&tree).unwrap().created().unwrap());
        // Correct branches are kept; wrong ones are made again, with the same names.
        plant(&sources, &race).unwrap();
        assert_eq!(fs::metadata(&tree).unwrap().created().unwrap(), made);
        git(&tree, &["branch", "--force", "minus-2", "minus-5"]).unwrap();
        plant(&sources, &race).unwrap();
        assert_eq!(names(), first);
    }

    #[test]
    fn what_is_missing_is_said() {
        let directory = tempfile::tempdir().unwrap();
        let error = plant(directory.path(), directory.path()).unwrap_err().to_string();
        assert!(error.contains("scripts/setup.sh validate"), "{error}");
        assert!(with_loop("no such function", 1).is_err());
    }
}
