//! Archive files: an exported experiment can be imported, and a damaged one never is.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use archive::{Error, Imported};
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};
use store::{ExperimentId, Store, Warning};

use crate::common::{add, begin, results};

const ONE: ExperimentId = ExperimentId(1);

fn exported(folder: &Path) -> PathBuf {
    let store = results(folder, "load", 3000);
    let file = folder.join("load.steelyard");
    archive::export(&store, ONE, &file, "0.1.0").unwrap();
    file
}

/// Names in a directory, with hidden ones.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn an_export_is_the_same_everywhere_and_comes_back_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = exported(folder.path());
    assert!(archive::is_archive(&file).unwrap());
    assert_eq!(names(folder.path()), ["load.steelyard", "results"]);
    let manifest = archive::verify(&file).unwrap();
    assert_eq!((manifest.experiment.trials, manifest.experiment.number), (1, 1));

    // On another machine, it is one of several and has other ids.
    let other = folder.path().join("other");
    let store = Store::open(&other).unwrap();
    add(&store, "before", 1, 10);
    drop(store);
    let imported = archive::import(&file, &other).unwrap();
    assert!(matches!(imported, Imported::Added(ExperimentId(2), _)), "{imported:?}");
    let store = Store::open_read_only(&other).unwrap();
    assert_eq!(store.content_hash(ExperimentId(2)).unwrap(), manifest.content);
    let again = folder.path().join("again.steelyard");
    let second = archive::export(&store, ExperimentId(2), &again, "0.1.0").unwrap();
    assert_eq!(second.content, manifest.content);
    assert_eq!(second.experiment.number, 2);
    // Bit for bit, except for the number.
    assert_eq!(second.files, manifest.files);
    let twice = archive::import(&again, &other).unwrap();
    assert!(matches!(twice, Imported::Present(ExperimentId(2), _)), "{twice:?}");
    assert_eq!(store.all_experiments().unwrap().len(), 2);
    assert_eq!(names(&other.join("artifacts/logs")).len(), 2);
}

#[test]
fn a_manifest_says_what_became_of_an_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("results")).unwrap();
    let (killed, _) = begin(&store, "killed", 1, "postgres@13.7");
    let (failed, _) = begin(&store, "failed", 2, "postgres@13.7");
    let (imported, _) = begin(&store, "imported", 3, "imported:pgbench");
    store.warn(failed, None, &Warning::new(store::FAILED, "no such function")).unwrap();
    store.finish_experiment(imported).unwrap();
    for (id, state, purpose) in [
        (killed, "interrupted", "run"),
        (failed, "failed", "run"),
        (imported, "finished", "import"),
    ] {
        let file = folder.path().join("exported");
        let told = archive::export(&store, id, &file, "0.1.0").unwrap().experiment;
        assert_eq!((told.state.as_str(), told.purpose.as_str()), (state, purpose));
        assert_eq!(archive::verify(&file).unwrap().experiment, told, "as it is in the file");
    }
}

#[test]
fn an_unpacked_archive_is_a_results_directory() {
    let folder = tempfile::tempdir().unwrap();
    let file = exported(folder.path());
    let to = folder.path().join("unpacked");
    fs::create_dir(&to).unwrap();
    let tar = std::process::Command::new("tar").arg("xzf").arg(&file).arg("-C").arg(&to).status();
    assert!(tar.unwrap().success());
    let store = Store::open_read_only(&to).unwrap();
    let hash = archive::verify(&file).unwrap().content;
    assert_eq!(store.content_hash(ONE).unwrap(), hash);
}

#[test]
fn the_same_experiment_in_another_state_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = exported(folder.path());
    let here = folder.path().join("results");
    let store = Store::open(&here).unwrap();
    store.interrupt_experiment(ONE).unwrap();
    let error = archive::import(&file, &here).unwrap_err();
    assert!(matches!(error, Error::OtherState { here: 1, .. }), "{error}");
    assert!(error.to_string().contains("interrupted with 1 finished trials there"), "{error}");
    assert_eq!(store.all_experiments().unwrap().len(), 1);
}

/// Checks that a file is refused without a trace; returns the error.
fn refused(file: &Path) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results");
    let error = archive::import(file, &results).unwrap_err();
    assert!(!results.exists(), "{error}");
    error
}

#[test]
fn other_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    for (content, found) in [
        (&b""[..], "an empty file"),
        (b"\x1f\x8b\x08\x10\0\0\0\0\0\x03steel", "only the beginning"),
        (b"\x1f\x8b\x08\0 and so on and so on and so on", "another file compressed with gzip"),
        (b"{\"fio version\"", r#"begins with `{\"fio ve`"#),
    ] {
        fs::write(&file, content).unwrap();
        let error = refused(&file);
        assert!(matches!(error, Error::NotAnArchive { .. }), "{error}");
        assert!(error.to_string().contains(found), "{error}");
        assert!(!archive::is_archive(&file).unwrap());
    }
    let error = refused(&folder.path().join("none"));
    assert!(error.is_request() && error.to_string().contains("none"), "{error}");
}

/// An archive with a changed manifest, and files below a directory.
fn packed(manifest: &str, files: &[(&str, &[u8])], to: &Path) {
    let gzip = flate2::GzBuilder::new().comment("steelyard experiment").operating_system(3);
    let mut tar = tar::Builder::new(
        gzip.write(fs::File::create(to).unwrap(), flate2::Compression::default()),
    );
    for (path, content) in [("manifest.json", manifest.as_bytes())].iter().chain(files) {
        let mut header = tar::Header::new_gnu();
        // The builder's own functions refuse such names.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(content.len() as u64);
        header.set_cksum();
        tar.append(&header, *content).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap();
}

#[test]
fn what_a_newer_steelyard_wrote_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = archive::verify(&exported(folder.path())).unwrap();
    let file = folder.path().join("newer");
    let mut newer = manifest.clone();
    newer.schema += 1;
    newer.steelyard = "9.0.0".to_owned();
    let text = serde_json::to_string(&newer).unwrap();
    for text in [text.as_str(), r#"{"format": 2, "steelyard": "9.0.0", "schema": 1}"#] {
        packed(text, &[], &file);
        let error = refused(&file);
        assert!(matches!(error, Error::Newer { .. }), "{error}");
        assert!(error.to_string().contains("newer steelyard (9.0.0"), "{error}");
        assert!(error.to_string().contains("update steelyard"), "{error}");
    }
}

#[test]
fn what_is_too_old_to_be_upgraded_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut older = archive::verify(&exported(folder.path())).unwrap();
    let known = older.schema;
    older.schema = 5;
    let file = folder.path().join("older");
    packed(&serde_json::to_string(&older).unwrap(), &[], &file);
    let error = refused(&file);
    assert!(matches!(error, Error::Older { .. }) && error.is_request(), "{error}");
    let said = format!("expected schema {known}, found {}; measure again", older.schema);
    assert!(error.to_string().contains(&said), "{error}");
}

/// A run keeps its hash in an upgrade; a count does not.
#[test]
fn what_an_earlier_version_wrote_is_upgraded() {
    let folder = tempfile::tempdir().unwrap();
    let current = archive::verify(&exported(folder.path())).unwrap();
    let hashes = [
        "aedd3633ca626058a78b829548bd4ce4721a9fd6979e00a3b0919f6bbf1b8f5a",
        "f3792cc35df6691aa789abf14592dd1c301affdade1a0f24fd7319818b6314f7",
    ];
    let results = folder.path().join("imported");
    for (content, other) in hashes.into_iter().zip([2, 1]) {
        let database = folder.path().join(format!("{other}.db"));
        let old = rusqlite::Connection::open(&database).unwrap();
        old.execute_batch(include_str!("../../store/tests/fixtures/schema-6.sql")).unwrap();
        let only = format!("PRAGMA foreign_keys = ON; DELETE FROM experiment WHERE id = {other}");
        old.execute_batch(&only).unwrap();
        drop(old);
        let database = fs::read(&database).unwrap();
        let mut older = current.clone();
        older.schema = 6;
        older.content = content.to_owned();
        older.files.truncate(1);
        older.files[0].bytes = database.len() as u64;
        let sum = Sha256::digest(&database);
        older.files[0].sha256 = sum.iter().map(|byte| format!("{byte:02x}")).collect();
        let file = folder.path().join("older");
        let text = serde_json::to_string(&older).unwrap();
        packed(&text, &[("steelyard.db", &database)], &file);
        assert!(matches!(archive::import(&file, &results).unwrap(), Imported::Added(..)));
        assert!(matches!(archive::import(&file, &results).unwrap(), Imported::Present(..)));
    }
    let store = Store::open_read_only(&results).unwrap();
    let found: Vec<String> =
        [ExperimentId(2), ONE].map(|id| store.content_hash(id).unwrap()).into();
    assert!(found.contains(&hashes[0].to_owned()), "{found:?}");
    assert_eq!(store.all_experiments().unwrap().len(), 2);
    let kept = names(&results).into_iter().find(|name| name.contains("schema"));
    assert_eq!(kept, None, "the database upgraded was that of the file");
}

#[test]
fn files_that_lead_elsewhere_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = archive::verify(&exported(folder.path())).unwrap();
    let file = folder.path().join("escaping");
    let sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let bad = ["../escaped", "/tmp/escaped", "artifacts/../../escaped", "steelyard.db-wal"];
    for path in bad {
        let mut manifest = manifest.clone();
        manifest.files[0].bytes = 0;
        manifest.files[0].sha256 = sum.to_owned();
        manifest.files[1].path = path.to_owned();
        manifest.files[1].bytes = 0;
        manifest.files[1].sha256 = sum.to_owned();
        let files: [(&str, &[u8]); 2] = [("steelyard.db", b""), (path, b"")];
        packed(&serde_json::to_string(&manifest).unwrap(), &files, &file);
        let error = refused(&file);
        assert!(error.to_string().contains("leads outside"), "{error}");
        // Not listed at all.
        manifest.files.truncate(1);
        packed(&serde_json::to_string(&manifest).unwrap(), &files, &file);
        assert!(refused(&file).to_string().contains("does not list"));
    }
}

#[test]
fn a_database_that_is_not_the_one_hashed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = exported(folder.path());
    let mut manifest = archive::verify(&file).unwrap();
    manifest.content = "0".repeat(64);
    let unpacked = folder.path().join("unpacked");
    fs::create_dir(&unpacked).unwrap();
    let tar =
        std::process::Command::new("tar").arg("xzf").arg(&file).arg("-C").arg(&unpacked).status();
    assert!(tar.unwrap().success());
    let contents: Vec<(String, Vec<u8>)> = manifest
        .files
        .iter()
        .map(|entry| (entry.path.clone(), fs::read(unpacked.join(&entry.path)).unwrap()))
        .collect();
    let files: Vec<(&str, &[u8])> =
        contents.iter().map(|(path, content)| (path.as_str(), content.as_slice())).collect();
    packed(&serde_json::to_string(&manifest).unwrap(), &files, &file);
    let to = folder.path().join("to");
    let error = archive::import(&file, &to).unwrap_err();
    assert!(error.to_string().contains("expected the content hash 0000"), "{error}");
    assert!(Store::open_read_only(&to).unwrap().all_experiments().unwrap().is_empty());
    assert_eq!(names(&to.join("artifacts")), Vec::<String>::new());
    assert!(!names(&to).iter().any(|name| name.starts_with('.')));
}

#[test]
fn a_place_that_does_not_exist_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = results(folder.path(), "load", 10);
    let error = archive::export(&store, ONE, &folder.path().join("none/x"), "0.1.0").unwrap_err();
    assert!(error.is_request() && error.to_string().contains("none"), "{error}");
    let error =
        archive::export(&store, ExperimentId(5), &folder.path().join("x"), "0").unwrap_err();
    assert!(error.is_request() && error.to_string().contains("experiment 5"), "{error}");
    assert_eq!(names(folder.path()), ["results"]);
}

static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    fs::read(exported(folder.path())).unwrap()
});

/// Imports bytes; if that works, the content hash.
fn attempt(bytes: &[u8]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, bytes).unwrap();
    let results = folder.path().join("results");
    match archive::import(&file, &results) {
        Ok(_) => {
            let store = Store::open_read_only(&results).unwrap();
            Some(store.content_hash(ONE).unwrap())
        }
        Err(_) => {
            let store = Store::open_read_only(&results).ok();
            assert!(store.is_none_or(|store| store.all_experiments().unwrap().is_empty()));
            None
        }
    }
}

#[test]
fn whatever_is_cut_off_is_refused() {
    let step = GOOD.len() / 60;
    for length in (0..GOOD.len()).step_by(step).chain(GOOD.len() - 30..GOOD.len()) {
        assert_eq!(attempt(&GOOD[..length]), None, "cut off at {length} of {}", GOOD.len());
    }
    assert!(attempt(&GOOD).is_some());
    assert_eq!(attempt(&[&GOOD[..], b"x"].concat()), None);
    assert_eq!(attempt(&[&GOOD[..], &GOOD[..]].concat()), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// A changed byte is found unless it makes no difference: bits that pad deflate's blocks have
    /// no meaning.
    #[test]
    fn flipped_bits_are_found(place in any::<prop::sample::Index>(), bit in 0..8u8, near_end in any::<bool>()) {
        let mut bytes = GOOD.clone();
        let place = if near_end { bytes.len() - 1 - place.index(40) } else { place.index(bytes.len()) };
        bytes[place] ^= 1u8 << bit;
        if let Some(hash) = attempt(&bytes) {
            prop_assert_eq!(Some(hash), attempt(&GOOD), "byte {}", place);
        }
    }

    #[test]
    fn any_bytes_are_refused(tail in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert_eq!(attempt(&[archive::MAGIC.as_slice(), &tail].concat()), None);
    }
}
