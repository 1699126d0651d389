//! Requests and responses.

use std::fs;
use std::io::Read;
use std::path::Path;

use serve::Service;
use site::{Directory, MANIFEST};
use store::Store;

use crate::common::{SMALL, Size, fill};
use crate::socket::Served;

fn served(folder: &Path) -> Option<Served> {
    if !site::has_app() {
        testing::skip("built without the pages of a site");
        return None;
    }
    fill(folder, &SMALL, 0);
    let store = Store::open_read_only(folder).unwrap();
    Some(Served::new(Service::open(store, None).unwrap()))
}

#[test]
fn a_site_and_a_service_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (results, site) = (folder.path().join("results"), folder.path().join("site"));
    let Some(served) = served(&results) else { return };
    let store = Store::open_read_only(&results).unwrap();
    site::renew(&store, &Directory::open(&site).unwrap(), |_, _| {}).unwrap();
    let paths = served.service.paths();
    assert!(paths.len() > 20, "{paths:?}");
    // A service tells of runs under way, and a site of none.
    let shared = paths.iter().filter(|path| *path != "api/v1/live.json");
    for path in shared {
        let answer = served.get(&format!("/{path}"));
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.body == fs::read(site.join(path)).unwrap(), "{path} differs");
        assert_eq!(answer.header("content-type"), Some(site::media_type(path)));
    }
    let root = served.get("/");
    assert_eq!(root.body, fs::read(site.join("index.html")).unwrap());
    assert_eq!(root.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(served.get("/?view=machines").body, served.get("/").body);
    assert_eq!(served.get(&format!("/{MANIFEST}")).status, 404, "it is the site's own");
}

#[test]
fn what_is_known_is_not_sent_again_until_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let Some(served) = served(folder.path()) else { return };
    let host = format!("host: {}\r\n", served.address);
    let list = "/api/v1/experiments.json";
    let first = served.get(list);
    let tag = first.header("etag").unwrap().to_owned();
    let known = format!("{host}if-none-match: \"other\", {}\r\n", tag.replace("w/", "W/"));
    let again = served.ask("GET", list, &known);
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(again.header("etag"), Some(&*tag));
    let head = served.ask("HEAD", list, &host);
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), Some(&*first.body.len().to_string()));

    fill(folder.path(), &Size { experiments: 7, ..SMALL }, 6);
    let changed = served.ask("GET", list, &known);
    assert_eq!(changed.status, 200);
    assert!(changed.body.len() > first.body.len());
    assert_eq!(served.get("/api/v1/experiments/7.json").status, 200);
    let same = "/api/v1/experiments/1.json";
    let tag = served.get(same).header("etag").unwrap().replace("w/", "W/");
    let store = Store::open(folder.path()).unwrap();
    store.remove_experiment(store::ExperimentId(7)).unwrap();
    assert_eq!(served.get("/api/v1/experiments/7.json").status, 404);
    let unchanged = served.ask("GET", same, &format!("{host}if-none-match: {tag}\r\n"));
    assert_eq!(unchanged.status, 304, "others have not changed");
}

#[test]
fn what_is_large_is_compressed_for_those_who_take_it() {
    let folder = tempfile::tempdir().unwrap();
    let Some(served) = served(folder.path()) else { return };
    let host = format!("host: {}\r\n", served.address);
    let ask = |path: &str| served.ask("GET", path, &format!("{host}accept-encoding: br, gzip\r\n"));
    for path in ["/", "/api/v1/experiments.json", "/api/v1/experiments/1.json"] {
        let plain = served.get(path);
        assert_eq!(plain.header("content-encoding"), None);
        for _ in 0..2 {
            let packed = ask(path);
            let is_packed = packed.header("content-encoding") == Some("gzip");
            assert_eq!(is_packed, plain.body.len() >= 1024, "{path}");
            assert_eq!(packed.header("vary"), Some("accept-encoding"));
            assert_eq!(packed.header("content-type"), plain.header("content-type"));
            assert_eq!(packed.header("etag"), plain.header("etag"));
            let mut body = Vec::new();
            if is_packed {
                assert!(packed.body.len() < plain.body.len());
                flate2::read::GzDecoder::new(&*packed.body).read_to_end(&mut body).unwrap();
            } else {
                body.clone_from(&packed.body);
            }
            assert!(body == plain.body, "{path} differs");
        }
    }
}

#[test]
fn metrics_count_what_was_answered() {
    let folder = tempfile::tempdir().unwrap();
    let Some(served) = served(folder.path()) else { return };
    served.get("/api/v1/overview.json");
    served.get("/nothing");
    let answer = served.get("/metrics");
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
    let text = String::from_utf8(answer.body).unwrap();
    for line in [
        "steelyard_responses_total{class=\"2xx\"} 1",
        "steelyard_responses_total{class=\"4xx\"} 1",
        "steelyard_experiments 6",
        "steelyard_received_total 0",
    ] {
        assert!(text.lines().any(|it| it == line), "`{line}` is missing in:\n{text}");
    }
    let refused = served.ask("GET", "/metrics", "host: evil.example\r\n");
    assert_eq!(refused.status, 421);
    assert_eq!(served.ask("POST", "/metrics", "host: localhost\r\n").status, 405);
}

#[test]
fn answers_are_only_for_reading_and_for_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    let Some(served) = served(folder.path()) else { return };
    let host = format!("host: {}\r\n", served.address);
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "STRANGE"] {
        let refused = served.ask(method, "/api/v1/experiments.json", &host);
        assert_eq!((refused.status, refused.header("allow")), (405, Some("get, head")), "{method}");
    }
    for name in ["evil.example", "evil.example:7700", "localhost.evil.example"] {
        let refused = served.ask("GET", "/", &format!("host: {name}\r\n"));
        assert_eq!(refused.status, 421, "{name}");
    }
    assert_eq!(served.ask("GET", "/", "host: localhost\r\n").status, 200);
    for path in ["/", "/api/v1/overview.json", "/nothing"] {
        let answer = served.get(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'; script-src 'self'; "), "{policy}");
        assert!(!policy.split(';').any(|it| it.contains("script") && it.contains("unsafe")));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    let page = String::from_utf8(served.get("/").body).unwrap();
    assert!(!page.contains("<script>") && !page.contains("onload="), "{page}");
}

#[test]
fn a_kept_brief_is_used_by_the_next_service() {
    if !site::has_app() {
        return testing::skip("built without the pages of a site");
    }
    let folder = tempfile::tempdir().unwrap();
    let (results, kept) = (folder.path().join("results"), folder.path().join("cache/kept.json"));
    fill(&results, &SMALL, 0);
    let open = || {
        let store = Store::open_read_only(&results).unwrap();
        Service::open(store, Some(&kept)).unwrap()
    };
    let list = |service: &Service| service.answer("api/v1/experiments.json", |_| false).unwrap();
    let first = list(&open());
    let text = fs::read_to_string(&kept).unwrap();
    fs::write(&kept, text.replace("nightly-0", "changed-0")).unwrap();
    let second = list(&open());
    assert_ne!(first, second, "the kept one is shown");
    fs::write(&kept, "damaged").unwrap();
    assert_eq!(list(&open()), first);
}
