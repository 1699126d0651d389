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
