//! `steelyard gate` over a repository whose commits install fetched releases, and what runs it in
//! continuous integration.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use testing::repository::git;

use crate::bisect::{BROKENS, PLAN, SLOWER};
use crate::count::can_count;
use crate::place::{Ended, Place};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A plan that counts one kind of statement.
fn plan(place: &Place) -> String {
    place.plan(&format!("{PLAN}kinds = [\"insert-50\"]\nprotocols = [\"simple\"]\n"))
}

/// Judges a change between two commits, with files for all that is written.
fn gate(place: &Place, plan: &str, [base, head]: [usize; 2], more: &[&str]) -> Ended {
    let file = |name: &str| place.path().join(name).display().to_string();
    let repository = format!("git:{}", file("source"));
    let data = place.data();
    let [base, head] = [base, head].map(|it| format!("c{it}"));
    let [comment, junit, lines] = ["comment.md", "junit.xml", "lines"].map(file);
    let words = [
        "gate",
        plan,
        "--repository",
        &repository,
        "--base",
        &base,
        "--head",
        &head,
        "--comment",
        &comment,
        "--junit",
        &junit,
        "--annotations",
        &lines,
        "--allow-concurrent",
        "--data-dir",
        data.to_str().unwrap(),
    ];
    place.steelyard(&[&words, more].concat())
}

/// A file that it wrote.
fn written(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path().join(name)).unwrap()
}

#[test]
fn changes_pass_or_do_not() {
    if !can_count() {
        return;
    }
    let place = Place::new();
    let (repository, plan) = (place.repository(), plan(&place));
    let gate = |base: usize, head: usize| gate(&place, &plan, [base, head], &[]);
    let said = || written(&place, "comment.md");
    let junit = || written(&place, "junit.xml");

    // The release of the later commit takes more instructions.
    let slower = gate(SLOWER - 1, SLOWER);
    slower.expect(1, &["the gate failed", "insert-50 (simple)"]);
    assert_eq!(slower.stdout, said());
    for part in
        ["1 regression**", "- **regression** insert-50 (simple): ", "moved most", "<details>"]
    {
        assert!(said().contains(part), "`{part}` is missing in\n{}", said());
    }
    assert!(junit().contains("failures=\"1\" errors=\"0\""), "{}", junit());
    assert_eq!(written(&place, "lines"), "", "its program has no debug information");
    let tag = format!("c{SLOWER}");
    let ends = ["--base", &tag, "--head", &tag];
    let same = [&["gate", &plan, "--repository", &repository], &ends[..]].concat();
    place.steelyard(&same).expect(2, &["first parents"]);

    // Their builds are the same.
    gate(4, 5).expect(0, &[]);
    assert!(said().contains("**steelyard plan: no change**"), "{}", said());

    let [broken, _] = BROKENS;
    gate(broken - 1, broken).expect(1, &["can't be judged", "does not build"]);
    assert!(said().contains("not judged") && junit().contains("errors=\"1\""), "{}", said());
    gate(broken, broken + 1).expect(3, &["nothing to compare with", "does not build"]);
    assert!(!place.path().join("comment.md").exists(), "that of another change");
    place.assert_nothing_left();
}

#[test]
fn the_counts_of_the_commit_before_are_kept() {
    if !can_count() {
        return;
    }
    let place = Place::new();
    let plan = plan(&place);
    place.repository();
    let other = fs::read_to_string(&plan).unwrap().replace("statements = 10", "statements = 20");
    let other = place.file("other.toml", &other);
    let baselines = place.path().join("baselines");
    let address = baselines.display().to_string();
    let judged = |plan: &str, code: i32, said: &[&str]| {
        let more = ["--baselines", &address];
        gate(&place, plan, [SLOWER - 1, SLOWER], &more).expect(code, said);
        written(&place, "comment.md").lines().nth(1).unwrap().to_owned()
    };
    let source = place.path().join("source");
    let tag = format!("c{}", SLOWER - 1);
    let commit = git(&source, "test@example.org", &["rev-parse", &tag]).unwrap();
    // The files with the counts of the commit before.
    let kept = || {
        let kept = fs::read_dir(baselines.join("baselines")).unwrap();
        let kept = kept.map(|entry| entry.unwrap().path());
        let kept = kept.filter(|path| path.to_string_lossy().contains(&commit[..12]));
        kept.collect::<Vec<_>>()
    };
    let headline = judged(&plan, 1, &["the gate failed"]);
    let [own] = &kept()[..] else { panic!("{:?}", kept()) };
    assert_eq!(headline, judged(&plan, 1, &["was counted before", "the gate failed"]));

    // Those for another plan are others.
    judged(&other, 1, &["the gate failed"]);
    let foreign = kept().into_iter().find(|path| path != own).unwrap();
    fs::copy(&foreign, own).unwrap();
    let said = ["are not used: they are of something else", "the gate failed"];
    assert_eq!(headline, judged(&plan, 1, &said));
    let whole = fs::read(own).unwrap();
    fs::write(own, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(headline, judged(&plan, 1, &["are not used: ", "is damaged", "the gate failed"]));
    // Where they can't be read, both commits are counted.
    fs::remove_dir_all(&baselines).unwrap();
    fs::write(&baselines, "no directory").unwrap();
    assert_eq!(headline, judged(&plan, 1, &["are not used", "the gate failed"]));
    place.assert_nothing_left();
}

#[test]
fn a_change_also_runs_beside_the_commit_before() {
    if !can_count() {
        return;
    }
    let place = Place::new();
    let text = format!("{PLAN}kinds = [\"insert-50\"]\nprotocols = [\"simple\"]\n");
    let steps = "[workload.insert]\nsteps = [\"l.i0\"]\nrows = 20_000\n";
    let plan = place.plan(&text.replace("[workload.insert]\n", steps));
    place.repository();
    let ended = gate(&place, &plan, [SLOWER - 1, SLOWER], &["--budget", "1m"]);
    // Its instructions are known. How long it takes depends on the machine, which may also be too
    // busy for six restarts.
    ended.expect(1, &["the gate failed", "insert-50 (simple)"]);
    let comment = &ended.stdout;
    assert!(comment.contains("1 regression; throughput: "), "{comment}");
    assert!(comment.contains("and run at the same time, margin 2.0%."), "{comment}");
    assert!(comment.contains("\n- l.i0: ") || comment.contains("not judged"), "{comment}");
    assert!(written(&place, "junit.xml").contains("throughput"), "{comment}");
    place.assert_nothing_left();
}

/// Runs a script of the folder `ci` as a step of a job, with these programs before all others.
fn step(
    place: &Place,
    programs: &Path,
    script: &str,
    arguments: &[&str],
    set: &[(&str, &str)],
) -> Output {
    let mut path = std::ffi::OsString::from(programs);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let script = root().join("ci").join(script);
    let mut command = Command::new("bash");
    command.arg(script).args(arguments).envs(set.iter().copied()).env("PATH", path);
    command.current_dir(place.path()).output().unwrap()
}

fn program(directory: &Path, name: &str, text: &str) {
    fs::write(directory.join(name), text).unwrap();
    fs::set_permissions(directory.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

/// The action's steps with a runner's variables, in the clone of a repository.
#[test]
fn the_action_leaves_the_comment_as_a_file() {
    let place = Place::new();
    let repository = place.repository();
    let plan = plan(&place);
    let built = assert_cmd::cargo::cargo_bin!("steelyard").parent().unwrap().to_owned();
    let file = |name: &str| place.path().join(name).display().to_string();
    let [summary, output] = ["summary", "output"].map(file);
    let options = format!(
        "--repository {repository} --allow-concurrent --data-dir {}",
        place.data().display()
    );
    let ended = step(
        &place,
        &built,
        "gate.sh",
        &[],
        &[
            ("PLAN", &plan),
            ("BASE", "c4"),
            ("HEAD", "c5"),
            ("OPTIONS", &options),
            ("GITHUB_STEP_SUMMARY", &summary),
            ("GITHUB_OUTPUT", &output),
            ("STEELYARD_STATE", &file("state")),
        ],
    );
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{errors}");
    let read = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    assert!(read("steelyard-gate.md").contains("no change"));
    assert_eq!(read("summary"), read("steelyard-gate.md"));
    assert_eq!(read("output"), "comment=steelyard-gate.md\n");
    let action = fs::read_to_string(root().join("action.yml")).unwrap();
    for script in ["ci/install.sh", "ci/gate.sh"] {
        assert!(action.contains(script) && root().join(script).is_file(), "{script}");
    }
}

/// Answers as `gh` does, and keeps what it was asked.
const GH: &str = "#!/bin/sh\necho \"$*\" >> asked\n\
    case \"$*\" in 'pr list'*) cat number;; *comments?--jq*) cat comments;; esac\n";

#[test]
fn a_comment_replaces_the_one_before() {
    let place = Place::new();
    program(place.path(), "gh", GH);
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    write("comment.md", "<!-- steelyard gate load -->\n**fine** $(touch run)\n");
    let post = |number: &str, comments: &str, commit: &str| {
        write("number", number);
        write("comments", comments);
        let _ = fs::remove_file(place.path().join("asked"));
        let ended = step(&place, place.path(), "comment.sh", &["o/r", commit, "comment.md"], &[]);
        let asked = fs::read_to_string(place.path().join("asked")).unwrap_or_default();
        (ended.status.code(), asked)
    };
    let (code, asked) = post("7\n", "", commit);
    let posted = "api --silent --method POST repos/o/r/issues/7/comments -F body=@comment.md\n";
    assert!(code == Some(0) && asked.ends_with(posted), "{asked}");
    let (code, asked) = post("7\n", "99\n", commit);
    let replaced = "api --silent --method PATCH repos/o/r/issues/comments/99 -F body=@comment.md\n";
    assert!(code == Some(0) && asked.ends_with(replaced), "{asked}");
    let (code, asked) = post("", "", commit);
    assert!(code == Some(0) && asked.lines().count() == 1, "{asked}");
    assert_eq!(post("7\n", "", "main").0, Some(2));
    write("comment.md", "<!-- steelyard gate x -->\" or true\n");
    assert_eq!(post("7\n", "", commit), (Some(2), String::new()));
    write("secret", "<!-- steelyard gate load -->\n");
    fs::remove_file(place.path().join("comment.md")).unwrap();
    std::os::unix::fs::symlink("secret", place.path().join("comment.md")).unwrap();
    assert_eq!(post("7\n", "", commit), (Some(2), String::new()), "a link to what is here");
    assert!(!place.path().join("run").exists(), "the file is only text");
}
