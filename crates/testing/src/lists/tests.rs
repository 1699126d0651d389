#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs;
use std::path::Path;

use super::List;
use super::names::Sources;

/// Crates outside the order of ARCHITECTURE.md.
const OUTSIDE: [&str; 3] = ["bench", "testing", "validate"];

/// The folders of a system may name its parts and its relatives: MyRocks is RocksDB in MySQL.
const LISTS: [List; 8] = [
    List { title: "a workload", members: &[["kv", "kv"]], within: "crates/", elsewhere: &[] },
    List {
        title: "a system",
        members: &[["mysql", "mysql"], ["mariadb", "mysql"]],
        within: "crates/",
        elsewhere: &[],
    },
    List {
        title: "an embedded engine",
        members: &[["rocksdb", "rocksdb"]],
        within: "crates/",
        elsewhere: &["crates/dbms/src/mysql/", "crates/foreign/src/"],
    },
    List {
        title: "a metric",
        members: &[["steal_worst", ""], ["trend_error", ""]],
        within: "crates/",
        elsewhere: &[],
    },
    List {
        title: "an output format",
        members: &[["markdown", "markdown"], ["csv", "csv"]],
        within: "crates/",
        // Exports have formats of their own, queries have values in files, servers write logs, and
        // a gate's comment is Markdown.
        elsewhere: &[
            "crates/plan/src/workloads/queries/",
            "crates/cli/src/export.rs",
            "crates/report/src/change.rs",
            "crates/report/src/export/",
            "crates/report/src/lib.rs",
            "crates/trace/src/",
        ],
    },
    List {
        title: "an observer",
        members: &[["gauges", "gauges"], ["power", "power"]],
        within: "crates/lab/src/",
        elsewhere: &[],
    },
    List {
        title: "an observer's tool",
        members: &[["scheduler", "scheduler"]],
        within: "crates/lab/src/",
        elsewhere: &["crates/lab/src/observe/profiling.rs", "crates/lab/src/observe/scheduling.rs"],
    },
    List {
        title: "a format of other programs",
        members: &[["hyperfine", "hyperfine"], ["iibench", "iibench"]],
        within: "crates/",
        elsewhere: &[],
    },
];

fn sources(root: &Path) -> Sources {
    let mut sources = Sources::default();
    for member in fs::read_dir(root.join("crates")).unwrap() {
        let member = member.unwrap();
        let source = member.path().join("src");
        let roots = ["lib.rs", "main.rs"].map(|name| source.join(name));
        let inside = OUTSIDE.iter().all(|outside| member.file_name() != *outside);
        for file in roots.iter().filter(|file| inside && file.exists()) {
            sources.add(file, root);
        }
    }
    sources
}

#[test]
fn the_lists_of_the_architecture_are_the_files_that_name_a_member() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let document = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let sources = sources(&root);
    let found = LISTS.iter().flat_map(|list| list.differences(&document, &root, &sources));
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "ARCHITECTURE.md and the code differ:\n{}", found.join("\n"));
}

#[test]
fn a_file_too_many_and_a_file_too_few_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    for (file, text) in [
        ("crates/a/src/lib.rs", "mod big_toy; mod seen; mod other; mod unseen; mod named;"),
        ("crates/a/src/big_toy.rs", "pub struct BigToy;"),
        ("crates/a/src/seen.rs", "use crate::big_toy::BigToy;"),
        ("crates/a/src/other.rs", "// BigToy\n#[cfg(test)] fn big_toy() {} fn bigger_toy() {}"),
        ("crates/a/src/unseen.rs", "fn of_big_toy_too() {}"),
        ("crates/a/src/named.rs", "const NAMES: [&str; 2] = [\"big_toy\", \"a bigtoy\"];"),
        ("crates/bench/src/main.rs", "fn big_toy() {}"),
        ("README.md", "A big_toy."),
    ] {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let members = &[["big_toy", "big_toy"]];
    let list = List { title: "a toy", members, within: "crates/", elsewhere: &[] };
    let document = "\n- **a game**: `crates/a/src/named.rs`\n- **a toy**: `crates/a/src/NAME/`, \
        `crates/a/src/lib.rs`, `crates/a/src/seen.rs`, `crates/a/src/other.rs`, `BigToy`,\n  \
        `README.md`, `crates/b/src/NAME/`\n\n## End `crates/a/src/unseen.rs`";
    let found = list.differences(document, root, &sources(root));
    assert_eq!(
        found,
        [
            "To add a toy: crates/a/src/named.rs names big_toy, but is not in the list",
            "To add a toy: crates/a/src/unseen.rs names big_toy, but is not in the list",
            "To add a toy: crates/a/src/other.rs is in the list for nothing: [\"big_toy\"]",
            "To add a toy: crates/b/src/NAME/ is in the list for nothing: [\"big_toy\"]",
        ]
    );
}
