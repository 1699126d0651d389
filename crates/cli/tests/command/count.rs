//! `steelyard count`: instructions of real servers under Callgrind.

use std::process::{Child, Command};

use serde_json::Value;

use crate::database::Database;
use crate::place::{Ended, Place};

#[path = "../../../dbms/tests/common/repository.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod repository;

/// A plan that counts on these variants.
fn plan(variants: &[(&str, &str)], count: &str) -> String {
    let mut text = format!("name = \"counted\"\nbase = \"{}\"\n", variants[0].0);
    for (name, dbms) in variants {
        text.push_str(&format!("[variants.{name}]\ndbms = \"{dbms}\"\n"));
    }
    text.push_str(&format!("[workload.insert]\n[count]\nrows = 2000\n{count}\n"));
    text
}

impl Place {
    fn count(&self, arguments: &[&str]) -> Ended {
        let data = self.data();
        let mut all = vec!["count", "--allow-concurrent", "--data-dir", data.to_str().unwrap()];
        all.extend(arguments);
        self.steelyard(&all)
    }

    /// Counts a plan and returns the document.
    pub fn counted(&self, plan: &str) -> Value {
        let file = self.plan(plan);
        let ended = self.count(&[&file, "--quiet", "--format", "json"]);
        ended.expect(0, &[]);
        serde_json::from_str(&ended.stdout).unwrap()
    }
}

/// The count of one kind on one variant.
fn of<'d>(document: &'d Value, kind: &str, protocol: &str, variant: &str) -> &'d Value {
    let kinds = document["counts"].as_array().unwrap();
    let kind = kinds.iter().find(|k| k["kind"] == kind && k["protocol"] == protocol);
    let variants = kind.unwrap_or_else(|| panic!("{document:#}"))["variants"].as_array().unwrap();
    variants.iter().find(|v| v["name"] == variant).unwrap()
}

pub fn per_statement(document: &Value, kind: &str, protocol: &str, variant: &str) -> f64 {
    of(document, kind, protocol, variant)["per_statement"].as_f64().unwrap()
}

/// Instructions per statement of a phase.
fn phase(count: &Value, name: &str) -> f64 {
    let phases = count["phases"].as_array().unwrap();
    phases.iter().find(|phase| phase["name"] == name).unwrap()["per_statement"].as_f64().unwrap()
}

/// True if counting is possible here; otherwise says that it is not.
pub fn can_count() -> bool {
    let found = Command::new("valgrind").arg("--version").output().is_ok();
    if !found {
        testing::skip("valgrind is not installed; scripts/setup.sh test installs it");
    }
    found
}

/// Something that keeps a CPU busy as long as it lives.
struct Busy(Child);

impl Busy {
    fn begin() -> Busy {
        // Other tests need the CPUs, too; the scheduler interrupts the count all the same.
        let busy = ["-n", "10", "sh", "-c", "while :; do :; done"];
        Busy(Command::new("nice").args(busy).spawn().unwrap())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_count_repeats_to_the_ten_thousandth_however_busy_the_machine_is() {
    if !can_count() {
        return;
    }
    let place = Place::new();
    // The version in which most happens by the clock.
    let dbms = "postgres@18.1";
    let count = "statements = 40\nkinds = [\"insert-5\"]\nprotocols = [\"simple\"]";
    let idle = place.counted(&plan(&[("a", dbms)], count));
    let busy = {
        let _both: Vec<Busy> = (0..2).map(|_| Busy::begin()).collect();
        place.counted(&plan(&[("a", dbms)], count))
    };
    let counted = [&idle, &busy].map(|document| {
        let count = of(document, "insert-5", "simple", "a");
        assert!(count["counts"].as_array().unwrap().len() >= 2, "{count:#}");
        let repeats = count["repeatability"].as_f64().unwrap();
        (per_statement(document, "insert-5", "simple", "a"), repeats)
    });
    let [(alone, one), (beside, other)] = counted;
    assert!((beside / alone - 1.0).abs() <= (one + other).max(1e-4), "{counted:?}");
    let inserts = of(&idle, "insert-5", "simple", "a");
    // Neither a handful nor millions: the instructions for one row of an insert of five.
    let row = inserts["per_row"].as_f64().unwrap();
    assert!((5_000.0..200_000.0).contains(&row), "{row} instructions per row");
    // Stored counts can be shown again; that is not a run.
    let again = place.steelyard(&["count", "--format", "markdown", "--gate"]);
    again.expect(0, &[]);
    assert!(again.stdout.contains("insert-5"), "{}", again.stdout);
    place.steelyard(&["compare"]).expect(2, &[]);
}

#[test]
#[ignore = "takes minutes: make validate"]
fn what_the_other_threads_of_mysql_do_is_not_counted() {
    only_a_session_is_counted("mysql@8.0.31");
}

#[test]
#[ignore = "takes minutes: make validate"]
fn what_the_other_threads_of_mariadb_do_is_not_counted() {
    only_a_session_is_counted("mariadb@10.11.5");
}

/// Counts on a server whose other threads work by themselves.
fn only_a_session_is_counted(dbms: &str) {
    if !can_count() {
        return;
    }
    let place = Place::new();
    let kinds = "statements = 20\nkinds = [\"insert-5\", \"point\"]\nprotocols = [\"prepared\"]";
    let document = place.counted(&plan(&[("a", dbms)], kinds));
    for kind in ["insert-5", "point"] {
        let count = of(&document, kind, "prepared", "a");
        // Comparing memory takes longer at some addresses, up to a thousandth.
        assert!(count["spread"].as_f64().unwrap() < 0.005, "{count:#}");
        let whole = per_statement(&document, kind, "prepared", "a");
        assert!((20_000.0..1_000_000.0).contains(&whole), "{count:#}");
        for (name, least) in [("open", 0.005), ("execute", 0.25), ("protocol", 0.001)] {
            assert!(phase(count, name) > least * whole, "{name}: {count:#}");
        }
        assert!(phase(count, "other") < 0.5 * whole, "{count:#}");
    }
}

/// In each count, the estimated cycles are made of the other events.
#[test]
fn caches_are_simulated_beside_instructions() {
    if !can_count() {
        return;
    }
    let place = Place::new();
    let count = "statements = 10\nkinds = [\"point\"]\nprotocols = [\"simple\"]\ncaches = true";
    let document = place.counted(&plan(&[("a", "postgres@14.3")], count));
    assert_eq!(document["event"], "instructions");
    let events = document["events"].as_array().unwrap();
    let counts = |name: &str| -> Vec<u64> {
        let event = |it: &&Value| it["event"] == name && it["kind"] == "point";
        let found = events.iter().find(event).unwrap_or_else(|| panic!("{name}: {document:#}"));
        let counts = found["variants"][0]["counts"].as_array().unwrap();
        counts.iter().map(|count| count.as_u64().unwrap()).collect()
    };
    let instructions = of(&document, "point", "simple", "a")["counts"].as_array().unwrap();
    let [l1, ll, branches] = ["L1 misses", "LL misses", "mispredicted branches"].map(counts);
    for (at, cycles) in counts("estimated cycles").into_iter().enumerate() {
        let own = instructions[at].as_u64().unwrap();
        assert_eq!(cycles, own + 10 * l1[at] + 100 * ll[at] + 10 * branches[at]);
        assert!(ll[at] <= l1[at] && l1[at] < own / 10, "{document:#}");
        assert!(branches[at] > 0 && branches[at] < own / 10, "{document:#}");
    }
    // One statement is received and answered, and the session waits for the next one.
    let calls = counts("system calls");
    assert!(calls.iter().all(|calls| (20..200).contains(calls)), "{calls:?}");
    let shown = place.steelyard(&["count", "--event", "L1 misses"]);
    shown.expect(0, &[]);
    assert!(shown.stdout.contains("L1 misses per statement"), "{}", shown.stdout);
    assert!(shown.stdout.contains("Functions of point"), "{}", shown.stdout);
    place.steelyard(&["count", "--event", "page faults"]).expect(2, &["instructions, "]);
    let file = place.plan(&plan(&[("a", "postgres@14.3")], ""));
    place.count(&[&file, "--event", "L1 misses"]).expect(2, &["counted with --caches"]);
}

#[test]
fn phases_add_up_and_a_prepared_statement_is_not_parsed() {
    if !can_count() {
        return;
    }
    let place = Place::new();
    let document =
        place.counted(&plan(&[("a", "postgres@14.3")], "statements = 10\nkinds = [\"point\"]"));
    let whole = |protocol| per_statement(&document, "point", protocol, "a");
    assert!(whole("prepared") < 0.7 * whole("simple"));
    for protocol in ["simple", "prepared"] {
        let count = of(&document, "point", protocol, "a");
        let names = ["parse", "analyze", "plan", "execute", "other"];
        let sum: f64 = names.map(|name| phase(count, name)).iter().sum();
        assert!((sum / whole(protocol) - 1.0).abs() < 1e-6, "{count:#}");
        assert!(phase(count, "execute") > 0.2 * whole(protocol), "{count:#}");
        for name in ["parse", "analyze", "plan"] {
            let some = phase(count, name) > 0.01 * whole(protocol);
            assert_eq!(some, protocol == "simple", "{name}: {count:#}");
        }
    }
    let database = Database::of(&place.results());
    let counted = database.texts("SELECT text FROM count_function JOIN name ON name.id = name_id");
    let has = |name: &str| counted.iter().any(|counted| counted.starts_with(name));
    assert!(has("ReadBuffer"), "{counted:?}");
    assert!(!has("FileRead"), "a query that is counted finds its pages in memory: {counted:?}");
}

#[test]
fn versions_differ_and_the_functions_are_named() {
    if !can_count() {
        return;
    }
    let place = Place::new();
    let document = place.counted(&plan(
        &[("old", "postgres@13.7"), ("new", "postgres@14.3")],
        "statements = 20\nkinds = [\"insert-50\"]\nprotocols = [\"simple\"]",
    ));
    let count = of(&document, "insert-50", "simple", "new");
    let relative = count["relative"].as_f64().unwrap();
    assert!(relative > 1.005, "14.3 takes more for multi-row inserts than 13.7: {relative}");
    assert_eq!(count["certain"], true);
    let names: Vec<&str> = count["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["name"].as_str().unwrap())
        .collect();
    assert!(
        names.iter().any(|name| name.starts_with("Exec") || name.starts_with("palloc")),
        "{names:?}"
    );
    for gate in ["--gate", "--gate-inconclusive"] {
        let failed = place.steelyard(&["count", gate, "--margin", "0.1%"]);
        failed.expect(1, &["the gate failed"]);
        place.steelyard(&["count", gate, "--margin", "50%"]).expect(0, &[]);
    }
}

/// Counts of two builds of PostgreSQL.
#[test]
#[ignore = "takes minutes: make validate"]
fn a_loop_added_to_one_function_is_found_and_the_function_named_first() {
    if !can_count() {
        return;
    }
    let sources = tempfile::tempdir().unwrap();
    let source = repository::postgres_repository(sources.path());
    let place = Place::new();
    let mut text = "name = \"loop\"\nbase = \"base\"\n".to_owned();
    for (name, tag) in
        [("base", repository::BASE), ("again", repository::BASE), ("loop", repository::LOOP)]
    {
        let dbms = format!("postgres@git:{}#{tag}", source.display());
        let options = dbms::BuildOptions {
            cflags: repository::CFLAGS.to_owned(),
            compiler: repository::compiler().to_owned(),
            ..dbms::BuildOptions::default()
        };
        // In this file because it takes longer than a command of these tests may.
        let reference: dbms::Reference = dbms.parse().unwrap();
        let reference = reference.with_build(options.clone()).unwrap();
        dbms::obtain(&reference, &dbms::Cache::open_default().unwrap(), &|_| ()).unwrap();
        text.push_str(&format!(
            "[variants.{name}]\ndbms = \"{dbms}\"\nbuild = {{ cflags = \"{}\", compiler = \"{}\" }}\n",
            options.cflags, options.compiler
        ));
    }
    text.push_str(
        "[workload.insert]\n[count]\nrows = 1000\nstatements = 10\nprotocols = [\"simple\"]\n\
         kinds = [\"insert-50\"]\n",
    );
    let document = place.counted(&text);
    let again = of(&document, "insert-50", "simple", "again");
    assert!((again["relative"].as_f64().unwrap() - 1.0).abs() < 5e-5, "0.00%: {again:#}");
    let count = of(&document, "insert-50", "simple", "loop");
    let first = &count["functions"][0];
    assert_eq!(first["name"], repository::FUNCTION, "{count:#}");
    // A few instructions for each of 1000 numbers, in every statement.
    let added = first["difference"]["own"].as_f64().unwrap();
    assert!((3_000.0..20_000.0).contains(&added), "{added}");
    let relative = count["relative"].as_f64().unwrap();
    assert!(relative < 1.005, "told from none though it is only {relative}");
    assert_eq!(count["certain"], true, "{count:#}");
}

#[test]
fn statements_of_ones_own() {
    if !can_count() {
        return;
    }
    let place = Place::new();
    place.file(
        "own.sql",
        "-- name: setup\ncreate table t (id int primary key, n int);\n\
         insert into t select i, 0 from generate_series(1, 1000) i;\n\
         -- name: one\nselect n from t where id = 7;\n\
         -- name: all\nselect sum(n) from t;\n\
         -- name: update\nupdate t set n = n + 1\nwhere id = 7;\n",
    );
    let document = place.counted(&plan(
        &[("a", "postgres@14.3")],
        "file = \"own.sql\"\nprotocols = [\"simple\"]\nstatements = 10",
    ));
    let mut kinds: Vec<&str> = document["counts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|k| k["kind"].as_str().unwrap())
        .collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["all", "one", "update"]);
    let cost = |kind| per_statement(&document, kind, "simple", "a");
    assert!(cost("all") > 3.0 * cost("one"), "{} and {}", cost("all"), cost("one"));
    // The stored plan is enough to count again.
    let again = place.count(&["--plan-of", "counted", "--kinds", "one", "--quiet"]);
    again.expect(0, &[]);
    let latest = place.steelyard(&["count", "--format", "json"]);
    let latest: Value = serde_json::from_str(&latest.stdout).unwrap();
    assert!((per_statement(&latest, "one", "simple", "a") / cost("one") - 1.0).abs() < 0.01);
    let brief = place.steelyard(&["count", "--brief"]);
    brief.expect(0, &[]);
    assert!(brief.stdout.starts_with("Instructions per statement\n"), "{}", brief.stdout);
}

#[test]
fn what_can_not_be_counted_is_said() {
    let place = Place::new();
    place.steelyard(&["count"]).expect(2, &["no results"]);
    place.steelyard(&["count", "--plan-of", "9"]).expect(2, &["no results"]);
    let unknown = place.plan(&plan(&[("a", "postgres@14.3")], "kinds = [\"insert-7\"]"));
    if can_count() {
        place.count(&[&unknown]).expect(2, &["`insert-7` is not a kind", "insert-100"]);
    }
    let running = place.plan(&plan(&[("a", "postgres://nobody@localhost:1/none")], ""));
    let ended = place.count(&[&running]);
    assert_ne!(ended.code, Some(0), "{}", ended.stderr);
}
