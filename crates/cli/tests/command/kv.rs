//! The key-value steps on real versions of RocksDB, each in a process of its own.

use std::process::{Child, Command};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::count::{can_count, per_statement};
use crate::database::Database;
use crate::place::Place;

/// Two versions, all steps, a database of a few megabytes.
fn plan(blocks: u32, more: &str, workload: &str) -> String {
    format!(
        "name = \"kv\"\nbase = \"old\"\nblocks = {blocks}\nsteal_limit = 1\n{more}\n\
         [variants.old]\ndbms = \"rocksdb@6.8.1\"\n[variants.new]\ndbms = \"rocksdb@10.10.1\"\n\
         [workload.kv]\nkeys = 20000\n{workload}"
    )
}

#[test]
fn all_steps_run_on_an_old_and_a_new_version() {
    let place = Place::new();
    let config = "[config]\nwrite_buffer_size = \"64KB\"";
    let file = place.plan(&plan(1, config, "seconds = 1"));
    let ended = place.run(&[&file]);
    ended.expect(0, &["readrandom", "keys/s", "ranges/s", "overwrite"]);
    let database = Database::of(&place.results());
    database.assert_sound();
    let rates = database.texts(
        "SELECT DISTINCT n.text || ' ' || s.dop FROM step s JOIN name n ON n.id = s.name_id \
         WHERE s.kind = 'measured' AND s.operations > 0",
    );
    assert_eq!(rates.len(), 2 + 8, "{rates:?}");
    // The tree was settled before each step that reads, and its shape was kept.
    let notes = database.notes_of("settle").concat();
    assert!(
        notes.contains("flush, waitforcompaction; before: L") && notes.contains("after: L"),
        "{notes}"
    );
    assert!(database.counter("overwrite", "flush_bytes_written") > 60_000.0);
    // So was its shape in each second.
    let shape = database.texts(
        "SELECT DISTINCT n.text FROM series r JOIN name n ON n.id = r.name_id \
         WHERE r.grp = 'state' ORDER BY 1",
    );
    for name in ["state.L0", "state.L0.files", "state.estimate-pending-compaction-bytes"] {
        assert!(shape.iter().any(|found| found == name), "{shape:?}");
    }
    // The engine's own statistics are there, and its settings.
    let compare = place.steelyard(&["compare", "--format", "json"]);
    compare.expect(0, &[]);
    let document: serde_json::Value = serde_json::from_str(&compare.stdout).unwrap();
    assert_eq!(document["steps"].as_array().unwrap().len(), 10);
    let summary = place.steelyard(&["compare", "--tables", "summary"]);
    summary.expect(0, &[]);
    for column in ["ops_sec", "w_amp", "c_csecs", "p99.99", "Nstall", "fillseq", "rareq-sz"] {
        assert!(summary.stdout.contains(column), "{}", summary.stdout);
    }
    place.assert_nothing_left();
}

#[test]
fn an_engine_that_crashes_fails_its_step_and_the_run_goes_on() {
    let place = Place::new();
    let file = place.plan(&plan(1, "", "steps = [\"fillseq\", \"readrandom\"]\nseconds = 6"));
    let mut run = place.start_run(&[&file]);
    // The step after it lasts six seconds.
    run.wait_for("trial 1/2", "  settle ");
    let records = place.ledger().records().unwrap();
    let process = records.iter().find_map(|record| record.process.clone()).unwrap();
    let process = Pid::from_raw(process.pid as i32);
    place.wait_for_work(process);
    kill(process, Signal::SIGSEGV).unwrap();
    run.end().expect(
        3,
        &["step readrandom", "the server died", "signal: 11", "opened", "--resume", "trial 2/2"],
    );
    let database = Database::of(&place.results());
    let states: Vec<String> = database.trials().iter().map(|trial| trial.state.clone()).collect();
    assert_eq!(states, ["failed", "finished"]);
    // Nothing that failed looks like a result.
    let json = place.steelyard(&["compare", "--format", "json"]);
    json.expect(0, &[]);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(document["finished"], false);
    place.run(&["--resume"]).expect(0, &[]);
    let states: Vec<String> =
        Database::of(&place.results()).trials().iter().map(|trial| trial.state.clone()).collect();
    assert_eq!(states, ["failed", "finished", "finished"]);
}

#[test]
fn settings_that_a_version_does_not_know_are_refused() {
    let place = Place::new();
    let file = place.plan(&plan(1, "[config]\nwrite_bufer_size = \"1MB\"", ""));
    place.run(&[&file]).expect(2, &["rejects", "write_bufer_size = 1MB"]);
    let file = place.plan(
        &plan(1, "", "steps = [\"fillseq\"]")
            .replace("kv]", "insert]")
            .replace("keys = 20000\nsteps = [\"fillseq\"]", ""),
    );
    place.run(&[&file]).expect(2, &["needs a system that accepts SQL"]);
}

/// A busy loop for each CPU. Dropping it ends them.
struct Crowd(Vec<Child>);

impl Crowd {
    fn gather() -> Crowd {
        let busy = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        Crowd((0..std::thread::available_parallelism().unwrap().get()).map(|_| busy()).collect())
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

#[test]
fn what_other_programs_use_is_not_held_against_a_server() {
    let place = Place::new();
    let file = place.plan(&plan(
        2,
        "pairing = \"auto\"\nslice_ms = 40",
        "steps = [\"fillseq\", \"readrandom\"]\nseconds = 2",
    ));
    let crowd = Crowd::gather();
    place.run(&[&file]).expect(0, &["readrandom"]);
    drop(crowd);
    let database = Database::of(&place.results());
    let values = |metric: &str| database.metrics("readrandom", metric);
    // With a loop on each CPU, whoever wants one has to wait.
    let (others, wanted) = (values("cpu.others"), values("cpu.wanted"));
    assert!(others.len() == 4 && others.iter().all(|cpus| *cpus > 0.1), "{others:?}");
    assert!(wanted.len() == 4 && wanted.iter().all(|share| *share > 0.05), "{wanted:?}");
    // A step that does nothing but compute is CPU-bound, however little others leave it.
    assert_eq!(values("slice.ms").len(), 4, "{others:?} {wanted:?}");
    let said = database.notes_of("readrandom").concat();
    assert!(!said.contains("not CPU-bound: in the first"), "{said}");
    let warned = database.texts("SELECT text FROM warning WHERE code = 'others-busy'");
    assert!(warned.iter().any(|text| text.starts_with("other programs used ")), "{warned:?}");
    place.assert_nothing_left();
}

#[test]
fn steps_that_are_cpu_bound_are_sliced() {
    let place = Place::new();
    let file = place.plan(&plan(
        2,
        "pairing = \"slices\"",
        "steps = [\"fillseq\", \"readrandom\", \"overwrite\"]\nseconds = 1",
    ));
    place.run(&[&file]).expect(0, &["readrandom"]);
    let database = Database::of(&place.results());
    let sliced = database.texts(
        "SELECT DISTINCT n.text FROM series r JOIN name rn ON rn.id = r.name_id \
         JOIN step s ON s.id = r.step_id JOIN name n ON n.id = s.name_id \
         WHERE rn.text = 'slice.o/s' ORDER BY 1",
    );
    assert_eq!(sliced, ["overwrite", "readrandom"], "fillseq ends when its work is done");
}

#[test]
fn calls_are_counted_to_the_instruction() {
    if !can_count() {
        return;
    }
    let place = Place::new();
    let counted = plan(
        1,
        "",
        "[count]\nrows = 2000\nstatements = 300\n\
         kinds = [\"get-hit\"]\n",
    );
    let document = place.counted(&counted);
    let cost = |kind: &str, variant: &str| per_statement(&document, kind, "call", variant);
    for variant in ["old", "new"] {
        let hit = cost("get-hit", variant);
        // Some thousands of instructions, of the library alone.
        assert!((2_000.0..40_000.0).contains(&hit), "{hit}");
    }
    // Only what happens within the library counts.
    let database = Database::of(&place.results());
    let functions = database
        .texts("SELECT DISTINCT n.text FROM count_function f JOIN name n ON n.id = f.name_id");
    let named = |name: &str| functions.iter().any(|function| function.contains(name));
    assert!(named("rocksdb::") && named("rocksdb_get_pinned") && !named("drive::"));
    let table = place.steelyard(&["count"]);
    table.expect(0, &[]);
    for words in ["instructions per call", "calls of the library", "get-hit"] {
        assert!(table.stdout.contains(words), "{words}: {}", table.stdout);
    }
    assert!(!table.stdout.contains("Phases"), "{}", table.stdout);
    let refused = place.plan(&plan(1, "", "[count]\nprotocols = [\"simple\"]\n"));
    place.steelyard(&["count", &refused]).expect(2, &["this workload has no statements"]);
    place.assert_nothing_left();
}

#[test]
fn what_was_dropped_from_the_page_cache_is_read_from_storage() {
    let read = |more: &str| {
        let place = Place::new();
        let steps = "steps = [\"fillseq\", \"readrandom\"]\nmode = \"byos\"\nseconds = 1";
        place.run(&[&place.plan(&plan(1, more, steps))]).expect(0, &["readrandom"]);
        let database = Database::of(&place.results());
        database.metric("readrandom", "rKB/o")?;
        // Only reads by its own process: tests that run alongside may read from the same device.
        let trials = database.finished().into_iter();
        let read = trials.flat_map(|trial| database.series(trial.id, "readrandom", "dbms.rkb"));
        Some(read.collect::<Vec<_>>())
    };
    let (Some(kept), Some(dropped)) = (read(""), read("drop_page_cache = true")) else {
        return testing::skip("the data directory is on no block device");
    };
    let [least, most] = [kept.iter().sum::<f64>(), dropped.iter().sum::<f64>()];
    assert!(kept.len() >= 2 && dropped.len() >= 2, "{kept:?} {dropped:?}");
    assert!(most > 100.0 && most > 10.0 * least, "KB/s: kept {kept:?}, dropped {dropped:?}");
}
