//! Receiving experiments from other machines.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use archive::{PIECE, Pushed, ServiceUrl};
use proptest::prelude::*;
use serve::{Right, Service, Tokens};
use sha2::{Digest, Sha256};
use store::{ExperimentId, Store};

use crate::common::{SMALL, Size, fill};
use crate::socket::{Response, Served};

/// What unfinished uploads may take together.
const LIMIT: u64 = 64 << 20;

/// A service of an empty results directory, with a token to push.
fn receiving(folder: &Path) -> Option<(Served, String)> {
    if !site::has_app() {
        testing::skip("built without the pages of a site");
        return None;
    }
    let results = folder.join("service");
    let store = Store::open(&results).unwrap();
    let token = Tokens::of(&results).add("ci", Right::Push).unwrap();
    let service = Service::open(store, None).unwrap().receiving(true, LIMIT);
    Some((Served::new(service), token))
}

/// Two experiments; the first has a file of several pieces.
fn results(folder: &Path) -> Store {
    let results = folder.join("machine");
    fill(&results, &Size { experiments: 2, ..SMALL }, 0);
    let database = rusqlite::Connection::open(results.join(store::DATABASE)).unwrap();
    database.execute("UPDATE experiment SET name = 'x' || id", []).unwrap();
    drop(database);
    let store = Store::open(&results).unwrap();
    let logs = store.artifacts().join("logs");
    fs::create_dir_all(&logs).unwrap();
    let log = testing::noise(PIECE * 2 + 100);
    fs::write(logs.join("a.b1.dop1.t1.log"), log).unwrap();
    store
}

fn client(served: &Served, token: &str) -> archive::Service {
    let url: ServiceUrl = format!("http://{}", served.address).parse().unwrap();
    archive::Service::open(url, archive::Token::new(token)).unwrap()
}

#[test]
fn what_is_pushed_is_shown_once() {
    let folder = tempfile::tempdir().unwrap();
    let Some((served, token)) = receiving(folder.path()) else { return };
    let (store, work) = (results(folder.path()), folder.path().join("work"));
    let client = client(&served, &token);
    client.check().unwrap();
    let push = |id| client.push(&store, ExperimentId(id), "0.1.0", &work).unwrap();
    assert_eq!(push(2), (Pushed::Added, 2), "the first keeps its number");
    assert_eq!(push(1), (Pushed::Added, 3));
    assert_eq!(push(1), (Pushed::Present, 3));
    for (number, status) in [(1, 404), (2, 200), (3, 200), (4, 404)] {
        let path = format!("/api/v1/experiments/{number}.json");
        assert_eq!(served.get(&path).status, status, "{path}");
    }
    let here = Store::open_read_only(&folder.path().join("service")).unwrap();
    for (there, id) in [(1, 3), (2, 2)] {
        let [one, other] = [
            store.content_hash(ExperimentId(there)).unwrap(),
            here.content_hash(ExperimentId(id)).unwrap(),
        ];
        assert_eq!(one, other);
    }
    let left = fs::read_dir(folder.path().join("service/.receiving")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["lock"]);
    assert_eq!(fs::read_dir(&work).unwrap().count(), 0);
}

fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A request about an upload.
fn ask(
    served: &Served,
    token: &str,
    method: &str,
    what: &str,
    headers: &str,
    body: &[u8],
) -> Response {
    let mut request = format!(
        "{method} /api/v1/{what} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\
         authorization: Bearer {token}\r\ncontent-length: {}\r\n{headers}\r\n",
        served.address,
        body.len()
    )
    .into_bytes();
    request.extend(body);
    served.send(&request).unwrap()
}

#[test]
fn an_upload_goes_on_where_it_was_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let Some((served, token)) = receiving(folder.path()) else { return };
    let store = results(folder.path());
    let file = folder.path().join("one.steelyard");
    archive::export(&store, ExperimentId(1), &file, "0.1.0").unwrap();
    let bytes = fs::read(&file).unwrap();
    let sum = sha256(&bytes);
    let upload = format!("uploads/{sum}?length={}", bytes.len());
    let offset = |response: &Response| response.header("upload-offset").map(str::to_owned);
    let head = || offset(&ask(&served, &token, "HEAD", &upload, "", b""));
    assert_eq!(head().as_deref(), Some("0"));
    let put = |place: usize, piece: &[u8]| {
        ask(&served, &token, "PUT", &upload, &format!("upload-offset: {place}\r\n"), piece)
    };
    assert_eq!(put(0, &bytes[..1000]).status, 200);
    assert_eq!(head().as_deref(), Some("1000"));
    assert_eq!(put(0, &bytes[..1000]).status, 409);
    // One that ends early adds nothing.
    let mut stream = TcpStream::connect(served.address).unwrap();
    let begin = format!(
        "PUT /api/v1/{upload} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
         upload-offset: 1000\r\ncontent-length: 5000\r\n\r\nabc"
    );
    stream.write_all(begin.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert_eq!(head().as_deref(), Some("1000"), "{answer}");
    let large = ask(
        &served,
        &token,
        "PUT",
        &upload,
        "upload-offset: 1000\r\n",
        &bytes[1000..1000 + PIECE + 1],
    );
    assert_eq!(large.status, 413);
    assert_eq!(served.get("/api/v1/experiments/1.json").status, 404, "nothing half is shown");
    // The same file is packed again, so the rest of it is sent.
    let pushed =
        client(&served, &token).push(&store, ExperimentId(1), "0.1.0", &folder.path().join("work"));
    assert_eq!(pushed.unwrap(), (Pushed::Added, 1));
    assert_eq!(served.get("/api/v1/experiments/1.json").status, 200);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let Some((served, token)) = receiving(folder.path()) else { return };
    let content = b"no archive";
    let sum = sha256(content);
    let put = |what: &str, place: &str| {
        let offset = format!("upload-offset: {place}\r\n");
        let answer = ask(&served, &token, "PUT", what, &offset, content);
        (answer.status, String::from_utf8(answer.body).unwrap())
    };
    let whole = format!("uploads/{sum}?length=10");
    let (status, told) = put(&whole, "0");
    assert_eq!(status, 422);
    assert!(told.contains("is not an experiment exported by steelyard"), "{told}");
    let other = "0".repeat(64);
    assert_eq!(put(&format!("uploads/{other}?length=10"), "0").0, 422, "another hash");
    assert_eq!(put(&format!("uploads/{sum}?length=9"), "0").0, 422, "too long");
    let (status, told) = put(&format!("uploads/{sum}?length={}", LIMIT + 1), "0");
    assert_eq!(status, 413);
    assert!(told.contains("--uploads"), "{told}");
    for (what, place) in [
        (&*whole, "x"),
        (&*whole, "-1"),
        ("uploads/x?length=10", "0"),
        ("uploads/..%2F..%2Fx?length=10", "0"),
        (&format!("uploads/{sum}"), "0"),
        (&format!("uploads/{sum}?length=-1"), "0"),
    ] {
        assert_eq!(put(what, place).0, 400, "{what}");
    }
    assert_eq!(put(&whole, "18446744073709551615").0, 422);
    assert_eq!(ask(&served, &token, "GET", "archives/x?began=1", "", b"").status, 400);
    let missing = format!("archives/{other}?began=1");
    assert_eq!(ask(&served, &token, "GET", &missing, "", b"").status, 404);
    for method in ["POST", "DELETE", "PATCH"] {
        assert_eq!(ask(&served, &token, method, &whole, "", b"").status, 405);
    }
    let entries = fs::read_dir(folder.path().join("service/.receiving")).unwrap().count();
    assert_eq!(entries, 1, "only the lock is left");
}

#[test]
fn only_who_may_push_can() {
    let folder = tempfile::tempdir().unwrap();
    let Some((served, token)) = receiving(folder.path()) else { return };
    let tokens = Tokens::of(&folder.path().join("service"));
    let reader = tokens.add("eve", Right::Read).unwrap();
    let missing = format!("archives/{}?began=1", "0".repeat(64));
    let status = |token: &str| ask(&served, token, "GET", &missing, "", b"").status;
    assert_eq!((status(&token), status(&reader)), (404, 403));
    let error = client(&served, &reader).check().unwrap_err();
    assert!(error.is_request() && error.to_string().contains("only for reading"), "{error}");
    tokens.remove("ci").unwrap();
    let mut last = 0;
    for _ in 0..11 {
        last = status(&token);
    }
    assert_eq!(last, 429, "wrong too often");
    let error = client(&served, &token).check().unwrap_err().to_string();
    assert!(error.contains("too many wrong tokens") && !error.contains(&token), "{error}");
    assert_eq!(served.get("/").status, 200, "readers of this machine need none");
}

/// Whatever is said about an upload: nothing fails, and nothing is shown.
#[test]
fn no_upload_ends_the_service_or_shows_something() {
    let folder = tempfile::tempdir().unwrap();
    let Some((served, token)) = receiving(folder.path()) else { return };
    let hash = prop_oneof![Just("0".repeat(64)), "[0-9a-f]{60,66}", "[ -~&&[^ ?#]]{0,20}"];
    let query = prop_oneof![
        "length=[0-9]{0,22}",
        "began=-?[0-9]{0,22}(&notes=[a-z-]{0,9})?",
        "[a-z=&]{0,12}"
    ];
    let offset = prop_oneof!["[0-9]{0,22}", "[ -~]{0,9}"];
    let method = prop::sample::select(&["GET", "HEAD", "PUT", "POST"][..]);
    let kind = prop::sample::select(&["uploads", "archives"][..]);
    let body = prop::collection::vec(any::<u8>(), 0..80);
    let request = (method, kind, hash, query, offset, body);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(300));
    let tried = runner.run(&request, |(method, kind, hash, query, offset, body)| {
        let what = format!("{kind}/{hash}?{query}");
        let headers = format!("upload-offset: {offset}\r\n");
        let answer = ask(&served, &token, method, &what, &headers, &body);
        // Only a lack of room is the service's.
        prop_assert!(answer.status < 500 || answer.status == 507, "{what}: {}", answer.status);
        Ok(())
    });
    tried.unwrap();
    assert_eq!(served.get("/api/v1/experiments.json").status, 200);
    assert_eq!(served.get("/api/v1/experiments/1.json").status, 404);
    let outside = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(outside, 1, "nothing was written elsewhere");
}
