//! Plans from files: good ones are understood, bad ones are answered with exactly the expected
//! text.
#![allow(irrefutable_let_patterns, reason = "there may be other workloads")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plan::{Given, InsertPlan, Pairing, Plan, PlanError, Protocol, Tables, WorkloadPlan};

fn fixtures(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(kind)
}

fn plans(kind: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(fixtures(kind))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// The plan without its text, and without what is said of it: equal where plans mean the same.
pub fn meaning(plan: &Plan) -> Plan {
    Plan { text: String::new(), given: Given::default(), added: Vec::new(), ..plan.clone() }
}

fn insert_of(plan: &Plan) -> &InsertPlan {
    let WorkloadPlan::Insert(insert) = &plan.workload else { panic!("no insert benchmark") };
    insert
}

/// `bad/x.toml` belongs to `bad/x.txt`, the whole message. `STEELYARD_BLESS=1` writes the messages
/// anew; then read the difference.
#[test]
fn bad_plans_get_the_expected_answer() {
    let bless = std::env::var_os("STEELYARD_BLESS").is_some();
    for file in plans("bad") {
        let name = file.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let error = Plan::parse(&text, Some(&fixtures("bad")), name).expect_err(name);
        assert!(!error.problems().is_empty(), "{name}");
        // The folder differs from machine to machine.
        let folder = format!("{}/", fixtures("bad").display());
        let message = format!("{}\n", error.to_string().replace(&folder, ""));
        let expected = file.with_extension("txt");
        if bless {
            fs::write(&expected, &message).unwrap();
        }
        assert_eq!(message, fs::read_to_string(&expected).unwrap(), "{name}");
    }
}

#[test]
fn good_plans_survive_being_written() {
    for file in plans("good") {
        let plan = Plan::read(&file).unwrap();
        // Its own text, with what it found beside it.
        let text = fs::read_to_string(&file).unwrap();
        let beside = ["config_text = ", "file_text = "];
        let own = plan.text.lines().filter(|line| !beside.iter().any(|key| line.starts_with(key)));
        assert!(text.lines().all(|line| own.clone().any(|own| own == line)), "{}", plan.text);
        assert!(text.contains("_file = ") || plan.text == text);
        assert_eq!(Plan::parse(&plan.text, None, "alone").unwrap(), plan);
        // The written plan needs no folder: it holds the text of configuration files.
        let again = Plan::parse(&plan.to_toml(), None, "written").unwrap();
        assert_eq!(meaning(&plan), meaning(&again), "{}", file.display());
    }
}

#[test]
fn every_key_is_understood() {
    let plan = Plan::read(&fixtures("good").join("full.toml")).unwrap();
    assert_eq!(plan.name, "load-regression");
    assert_eq!((plan.base.as_str(), plan.base_index()), ("pg13.7", 1));
    assert_eq!((plan.blocks, plan.seed), (8, Some(42)));
    assert!(
        (plan.margin - 0.015).abs() < 1e-12 && (plan.settle_seconds_scale - 0.05).abs() < 1e-12
    );
    let names: Vec<&str> = plan.variants.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["pg14.3", "pg13.7", "again"], "the order of the plan");
    assert_eq!(plan.twin("pg13.7").map(|v| v.name.as_str()), Some("again"));
    assert_eq!((plan.pairing, plan.slice_ms), (Pairing::Auto, Some(30)));
    assert_eq!(plan.restore_after.as_deref(), Some("l.x"));
    assert!((plan.steal_limit - 0.1).abs() < 1e-12 && plan.repeats == 1);
    assert!(plan.precision.is_some_and(|p| (p - 0.01).abs() < 1e-12));
    assert_eq!((plan.max_blocks, plan.budget), (Some(20), Some(Duration::from_secs(5_400))));
    assert_eq!((plan.profile, plan.profile_seconds), (true, 3));
    let new = plan.variant("pg14.3").unwrap();
    let setting = |v: &plan::Variant, name: &str| v.config.get(name).cloned().unwrap_or_default();
    assert_eq!(setting(new, "max_connections"), "60", "a variant's own wins");
    assert_eq!(setting(new, "wal_level"), "minimal");
    assert_eq!(setting(new, "fsync"), "true");
    assert_eq!(setting(new, "random_page_cost"), "1.1");
    assert_eq!(new.config_file.as_deref(), Some("server.conf"));
    assert!(new.config_text.as_deref().unwrap().starts_with("work_mem = 8MB\n"));
    assert_eq!(new.initdb, ["--wal-segsize=64"]);
    let build = new.build.as_ref().unwrap();
    assert_eq!((build.cflags.as_deref(), build.compiler.as_deref()), (Some("-O3"), Some("clang")));
    assert_eq!(build.configure, ["--with-llvm"]);
    assert_eq!(new.memory_limit, Some(512 << 20));
    let old = plan.variant("pg13.7").unwrap();
    assert_eq!(old.memory_limit, Some(3 << 29), "the plan's, where the variant has none");
    assert_eq!(setting(old, "auto_explain.log_min_duration"), "-1");
    let insert = insert_of(&plan);
    assert_eq!((insert.rows, insert.indexed_rows), (200_000, 50_000));
    assert_eq!(insert.steps, ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100"], "aliases");
    assert_eq!((insert.dop.as_slice(), insert.read_write_seconds), (&[1][..], 10));
    assert_eq!((insert.tables, insert.delete_per_insert), (Tables::PerClient, true));
    assert_eq!((insert.prepared_queries, insert.prepared_inserts), (false, true));
    assert_eq!((insert.secondary_indexes, insert.partitions), (2, 8));
    assert_eq!(insert.hold_transaction_seconds, 5);
    let count = &plan.count;
    assert_eq!((count.rows, count.statements), (10_000, Some(30)));
    assert_eq!(
        (count.protocols.as_slice(), count.kinds.as_slice()),
        (&[Protocol::Prepared][..], &["sum".to_owned()][..])
    );
    let own = count.own().unwrap();
    assert_eq!(own.statements.len(), 2);
    assert!(own.setup.starts_with("create table t"));
}

#[test]
fn what_is_left_out_has_its_default() {
    let plan = Plan::read(&fixtures("good").join("short.toml")).unwrap();
    assert_eq!((plan.name.as_str(), plan.base.as_str()), ("insert", "a"));
    assert_eq!((plan.blocks, plan.seed), (6, None));
    assert!((plan.margin - 0.02).abs() < 1e-12 && (plan.settle_seconds_scale - 1.0).abs() < 1e-12);
    assert_eq!(plan.workload, WorkloadPlan::Insert(InsertPlan::default()));
    assert_eq!((plan.pairing, plan.slice_ms, plan.restore_after), (Pairing::Blocks, None, None));
    assert!((plan.steal_limit - 0.05).abs() < 1e-12 && plan.repeats == 2);
    assert_eq!((plan.precision, plan.max_blocks, plan.budget), (None, None, None));
    assert_eq!(plan.count, plan::CountPlan::default());
    let plan = Plan::read(&fixtures("good").join("no-indexes.toml")).unwrap();
    assert!(!insert_of(&plan).steps.iter().any(|s| s == "l.x"), "no index, no l.x");
    assert_eq!(insert_of(&plan).dop, [1, 2, 16]);
}

#[test]
fn paths_are_relative_to_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.toml");
    let text = "[variants.a]\ndbms = \"git:../pg#master\"\nbuild = {}\n[workload.insert]\n";
    fs::write(&file, text).unwrap();
    let plan = Plan::read(&file).unwrap();
    assert_eq!(plan.variants[0].dbms, format!("git:{}/../pg#master", folder.path().display()));
    assert_eq!(plan.variants[0].build, Some(plan::BuildPlan::default()));
    assert_eq!(plan.text, text.replace("git:..", &format!("git:{}/..", folder.path().display())));
    // Its text means the same without the folder, and so does what is written.
    assert_eq!(Plan::parse(&plan.text, None, "text").unwrap(), plan);
    let written = Plan::parse(&plan.to_toml(), None, "written").unwrap();
    assert_eq!(meaning(&written), meaning(&plan));
}

#[test]
fn a_missing_plan_is_named() {
    let error = Plan::read(Path::new("no/such/plan.toml")).unwrap_err();
    assert!(matches!(error, PlanError::Read { .. }));
    assert!(error.to_string().contains("no/such/plan.toml"), "{error}");
}

#[test]
fn a_changed_configuration_file_does_not_change_a_written_plan() {
    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("a.conf");
    fs::write(&conf, "work_mem = 1MB\n").unwrap();
    let text =
        "[variants.a]\ndbms = \"postgres@14.3\"\nconfig_file = \"a.conf\"\n[workload.insert]\n";
    let plan = Plan::parse(text, Some(folder.path()), "x").unwrap();
    fs::write(&conf, "work_mem = 2MB\n").unwrap();
    let again = Plan::parse(&plan.to_toml(), Some(folder.path()), "y").unwrap();
    assert_eq!(again.variants[0].config_text.as_deref(), Some("work_mem = 1MB\n"));
}
