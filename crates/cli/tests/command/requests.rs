//! Wrong requests: exit code 2, the place and the remedy, nothing begun.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use crate::database::Database;
use crate::place::{Place, names};
use crate::plans::{BOTH, ONE, plan};

/// Steps that take a fraction of a second.
const QUICK: &str = "rows = 2000\nsteps = [\"l.i0\"]";

/// An option that several workloads have is explained by each.
#[test]
fn help_has_a_group_for_each_workload_and_that_of_one_only_its_own() {
    let place = Place::new();
    let all = place.steelyard(&["help", "run"]);
    all.expect(0, &[]);
    let places: Vec<usize> =
        ["--resume  ", "--budget <TIME>  ", "Options of insert,", "Options of script,"]
            .map(|part| {
                all.stdout.find(part).unwrap_or_else(|| panic!("no {part}: {}", all.stdout))
            })
            .to_vec();
    assert!(places.is_sorted(), "{}", all.stdout);
    assert!(all.stdout.matches("--seconds <").count() > 3, "{}", all.stdout);
    // Above are paths of the environment, which can't be broken.
    let options = &all.stdout[places[2]..];
    assert!(options.lines().all(|line| line.chars().count() <= 100), "{options}");
    for words in [["run", "insert", "--help"], ["run", "--help", "insert"]] {
        let one = place.steelyard(&words);
        one.expect(0, &[]);
        assert!(one.stdout.contains("--indexed-rows"), "{}", one.stdout);
        for other in ["--pinning", "Options of script"] {
            assert!(!one.stdout.contains(other), "{other} in {}", one.stdout);
        }
    }
    let script = place.steelyard(&["run", "own.sql", "-h"]);
    assert!(script.stdout.contains("--setup-file"), "{}", script.stdout);
}

#[test]
fn a_plan_with_mistakes_is_told_where_they_are() {
    let place = Place::new();
    let good = plan(BOTH, "", "steps = [\"l.i0\"]");
    for (from, to, parts) in [
        (
            "seed = 7",
            "sede = 7",
            &["plan.toml:6:1", "unknown key `sede`", "did you mean `seed`"][..],
        ),
        ("\"l.i0\"", "\"l.i0\", \"qr10\"", &["plan.toml:", "qr10", "did you mean `qr100`"]),
        (
            "base = \"pg13.7\"",
            "base = \"pg13\"",
            &["plan.toml:2:", "not a variant", "the variants are pg13.7, pg14.3"],
        ),
        (
            "[workload.insert]",
            "[workload.insert]\ntables = \"shared\"\ndelete_per_insert = true",
            &["plan.toml:", "delete_per_insert", "per-client"],
        ),
        (
            "[workload.insert]",
            "[workload.insort]",
            &["plan.toml:", "insort", "did you mean `insert`"],
        ),
        ("seed = 7", "seed = ", &["plan.toml:6:"]),
    ] {
        assert!(good.contains(from));
        let file = place.plan(&good.replace(from, to));
        place.run(&[&file]).expect(2, parts);
    }
    assert!(!place.results().exists() && !place.data().exists(), "nothing is begun");
}

#[test]
fn a_command_that_makes_no_sense_is_told_so() {
    let place = Place::new();
    place.run(&["missing.toml"]).expect(2, &["missing.toml", "No such file"]);
    place.run(&["nosql"]).expect(2, &["nosql", "insert", "sysbench"]);
    place.run(&["insrt", "-v", "postgres@13.7"]).expect(2, &["did you mean `insert`?"]);
    let mut not_utf8 = place.command(&["run"]);
    not_utf8.arg(OsStr::from_bytes(b"tp\xffc"));
    place.spawn(not_utf8).end().expect(2, &["neither a plan file", "insert"]);
    place.run(&[]).expect(2, &["plan", "-v postgres@13.7"]);
    place.run(&["insert"]).expect(2, &["-v postgres@13.7"]);
    place.run(&["insert", "-v", "postgres@13.7", "-c", "work_mem"]).expect(2, &["NAME=VALUE"]);
    let of_one =
        |setting| place.run(&["insert", "-v", "pg=postgres@13.7", "-c", setting, "--write-plan"]);
    of_one("pgg.jit=off").expect(2, &["`-c pgg.jit`", "did you mean `pg`?"]);
    let unknown = ["`-c nosuch.shared_buffers`", "no variant is named `nosuch`", "are pg"];
    of_one("nosuch.shared_buffers=64MB").expect(2, &unknown);
    for module in ["pg_stat_statements.track=all", "pg.auto_explain.log_min_duration=0"] {
        of_one(module).expect(0, &[]);
    }
    place
        .run(&["program", "-v", "a/b c=none", "--command", "true", "--write-plan"])
        .expect(2, &["-v number 1", "before the `=`"]);
    let planned = of_one("pg.jit=off");
    planned.expect(0, &[]);
    assert!(planned.stdout.contains("jit = \"off\""), "{}", planned.stdout);
    assert!(!planned.stdout.contains("pg.jit"), "{}", planned.stdout);
    place.run(&["insert", "-v", "postgres@13.7", "--rows", "many"]).expect(2, &["many", "200k"]);
    place
        .run(&["insert", "-v", "postgres@13.7", "--steps", "l.i0,qr10"])
        .expect(2, &["qr10", "qr100"]);
    place.run(&["insert", "-v", "oracle@19"]).expect(2, &["oracle@19", "postgres@13.7"]);
    let file = place.plan(&plan(ONE, "", QUICK));
    place.run(&[&file, "-c", "work_mem=1MB"]).expect(2, &["plan.toml", "-v and -c"]);
    place.run(&[&file, "--steps", "l.y"]).expect(2, &["plan.toml", "did you mean `l.x`?"]);
    let changed = place.run(&[&file, "--rows", "5", "--write-plan"]);
    changed.expect(0, &[]);
    let rows = |line: &str| line.split('#').next().is_some_and(|line| line.trim() == "rows = 5");
    assert!(changed.stdout.lines().any(rows), "{}", changed.stdout);
    place.run(&[&file, "--blocks", "0"]).expect(2, &["blocks"]);
    place.steelyard(&["compare"]).expect(2, &["results", "--results"]);
    place.steelyard(&["list"]).expect(2, &["steelyard run"]);
    assert!(!place.results().exists(), "nothing is begun");
}

#[test]
fn a_version_that_does_not_exist_is_answered_with_the_nearest() {
    let place = Place::new();
    let file = place.plan(&plan(&[("pg", "postgres@13.99")], "", QUICK));
    let ended = place.run(&[&file]);
    if ended.stderr.contains("check the network") {
        testing::skip(format_args!("the archive cannot be asked: {}", ended.stderr));
        ended.expect(3, &[]);
    } else {
        ended.expect(2, &["variant `pg`", "no postgres 13.99", "nearest", "13."]);
    }
    let file = place.plan(&plan(&[("pg", "path:/nowhere/at/all")], "", QUICK));
    place.run(&[&file]).expect(2, &["variant `pg`", "/nowhere/at/all", "bin/postgres"]);
    assert!(!place.results().exists(), "nothing is begun");
}

#[test]
fn known_versions_are_listed() {
    let place = Place::new();
    let list = |arguments: &[&str]| {
        let mut command = place.command(&[&["fetch", "--list"], arguments].concat());
        command.env("STEELYARD_CACHE", place.path().join("cache"));
        place.spawn(command).end()
    };
    let all = list(&["--format", "json"]);
    all.expect(0, &[]);
    let document: serde_json::Value = serde_json::from_str(&all.stdout).unwrap();
    let pinned = |version: &serde_json::Value| version["pinned"] == true;
    assert!(document["versions"].as_array().unwrap().iter().all(pinned), "{}", all.stdout);
    list(&["postgres"]).expect(0, &[]);
    list(&["oracle"]).expect(2, &["`oracle`", "name one of postgres, mysql"]);
    list(&["postgres", "mysql"]).expect(2, &["--list takes one system"]);
    place.steelyard(&["fetch", "--online", "postgres@13.7"]).expect(2, &["--list"]);
    place.steelyard(&["fetch"]).expect(2, &["DBMS@VERSION"]);
}

#[test]
fn settings_that_the_server_or_steelyard_refuses_are_named() {
    let place = Place::new();
    let file = place.plan(&plan(ONE, "config = { work_mem = \"banana\" }", QUICK));
    place.run(&[&file]).expect(2, &["variant pg13.7", "work_mem = banana", "config"]);
    place.assert_nothing_left();
    let file = place.plan(&plan(ONE, "config = { listen_addresses = \"*\" }", QUICK));
    place
        .run(&[&file])
        .expect(2, &["variant pg13.7", "listen_addresses", "private unix socket", "remove it"]);
    // The port and the directory of the socket are steelyard's own, so none can be in use.
    let file = place.plan(&plan(ONE, "config = { port = 5432 }", QUICK));
    place.run(&[&file]).expect(2, &["`port` cannot be set"]);
    let file =
        place.plan(&plan(ONE, "", QUICK).replace("dbms =", "config_file = \"none.conf\"\ndbms ="));
    place.run(&[&file]).expect(2, &["plan.toml:", "none.conf"]);
}

#[test]
fn what_one_variant_refuses_loses_nothing_of_the_other() {
    let place = Place::new();
    // 13.7 knows this setting, 14.3 does not.
    let text = plan(BOTH, "blocks = 3", QUICK).replace(
        "dbms = \"postgres@14.3\"",
        "dbms = \"postgres@14.3\"\nconfig = { operator_precedence_warning = \"off\" }",
    );
    let file = place.plan(&text);
    place
        .run(&[&file])
        .expect(2, &["variant pg14.3", "operator_precedence_warning", "unrecognized"]);
    let database = Database::of(&place.results());
    let trials = database.trials();
    let (last, before) = trials.split_last().unwrap();
    assert_eq!((last.variant.as_str(), last.state.as_str()), ("pg14.3", "failed"));
    assert!(last.error.as_ref().unwrap().contains("operator_precedence_warning"));
    assert!(before.iter().all(|trial| trial.variant == "pg13.7" && trial.state == "finished"));
    // The finished trials can be shown, with the gap.
    place.steelyard(&["list"]).expect(0, &[]);
    place.steelyard(&["compare"]).expect(0, &[]);
}

#[test]
fn results_of_another_version_are_left_alone() {
    let place = Place::new();
    let file = place.plan(&plan(ONE, "", QUICK));
    place.run(&[&file]).expect(0, &[]);
    for (version, remedy) in [(99, "update steelyard"), (1, "measure again")] {
        let database = Database::of(&place.results());
        database.0.pragma_update(None, "user_version", version).unwrap();
        drop(database);
        let found = format!("found {version}");
        let parts = ["steelyard.db", found.as_str(), remedy];
        for arguments in [&["compare"][..], &["list"], &["report"]] {
            place.steelyard(arguments).expect(2, &parts);
        }
        place.run(&[&file]).expect(2, &parts);
        place.run(&["--resume"]).expect(2, &parts);
        let database = Database::of(&place.results());
        assert_eq!(database.number("SELECT count(*) FROM trial"), 1);
        assert_eq!(database.number("PRAGMA user_version"), version);
    }
}

#[test]
fn results_that_cannot_be_written_are_refused_before_anything_is_fetched() {
    let place = Place::new();
    // Looking for it would fail.
    let file = place.plan(&plan(&[("pg", "path:/nowhere/at/all")], "", QUICK));
    place.file("results", "a file, not a directory");
    place.run(&[&file]).expect(2, &["results", "--results"]);
    place.steelyard(&["compare"]).expect(2, &["results"]);
    let strange = place.path().join("strange");
    fs::create_dir(&strange).unwrap();
    fs::write(
        strange.join("steelyard.db"),
        "no database at all, but long enough for a header".repeat(9),
    )
    .unwrap();
    let strange = strange.to_str().unwrap();
    place
        .run(&[&file, "--results", strange])
        .expect(2, &["strange", "results database", "--results"]);
    // Nobody may write there, not even root.
    place.run(&[&file, "--results", "/proc/none"]).expect(2, &["/proc/none", "--results"]);
    assert!(!place.data().exists());
}

/// The cache is empty, so a run that gets so far begins to fetch.
#[test]
fn what_cannot_be_used_is_refused_before_anything_is_fetched() {
    let place = Place::new();
    let file = place.plan(&plan(ONE, "", QUICK));
    let refused = |file: &str, data: &str, (variable, value): (&str, &str), parts: &[&str]| {
        let mut command = place.command(&["run", "--allow-concurrent", "--data-dir", data, file]);
        command.env("STEELYARD_CACHE", place.path().join("cache")).env(variable, value);
        let ended = place.spawn(command).end();
        ended.expect(2, parts);
        assert!(!ended.stderr.contains("fetch"), "{}", ended.stderr);
        assert!(!ended.stderr.contains("resume"), "{}", ended.stderr);
        assert!(!place.results().exists(), "nothing is begun");
    };
    let (usual, good) = (("STEELYARD_OTHER", ""), place.data());
    let good = good.to_str().unwrap();
    let blocked = place.file("blocked", "a file");
    let below = format!("{blocked}/below");
    for bad in [&*blocked, &*below, "/proc/x", "/proc"] {
        refused(&file, bad, usual, &[bad, "--data-dir"]);
        for variable in ["STEELYARD_CACHE", "STEELYARD_STATE"] {
            refused(
                &file,
                good,
                (variable, bad),
                &[bad, &format!("set {variable} to a directory")],
            );
        }
    }
    for variable in ["STEELYARD_CACHE", "STEELYARD_STATE", "STEELYARD_RESULTS"] {
        refused(&file, good, (variable, ""), &[&format!("{variable} is empty; set it")]);
    }
    // Nobody listens there.
    let both = [("pg", "postgres@13.7"), ("theirs", "postgres://me@127.0.0.1:1/x")];
    let attached = place.file("both.toml", &plan(&both, "config = {}", QUICK));
    refused(&attached, good, usual, &["variant `theirs`", "127.0.0.1:1"]);
    if !nix::unistd::geteuid().is_root() {
        return testing::skip("not root, so servers run as the calling user");
    }
    let closed = place.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    let data = closed.join("data");
    let barred = ["user `", "cannot reach", "/closed", "--data-dir", "chmod o+x"];
    refused(&file, data.to_str().unwrap(), usual, &barred);
    assert_eq!(names(&closed), Vec::<String>::new(), "what was made is removed");
    place
        .run(&[&file, "--server-user", "nobody-of-this-name"])
        .expect(2, &["nobody-of-this-name", "no such user"]);
}

#[test]
fn a_strict_umask_bars_no_way() {
    let place = Place::new();
    let file = place.plan(&plan(ONE, "", QUICK));
    let program = assert_cmd::cargo::cargo_bin!("steelyard");
    let data = place.path().join("data/deeper/still");
    let ended = std::process::Command::new("sh")
        .args(["-c", "umask 077; exec \"$@\"", "sh"])
        .arg(program)
        .args(["run", "--allow-concurrent", "--data-dir"])
        .arg(data)
        .arg(&file)
        .env("STEELYARD_STATE", place.path().join("state"))
        .env("STEELYARD_RESULTS", place.results())
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(!place.data().exists(), "what was made is removed");
}
