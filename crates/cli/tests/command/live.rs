//! Runs under way, as a service tells of them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::place::{Place, Running, names};
use crate::plans::{BOTH, ONE, plan};
use crate::site::{address, get};

/// Long enough to be stopped.
const LONG: &str = "rows = 2000\nread_write_seconds = 300\nsteps = [\"l.i0\", \"l.x\", \"qr100\"]";

/// Longer than anything takes to happen on a busy machine.
const LIMIT: Duration = Duration::from_secs(300);

/// A service of the results directory of a place.
fn serve(place: &Place, more: &[&str]) -> (Running, String) {
    let mut service = place.start(&[&["serve", "--listen", "127.0.0.1:0"], more].concat());
    let address = address(&mut service);
    (service, address)
}

/// A token that may do what `more` says.
fn token(place: &Place, name: &str, more: &[&str]) -> String {
    let made = place.steelyard(&[&["serve", "token", "add", name], more].concat());
    made.expect(0, &[]);
    made.stdout.trim().to_owned()
}

/// Posts something; the status and what is said.
fn post(address: &str, path: &str, token: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "POST /{path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, said) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), said.trim().to_owned())
}

/// The documents that a service sends by itself.
fn events(address: &str) -> impl Iterator<Item = Value> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let request = format!("GET /api/v1/live HTTP/1.1\r\nhost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    // Pieces of the transfer encoding are between the lines, and an event is in one piece.
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
}

fn runs(document: &Value) -> &[Value] {
    document["runs"].as_array().unwrap()
}

#[test]
fn a_run_is_followed_stopped_and_resumed() {
    if !::site::has_app() {
        return testing::skip("built without the pages of a site");
    }
    let place = Place::new();
    let [owner, ci] = [("owner", &["--runs"][..]), ("ci", &[])].map(|(n, m)| token(&place, n, m));
    let (service, address) = serve(&place, &[]);
    let mut events = events(&address);
    assert_eq!(runs(&events.next().unwrap()), [] as [Value; 0]);
    let file = place.plan(&plan(BOTH, "pairing = \"blocks\"\nblocks = 1", LONG));
    let run = place.start_run(&[&file]);
    // Until its first long step.
    let first = events.find(|it| runs(it).iter().any(|run| run["step"]["name"] == "qr100"));
    let told = runs(&first.unwrap())[0].clone();
    assert_eq!((&told["process"], &told["name"]), (&run.pid().into(), &"small".into()));
    assert_eq!((&told["experiment"], &told["all"]), (&1.into(), &6.into()));
    assert_eq!((&told["done"], &told["step"]["seconds"]), (&2.into(), &300.0.into()));
    let log = told["log"].as_array().unwrap();
    assert!(log.iter().any(|line| line.as_str().unwrap().starts_with("trial 1/2")), "{log:?}");
    let (_, document) = get(&address, "api/v1/live.json");
    assert_eq!(runs(&serde_json::from_slice(&document).unwrap()).len(), 1);

    let stop = format!("api/v1/live/{}/stop", run.pid());
    let asked = |token: &str, path: &str| post(&address, path, token, "").0;
    assert_eq!(asked("steelyard_x", &stop), 401);
    assert_eq!(asked(&ci, &stop), 403);
    assert_eq!(asked(&owner, "api/v1/live/1/stop"), 404, "it is no run");
    assert_eq!(asked(&owner, "api/v1/live/x/stop"), 404);
    assert_eq!(asked(&owner, &stop), 202);
    // The second time would end it at once.
    let again = asked(&owner, &stop);
    assert!(again == 202 || again == 404, "{again}");
    let ended = run.end();
    ended.expect(3, &["interrupted", "continue with `steelyard run --resume"]);
    assert!(events.any(|it| runs(&it).is_empty()));
    assert_eq!(names(&place.results().join("live")), [""; 0]);

    let resumed = place.start_run(&["--resume"]);
    let first = events.find(|it| runs(it).iter().any(|run| run["step"]["name"] == "qr100"));
    assert_eq!(runs(&first.unwrap())[0]["experiment"], 1);
    // What is left of a run that is killed is known to be nothing.
    resumed.signal(Signal::SIGKILL);
    resumed.end();
    assert!(events.any(|it| runs(&it).is_empty()));
    service.signal(Signal::SIGINT);
    service.end().expect(0, &[]);
    place.wait_until_gone();
    let short = place.plan(&plan(ONE, "", "steps = [\"l.i0\"]"));
    place.run(&[&short, "--quiet"]).expect(0, &[]);
}

/// A run that pushes to a service of another results directory tells it how far it is.
#[test]
fn a_run_on_another_machine_is_followed() {
    if !::site::has_app() {
        return testing::skip("built without the pages of a site");
    }
    let (team, machine) = (Place::new(), Place::new());
    let [owner, ci] = [("owner", &["--runs"][..]), ("ci", &[])].map(|(n, m)| token(&team, n, m));
    let secret = machine.path().join("token");
    std::fs::write(&secret, &ci).unwrap();
    let (service, address) = serve(&team, &[]);
    let mut events = events(&address);
    let file = machine.plan(&plan(ONE, "", LONG));
    let (secret, to) = (secret.to_str().unwrap(), format!("http://{address}"));
    let with_token = |inner: &Command| {
        let mut command = Command::new(inner.get_program());
        command.args(inner.get_args()).env("STEELYARD_TOKEN_FILE", secret);
        command
    };
    let run = machine.start_run_in(with_token, &[&file, "--push", &to]);
    let first = events.find(|it| runs(it).iter().any(|run| run["step"]["name"] == "qr100"));
    let told = runs(&first.unwrap())[0].clone();
    assert_eq!((&told["machine"], &told["name"]), (&"ci".into(), &"small".into()));
    assert_eq!((&told["process"], &told["experiment"]), (&run.pid().into(), &Value::Null));
    let stop = format!("api/v1/live/{}/stop", run.pid());
    assert_eq!(post(&address, &stop, &owner, "").0, 404, "it is on another machine");
    run.signal(Signal::SIGINT);
    run.end().expect(3, &["interrupted"]);
    assert!(events.any(|it| runs(&it).is_empty()));
    assert_eq!(names(&team.results().join("live")), [""; 0]);
    service.signal(Signal::SIGINT);
    service.end().expect(0, &[]);
}

#[test]
fn a_note_is_added_by_who_has_a_token() {
    if !::site::has_app() {
        return testing::skip("built without the pages of a site");
    }
    let place = Place::new();
    let [ci, eve] = [("ci", &[][..]), ("eve", &["--read-only"])].map(|(n, m)| token(&place, n, m));
    place.run(&[&place.plan(&plan(ONE, "", "steps = [\"l.i0\"]"))]).expect(0, &[]);
    let (service, address) = serve(&place, &[]);
    let notes = "api/v1/experiments/1/notes";
    let bug = r#"{"kind": "bug", "text": "https://bugs.example.com/17", "step": "l.i0"}"#;
    let long = format!("{{\"kind\": \"noise\", \"text\": \"{}\"}}", "x".repeat(20_000));
    for (path, token, body, status, says) in [
        (notes, "steelyard_x", bug, 401, "does not know this token"),
        (notes, &eve, bug, 403, "only for reading"),
        ("api/v1/experiments/2/notes", &ci, bug, 404, "no such experiment"),
        ("api/v1/experiments/x/notes", &ci, bug, 404, "no such experiment"),
        (notes, &ci, "{}", 400, "missing field `kind`"),
        (notes, &ci, r#"{"kind": "bug", "by": "root"}"#, 400, "unknown field `by`"),
        (notes, &ci, r#"{"kind": "bug"}"#, 422, "bug says which"),
        (notes, &ci, r#"{"kind": "noise", "step": "x"}"#, 422, "one of the steps l.i0, found x"),
        (notes, &ci, &long, 413, "16 KB"),
        (notes, &ci, bug, 201, "noted"),
    ] {
        let (found, said) = post(&address, path, token, body);
        assert!(found == status && said.contains(says), "{body}: {found} {said}");
    }
    let listed = place.steelyard(&["note"]);
    assert_eq!(listed.stdout.lines().count(), 1, "{}", listed.stdout);
    assert!(listed.stdout.contains("bug: https://bugs.example.com/17 (ci, "), "{}", listed.stdout);
    let (_, document) = get(&address, "api/v1/experiments/1.json");
    assert!(String::from_utf8(document).unwrap().contains("bugs.example.com"));
    service.signal(Signal::SIGINT);
    service.end().expect(0, &[]);
}

#[test]
fn a_plan_is_started_by_who_may() {
    if !::site::has_app() {
        return testing::skip("built without the pages of a site");
    }
    let place = Place::new();
    let [owner, ci] = [("owner", &["--runs"][..]), ("ci", &[])].map(|(n, m)| token(&place, n, m));
    let plans = place.path().join("plans");
    std::fs::create_dir(&plans).unwrap();
    let short = plan(ONE, "", "steps = [\"l.i0\"]");
    for (name, text) in [("short.toml", &*short), ("broken.toml", "x = 1"), ("note.txt", &short)] {
        std::fs::write(plans.join(name), text).unwrap();
    }
    let (plans, data) = (plans.to_str().unwrap(), place.data());
    let options = ["--allow-concurrent", "--data-dir", data.to_str().unwrap()];
    let more = [&["--plans", plans, "--"], &options[..]].concat();
    let (service, address) = serve(&place, &more);
    let mut events = events(&address);
    let first = events.next().unwrap();
    assert_eq!(first["plans"], serde_json::json!(["broken.toml", "short.toml"]));
    let start = |token: &str, body: &str| post(&address, "api/v1/runs", token, body);
    let named = |name: &str| format!("{{\"plan\": \"{name}\"}}");
    assert_eq!(start(&ci, &named("short.toml")).0, 403);
    for name in ["none.toml", "note.txt", "../plans/short.toml", ""] {
        assert_eq!(start(&owner, &named(name)).0, 404, "{name}");
    }
    for nonsense in ["{}", "{\"plan\": \"short.toml\", \"words\": []}", ""] {
        assert_eq!(start(&owner, nonsense).0, 400, "{nonsense}");
    }
    let (status, said) = start(&owner, &named("broken.toml"));
    assert!(status == 422 && said.contains("broken.toml"), "{status} {said}");
    let (status, said) = start(&owner, "{\"plan\": \"short.toml\", \"resume\": true}");
    assert!(status == 422 && said.contains("unfinished"), "{status} {said}");
    let (status, said) = start(&owner, &named("short.toml"));
    assert!(status == 202 && said.starts_with("started as process "), "{status} {said}");
    let mut seen = events.skip_while(|it| runs(it).iter().all(|run| run["name"] != "small"));
    assert_eq!(runs(&seen.next().unwrap())[0]["name"], "small");
    assert!(seen.any(|it| runs(&it).is_empty()), "it ends");
    let list = place.steelyard(&["list"]).stdout;
    assert!(list.contains("\tfinished\t"), "{list}");
    service.signal(Signal::SIGINT);
    service.end().expect(0, &[]);
    // Without the option, there are none.
    let (service, address) = serve(&place, &[]);
    assert_eq!(post(&address, "api/v1/runs", &owner, &named("short.toml")).0, 403);
    service.signal(Signal::SIGINT);
    service.end().expect(0, &[]);
}
