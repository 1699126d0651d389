//! The plans that come with steelyard can be read, and do what they are there for.

#![allow(irrefutable_let_patterns, reason = "there may be other workloads")]

use std::fs;
use std::path::{Path, PathBuf};

use plan::{InsertPlan, Plan, WorkloadPlan};

fn plans() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

fn plan(name: &str) -> Plan {
    let files = plans();
    let file = files.iter().find(|path| path.ends_with(format!("{name}.toml"))).unwrap();
    Plan::read(file).unwrap()
}

fn insert(plan: &Plan) -> &InsertPlan {
    let WorkloadPlan::Insert(insert) = &plan.workload else { panic!("no insert benchmark") };
    insert
}

#[test]
fn every_plan_can_be_read_and_is_called_like_its_file() {
    let files = plans();
    assert!(files.len() >= 5, "expected at least the five plans of the README, found {files:?}");
    for file in files {
        let plan = Plan::read(&file).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Some(plan.name.as_str()), file.file_stem().and_then(|stem| stem.to_str()));
        for variant in &plan.variants {
            variant.dbms.parse::<dbms::Reference>().unwrap_or_else(|error| panic!("{error}"));
        }
        let mut again = Plan::parse(&plan.to_toml(), None, "written again").unwrap();
        again.text.clone_from(&plan.text);
        again.given = plan.given;
        assert!(plan == again, "{} changes its meaning when written", file.display());
    }
}

#[test]
fn the_published_sizes_are_the_published_ones() {
    for (name, rows, indexed) in
        [("insert-cached", 20_000_000, 20_000_000), ("insert-io-bound", 500_000_000, 10_000_000)]
    {
        let plan = plan(name);
        let insert = insert(&plan);
        assert_eq!((insert.rows, insert.indexed_rows), (rows, indexed), "{name}");
        assert_eq!(insert.read_write_seconds, 7200, "{name}");
        assert_eq!(insert.steps, plan::INSERT_STEPS, "{name}");
        assert_eq!(insert.dop, [1], "{name}");
        let names: Vec<&str> = plan.variants.iter().map(|v| v.name.as_str()).collect();
        assert_eq!(names, ["pg12.11", "pg13.7", "pg14.3"], "{name}");
    }
}

#[test]
fn the_small_twins_differ_from_the_large_in_size_only() {
    for name in ["insert-cached", "insert-io-bound"] {
        let (large, small) = (plan(name), plan(&format!("{name}-small")));
        let (large, small) = (insert(&large), insert(&small));
        assert!(small.steps.iter().all(|step| large.steps.contains(step)), "{name}");
        assert_eq!(
            small.rows / small.indexed_rows,
            large.rows / large.indexed_rows,
            "{name}: the proportion of rows differs"
        );
        assert!(small.rows < large.rows, "{name}");
    }
}

#[test]
fn the_small_io_bound_plan_limits_memory() {
    let plan = plan("insert-io-bound-small");
    let insert = insert(&plan);
    // A row takes 195 bytes with its four indexes, measured.
    let database = (insert.rows + insert.indexed_rows) * 195;
    for variant in &plan.variants {
        let limit = variant.memory_limit.expect("no memory_limit");
        assert!(database > 4 * limit, "{database} bytes are not several times {limit}");
    }
}
