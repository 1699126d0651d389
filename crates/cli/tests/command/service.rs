//! Pushing to a service, which is killed meanwhile.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use store::{ExperimentId, Store};

use crate::archive::{add, command};
use crate::place::{Place, Running, names};
use crate::plans::{BOTH, plan};
use crate::site::{address, get};

/// Longer than a push of some megabytes takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(300);

/// A service with a token, beside the results of a machine that pushes.
struct Team {
    place: Place,
    token: String,
}

impl Team {
    fn new() -> Option<Self> {
        if !::site::has_app() {
            testing::skip("built without the pages of a site");
            return None;
        }
        let place = Place::new();
        let results = place.path().join("service");
        let results = results.to_str().unwrap();
        let made = place.steelyard(&["serve", "token", "add", "ci-1", "--results", results]);
        made.expect(0, &["not shown again"]);
        let token = made.stdout.trim().to_owned();
        assert!(token.len() > 40 && !made.stderr.contains(&token), "{token}");
        Some(Self { place, token })
    }

    fn results(&self) -> std::path::PathBuf {
        self.place.path().join("service")
    }

    fn serve(&self, listen: &str) -> (Running, String) {
        let results = self.results();
        let arguments = ["serve", "--results", results.to_str().unwrap(), "--listen", listen];
        let mut service = self.place.spawn(command(&self.place, &arguments));
        let address = address(&mut service);
        (service, address)
    }

    fn push(&self, arguments: &[&str]) -> Running {
        let mut command = command(&self.place, arguments);
        command.env("STEELYARD_TOKEN", &self.token);
        self.place.spawn(command)
    }

    /// The content hashes of what the service has.
    fn contents(&self) -> Vec<String> {
        let store = Store::open_read_only(&self.results()).unwrap();
        let all = store.all_experiments().unwrap();
        all.iter().map(|it| store.content_hash(it.id).unwrap()).collect()
    }
}

/// The largest unfinished upload in a results directory.
fn received(results: &Path) -> u64 {
    let Ok(listing) = fs::read_dir(results.join(".receiving")) else { return 0 };
    let sizes = listing.flatten().filter_map(|it| it.metadata().ok()).map(|it| it.len());
    sizes.max().unwrap_or(0)
}

/// The directory of an experiment that is being imported.
fn incoming(results: &Path) -> Option<std::path::PathBuf> {
    let found = names(results).into_iter().find(|name| name.starts_with(".incoming-"))?;
    Some(results.join(found))
}

/// Whether a moment has come, as the results directory of a service shows it.
type HasCome = fn(&Path) -> bool;

/// Moments at which the service is killed.
const MOMENTS: [(&str, HasCome); 6] = [
    ("a first piece", |results| received(results) > 0),
    ("a second piece", |results| received(results) > 9 << 20),
    ("all pieces", |results| received(results) > 20 << 20),
    ("the import", |results| incoming(results).is_some()),
    ("moved artifacts", |results| incoming(results).is_some_and(|it| it.join("list").exists())),
    ("the experiment", |results| {
        Store::open_read_only(results).is_ok_and(|it| it.all_experiments().unwrap().len() == 1)
    }),
];

#[test]
fn a_service_killed_while_it_receives_loses_nothing_and_shows_nothing_half() {
    for (moment, has_come) in MOMENTS {
        let Some(team) = Team::new() else { return };
        let machine = team.place.results();
        let id = add(&machine, "only", 1_700_000_000_000, 20 << 20);
        let content = Store::open_read_only(&machine).unwrap().content_hash(id).unwrap();
        let (service, address) = team.serve("127.0.0.1:0");
        let to = format!("http://{address}");
        let push = team.push(&["push", &to]);
        let begin = Instant::now();
        while !has_come(&team.results()) && team.contents().is_empty() {
            assert!(begin.elapsed() < LIMIT, "{moment} does not come: {}", push.heard());
        }
        service.signal(Signal::SIGKILL);
        service.end();
        let found = team.contents();
        assert!(found.is_empty() || found == [content.clone()], "{moment}: {found:?}");

        let (service, again) = team.serve(&address);
        assert_eq!(again, address);
        let pushed = push.end();
        pushed.expect(0, &[]);
        let told = format!("to {to} as experiment 1\n");
        let told = pushed.stdout.ends_with(&told) || pushed.stdout.contains("is already at");
        assert!(told, "{moment}: {}", pushed.stdout);
        assert_eq!(get(&address, "api/v1/experiments/1.json").0, "HTTP/1.1 200 OK", "{moment}");
        assert_eq!(get(&address, "api/v1/experiments/2.json").0, "HTTP/1.1 404 Not Found");
        assert_eq!(team.contents(), [content], "{moment}");
        let again = team.push(&["push", &to]).end();
        assert!(again.stdout.contains("is already at"), "{}", again.stdout);
        service.signal(Signal::SIGINT);
        service.end().expect(0, &[]);
        assert_eq!(incoming(&team.results()), None, "{moment}");
        let logs = names(&team.results().join("artifacts/logs"));
        assert_eq!(logs.len(), names(&machine.join("artifacts/logs")).len(), "{moment}: {logs:?}");
    }
}

/// The service is killed when it has a piece of an upload, and then within an import.
#[test]
fn two_machines_push_at_once_to_a_service_that_is_killed_twice() {
    let Some(team) = Team::new() else { return };
    let machines = ["one", "other"].map(|name| team.place.path().join(name));
    let mut wanted = Vec::new();
    for (place, machine) in (0..).zip(&machines) {
        for number in 0..2 {
            let name = format!("{place}-{number}");
            let began = 1_700_000_000_000 + 1000 * (10 * place + number);
            let id = add(machine, &name, began, 9 << 20);
            wanted.push(Store::open_read_only(machine).unwrap().content_hash(id).unwrap());
        }
    }
    let (mut service, address) = team.serve("127.0.0.1:0");
    let to = format!("http://{address}");
    let push = |machine: &std::path::PathBuf| {
        team.push(&["push", "--results", machine.to_str().unwrap(), &to])
    };
    let pushing = machines.each_ref().map(push);
    let moments: [HasCome; 2] = [|it| received(it) > 0, |it| incoming(it).is_some()];
    for has_come in moments {
        let begin = Instant::now();
        while !has_come(&team.results()) && team.contents().len() < wanted.len() {
            assert!(begin.elapsed() < LIMIT, "nothing comes: {}", pushing[0].heard());
        }
        service.signal(Signal::SIGKILL);
        service.end();
        let found = team.contents();
        assert!(found.iter().all(|it| wanted.contains(it)), "something half is there");
        (service, _) = team.serve(&address);
    }
    for (machine, pushing) in machines.iter().zip(pushing) {
        let ended = pushing.end();
        if ended.code != Some(0) {
            // It began while there was no service.
            ended.expect(3, &["could not push", "push again"]);
            push(machine).end().expect(0, &[]);
        }
    }
    let mut found = team.contents();
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted, "all are there, once");
    service.signal(Signal::SIGINT);
    service.end().expect(0, &[]);
}

#[test]
fn the_questions_of_the_documentation_are_answered() {
    let Some(team) = Team::new() else { return };
    let curl = std::process::Command::new("curl").arg("--version").output();
    if !curl.is_ok_and(|it| it.status.success()) {
        return testing::skip("`curl` is not installed");
    }
    add(&team.results(), "only", 1_700_000_000_000, 0);
    let (service, address) = team.serve("127.0.0.1:0");
    let text = fs::read_to_string(crate::documents::root().join("docs/web.md")).unwrap();
    let asked: Vec<&str> = text.lines().filter(|line| line.starts_with("curl ")).collect();
    assert_eq!(asked.len(), 5, "{asked:?}");
    let answer = |line: &str| {
        let line = line.replace("127.0.0.1:7700", &address);
        let mut shell = std::process::Command::new("bash");
        shell.args(["-euo", "pipefail", "-c", &line]).env_remove("http_proxy");
        let output = shell.output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && !told.is_empty(), "{line}: {output:?}");
        told
    };
    let answers: Vec<String> = asked.iter().map(|line| answer(line)).collect();
    assert!(answers[0].contains("\"name\":\"only\""), "{}", answers[0]);
    let summary: serde_json::Value = serde_json::from_str(&answers[1]).unwrap();
    assert_eq!(summary["experiment"]["id"], 1);
    assert!(answers[2].starts_with("### only: "), "{}", answers[2]);
    assert!(answers[3].trim().parse::<usize>().unwrap() > 1000, "{}", answers[3]);
    assert!(answers[4].contains("steelyard_experiments 1"), "{}", answers[4]);
    service.signal(Signal::SIGINT);
    service.end().expect(0, &[]);
}

/// schemathesis sends what the description allows and what it forbids.
#[test]
fn requests_are_answered_as_the_description_says() {
    let program = crate::documents::root().join("target/schemathesis/bin/schemathesis");
    if !program.exists() {
        return testing::skip("schemathesis is not installed; scripts/setup.sh test installs it");
    }
    let Some(team) = Team::new() else { return };
    for (number, name) in (0..).zip(["<script>alert(1)</script>", "../../etc", "only"]) {
        add(&team.results(), name, 1_700_000_000_000 + number, 0);
    }
    let (service, address) = team.serve("127.0.0.1:0");
    let (_, described) = get(&address, "api/v1/openapi.json");
    let file = team.place.path().join("openapi.json");
    fs::write(&file, described).unwrap();
    let results = team.results();
    let words =
        ["serve", "token", "add", "owner", "--runs", "--results", results.to_str().unwrap()];
    let authorization =
        format!("Authorization: Bearer {}", team.place.steelyard(&words).stdout.trim());
    // Unfinished uploads of others may take all space.
    let settings =
        "[checks.not_a_server_error]\nexpected-statuses = [\"2xx\", \"3xx\", \"4xx\", 507]\n";
    fs::write(team.place.path().join("schemathesis.toml"), settings).unwrap();
    for headers in [&["--header", &authorization][..], &[]] {
        let mut command = std::process::Command::new(&program);
        command.arg("run").arg(&file).args(["--url", &format!("http://{address}")]).args(headers);
        // Whether a piece fits its upload is more than a description can say.
        command.args([
            "--exclude-checks",
            "positive_data_acceptance",
            "--generation-deterministic",
        ]);
        // Server-sent events have no end.
        command.args(["--exclude-path", "/api/v1/live"]);
        command.args(["--max-examples", "200", "--request-timeout", "300", "--no-color"]);
        command.current_dir(team.place.path()).env("HOME", team.place.path());
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && told.contains("Tested: 19"), "{told}\n{output:?}");
    }
    assert_eq!(team.contents().len(), 3);
    service.signal(Signal::SIGINT);
    service.end().expect(0, &[]);
}

#[test]
fn tokens_are_in_no_output_and_no_file() {
    let Some(team) = Team::new() else { return };
    add(&team.place.results(), "only", 1_700_000_000_000, 0);
    let results = team.results();
    let listed = |arguments: &[&str]| {
        let all = [&["serve", "token"], arguments, &["--results", results.to_str().unwrap()]];
        team.place.steelyard(&all.concat())
    };
    listed(&["add", "ci-1"]).expect(2, &["already", "token rm ci-1"]);
    listed(&["add", "a b"]).expect(2, &["expected a name"]);
    listed(&["add", "eve", "--read-only"]).expect(0, &[]);
    let list = listed(&["list"]).stdout;
    assert!(list.contains("ci-1  push") && list.contains("eve  read"), "{list}");
    let (service, address) = team.serve("127.0.0.1:0");
    let to = format!("http://{address}");
    let pushed = team.push(&["push", "1", &to]).end();
    pushed.expect(0, &[]);
    let missing = team.place.spawn(command(&team.place, &["push", &to])).end();
    missing.expect(2, &["STEELYARD_TOKEN", "serve token add"]);
    let file = team.place.file("token", &format!("{}\n", team.token));
    let mut with_file = command(&team.place, &["push", &to]);
    with_file.env("STEELYARD_TOKEN_FILE", &file);
    let by_file = team.place.spawn(with_file).end();
    assert!(by_file.stdout.contains("is already at"), "{}", by_file.stdout);
    fs::remove_file(file).unwrap();
    listed(&["rm", "ci-1"]).expect(0, &[]);
    let removed = team.push(&["push", &to]).end();
    removed.expect(2, &["does not know this token"]);
    for (to, said) in [
        ("http://192.0.2.1", "use https://"),
        ("https://me:s3cret@host", "STEELYARD_TOKEN"),
        ("http://127.0.0.1:1", "could not push"),
    ] {
        let refused = team.push(&["push", to]).end();
        assert!(refused.stderr.contains(said) && !refused.stderr.contains("s3cret"), "{to}");
    }
    service.signal(Signal::SIGINT);
    let served = service.end();
    let secret = team.token.strip_prefix("steelyard_").unwrap();
    for ended in [&pushed, &missing, &by_file, &removed, &served] {
        assert!(!format!("{}{}", ended.stdout, ended.stderr).contains(secret));
    }
    let found = std::process::Command::new("grep")
        .args(["-r", "-l", "-F", "-a", secret])
        .arg(team.place.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "", "a file has the token");
}

#[test]
fn notes_go_with_what_is_pushed() {
    let Some(team) = Team::new() else { return };
    add(&team.place.results(), "only", 1_700_000_000_000, 0);
    let (service, address) = team.serve("127.0.0.1:0");
    let to = format!("http://{address}");
    team.push(&["push", &to]).end().expect(0, &[]);
    let note = |arguments: &[&str]| team.place.steelyard(&[&["note"], arguments].concat());
    note(&["bug", "--step", "l.i0"]).expect(2, &["bug says which"]);
    note(&["expected", "--step", "l.i9"]).expect(2, &["one of the steps l.i0, found l.i9"]);
    note(&["expected", "--variant", "x"]).expect(2, &["one of the variants pg13.7, pg14.3"]);
    let variant = ["--step", "l.i0", "--variant", "pg14.3", "--by", "eve"];
    let noted = note(&[&["bug", "https://bugs.example.com/17"][..], &variant].concat());
    noted.expect(0, &[]);
    let told = "bug: https://bugs.example.com/17 (eve, ";
    assert!(noted.stdout.contains(told) && note(&[]).stdout.contains(told), "{}", noted.stdout);
    let shown = team.place.steelyard(&["compare", "--full"]);
    assert!(shown.stdout.contains("bug: https://bugs.example.com/17"), "{}", shown.stdout);
    let history = team.place.steelyard(&["history"]);
    assert!(history.stdout.contains("noted: experiment 1 only l.i0 pg14.3"), "{}", history.stdout);
    let document = || String::from_utf8(get(&address, "api/v1/experiments/1.json").1).unwrap();
    assert!(!document().contains("bugs.example.com"));
    let pushed = team.push(&["push", &to]).end();
    assert!(pushed.stdout.contains("already at"), "{}", pushed.stdout);
    assert!(document().contains("bugs.example.com"), "the note was pushed");
    assert_eq!(team.contents().len(), 1);
    // From the other side by a file.
    let results = team.results();
    let there = ["--results", results.to_str().unwrap()];
    let fixed = ["note", "fixed", "14.4", "--by", "bob"];
    team.place.steelyard(&[&fixed[..], &there].concat()).expect(0, &[]);
    team.place.steelyard(&[&["export", "-o", "x.steelyard"][..], &there].concat()).expect(0, &[]);
    team.place.steelyard(&["import", "x.steelyard"]).expect(0, &[]);
    assert!(note(&[]).stdout.contains("all  fixed: 14.4 (bob, "));
    service.signal(Signal::SIGINT);
    service.end().expect(0, &[]);
}

#[test]
fn a_run_is_pushed_when_it_has_finished() {
    let Some(team) = Team::new() else { return };
    let (service, address) = team.serve("127.0.0.1:0");
    let to = format!("http://{address}");
    let file = team.place.plan(&plan(BOTH, "blocks = 1", "steps = [\"l.i0\"]"));
    // Without a token it does not even begin.
    team.place.run(&[&file, "--push", &to]).expect(2, &["STEELYARD_TOKEN"]);
    assert!(!team.place.results().exists());
    let data = team.place.data();
    let run = ["run", "--allow-concurrent", "--data-dir", data.to_str().unwrap(), &file];
    let mut command = team.place.command(&[&run[..], &["--push", &to]].concat());
    command.env("STEELYARD_TOKEN", &team.token);
    let ended = team.place.spawn(command).end();
    ended.expect(0, &[]);
    assert!(ended.stdout.contains(&format!("to {to} as experiment 1")), "{}", ended.stdout);
    let machine = Store::open_read_only(&team.place.results()).unwrap();
    assert_eq!(team.contents(), [machine.content_hash(ExperimentId(1)).unwrap()]);
    service.signal(Signal::SIGINT);
    service.end().expect(0, &[]);
}
