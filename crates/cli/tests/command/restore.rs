//! Plans that load once: trials begin on copies of the loaded data, and no copy is left behind.

use std::time::Duration;

use nix::sys::signal::Signal;

use crate::database::Database;
use crate::place::{Place, names};
use crate::plans::{BOTH, ONE, plan};

const STEPS: &str = "rows = 3000\nsteps = [\"l.i0\", \"l.x\", \"qr100\", \"qp100\"]";

/// The digests of loads that notes of trials tell, one for each note that begins with `about`.
fn digests(database: &Database, about: &str) -> Vec<(String, String)> {
    database.list(
        &format!(
            "SELECT v.name, substr(json_extract(s.notes, '$[0]'), length('{about}') + 1, 16) FROM step s \
             JOIN trial t ON t.id = s.trial_id JOIN variant v ON v.id = t.variant_id \
             WHERE json_extract(s.notes, '$[0]') LIKE '{about}%' ORDER BY s.id"
        ),
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Names of the steps of finished trials in a block.
fn steps_of(database: &Database, variant: &str, block: u32) -> Vec<String> {
    database.texts(&format!(
        "SELECT n.text FROM step s JOIN name n ON n.id = s.name_id JOIN trial t ON t.id = s.trial_id \
         JOIN variant v ON v.id = t.variant_id WHERE t.state = 'finished' AND s.state = 'finished' \
         AND v.name = '{variant}' AND t.block = {block} ORDER BY s.ordinal"
    ))
}

#[test]
fn each_variant_loads_once_and_all_trials_begin_alike() {
    let place = Place::new();
    let file = place.plan(&plan(BOTH, "blocks = 2\nrestore_after = \"l.x\"", STEPS));
    let ran = place.run(&[&file]);
    ran.expect(
        0,
        &["2 steps, measured in 4 trials", "load of pg13.7", "load of pg14.3", "trial 4/4"],
    );
    place.assert_nothing_left();
    let database = Database::of(&place.results());
    database.assert_sound();
    assert_eq!(database.finished().len(), 6, "two loads and four trials");
    for variant in ["pg13.7", "pg14.3"] {
        assert_eq!(steps_of(&database, variant, 0), ["l.i0", "l.x", "settle", "keep"]);
        for block in [1, 2] {
            assert_eq!(steps_of(&database, variant, block), ["restore", "qr100", "qp100"]);
        }
    }
    let mut kept = digests(&database, "kept as load ");
    let mut copied = digests(&database, "copy of load ");
    assert_eq!((kept.len(), copied.len()), (2, 4));
    assert!(kept.iter().all(|(_, digest)| digest.len() == 16));
    assert_ne!(kept[0].1, kept[1].1);
    kept.sort();
    copied.sort();
    copied.dedup();
    assert_eq!(copied, kept, "the trials of a variant begin on its load");
    // The rows are there, and rows that one trial adds are not in the next.
    let sizes = database.texts(
        "SELECT DISTINCT v.name FROM trial t JOIN variant v ON v.id = t.variant_id WHERE t.setting_set_id IS NULL",
    );
    assert_eq!(sizes, Vec::<String>::new(), "settings of all trials are recorded");
    let found = |step: &str| {
        database.number(&format!(
            "SELECT min(s.operations) FROM step s JOIN name n ON n.id = s.name_id WHERE n.text = '{step}'"
        ))
    };
    assert_eq!(found("l.i0"), 3000);
    assert!(found("qr100") > 0 && found("qp100") > 0);
    let codes = database.texts("SELECT code FROM warning WHERE trial_id IS NULL");
    assert_eq!(codes.iter().filter(|code| *code == "one-load").count(), 1, "{codes:?}");
    drop(database);
    let compared = place.steelyard(&["compare"]);
    compared.expect(0, &[]);
    for part in ["l.i0", "qp100", "began on copies of one load"] {
        assert!(compared.stdout.contains(part), "`{part}` is missing in:\n{}", compared.stdout);
    }
}

#[test]
fn a_limit_on_memory_holds_for_the_copy_too() {
    let place = Place::new();
    let whole = "blocks = 1\nrestore_after = \"l.i0\"\nmemory_limit = \"200MB\"";
    let steps = "rows = 3000\nsecondary_indexes = 0\nsteps = [\"l.i0\", \"qr100\"]\ndop = [1, 2]";
    let ran = place.run(&[&place.plan(&plan(ONE, whole, steps))]);
    if ran.code == Some(2) && ran.stderr.contains("needs a control group") {
        return testing::skip("no control group can be made");
    }
    ran.expect(0, &["load of pg13.7 (dop 1)", "load of pg13.7 (dop 2)", "trial 2/2"]);
    let database = Database::of(&place.results());
    assert!(database.metric("restore", "restore.read").is_some_and(|seconds| seconds > 0.0));
    assert_eq!(database.number("SELECT count(*) FROM trial WHERE block = 0"), 2);
}

#[test]
fn what_a_killed_run_had_loaded_is_removed_by_the_next() {
    let place = Place::new();
    let steps = STEPS.replace("3000", "3000\nread_write_seconds = 60");
    let file = place.plan(&plan(ONE, "restore_after = \"l.x\"", &steps));
    let mut run = place.start_run(&[&file]);
    run.wait_for("trial 1/1", "  restore");
    std::thread::sleep(Duration::from_millis(300));
    run.signal(Signal::SIGKILL);
    assert_eq!(run.end().code, None, "killed");
    place.wait_until_gone();
    assert_eq!(place.ledger().records().unwrap().len(), 2, "the load and the trial's server");
    assert_eq!(names(&place.data()).len(), 2);
    let quick = place.file("quick.toml", &plan(ONE, "", "rows = 2000\nsteps = [\"l.i0\"]"));
    place.run(&[&quick]).expect(0, &["cleaned up what a killed run left"]);
    place.assert_nothing_left();
}
