//! Documents that are made before somebody asks for them.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serve::{Answer, Service};
use store::Store;
use tempfile::TempDir;

use crate::common::{SMALL, Size, fill};
use crate::socket::Served;

/// Longer than anything takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(300);

/// A few results, and where a service keeps what it knows of them.
struct Folder {
    _folder: TempDir,
    results: PathBuf,
    kept: PathBuf,
}

impl Folder {
    fn new() -> Option<Folder> {
        if !site::has_app() {
            testing::skip("built without the pages of a site");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let (results, kept) = (folder.path().join("results"), folder.path().join("kept.json"));
        fill(&results, &SMALL, 0);
        Some(Folder { _folder: folder, results, kept })
    }
}

fn open(results: &Path, kept: Option<&Path>) -> Service {
    Service::open(Store::open_read_only(results).unwrap(), kept).unwrap()
}

fn wait(until: impl Fn() -> bool) {
    let begin = Instant::now();
    while !until() {
        assert!(begin.elapsed() < LIMIT);
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The paths of documents that take long.
fn long(service: &Service) -> Vec<String> {
    let mut paths = service.paths();
    paths.retain(|path| {
        let rest = path.strip_prefix("api/v1/").unwrap_or_default();
        let parts: Vec<&str> = rest.split('/').collect();
        matches!(parts[..], ["experiments", _] | ["history", _, ..])
    });
    paths
}

/// The files of documents.
fn files(kept: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(kept.with_extension("pages")).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "gz"));
    paths
}

/// Content and mark of a path.
fn answered(service: &Service, path: &str) -> (Vec<u8>, String) {
    match service.answer(path, |_| false).unwrap() {
        Answer::Document { content, mark, packed: false, .. } => (content.to_vec(), mark),
        other => panic!("{path}: {other:?}"),
    }
}

/// The content of a path as it is sent compressed.
fn unpacked(service: &Service, path: &str) -> Vec<u8> {
    let answer = service.answer_packed(path, |_| false).unwrap();
    let Answer::Document { content, packed: true, .. } = answer else { panic!("{path}") };
    let mut text = Vec::new();
    GzDecoder::new(&*content).read_to_end(&mut text).unwrap();
    text
}

#[test]
fn what_takes_long_is_there_before_it_is_asked_for() {
    let Some(Folder { results, kept, .. }) = &Folder::new() else { return };
    let served = Served::new(open(results, Some(kept)).preparing(|| false));
    let all = long(&served.service);
    assert!(all.len() > 6, "{all:?}");
    wait(|| files(kept).len() == all.len());

    // When somebody asks, it is noticed that the results have changed.
    let before = files(kept);
    fill(results, &Size { experiments: 7, ..SMALL }, 6);
    assert_eq!(served.get("/api/v1/overview.json").status, 200);
    let all = long(&served.service);
    wait(|| files(kept).len() == all.len() && files(kept) != before);
    drop(served);

    // Another service has them as one that makes them itself.
    let (prepared, plain) = (open(results, Some(kept)).preparing(|| true), open(results, None));
    for path in &all {
        assert_eq!(answered(&prepared, path), answered(&plain, path), "{path}");
        assert!(unpacked(&prepared, path) == answered(&plain, path).0, "{path} differs");
    }

    // They come from the files. What is no gzip, or gone, is made.
    let other = || {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(b"from a file").unwrap();
        encoder.finish().unwrap()
    };
    let path_of = |mark: &str| kept.with_extension("pages").join(format!("{mark}.gz"));
    let marks: Vec<String> = all.iter().map(|path| answered(&plain, path).1).collect();
    fs::write(path_of(&marks[0]), other()).unwrap();
    fs::write(path_of(&marks[1]), "torn").unwrap();
    fs::remove_file(path_of(&marks[2])).unwrap();
    let again = || open(results, Some(kept)).preparing(|| true);
    assert_eq!(unpacked(&again(), &all[0]), b"from a file");
    let again = again();
    assert_eq!(answered(&again, &all[0]).0, b"from a file");
    for path in &all[1..3] {
        assert_eq!(answered(&again, path), answered(&plain, path), "{path}");
    }
}

#[test]
fn nothing_is_made_in_advance_while_something_is_measured() {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    let Some(Folder { results, kept, .. }) = &Folder::new() else { return };
    let measuring = || ASKED.fetch_add(1, Ordering::Relaxed) < u32::MAX;
    let served = Served::new(open(results, Some(kept)).preparing(measuring));
    for path in long(&served.service) {
        assert_eq!(served.get(&format!("/{path}")).status, 200, "who asks gets it");
    }
    wait(|| ASKED.load(Ordering::Relaxed) > 0);
    drop(served);
    assert_eq!(files(kept), Vec::<PathBuf>::new());
}

/// Whether results have changed means something only within one connection to the store.
#[test]
fn what_has_come_is_prepared_though_nobody_asks() {
    let Some(Folder { results, kept, .. }) = &Folder::new() else { return };
    // The thread begins when the results have changed.
    static CHANGED: AtomicU32 = AtomicU32::new(0);
    let measuring = || {
        wait(|| CHANGED.load(Ordering::Relaxed) == 1);
        false
    };
    let served = Served::new(open(results, Some(kept)).preparing(measuring));
    let before = long(&served.service).len();
    fill(results, &Size { experiments: 7, ..SMALL }, 6);
    CHANGED.store(1, Ordering::Relaxed);
    wait(|| files(kept).len() > before);
    let all = long(&served.service).len();
    assert!(all > before);
    wait(|| files(kept).len() == all);
}
