//! Whatever is asked: nothing but the documents is answered, and nothing fails.

use proptest::prelude::*;
use serve::{Answer, Service};
use store::Store;

use crate::common::{SMALL, fill};
use crate::socket::Served;

/// Pieces of which paths that lead elsewhere are made.
const PIECES: [&str; 22] = [
    "api",
    "v1",
    "experiments",
    "history",
    "machines.json",
    "..",
    ".",
    "",
    "%2e%2e",
    "%2F",
    "1.json",
    "steelyard.db",
    "artifacts",
    "index.html",
    "\\",
    "etc",
    "passwd",
    "-1.json",
    "1e3.json",
    "99999999999999999999.json",
    "%00",
    "null.json",
];

fn path() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(&PIECES[..]), 0..8);
    prop_oneof![pieces.prop_map(|pieces| pieces.join("/")), "\\PC{0,60}", "[ -~]{0,60}"]
}

#[test]
fn no_path_leads_elsewhere() {
    if !site::has_app() {
        return testing::skip("built without the pages of a site");
    }
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), &SMALL, 0);
    let service = Service::open(Store::open_read_only(folder.path()).unwrap(), None).unwrap();
    let paths = service.paths();
    let served = Served::new(service);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(300));
    let tried = runner.run(&path(), |path| {
        let known = path.is_empty() || paths.contains(&path);
        let answer = served.service.answer(&path, |_| false).unwrap();
        prop_assert_eq!(known, !matches!(answer, Answer::Missing), "{}", path);
        let request =
            format!("GET /{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        let Some(response) = served.send(request.as_bytes()) else { return Ok(()) };
        prop_assert!(response.status < 500, "{}: {}", path, response.status);
        // What comes after `?` or `#` does not belong to the path.
        let bare = path.split(['?', '#', ' ']).next().unwrap_or_default().trim_start_matches('/');
        let there = bare.is_empty() || paths.iter().any(|known| known == bare);
        prop_assert!(there || response.status != 200, "{} was answered", path);
        Ok(())
    });
    tried.unwrap();
}

#[test]
fn no_bytes_end_the_service() {
    if !site::has_app() {
        return testing::skip("built without the pages of a site");
    }
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), &SMALL, 0);
    let service = Service::open(Store::open_read_only(folder.path()).unwrap(), None).unwrap();
    let served = Served::new(service);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(200));
    let header = prop_oneof!["[ -~]{0,40}", "(host|if-none-match|range|accept): [ -~]{0,40}"];
    let request = (prop::collection::vec(header, 0..4), prop::collection::vec(any::<u8>(), 0..80));
    let tried = runner.run(&request, |(headers, bytes)| {
        let mut request =
            format!("GET / HTTP/1.1\r\n{}\r\n\r\n", headers.join("\r\n")).into_bytes();
        for request in [bytes.clone(), {
            request.extend(bytes);
            request
        }] {
            if let Some(response) = served.send_all(&request) {
                prop_assert!(response.status < 500, "{}", response.status);
            }
        }
        Ok(())
    });
    tried.unwrap();
    assert_eq!(served.get("/").status, 200);
}
