//! Features that a read-only sweep needs: protocols, pipelines, bulk loads, and clients on CPUs of
//! their own.

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use drive::{Load, Seat};
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;
use workload::{Class, Dialect, End, Expect, Pace, Phase, Request, Sent, Statement, Stream};

use crate::common::{
    HANG, TestServer, load, make_table, point_select, run, step, stream, text, uniform,
};

#[test]
fn every_query_of_a_pipeline_counts() {
    let mut server = TestServer::start();
    make_table(&mut server, 1000);
    for sent in [Sent::Prepared, Sent::Extended] {
        for depth in [1, 5, 40] {
            let statement = Statement { sent, ..point_select(true) };
            let request = Request::Pipeline { statement, depth };
            let stream = Stream {
                operations_per_round: u64::from(depth),
                end: End::Rounds(200),
                ..Stream::repeating(0, Class::QUERY, request)
            };
            let outcome = run(step(Class::QUERY, vec![stream], None), &server);
            assert_eq!(outcome.fatal, None, "{sent:?} {depth}");
            assert_eq!(outcome.operations, 200 * u64::from(depth), "{sent:?}");
            let class = &outcome.classes[0];
            assert_eq!((class.statements, class.rows), (200, 200 * u64::from(depth)));
        }
    }
}

#[test]
fn a_missing_row_in_a_pipeline_is_a_wrong_answer() {
    let mut server = TestServer::start();
    make_table(&mut server, 1000);
    let pieces = vec![text("SELECT v FROM t WHERE id = "), uniform(999, 1003)];
    let statement =
        Statement { pieces, sent: Sent::Prepared, expect: Expect::Rows { min: 1, max: 1 } };
    let request = Request::Pipeline { statement, depth: 20 };
    let stream = Stream { end: End::Rounds(50), ..Stream::repeating(0, Class::QUERY, request) };
    let fatal = run(step(Class::QUERY, vec![stream], None), &server).fatal.unwrap();
    assert!(fatal.contains("wrong answer: expected 20 rows"), "{fatal}");
}

#[test]
fn a_statement_can_be_parsed_anew_each_time() {
    let mut server = TestServer::start();
    make_table(&mut server, 1000);
    server.set("log_statement", "all");
    let select = Statement { sent: Sent::Extended, ..point_select(true) };
    let one = stream(0, Class::QUERY, select, Pace::Free, End::Rounds(300));
    let outcome = run(step(Class::QUERY, vec![one], None), &server);
    assert_eq!((outcome.fatal, outcome.operations), (None, 300));
    // Prepared statements that stay have a name.
    let parsed = "execute <unnamed>: SELECT v FROM t";
    assert_eq!(server.log().matches(parsed).count(), 300);
    // The simple protocol has no pipeline.
    let statement = point_select(false);
    let refused = Stream::repeating(0, Class::QUERY, Request::Pipeline { statement, depth: 2 });
    let load = load(step(Class::QUERY, vec![refused], Some(1.0)), vec![server.target()]);
    let error = drive::prepare(&load).err().unwrap().to_string();
    assert!(error.contains("the simple protocol has no pipelines"), "{error}");
}

#[test]
fn the_accounts_are_loaded_by_several_clients() {
    let mut server = TestServer::start();
    let plan = plan::SelectPlan { scale: 1, load_dop: 3, ..plan::SelectPlan::default() };
    let benchmark = workload::select::benchmark(&plan, Dialect::postgres(14)).unwrap();
    for statement in &benchmark.setup {
        server.sql(statement);
    }
    for phase in &benchmark.phases[..2] {
        let Phase::Step(step) = phase else { panic!("{phase:?}") };
        let outcome = run(step.clone(), &server);
        assert_eq!((outcome.fatal, outcome.operations), (None, 100_000));
    }
    for (query, wanted) in [
        ("SELECT count(*) FROM pgbench_accounts", 100_000),
        ("SELECT count(DISTINCT aid) FROM pgbench_accounts", 100_000),
        ("SELECT max(aid) FROM pgbench_accounts", 100_000),
        ("SELECT sum(bid) FROM pgbench_accounts WHERE abalance = 0", 100_000),
        ("SELECT count(*) FROM pgbench_accounts WHERE length(filler::text) = 0", 100_000),
        ("SELECT octet_length(filler) FROM pgbench_accounts LIMIT 1", 84),
    ] {
        assert_eq!(server.number(query), wanted, "{query}");
    }
    // The same twice: the server's message is reported, and the connection goes on.
    let Phase::Step(again) = &benchmark.phases[0] else { panic!() };
    let fatal = run(again.clone(), &server).fatal.unwrap();
    assert!(fatal.contains("duplicate key") && fatal.contains("COPY"), "{fatal}");
}

/// The CPUs that a thread or process may run on, as the kernel lists them.
fn allowed(status: &str) -> String {
    let status = fs::read_to_string(status).unwrap();
    let line = status.lines().find(|line| line.starts_with("Cpus_allowed_list:")).unwrap();
    line.split_whitespace().nth(1).unwrap().to_owned()
}

#[test]
fn clients_and_servers_stay_on_their_cpus() {
    let mut server = TestServer::start();
    make_table(&mut server, 1000);
    // A limit on CPU time takes no CPU away.
    let cpus = sched_getaffinity(Pid::from_raw(0)).unwrap();
    if (0..CpuSet::count()).filter(|cpu| cpus.is_set(*cpu).unwrap()).count() < 2 {
        return testing::skip("it takes two CPUs");
    }
    let free = |client| stream(client, Class::QUERY, point_select(true), Pace::Free, End::Time);
    let step = step(Class::QUERY, vec![free(0), free(1)], Some(1.0));
    let seats = [0, 1].map(|client| Seat { client, server: 1, needed: true }).to_vec();
    let load = Load { seats, ..Load::new(Arc::new(step), vec![server.target()], 1) };
    let before = allowed("/proc/self/status");
    let ready = drive::prepare(&load).unwrap();
    let servers = ready.servers().remove(0);
    assert_eq!(servers.len(), 2);
    for pid in servers {
        assert_eq!(allowed(&format!("/proc/{pid}/status")), "1");
    }
    let running = ready.go(Instant::now());
    let mut clients: Vec<_> = fs::read_dir("/proc/self/task")
        .unwrap()
        .map(|task| task.unwrap().path())
        // Those of other tests may be gone.
        .filter(|task| {
            fs::read_to_string(task.join("comm")).is_ok_and(|name| name.starts_with("client-"))
        })
        .map(|task| allowed(task.join("status").to_str().unwrap()))
        .filter(|list| list.len() == 1)
        .collect();
    clients.sort();
    assert_eq!(clients, ["0", "1"]);
    assert!(running.wait(HANG));
    assert_eq!(running.join().remove(0).fatal, None);
    assert_eq!(allowed("/proc/self/status"), before);
    let nowhere = Seat { client: 0, server: 100_000, needed: true };
    let load = Load { seats: vec![nowhere; 2], ..load };
    let error = drive::prepare(&load).err().unwrap().to_string();
    assert!(
        error.contains("cannot keep the process or thread that serves a client on CPU"),
        "{error}"
    );
    let wherever = Seat { needed: false, ..nowhere };
    let ready = drive::prepare(&Load { seats: vec![wherever; 2], ..load }).unwrap();
    let (clients, servers) = (ready.clients(), ready.servers().remove(0));
    assert_eq!((clients.len(), servers.len()), (2, 2));
    for pid in clients.into_iter().chain(servers) {
        assert_eq!(allowed(&format!("/proc/{pid}/status")), before);
    }
}
