//! The example of the README, `examples/point_queries.rs`, as a user runs it.

use std::process::Command;

use drive::Address;

use crate::common::TestServer;

#[test]
fn the_example_measures_point_queries() {
    let built = std::env::current_exe().unwrap();
    let built = built.parent().and_then(|deps| deps.parent()).unwrap();
    let program = built.join("examples/point_queries");
    if !program.exists() {
        return testing::skip("`cargo test` of the whole package builds the example");
    }
    let mut server = TestServer::start();
    let place = server.postgres();
    let Address::Unix(socket) = &place.address else { panic!("no socket") };
    let host = socket.parent().unwrap().to_str().unwrap();
    let port = socket.extension().unwrap().to_str().unwrap();
    let run = |numbers: [&str; 3]| {
        let mut command = Command::new(&program);
        command.args([host, port, &place.user, &place.database]).args(numbers).output().unwrap()
    };
    server.sql("CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, abalance int)");
    server.sql("INSERT INTO pgbench_accounts SELECT i, 0 FROM generate_series(1, 100000) i");
    for numbers in [["2", "1", "0"], ["2", "1", "1"]] {
        let told = run(numbers);
        let text = String::from_utf8_lossy(&told.stdout);
        let rate = text.strip_prefix("2 clients: ").and_then(|rest| rest.split_once(" queries/s"));
        let rate = rate.and_then(|(rate, _)| rate.parse::<f64>().ok());
        assert!(told.status.success() && rate.is_some_and(|rate| rate > 0.0), "{told:?}");
    }
    // There are only rows of scale 1.
    let told = run(["1", "1", "1000"]);
    assert!(!told.status.success() && !told.stderr.is_empty(), "{told:?}");
}
