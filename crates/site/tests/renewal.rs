//! A static site is renewed in place.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use site::{Directory, Error, MANIFEST, Renewed, renew};
use store::{ExperimentId, Store};

use crate::common::{SMALL, Size, fill};

/// Every file with its content and when it was written.
fn files(folder: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            let written = path.metadata().unwrap().modified().unwrap();
            found.insert(name, (fs::read(&path).unwrap(), written));
        }
    }
    found
}

fn renewed(results: &Path, site: &Path) -> Renewed {
    let store = Store::open_read_only(results).unwrap();
    renew(&store, &Directory::open(site).unwrap(), |_, _| {}).unwrap()
}

#[test]
fn only_what_changed_is_written_and_what_is_gone_is_removed() {
    if !site::has_app() {
        return testing::skip("built without the pages of a site");
    }
    let folder = tempfile::tempdir().unwrap();
    let (results, site) = (folder.path().join("results"), folder.path().join("site"));
    fill(&results, &SMALL, 0);
    let first = renewed(&results, &site);
    let before = files(&site);
    assert_eq!((first.written, first.unchanged, first.removed), (before.len() - 1, 0, 0));
    assert!(before["index.html"].0.starts_with(b"<!doctype html>"));

    let again = renewed(&results, &site);
    assert_eq!((again.written, again.unchanged), (0, first.written));

    // The seventh is of the first machine and workload.
    fill(&results, &Size { experiments: 7, ..SMALL }, 6);
    let more = renewed(&results, &site);
    let after = files(&site);
    let changed: Vec<&str> = after
        .iter()
        .filter(|(path, file)| before.get(*path) != Some(file) && *path != MANIFEST)
        .map(|(path, _)| path.as_str())
        .collect();
    assert_eq!(more.written, changed.len());
    let others = ["experiments", "history", "machines", "overview"];
    for path in &changed {
        let name = path.strip_prefix("api/v1/").unwrap();
        let name = name.strip_suffix(".json").unwrap_or(name);
        assert!(
            others.contains(&name)
                || name == "experiments/7"
                || name.starts_with("experiments/7/")
                || name.starts_with("history/insert-"),
            "{path} was written for nothing"
        );
    }
    assert!(changed.contains(&"api/v1/experiments/7.json"));

    // What was lost is written again, and what is not the site's stays.
    fs::remove_file(site.join("index.html")).unwrap();
    fs::write(site.join("robots.txt"), "mine").unwrap();
    Store::open(&results).unwrap().remove_experiment(ExperimentId(7)).unwrap();
    let less = renewed(&results, &site);
    assert!(less.removed >= 1 && !site.join("api/v1/experiments/7.json").exists());
    let mut left = files(&site);
    assert_eq!(left.remove("robots.txt").unwrap().0, b"mine");
    let contents = |files: &BTreeMap<String, (Vec<u8>, SystemTime)>| -> BTreeMap<String, Vec<u8>> {
        let all = files.iter().filter(|(path, _)| *path != MANIFEST);
        all.map(|(path, (content, _))| (path.clone(), content.clone())).collect()
    };
    assert!(contents(&left) == contents(&before), "it is as it was before the seventh");
}

#[test]
fn other_directories_are_left_alone() {
    if !site::has_app() {
        return testing::skip("built without the pages of a site");
    }
    let folder = tempfile::tempdir().unwrap();
    let (results, site) = (folder.path().join("results"), folder.path().join("site"));
    fill(&results, &Size { experiments: 1, ..SMALL }, 0);
    let store = Store::open_read_only(&results).unwrap();
    let place = Directory::open(&results).unwrap();
    let refused = renew(&store, &place, |_, _| {}).unwrap_err();
    assert!(matches!(refused, Error::NotASite(_)) && refused.is_request(), "{refused}");
    fs::create_dir(&site).unwrap();
    fs::write(site.join(MANIFEST), "{\"format\": 99}").unwrap();
    let newer = renew(&store, &Directory::open(&site).unwrap(), |_, _| {}).unwrap_err();
    assert!(newer.to_string().contains("newer steelyard"), "{newer}");
    // A damaged list of files names nothing outside, and costs only time.
    fs::write(folder.path().join("precious"), "").unwrap();
    let damaged = "{\"format\":1,\"kept\":{\"made_by\":\"\",\"briefs\":{}},\"files\":{\"../precious\":\
                   {\"mark\":\"\",\"sum\":\"\"}}}";
    fs::write(site.join(MANIFEST), damaged).unwrap();
    renewed(&results, &site);
    assert!(folder.path().join("precious").exists());
}
