//! Documents that are made before somebody asks for them.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serve::{Answer, Service};
use store::Store;

use crate::common::{SMALL, Size, fill};
use crate::socket::Served;

/// Longer than anything takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(300);

fn open(results: &Path, kept: Option<&Path>) -> Service {
    Service::open(Store::open_read_only(results).unwrap(), kept).unwrap()
}

/// The paths of documents that take long.
fn long(service: &Service) -> Vec<String> {
    let mut paths = service.paths();
    paths.retain(|path| {
        let rest = path.strip_prefix("api/v1/").unwrap_or_default();
        let parts: Vec<&str> = rest.split('/').collect();
        matches!(parts[..], ["experiments", _] | ["history", ..]) && parts.len() > 1
    });
    paths
}

#[test]
fn what_takes_long_is_there_before_it_is_asked_for() {
    if !site::has_app() {
        return testing::skip("built without the pages of a site");
    }
    let folder = tempfile::tempdir().unwrap();
    let (results, kept) = (folder.path().join("results"), folder.path().join("kept.json"));
    fill(&results, &SMALL, 0);
    let served = Served::new(open(&results, Some(&kept)).preparing(|| false));
    let wait = || {
        let (wanted, begin) = (long(&served.service), Instant::now());
        let files = || fs::read_dir(kept.with_extension("pages")).map_or(0, Iterator::count);
        while files() != wanted.len() {
            assert!(begin.elapsed() < LIMIT, "{} of {wanted:?}", files());
            std::thread::sleep(Duration::from_millis(20));
        }
        wanted
    };
    let first = wait();
    assert!(first.len() > 6, "{first:?}");

    // New results are noticed when somebody asks; what they change is made anew.
    fill(&results, &Size { experiments: 7, ..SMALL }, 6);
    assert_eq!(served.get("/api/v1/overview.json").status, 200);
    let begin = Instant::now();
    while long(&served.service).len() == first.len() {
        assert!(begin.elapsed() < LIMIT);
    }
    let all = wait();
    drop(served);

    // Another service has them, packed and not, as one that makes them itself.
    let (prepared, plain) = (open(&results, Some(&kept)).preparing(|| true), open(&results, None));
    for path in all {
        let unpacked = |answer| match answer {
            Answer::Document { content, mark, packed: false, .. } => (content, mark),
            other => panic!("{path}: {other:?}"),
        };
        let made = unpacked(plain.answer(&path, |_| false).unwrap());
        assert_eq!(unpacked(prepared.answer(&path, |_| false).unwrap()), made, "{path}");
        let Answer::Document { content, packed: true, .. } =
            prepared.answer_packed(&path, |_| false).unwrap()
        else {
            panic!("{path} is not packed")
        };
        let mut text = Vec::new();
        let mut reader = flate2::read::GzDecoder::new(&*content);
        std::io::Read::read_to_end(&mut reader, &mut text).unwrap();
        assert!(text == *made.0, "{path} differs");
    }
}

#[test]
fn nothing_is_made_in_advance_while_something_is_measured() {
    if !site::has_app() {
        return testing::skip("built without the pages of a site");
    }
    let folder = tempfile::tempdir().unwrap();
    let (results, kept) = (folder.path().join("results"), folder.path().join("kept.json"));
    fill(&results, &SMALL, 0);
    let served = Served::new(open(&results, Some(&kept)).preparing(|| true));
    for path in long(&served.service) {
        assert_eq!(served.get(&format!("/{path}")).status, 200, "who asks gets it");
    }
    drop(served);
    assert!(!kept.with_extension("pages").exists());
}
