//! Work that earlier steps leave behind, and what `explain` says about it.

use serde_json::Value;

use crate::place::Place;

/// Both update every row several times; only one of them cleans up, and has time to while the
/// table is scanned.
const PLAN: &str = r#"
name = "debt"
base = "vacuumed"
blocks = 1
settle_seconds_scale = 0
steal_limit = 1

[config]
shared_buffers = "4MB"
synchronous_commit = "off" # many updates, however slow the storage
autovacuum_naptime = "1s"
autovacuum_vacuum_threshold = 0
autovacuum_vacuum_scale_factor = 0
autovacuum_vacuum_cost_delay = 0

[variants.vacuumed]
dbms = "postgres@14.3"

[variants.left]
dbms = "postgres@14.3"
config = { autovacuum = "off" }

[workload.sysbench]
tables = 1
rows = 5_000
steps = ["update-index", "scan", "range-covered-pk"]
write_seconds = 2
read_seconds = 2
"#;

/// A figure that differs, in the base and in the variant; 0 if it does not differ.
fn shift(step: &Value, kind: &str, name: &str) -> [f64; 2] {
    let all = step[kind]["left"].as_array().unwrap();
    let found = all.iter().find(|shift| shift["name"] == name);
    ["base", "value"].map(|key| found.map_or(0.0, |shift| shift[key].as_f64().unwrap()))
}

#[test]
fn what_autovacuum_would_have_removed_is_explained() {
    let place = Place::new();
    let file = place.plan(PLAN);
    place.run(&[&file]).expect(0, &[]);
    let explained = place.steelyard(&["explain", "--step", "range-covered-pk", "--format", "json"]);
    explained.expect(0, &[]);
    let document: Value = serde_json::from_str(&explained.stdout).unwrap();
    let step = &document["steps"][0];
    for cost in ["o/s", "cpu/o", "cs/o", "r/o", "rKB/o", "wKB/o", "dbms.cpu/o"] {
        assert!(!step["variants"][0]["costs"][cost].is_null(), "{cost}: {step:#}");
    }
    let database = crate::database::Database::of(&place.results());
    // No update finds room on its page: k, which is indexed, has a new value. Each leaves a row,
    // however many there are.
    let updates = ["vacuumed", "left"].map(|variant| {
        database.number(&format!(
            "SELECT CAST(avg(s.operations) AS INTEGER) FROM step s \
             JOIN trial t ON t.id = s.trial_id JOIN variant v ON v.id = t.variant_id \
             JOIN name n ON n.id = s.name_id WHERE v.name = '{variant}' AND n.text = 'update-index'"
        )) as f64
    });
    let dead = shift(step, "start", "start.dead_rows");
    let [vacuumed, left] = [0, 1].map(|at| dead[at] / updates[at]);
    assert!(left > 0.8 && left < 1.2, "{dead:?} dead rows after {updates:?} updates");
    assert!(vacuumed < 0.3, "{dead:?} dead rows after {updates:?} updates");
    // Index-only scans look into the table where a page is not known to be all-visible.
    let hits = shift(step, "counters", "pg_statio_all_tables.heap_blks_hit");
    let read = shift(step, "counters", "pg_statio_all_tables.heap_blks_read");
    let [vacuumed, left] = [0, 1].map(|at| hits[at] + read[at]);
    assert!(left > 2.0 * vacuumed, "{vacuumed} and {left} blocks per query: {step:#}");
    // The actions of autovacuum are read from the log.
    let events = database.texts("SELECT DISTINCT kind FROM event ORDER BY kind");
    assert!(events.contains(&"autovacuum".to_owned()), "{events:?}");
    let waits = database.number(
        "SELECT count(*) FROM counter c JOIN name n ON n.id = c.view_id WHERE n.text = 'waits'",
    );
    assert!(waits > 0, "nobody was seen to wait or work");
    let plans =
        database.texts("SELECT DISTINCT n.text FROM query_plan q JOIN name n ON n.id = q.plan_id");
    assert!(plans.iter().any(|plan| plan.contains("Index Only Scan")), "{plans:?}");
    place.assert_nothing_left();
}
