//! `steelyard bisect` over a repository whose commits install fetched releases instead of compiling
//! anything, so that a build takes a second.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;
use serde_json::Value;
use testing::repository::git;

use crate::count::can_count;
use crate::database::Database;
use crate::place::{Ended, Place, Running};

const EMAIL: &str = "test@example.org";
/// Installs the release whose directory a file names.
const MAKEFILE: &str = "to = $(DESTDIR)/usr/local/pgsql\n\
    install:\n\
    \tmkdir -p $(to)\n\
    \tcp -r $$(cat ../../release)/. $(to)\n";
/// As long as compiling takes, a build that fails.
const BROKEN: &str = "install:\n\t@echo 'src/x.c:1: error: expected expression' >&2; false\n";

/// Commits after the first one.
const COMMITS: usize = 12;
/// The commit that installs a slower release.
pub const SLOWER: usize = 7;
/// The one before does not build, nor does another.
pub const BROKENS: [usize; 2] = [3, 9];
/// The one after this changes nothing but a text.
const TEXT: usize = 6;

/// The directory of a fetched release.
fn release(version: &str) -> PathBuf {
    let reference: dbms::Reference = format!("postgres@{version}").parse().unwrap();
    let cache = dbms::Cache::open_default().unwrap();
    let installation = dbms::obtain(&reference, &cache, &|_| ()).unwrap();
    installation.bin_dir.unwrap().parent().unwrap().to_owned()
}

/// The repository; commit n has the tag `cn`.
fn repository(tree: &Path) {
    let write = |file: &str, text: &str| {
        let path = tree.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("configure", "#!/bin/sh\n");
    fs::set_permissions(tree.join("configure"), fs::Permissions::from_mode(0o755)).unwrap();
    write("src/Makefile.global", "with_llvm = no\n");
    write("src/backend/parser/gram.c", "");
    let [before, after] = ["13.7", "14.3"].map(release);
    git(tree, EMAIL, &["init", "--quiet", "--initial-branch=main"]).unwrap();
    for commit in 0..=COMMITS {
        let release = if commit < SLOWER { &before } else { &after };
        write("release", &release.display().to_string());
        write("src/backend/Makefile", if BROKENS.contains(&commit) { BROKEN } else { MAKEFILE });
        write("README", &format!("{commit}\n"));
        let message = format!("Change number {commit}");
        testing::repository::commit(tree, EMAIL, &message).unwrap();
        git(tree, EMAIL, &["tag", &format!("c{commit}")]).unwrap();
    }
}

/// A plan whose base is the pattern for all candidates.
pub const PLAN: &str = "[variants.any]\ndbms = \"postgres@13.7\"\n[workload.insert]\n\
    [count]\nrows = 1000\nstatements = 10\n";

impl Place {
    /// The name of a new repository.
    pub fn repository(&self) -> String {
        let tree = self.path().join("source");
        fs::create_dir(&tree).unwrap();
        repository(&tree);
        format!("git:{}", tree.display())
    }

    /// Starts a bisection with builds of its own.
    fn start_bisect(&self, arguments: &[&str]) -> Running {
        let data = self.data();
        let mut all = vec!["bisect", "--allow-concurrent", "--data-dir", data.to_str().unwrap()];
        all.extend(arguments);
        self.start(&all)
    }

    fn bisect(&self, arguments: &[&str]) -> Ended {
        self.start_bisect(arguments).end()
    }

    fn commit(&self, name: &str) -> String {
        let id = git(&self.path().join("source"), EMAIL, &["rev-parse", name]).unwrap();
        id.trim().to_owned()
    }
}

/// The experiments, and how many of them are finished.
fn experiments(place: &Place) -> [i64; 2] {
    let database = Database::of(&place.results());
    ["", " WHERE state = 'finished'"]
        .map(|which| database.number(&format!("SELECT count(*) FROM experiment{which}")))
}

#[test]
fn a_count_names_the_commit_even_if_it_is_killed() {
    if !can_count() {
        return;
    }
    let place = Place::new();
    let repository = place.repository();
    let plan = place.plan(PLAN);
    let asked = [&repository, &plan, "--good", "c0", "--bad", "main", "--kind", "insert-50"];

    // Killed in the second look: the first is kept.
    let mut killed = place.start_bisect(&asked);
    killed.wait_for("look 2 at", "data loaded");
    killed.signal(Signal::SIGKILL);
    assert_eq!(killed.end().code, None);
    place.wait_until_gone();
    assert_eq!(experiments(&place), [2, 1]);

    let ended = place.bisect(&["--resume", "--format", "json"]);
    ended.expect(0, &["going on with", "is left out: it does not build", "has the code of"]);
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(found["answer"], "found", "{found:#}");
    let [culprit] = &found["culprits"].as_array().unwrap()[..] else { panic!("{found:#}") };
    let [suspect] = &culprit["suspects"].as_array().unwrap()[..] else { panic!("{found:#}") };
    assert_eq!(suspect["commit"]["id"], place.commit(&format!("c{SLOWER}")), "{found:#}");
    assert_eq!(suspect["commit"]["subject"], format!("Change number {SLOWER}"));
    assert_eq!(culprit["before"]["commit"]["id"], place.commit(&format!("c{TEXT}")));
    let moved = &culprit["moved"][0];
    let figure = |name: &str| moved[name].as_f64().unwrap();
    assert!(figure("low") > 1.005 && figure("low") < figure("ratio"), "{found:#}");
    assert!(figure("ratio") < figure("high") && figure("probability") > 0.99, "{found:#}");
    assert!(culprit["diffstat"].as_str().unwrap().contains("release"), "{found:#}");
    assert!(!culprit["counted"][0]["functions"].as_array().unwrap().is_empty(), "{found:#}");
    assert_eq!(culprit["instructions_only"], true);
    // Equal code was counted once, and the two that differ once more beside each other.
    assert_eq!(found["looks"].as_array().unwrap().len(), 2, "{found:#}");
    assert_eq!(experiments(&place), [4, 3]);

    // All is known: the same command says it again, in words.
    let page = place.path().join("page.html");
    let again = place.bisect(&[&asked[..], &["--page", page.to_str().unwrap()]].concat());
    again.expect(0, &[]);
    assert_eq!(experiments(&place), [4, 3]);
    let page = fs::read_to_string(page).unwrap();
    for part in [
        format!("{} Change number {SLOWER}", &place.commit(&format!("c{SLOWER}"))[..12]).as_str(),
        r#""order":"bisection""#,
        r#""metric":"instructions per statement""#,
        "insert-50 (simple): +",
    ] {
        assert!(page.contains(part), "`{part}` is missing in the page");
    }
    let id = place.commit(&format!("c{SLOWER}"));
    for part in [
        format!("commit {id}\nAuthor: steelyard <{EMAIL}>\n").as_str(),
        &format!("    Change number {SLOWER}\n"),
        "insert-50 (simple): +",
        "instructions only: no time was measured",
        "insert-50 (simple): nothing else changed in the rest of the range by more than 0.5%",
        &format!("--good {} --bad {id}", place.commit(&format!("c{TEXT}"))),
    ] {
        assert!(again.stdout.contains(part), "`{part}` is missing in\n{}", again.stdout);
    }
}

#[test]
fn what_can_not_be_searched_is_said() {
    let place = Place::new();
    let repository = place.repository();
    let asked = |good: &str, bad: &str| {
        place.bisect(&[&repository, "--good", good, "--bad", bad, "--kind", "insert-50"])
    };
    asked("main", "c0").expect(2, &["first parents"]);
    asked("c0", "none").expect(2, &["no such commit"]);
    place.bisect(&["--resume"]).expect(2, &["no bisection"]);
    if can_count() {
        let broken = format!("c{}", BROKENS[0]);
        asked(&broken, "main")
            .expect(3, &["the good end", "does not build", "expected expression"]);
    }
}

#[test]
fn releases_are_searched_without_a_source() {
    if !can_count() {
        return;
    }
    let place = Place::new();
    let plan = place.plan(PLAN);
    let releases = ["-v", "old=postgres@13.7", "-v", "postgres@13.22", "-v", "postgres@14.3"];
    let asked = [&[plan.as_str(), "--kind", "insert-50", "--margin", "1%"][..], &releases].concat();
    let ended = place.bisect(&asked);
    ended.expect(0, &[]);
    for part in [
        "pg14.3, after pg13.22\n",
        "margin 1%",
        "-v postgres@13.22 -v postgres@14.3\n",
        "\nnot the version alone: pg13.22 was compiled by GCC ",
    ] {
        assert!(ended.stdout.contains(part), "`{part}` is missing in\n{}", ended.stdout);
    }
}
