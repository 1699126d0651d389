//! Builds at an address, with arbitrary content.

use std::fs;
use std::path::Path;

use archive::{Address, Builds, Error, Pushed};
use serde_json::json;

const NAME: &str = "x-git-0123456789ab-0123456789ab-y";

/// Pushes a build of these bytes; `before` happens while it is packed.
fn push(root: &Path, content: &str, before: impl FnOnce()) -> Result<Pushed, Error> {
    let address: Address = root.join("archive").to_str().unwrap().parse()?;
    let work = root.join("work");
    Builds::open(&address)?.push((NAME, json!({"a": 1})), &work, "0.1.0", |to| {
        before();
        fs::write(to, content).unwrap();
        Ok(())
    })
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn of_two_pushers_the_one_who_finishes_first_is_found() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    let slow = push(root, "slow", || {
        assert_eq!(push(root, "fast", || ()).unwrap(), Pushed::Added);
    });
    assert_eq!(slow.unwrap(), Pushed::Present);
    let again = push(root, "", || panic!("nothing is packed for what is there"));
    assert_eq!(again.unwrap(), Pushed::Present);
    let archive = root.join("archive");
    assert_eq!(names(&archive.join("builds")).len(), 2, "the other file is removed");
    assert!(names(&root.join("work")).is_empty());

    let builds = Builds::open_to_read(&archive.to_str().unwrap().parse().unwrap()).unwrap();
    assert_eq!(builds.names("x-git-").unwrap(), [NAME]);
    assert!(builds.names("y").unwrap().is_empty());
    let found = builds.find(NAME).unwrap().unwrap();
    builds.fetch(&found, &root.join("got")).unwrap();
    assert_eq!(fs::read_to_string(root.join("got")).unwrap(), "fast");
}

#[test]
fn a_push_that_did_not_finish_is_not_seen() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    // Killed between the file and its entry.
    push(root, "content", || ()).unwrap();
    let folder = root.join("archive/builds");
    fs::remove_file(folder.join(format!("{NAME}.json"))).unwrap();
    let address: Address = root.join("archive").to_str().unwrap().parse().unwrap();
    let builds = Builds::open_to_read(&address).unwrap();
    assert!(builds.find(NAME).unwrap().is_none() && builds.names("").unwrap().is_empty());
    assert_eq!(push(root, "content", || ()).unwrap(), Pushed::Added);
    assert!(builds.find(NAME).unwrap().is_some());

    let full = Err(Error::Full(root.to_owned()));
    let failed = builds.push(("z", json!({})), &root.join("work"), "0.1.0", |_| full);
    assert!(matches!(failed, Err(Error::Full(_))));
    assert!(builds.find("z").unwrap().is_none());
}

#[test]
fn a_directory_that_is_not_there_is_not_made() {
    let root = tempfile::tempdir().unwrap();
    let address: Address = root.path().join("none").to_str().unwrap().parse().unwrap();
    let error = Builds::open_to_read(&address).unwrap_err();
    assert!(error.to_string().contains("cannot read"), "{error}");
    assert!(names(root.path()).is_empty());
}
