//! The examples of README.md, the guides and the plans are run as a user would type them, with the
//! built command as `steelyard`. Blocks marked `<!-- tested -->` run as they stand, one after
//! another in one directory. Every other command runs there afterwards as far as [`RULES`] says, so
//! each needs one.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use crate::documents::{Example, documents, examples, root};
use crate::moto::Moto;

/// How a command ends.
#[derive(Clone, Copy)]
enum Ends {
    /// It succeeds.
    Well,
    /// It ends with a judgment, good or bad.
    Judged,
    /// It succeeds, or says that the command was built without pages.
    Shown,
    /// It is refused as a wrong request with these words: it can't go on without something that is
    /// not here, or would go on for minutes.
    Saying(&'static str),
}

/// Parts of a command that are replaced here: names that other results have, and what needs another
/// machine, another user or the network.
const HERE: [(&str, &str); 15] = [
    ("sudo ", ""),
    ("ssh host ", ""),
    ("systemd-run --user --scope -p Delegate=yes ", ""),
    ("git rev-list --reverse main", "echo 0123456789"),
    ("fetch postgres@13.7 postgres@14", "fetch postgres@13.7 postgres@14.3"),
    ("--list postgres --online", "--list postgres"),
    ("rm 3 small", "rm --yes 1"),
    ("explain STEP", "explain l.i0"),
    ("explain update-zipf", "explain l.i0"),
    ("--step update-one", "--step l.i0"),
    ("-e 2 --with 1:pg14.3", "-e 1 --with 1:pg14.3"),
    ("--base mysql5.7", "--base pg14.3"),
    ("--base pg16", "--base pg14.3"),
    ("--base pg17", "--base pg14.3"),
    ("--base rx8.11.4", "--base pg14.3"),
];

/// Rules for commands that have these words: what is added to the command, and how it ends. The
/// first match holds.
const RULES: [(&str, &str, Ends); 45] = [
    // Checks the plan and the options. fleet.rs runs them on a real Slurm.
    ("steelyard submit load.toml", "--dry-run > /dev/null", Ends::Well),
    ("steelyard submit --resume", "", Ends::Saying("--results <ADDRESS>")),
    ("steelyard watch ", "", Ends::Saying("no submission `load-17`")),
    // There is no such repository; bisect.rs has one.
    ("steelyard bisect git:", "", Ends::Saying("no directory")),
    ("steelyard bisect --resume", "", Ends::Saying("no bisection")),
    // Refused after everything was checked.
    ("steelyard bisect ", "--aa", Ends::Saying("--aa has no meaning")),
    // The directory is no repository; change.rs has one.
    ("steelyard gate ", "", Ends::Saying("git cannot use it as a repository")),
    ("run --resume", "", Ends::Saying("no unfinished experiment")),
    // There is no such service; service.rs has one.
    (" https://bench.example.com", "", Ends::Saying("takes a token")),
    ("steelyard trace plans/", "", Ends::Well),
    // These logs are not there; replay.rs has some.
    ("steelyard trace ", "", Ends::Saying("cannot read")),
    // The directory is not there; data_directories.rs has some.
    (" --restore ", "--write-plan > /dev/null", Ends::Saying("cannot read ")),
    // Checks the plan with all options.
    // There is no such log.
    ("--only-database", "", Ends::Saying("cannot read")),
    ("steelyard run ", "--write-plan > /dev/null", Ends::Well),
    // Refused after the plan was read and changed by the options.
    (
        "steelyard count --plan-of",
        "--experiment 1",
        Ends::Saying("--experiment names a stored count"),
    ),
    ("steelyard count plans/", "--experiment 1", Ends::Saying("--experiment names a stored count")),
    // Its example of a plan builds a repository that is not there.
    (" builds.toml", "", Ends::Saying("builds.toml")),
    // The count that is here is of instructions.
    ("steelyard count --event", "", Ends::Saying("expected an event that was counted")),
    ("steelyard count ", "", Ends::Well),
    // It would change this machine; the options before `--help` are checked.
    ("steelyard doctor --fix", "--help > /dev/null", Ends::Well),
    ("steelyard doctor --quick", "", Ends::Judged),
    ("steelyard doctor", "--quick", Ends::Judged),
    ("steelyard history --commits", "", Ends::Saying("needs a commit for every trial")),
    ("steelyard history", "", Ends::Well),
    ("steelyard explain --format json", "", Ends::Saying("expected profiles")),
    ("steelyard explain ", "", Ends::Well),
    // across.rs has two experiments.
    (" --with ", "", Ends::Saying("which is of this one")),
    (" --gate", "", Ends::Judged),
    ("steelyard note", "", Ends::Well),
    ("steelyard compare", "", Ends::Well),
    ("steelyard variance", "", Ends::Well),
    ("steelyard site ", "", Ends::Shown),
    ("steelyard report ", "", Ends::Shown),
    ("steelyard serve token", "--help > /dev/null", Ends::Well),
    // It would go on until it is interrupted.
    ("steelyard serve", "--uploads x", Ends::Saying("invalid value 'x' for '--uploads")),
    ("steelyard list", "", Ends::Well),
    ("steelyard rm ", "", Ends::Well),
    ("steelyard export ", "", Ends::Well),
    ("steelyard import ", "", Ends::Well),
    ("steelyard push ", "", Ends::Well),
    // fleet.rs starts a real Slurm with its files.
    ("steelyard setup cluster", "", Ends::Saying("--nodes: cannot read nodes.txt")),
    ("steelyard setup ", "", Ends::Well),
    ("steelyard fetch ", "", Ends::Well),
    // It would write into this user's directories.
    ("steelyard generate man", "--help > /dev/null", Ends::Well),
    ("steelyard generate ", "--help > /dev/null", Ends::Well),
];

/// A shell that finds the built `steelyard` first. Other tests run at the same time.
fn shell(directory: &Path, script: &str) -> Command {
    let script = ["run", "count"].iter().fold(script.to_owned(), |script, command| {
        let (plain, permitted) =
            (format!("steelyard {command} "), format!("steelyard {command} --allow-concurrent "));
        script.replace(&plain, &permitted)
    });
    let built = assert_cmd::cargo::cargo_bin!("steelyard");
    let mut path = OsString::from(built.parent().unwrap());
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new("bash");
    command
        .args(["-euo", "pipefail", "-c", &script])
        .current_dir(directory)
        .env("PATH", path)
        .env("STEELYARD_STATE", directory.join("state"))
        .env_remove("STEELYARD_RESULTS");
    command
}

/// The command as it runs here, and how it ends. Adds the entries used from the tables to `used`.
fn as_it_runs(
    example: &Example,
    command: &str,
    used: &mut BTreeSet<&'static str>,
) -> (String, Ends) {
    let mut here = command.to_owned();
    for (there, instead) in HERE.into_iter().filter(|(there, _)| command.contains(there)) {
        used.insert(there);
        here = here.replace(there, instead);
    }
    let rule = RULES.into_iter().find(|(words, ..)| here.contains(words));
    let Some((words, added, ends)) = rule else {
        panic!("{}: how is `{command}` tested? Add a rule to RULES", example.document)
    };
    used.insert(words);
    (format!("{here} {added}"), ends)
}

/// Runs a command in a directory; `None` if it needs object storage and there is none.
fn run(directory: &Path, moto: Option<&Moto>, command: &str) -> Option<Output> {
    let mut shell = shell(directory, command);
    if command.contains("s3://") {
        // The cache has no builds.
        shell.env("STEELYARD_CACHE", directory.join("cache"));
        shell.env("HOME", directory).env_remove("AWS_PROFILE");
        moto?.with(&mut shell);
    }
    Some(shell.output().unwrap())
}

#[track_caller]
fn assert_ended(example: &Example, command: &str, output: &Output, ends: Ends) {
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    let as_expected = match ends {
        Ends::Well => output.status.success(),
        Ends::Shown => output.status.success() || err.contains("make build"),
        Ends::Judged => matches!(output.status.code(), Some(0 | 1)),
        Ends::Saying(words) => output.status.code() == Some(2) && err.contains(words),
    };
    let (document, status) = (&example.document, output.status);
    assert!(as_expected, "{document}: {command}\nended with {status}\n{out}\n{err}");
}

/// Provides what the examples take from elsewhere: a script, a plan, output of other programs.
fn provide(directory: &Path) {
    let fixtures = root().join("crates/foreign/tests/fixtures");
    let fixture = |name: &str| fs::read_to_string(fixtures.join(name)).unwrap();
    let write = |name: &str, text: &str| {
        let file = directory.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    symlink(root().join("plans"), directory.join("plans")).unwrap();
    symlink(root().join("docs"), directory.join("docs")).unwrap();
    symlink("plans/demo.toml", directory.join("plan.toml")).unwrap();
    let plan = "blocks = 3\n[variants.a]\ndbms = \"postgres@13.7\"\n[variants.b]\n\
                dbms = \"postgres@14.3\"\n[workload.insert]\n";
    write("load.toml", plan);
    let script = "\\set aid random(1, 100000 * :scale)\n\
                  select abalance from pgbench_accounts where aid = :aid;\n";
    write("x.sql", script);
    for name in ["old.txt", "new.txt"] {
        write(name, &fixture("pgbench-15-transactions.txt"));
    }
    write("sb.out", &fixture("sysbench-rate.txt"));
    write("both.json", &fixture("hyperfine-1.15-two.json"));
    for (name, from) in [
        ("sb.2.run1.txt", "sysbench-rate.txt"),
        ("sb.o.point-query.dop2", "sysbench-rate.txt"),
        ("sb.vm.point-query.dop2", "vmstat-4.txt"),
        ("sb.io.point-query.dop2", "iostat-12-x.txt"),
    ] {
        write(&format!("pg13/{name}"), &fixture(from));
        write(&format!("pg14/{name}"), &fixture(from));
    }
    // In two blocks.
    let report = fixture("rocksdb-report-7.3-published.tsv");
    let (_, lines) = report.split_once('\n').unwrap();
    write("7.3/dop1/report.tsv", &format!("{report}{lines}"));
}

/// Runs the marked examples, and returns the directory with their files.
fn made_by_marked(examples: &[Example]) -> tempfile::TempDir {
    let directory = testing::directory();
    provide(directory.path());
    for example in examples.iter().filter(|example| example.marked) {
        let output = shell(directory.path(), &example.text).output().unwrap();
        if !report::has_page() && String::from_utf8_lossy(&output.stderr).contains("make build") {
            testing::skip(format_args!("built without the page: {}", example.text));
            continue;
        }
        assert_ended(example, &example.text, &output, Ends::Well);
    }
    assert!(directory.path().join("steelyard-results/steelyard.db").is_file());
    if report::has_page() {
        let page = fs::read_to_string(directory.path().join("report.html")).unwrap();
        assert!(page.contains("steelyard-data"));
    }
    directory
}

#[test]
fn the_examples_work() {
    let examples = examples();
    let made = made_by_marked(&examples);
    let moto = Moto::start(None);
    if let Some(moto) = &moto {
        assert_eq!(moto.http("PUT", "/team", b"").0, 200);
    }
    let others = examples.iter().filter(|example| !example.marked);
    let commands = others
        .flat_map(|example| example.commands().into_iter().map(move |command| (example, command)));
    let commands: Vec<(&Example, String)> = commands.collect();
    let mut used = BTreeSet::new();
    for of_document in commands.chunk_by(|(one, _), (next, _)| one.document == next.document) {
        // No document finds files that another has left.
        let place = testing::directory();
        let mut copy = Command::new("cp");
        copy.arg("-a").arg(made.path().join(".")).arg(place.path());
        assert!(copy.status().unwrap().success());
        for (example, command) in of_document {
            let (command, ends) = as_it_runs(example, command, &mut used);
            if let Some(output) = run(place.path(), moto.as_ref(), &command) {
                assert_ended(example, &command, &output, ends);
            }
        }
    }
    let words = HERE.map(|(there, _)| there).into_iter().chain(RULES.map(|(words, ..)| words));
    let unused: Vec<_> = words.filter(|words| !used.contains(words)).collect();
    assert!(unused.is_empty(), "no example has {unused:?}; remove them from HERE and RULES");
}

#[test]
fn links_lead_somewhere() {
    for document in documents() {
        let file = root().join(&document);
        let text = fs::read_to_string(&file).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://")) {
            let path = target.split('#').next().unwrap();
            assert!(
                path.is_empty() || file.parent().unwrap().join(path).exists(),
                "{document} points to {target}, which is not there"
            );
        }
    }
}
