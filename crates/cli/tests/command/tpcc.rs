//! The transactions derived from TPC-C on real systems.

use serde_json::Value;

use crate::count::{can_count, per_statement};
use crate::database::Database;
use crate::own_server::OwnServer;
use crate::place::Place;

const SMALL: [&str; 6] = ["--dop", "2", "--seconds", "1", "--blocks", "1"];

#[test]
fn each_kind_of_transaction_has_its_own_times() {
    let place = Place::new();
    let variants = ["-v", "pg=postgres@14.3", "-v", "my=mysql@8.0.31"];
    let run = place.run(&[&["tpcc"][..], &variants, &SMALL].concat());
    run.expect(0, &["load", "  check", "mix"]);
    let asked = ["compare", "--format", "json", "--metric", "o/s,new-order.p99,payment.p99"];
    let compare = place.steelyard(&asked);
    compare.expect(0, &[]);
    place.assert_nothing_left();
    let document: Value = serde_json::from_str(&compare.stdout).unwrap();
    for metric in document["metrics"].as_array().unwrap() {
        let comparisons = metric["comparisons"].as_array().unwrap();
        let mix = comparisons.iter().any(|it| it["step"] == "mix");
        assert!(mix, "{metric}");
    }
    let database = Database::of(&place.results());
    let notes = database.texts("SELECT notes FROM step WHERE notes LIKE '%condition 12%'");
    assert_eq!(notes.len(), 4, "after the load and after the mix of both: {notes:?}");
}

/// A payment gets lost as soon as there are indexes, so the check before the mix must find it.
#[test]
fn wrong_data_is_no_result() {
    let place = Place::new();
    let server = OwnServer::start();
    let fault = "CREATE FUNCTION lose() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN \
                 DELETE FROM history WHERE h_d_id = 7 AND h_c_id = 100; END $$; \
                 CREATE EVENT TRIGGER losing ON ddl_command_end WHEN TAG IN ('CREATE INDEX') \
                 EXECUTE FUNCTION lose()";
    server.client().batch_execute(fault).unwrap();
    let url = server.socket_url();
    let procedures = ["tpcc", "-v", &*url, "--mode", "procedures"];
    let run = place.run(&[&procedures[..], &SMALL].concat());
    run.expect(
        3,
        &[
            "its data or its answers are wrong",
            "condition 9, a district's payments are in the history",
        ],
    );
    assert!(!run.stderr.contains("condition 1, "), "{}", run.stderr);
    let database = Database::of(&place.results());
    let measured = "SELECT text FROM step JOIN name ON name.id = name_id WHERE text = 'mix'";
    assert!(database.texts(measured).is_empty());
    assert!(database.texts("SELECT state FROM trial WHERE state = 'finished'").is_empty());
    assert!(server.tables().is_empty());
    let left = "SELECT proname::text FROM pg_proc WHERE proname LIKE 'steelyard%'";
    assert!(server.client().query(left, &[]).unwrap().is_empty());
}

#[test]
fn transactions_are_counted() {
    if !can_count() {
        return;
    }
    let place = Place::new();
    let plan = "name = \"counted\"\n[variants.a]\ndbms = \"postgres@14.3\"\n\
                [workload.tpcc]\n[count]\nstatements = 6\nprotocols = [\"simple\"]\n";
    let document = place.counted(plan);
    let kinds = ["new-order", "payment", "order-status", "delivery", "stock-level"];
    let [order, payment, status, delivery, _] =
        kinds.map(|kind| per_statement(&document, kind, "simple", "a"));
    assert!(delivery > order && order > payment && payment > status);
    place.assert_nothing_left();
}
