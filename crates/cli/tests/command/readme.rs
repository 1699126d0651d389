//! The examples of README.md and the guides: every block marked `<!-- tested -->` is run as it
//! stands, one after another in one directory, with the built command as `steelyard`; options that
//! stand anywhere in it exist.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The documents with examples, one after another.
fn readme() -> String {
    let documents =
        ["README.md", "docs/guide.md", "docs/results.md", "docs/trends.md", "docs/why.md"];
    documents.map(|document| fs::read_to_string(root().join(document)).unwrap()).join("\n")
}

/// The `sh` blocks, each with whether it is marked.
fn blocks(text: &str) -> Vec<(bool, String)> {
    let mut found = Vec::new();
    let mut marked = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == "```sh" {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push((marked, body.join("\n")));
        }
        if !line.is_empty() {
            marked = line == "<!-- tested -->";
        }
    }
    found
}

/// A shell that finds the built `steelyard` first.
fn shell(directory: &Path, script: &str) -> Command {
    let built = assert_cmd::cargo::cargo_bin!("steelyard");
    let mut path = OsString::from(built.parent().unwrap());
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new("bash");
    command
        .args(["-euo", "pipefail", "-c", script])
        .current_dir(directory)
        .env("PATH", path)
        .env("STEELYARD_STATE", directory.join("state"))
        .env_remove("STEELYARD_RESULTS");
    command
}

#[test]
fn the_marked_examples_work() {
    let directory = testing::directory();
    std::os::unix::fs::symlink(root().join("plans"), directory.path().join("plans")).unwrap();
    let marked: Vec<String> =
        blocks(&readme()).into_iter().filter(|(marked, _)| *marked).map(|(_, body)| body).collect();
    assert!(marked.len() >= 3, "expected several marked blocks in README.md");
    for script in marked {
        let output = shell(directory.path(), &script).output().unwrap();
        let out = String::from_utf8_lossy(&output.stdout);
        let err = String::from_utf8_lossy(&output.stderr);
        if !report::has_page() && err.contains("make build") {
            testing::skip(format_args!("built without the page: {script}"));
            continue;
        }
        assert!(output.status.success(), "{script}\nended with {}\n{out}\n{err}", output.status);
    }
    assert!(directory.path().join("steelyard-results/steelyard.db").is_file());
    if report::has_page() {
        let page = fs::read_to_string(directory.path().join("report.html")).unwrap();
        assert!(page.contains("steelyard-data"));
    }
}

#[test]
fn the_options_of_all_examples_exist() {
    let directory = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for (_, body) in blocks(&readme()) {
        for line in body.replace("\\\n", " ").lines() {
            let split = shlex::split(line).unwrap_or_default();
            let mut words = split
                .iter()
                .map(String::as_str)
                .take_while(|word| !["|", ">", "&&"].contains(word));
            if !words.any(|word| word == "steelyard" || word.ends_with("/steelyard")) {
                continue;
            }
            let Some(subcommand) = words.next() else { continue };
            let help = shell(directory.path(), &format!("steelyard {subcommand} --help"))
                .output()
                .unwrap();
            assert!(help.status.success(), "no subcommand `{subcommand}`: {line}");
            let help = String::from_utf8(help.stdout).unwrap();
            for option in words.filter(|word| word.starts_with('-')) {
                let name = option.split('=').next().unwrap();
                assert!(
                    help.split([' ', ',', '\n']).any(|word| word == name),
                    "`steelyard {subcommand}` has no option {name}: {line}"
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 10, "found only {seen} options in README.md");
}

#[test]
fn links_lead_somewhere() {
    let docs = fs::read_dir(root().join("docs")).unwrap();
    let docs = docs.map(|entry| format!("docs/{}", entry.unwrap().file_name().to_string_lossy()));
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(str::to_owned);
    for document in top.into_iter().chain(docs.filter(|name| name.ends_with(".md"))) {
        let file = root().join(&document);
        let text = fs::read_to_string(&file).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://")) {
            let path = target.split('#').next().unwrap();
            assert!(
                path.is_empty() || file.parent().unwrap().join(path).exists(),
                "{document} points to {target}, which is not there"
            );
        }
    }
}
