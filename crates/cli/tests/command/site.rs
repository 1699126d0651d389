//! A static site and a service of the same results.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::archive::{BUCKET, add, command};
use crate::moto::Moto;
use crate::place::{Place, Running};

/// The paths of a site's documents.
fn paths(site: &Path) -> Vec<String> {
    let manifest = fs::read(site.join("site.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    manifest["files"].as_object().unwrap().keys().cloned().collect()
}

/// The address that a service says it listens on.
pub fn address(service: &mut Running) -> String {
    service.wait_for("Open http://", "/ in a browser");
    let heard = service.heard();
    let (_, rest) = heard.split_once("http://").unwrap();
    rest.split('/').next().unwrap().to_owned()
}

pub fn get(address: &str, path: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let status = String::from_utf8_lossy(&answer[..end]).lines().next().unwrap().to_owned();
    (status, answer[end + 4..].to_vec())
}

#[test]
fn a_site_and_a_service_have_the_same_documents() {
    if !::site::has_app() {
        return testing::skip("built without the pages of a site");
    }
    let place = Place::new();
    let results = place.results();
    add(&results, "first <script>", 1_700_000_000_000, 0);
    add(&results, "second", 1_700_000_100_000, 0);
    let site = place.path().join("site");
    let output = site.to_str().unwrap();
    let run = |arguments: &[&str]| place.spawn(command(&place, arguments)).end();
    let made = run(&["site", "-o", output]);
    made.expect(0, &[]);
    assert!(made.stdout.contains(" files written ("), "{}", made.stdout);
    let again = run(&["site", "-o", output]);
    assert!(again.stdout.contains(": 0 files written (0 KB)"), "{}", again.stdout);

    let mut service = place.spawn(command(&place, &["serve", "--listen", "localhost:0"]));
    let address = address(&mut service);
    // A service tells of runs under way, and a site of none.
    for path in paths(&site).into_iter().filter(|path| path != "api/v1/live.json") {
        let (status, content) = get(&address, &path);
        assert_eq!(status, "HTTP/1.1 200 OK", "{path}");
        assert!(content == fs::read(site.join(&path)).unwrap(), "{path} differs");
    }
    for path in
        ["steelyard.db", "../results/steelyard.db", "site.json", "api/v1/experiments/9.json"]
    {
        assert_eq!(get(&address, path).0, "HTTP/1.1 404 Not Found", "{path}");
    }
    // What comes while it runs is there.
    add(&results, "third", 1_700_000_200_000, 0);
    assert_eq!(get(&address, "api/v1/experiments/3.json").0, "HTTP/1.1 200 OK");
    let taken = run(&["serve", "--listen", &address]);
    taken.expect(2, &["cannot listen on", "--listen"]);
    service.signal(Signal::SIGINT);
    service.end().expect(0, &[]);

    // Pushed experiments have the same pages, numbered by when they began.
    let bucket = format!("file://{}", place.path().join("bucket").display());
    run(&["push", &bucket]).expect(0, &[]);
    let of_bucket = place.path().join("of-bucket");
    let target = format!("file://{}", of_bucket.display());
    run(&["site", "--results", &bucket, "-o", &target]).expect(0, &[]);
    run(&["site", "-o", output]).expect(0, &[]);
    for path in paths(&site) {
        let [one, other] = [&site, &of_bucket].map(|site| fs::read(site.join(&path)).unwrap());
        assert!(one == other, "{path} differs at an address");
    }
}

#[test]
fn a_service_is_for_this_machine_alone_and_a_site_has_a_place_of_its_own() {
    if !::site::has_app() {
        return testing::skip("built without the pages of a site");
    }
    let place = Place::new();
    add(&place.results(), "only", 1_700_000_000_000, 0);
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refused = place.steelyard(&["serve", "--listen", address]);
        refused.expect(2, &["an address of this machine alone", "serve token add", "SSH tunnel"]);
    }
    place.steelyard(&["serve", "--listen", "nonsense"]).expect(2, &["such as 127.0.0.1:7700"]);
    let results = place.results();
    let refused = place.steelyard(&["site", "-o", results.to_str().unwrap()]);
    refused.expect(2, &["found other files"]);
    let nothing = place.path().join("nothing");
    let nothing = nothing.to_str().unwrap();
    place.steelyard(&["serve", "--results", nothing]).expect(2, &[]);
    place.steelyard(&["site", "--results", nothing, "-o", nothing]).expect(2, &[]);
}

#[test]
fn a_site_in_object_storage_is_renewed_by_the_requests_that_it_takes() {
    let Some(moto) = Moto::start(None) else { return };
    if !::site::has_app() {
        return testing::skip("built without the pages of a site");
    }
    let place = Place::new();
    add(&place.results(), "first", 1_700_000_000_000, 0);
    let run = |arguments: &[&str]| {
        let mut command = command(&place, arguments);
        moto.with(&mut command);
        let ended = place.spawn(command).end();
        ended.expect(0, &[]);
        ended
    };
    // Beside what was pushed.
    run(&["push", BUCKET]);
    let output = "s3://bucket/site";
    run(&["site", "--results", BUCKET, "-o", output]);
    let described = moto.python(
        "it = client('s3').get_object(Bucket='bucket', Key='site/index.html')\n\
         print(it['ContentType'], it['CacheControl'])",
    );
    assert_eq!(described.trim(), "text/html; charset=utf-8 no-cache");
    let writes = |since: usize| -> Vec<String> {
        let mut requests = moto.requests(since);
        // S3 removes several objects by one POST.
        let writing = ["PUT ", "POST ", "DELETE "];
        requests.retain(|it| writing.iter().any(|method| it.starts_with(method)));
        requests
    };
    let before = moto.log().len();
    run(&["site", "--results", BUCKET, "-o", output]);
    assert_eq!(writes(before), [""; 0], "nothing is new");

    // From elsewhere, with fewer experiments: what is gone is removed.
    let other = place.path().join("other");
    let before = moto.log().len();
    add(&other, "other", 1_700_000_000_000, 0);
    add(&other, "another", 1_700_000_100_000, 0);
    run(&["site", "--results", other.to_str().unwrap(), "-o", output]);
    let added = writes(before);
    assert!(added.iter().any(|it| it.contains("PUT /bucket/site/api/v1/experiments/2.json")));
    run(&["rm", "--yes", "2", "--results", other.to_str().unwrap()]);
    let before = moto.log().len();
    run(&["site", "--results", other.to_str().unwrap(), "-o", output]);
    let removed = writes(before);
    assert!(!removed.iter().any(|it| it.contains("experiments/1.json")), "{removed:?}");
    let left = moto.python(
        "all = client('s3').list_objects(Bucket='bucket', Prefix='site/api/v1/experiments/')\n\
         print(*(it['Key'] for it in all['Contents']))",
    );
    let kept = ["1.json", "1/badge.svg", "1/summary.json", "1/summary.md"];
    let kept = kept.map(|name| format!("site/api/v1/experiments/{name}"));
    assert_eq!(left.trim(), kept.join(" "));
}
