//! Another real program as the load.

use std::process::Command;
use std::time::Instant;

use crate::common::{HANG, TestServer};
use workload::{Class, Output, Program, Step};

#[test]
fn pgbench_is_a_load() {
    let program = "/usr/lib/postgresql/15/bin/pgbench";
    if !std::path::Path::new(program).exists() {
        return testing::skip("pgbench is not installed");
    }
    let mut server = TestServer::start();
    let postgres = server.postgres();
    let drive::Address::Unix(socket) = &postgres.address else { panic!("no socket") };
    let pgbench = |arguments: &[&str]| {
        let mut command = Command::new(program);
        command.arg("-h").arg(socket.parent().unwrap()).args(["-U", &postgres.user]);
        command.args(arguments).arg(&postgres.database);
        command
    };
    assert!(pgbench(&["-i", "-s", "1", "-q"]).output().unwrap().status.success());
    let committed = "SELECT pg_stat_get_db_xact_commit(oid) FROM pg_database \
                     WHERE datname = current_database()";
    let before = server.number(committed);
    let load = pgbench(&["-n", "-S", "-M", "prepared", "-c", "2", "-t", "500"]);
    let step = Step::new("select", 2, Class::QUERY, Vec::new());
    let output = Output { parse: Some("pgbench".to_owned()), test: None };
    let reads = Program { output, ..Program::new(step, vec![program.to_owned()]) };
    let running = drive::program("pg14.3", load, &reads, None).go(Instant::now());
    assert!(running.wait(HANG), "it hangs");
    let outcome = running.join().remove(0);
    assert_eq!((outcome.fatal.as_deref(), outcome.operations), (None, 1000));
    assert!(outcome.value() > 0.0 && outcome.client_user_us + outcome.client_system_us > 0);
    // A backend reports its transactions when it ends.
    let begin = Instant::now();
    while server.number(committed) < before + 1000 {
        assert!(begin.elapsed() < HANG, "the server saw fewer");
    }
}
