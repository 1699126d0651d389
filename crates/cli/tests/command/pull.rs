//! Pulls from an address where something is damaged.

use std::fs;

use crate::archive::{add, command};
use crate::place::{Place, names};

#[test]
fn a_damaged_experiment_does_not_keep_others_from_being_pulled() {
    let place = Place::new();
    for (name, created_ms) in [("one", 1_000), ("two", 2_000), ("three", 3_000)] {
        add(&place.results(), name, created_ms, 10);
    }
    let ask = |arguments: &[&str]| place.spawn(command(&place, arguments)).end();
    ask(&["push", "./archive"]).expect(0, &[]);
    let archive = place.path().join("archive");
    let hash = |name: &str| {
        let index = names(&archive.join("index")).into_iter();
        let called = format!("\"name\": \"{name}\"");
        let read = |file: &String| fs::read_to_string(archive.join("index").join(file)).unwrap();
        let mut found = index.filter(|file| read(file).contains(&called));
        found.next().unwrap().strip_suffix(".json").unwrap().to_owned()
    };
    let damage = |file: &str| fs::write(archive.join(file), "{").unwrap();
    let pull = |to: &str, more: &[&str]| {
        ask(&[&["pull", "archive"][..], more, &["--results", to]].concat())
    };

    let (first, last) = (hash("one"), hash("three"));
    let object = format!("experiments/{first}.steelyard");
    damage(&object);
    let pulled = pull("a", &[]);
    pulled.expect(3, &[&*object, "is not an experiment"]);
    for (name, there) in [("one", false), ("two", true), ("three", true)] {
        assert_eq!(pulled.stdout.contains(&format!("`{name}`")), there, "{}", pulled.stdout);
    }
    // An entry of the index as well. Entries that were read before are in the cache.
    let entry = format!("index/{last}.json");
    damage(&entry);
    fs::remove_dir_all(place.path().join("cache")).unwrap();
    let pulled = pull("b", &[]);
    pulled.expect(3, &[&*object, &*entry, "is damaged"]);
    assert!(pulled.stdout.contains("pulled `two`"), "{}", pulled.stdout);
    pull("c", &["two"]).expect(0, &[]);
    pull("c", &["three"]).expect(2, &[&*entry, "is damaged"]);
}

#[test]
fn reading_an_address_does_not_make_its_directory() {
    let place = Place::new();
    let ask = |arguments: &[&str]| place.spawn(command(&place, arguments)).end();
    let missing = place.path().join("none");
    let address = format!("file://{}", missing.display());
    for arguments in [
        &["pull", &*address][..],
        &["list", "--results", &address],
        &["compare", "--results", &address],
        &["history", "--results", &address],
    ] {
        ask(arguments).expect(2, &["cannot read", "none"]);
    }
    assert!(!missing.exists());
}
