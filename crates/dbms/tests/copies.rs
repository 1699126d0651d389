//! Servers that start on a copy of what another server loaded.

use std::sync::atomic::AtomicBool;

use crate::common::{Place, Variant, variant};
use dbms::{Error, Loaded, Manifest, Origin, Pages, ProcessId, Restored, ServerSpec, System};

static GO_ON: AtomicBool = AtomicBool::new(false);

/// A kept data directory with 1000 rows in it.
fn load(place: &Place, variant: &Variant) -> Loaded {
    let mut server = place.start_in(variant, &[], &place.path().join("load")).unwrap();
    server
        .sql()
        .unwrap()
        .execute("create table t as select generate_series(1, 1000) a; create index on t (a)")
        .unwrap();
    server.stop().unwrap().keep(&GO_ON).unwrap()
}

fn start(
    place: &Place,
    variant: &Variant,
    origin: &Origin<'_>,
    name: &str,
) -> Result<(Box<dyn System>, Restored), Error> {
    let directory = place.path().join(name);
    let config = [("work_mem".to_owned(), "5MB".to_owned())].into();
    dbms::start_on_copy(&ServerSpec { config, ..place.spec(variant, &directory) }, origin)
}

fn starts_on_copies(text: &str) {
    let Some(variant) = variant(text) else { return };
    let place = Place::new();
    let loaded = load(&place, &variant);
    assert!(!place.path().join("load/server.log").exists());
    for pages in [Pages::Any, Pages::Alike, Pages::Charged] {
        let origin = Origin { loaded: &loaded, pages, interrupted: &GO_ON };
        // Two at once, one of which is written to.
        let (mut one, restored) = start(&place, &variant, &origin, "one").unwrap();
        assert_eq!(restored.digest, loaded.manifest().digest());
        assert!(restored.files > 100 && restored.bytes > 10_000_000, "{restored:?}");
        assert_eq!(restored.read_seconds > 0.0, pages == Pages::Charged);
        let (mut two, _) = start(&place, &variant, &origin, "two").unwrap();
        one.sql().unwrap().execute("insert into t select generate_series(1, 50000)").unwrap();
        one.sql().unwrap().execute("vacuum t").unwrap();
        assert_eq!(one.sql().unwrap().query_i64("select count(*) from t").unwrap(), 51_000);
        assert_eq!(two.sql().unwrap().query_i64("select count(*) from t").unwrap(), 1000);
        assert_eq!(two.sql().unwrap().query_i64("select a from t where a = 777").unwrap(), 777);
        // The configuration is that of this start, in its own place.
        let shown = |server: &mut Box<dyn System>, name: &str| {
            server.sql().unwrap().query_rows(&format!("show {name}")).unwrap()[0][0]
                .clone()
                .unwrap()
        };
        assert_eq!(shown(&mut two, "work_mem"), "5MB");
        assert_ne!(shown(&mut two, "shared_buffers"), "16MB", "that was the loading server's");
        for server in [one, two] {
            server.stop().unwrap().discard().unwrap();
        }
        loaded.manifest().check(loaded.data(), &GO_ON).unwrap();
    }
    loaded.discard().unwrap();
    place.assert_clean();
}

#[test]
fn starts_on_copies_of_13_7() {
    starts_on_copies("postgres@13.7");
}

#[test]
fn starts_on_copies_of_an_installation() {
    starts_on_copies("path:/usr/lib/postgresql/15");
}

#[test]
fn a_tampered_original_is_not_started_from() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let loaded = load(&place, &variant);
    let file = loaded.data().join("PG_VERSION");
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, b"14\n").unwrap();
    let origin = Origin { loaded: &loaded, pages: Pages::Alike, interrupted: &GO_ON };
    let error = start(&place, &variant, &origin, "one").err().unwrap();
    assert!(matches!(error, Error::NotSame { .. }), "{error}");
    assert!(error.to_string().contains("PG_VERSION has other bytes"), "{error}");
    assert!(!place.path().join("one").exists());
    std::fs::write(&file, bytes).unwrap();
    start(&place, &variant, &origin, "one").unwrap();
    drop(loaded);
    place.assert_clean();
}

#[test]
fn an_interrupt_leaves_nothing() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let loaded = load(&place, &variant);
    let interrupted = AtomicBool::new(true);
    let origin = Origin { loaded: &loaded, pages: Pages::Alike, interrupted: &interrupted };
    let error = start(&place, &variant, &origin, "one").err().unwrap();
    assert!(matches!(error, Error::Interrupted { .. }), "{error}");
    assert!(!place.path().join("one").exists());
    let server = place.start(&variant, &[]).unwrap();
    let error = server.stop().unwrap().keep(&interrupted).err().unwrap();
    assert!(matches!(error, Error::Interrupted { .. }), "{error}");
    drop(loaded);
    place.assert_clean();
}

#[test]
fn only_data_of_a_good_shutdown_are_kept() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let mut server = place.start(&variant, &[]).unwrap();
    ProcessId::of(server.root_pid().unwrap()).unwrap().signal(9).unwrap();
    while server.alive() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let error = server.stop().unwrap().keep(&GO_ON).err().unwrap();
    assert!(matches!(error, Error::NotKept { .. }), "{error}");
    assert!(error.to_string().contains("the server died"), "{error}");
    place.assert_clean();
}

#[test]
fn data_kept_by_a_killed_owner_is_swept() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let loaded = load(&place, &variant);
    let record = place.ledger.records().unwrap().remove(0);
    assert_eq!(record.directories, [place.path().join("load")]);
    assert_eq!((&record.process, &record.work_directory), (&None, &None));
    assert!(place.ledger.sweep(&|_| ()).unwrap().is_empty(), "its owner lives");
    // As if the owner had been killed: the entry names a process that is gone.
    std::mem::forget(loaded);
    let path = place.ledger.path().join(format!("{}.json", record.id));
    let text = std::fs::read_to_string(&path).unwrap();
    let own = format!("\"start_time\": {}", record.owner.start_time);
    std::fs::write(&path, text.replace(&own, "\"start_time\": 1")).unwrap();
    let swept = place.ledger.sweep(&|_| ()).unwrap();
    assert_eq!(swept[0].removed, [place.path().join("load")]);
    place.assert_clean();
}

#[test]
fn the_same_state_has_the_same_manifest() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let loaded = load(&place, &variant);
    let again = Manifest::of(loaded.data(), &GO_ON).unwrap();
    assert_eq!(&again, loaded.manifest());
    drop(loaded);
    place.assert_clean();
}
