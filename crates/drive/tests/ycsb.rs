//! Rounds that differ within a stream, by the workloads derived from YCSB.

use drive::Outcome;
use workload::{Dialect, End, Phase, Step, Stream};

use crate::common::{TestServer, run};
use crate::workloads::planned;

/// Rounds of a client.
const ROUNDS: u64 = 300;

/// A server with 3,100 records, and its steps.
fn loaded() -> (TestServer, Vec<Step>) {
    // Since 15, no count of a server is lost on its way to a collector.
    let mut server = TestServer::of("postgres@18.1");
    let benchmark = planned("ycsb", "", Dialect::postgres(18)).unwrap();
    benchmark.setup.iter().for_each(|statement| server.sql(statement));
    let steps: Vec<Step> = benchmark.phases.iter().filter_map(Phase::step).cloned().collect();
    assert_eq!(run(steps[0].clone(), &server).fatal, None);
    (server, steps)
}

/// Runs a workload with so many clients, until each has done its rounds.
fn outcome(server: &TestServer, steps: &[Step], name: &str, clients: u32) -> Outcome {
    let step = steps.iter().find(|step| step.key.name == name).unwrap();
    let of = |client| Stream {
        client,
        end: End::Rounds(ROUNDS),
        refresh: step.streams[0].refresh.clone().filter(|_| client == 0),
        ..step.streams[0].clone()
    };
    let streams = (0..clients).map(of).collect();
    let outcome = run(Step { streams, seconds: None, ..step.clone() }, server);
    assert_eq!(outcome.fatal, None, "{:?}", outcome.failures);
    assert_eq!(outcome.operations, u64::from(clients) * ROUNDS);
    outcome
}

/// Operations of a class.
fn of(outcome: &Outcome, name: &str) -> u64 {
    let class = outcome.classes.iter().find(|it| it.class.name == name).unwrap();
    assert_eq!((class.statements, class.latency.len()), (class.operations, class.operations));
    class.operations
}

#[test]
fn each_kind_of_round_is_counted_as_drawn() {
    let (mut server, steps) = loaded();
    let tables = ["usertable".to_owned()];
    // Some clients with a thread each, and many that share threads.
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    for clients in [2, 16 * cores + 8] {
        let before = server.server.counters(&tables).unwrap();
        let outcome = outcome(&server, &steps, "a", clients);
        let [reads, updates] = ["read", "update"].map(|name| of(&outcome, name));
        assert_eq!(reads + updates, outcome.operations);
        let half = outcome.operations as f64 / 2.0;
        let error = (reads as f64 - half) / (half / 2.0).sqrt();
        assert!(error.abs() < 4.0, "{reads} of {}: {error}", outcome.operations);
        server.wait_for_clients();
        let after = server.server.counters(&tables).unwrap().difference(&before);
        let changed = after.iter().find(|it| it.name == "n_tup_upd").map(|it| it.value);
        assert_eq!(changed, Some(updates as f64));
    }
}

#[test]
fn what_is_inserted_is_read() {
    let (mut server, steps) = loaded();
    let mut records = 3100;
    // The second begins where the first ended. A number that was taken is not taken again.
    for clients in [1, 3] {
        let outcome = outcome(&server, &steps, "d", clients);
        records += of(&outcome, "insert") as i64;
        assert_eq!(server.number("SELECT count(*) FROM usertable"), records);
        assert_eq!(outcome.retries(), 0);
    }
    // As if an insert had failed: the number of the next record is taken.
    server.sql("DELETE FROM usertable WHERE ycsb_key = (SELECT min(ycsb_key) FROM usertable)");
    let outcome = outcome(&server, &steps, "e", 2);
    assert!(outcome.retries() > 0 && of(&outcome, "scan") > of(&outcome, "insert"));
}
