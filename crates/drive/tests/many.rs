//! More clients than there are threads.

use std::time::{Duration, Instant};

use crate::common::{
    HANG, TestServer, load, make_table, point_select, run, statement, step, stream, text, uniform,
};
use drive::Load;
use workload::{Action, Class, End, Expect, Pace, Request, Statement};

/// Enough clients to share threads.
fn many() -> u32 {
    16 * std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32) + 8
}

#[test]
fn clients_that_share_threads_follow_their_scripts() {
    let mut server = TestServer::start();
    make_table(&mut server, 1000);
    let select = |client| {
        stream(client, Class::QUERY, point_select(client % 2 == 0), Pace::Free, End::Rounds(20))
    };
    // One with a rate keeps its own thread.
    let mut streams: Vec<_> = (0..many()).map(select).collect();
    streams.push(stream(many(), Class::HOLD, point_select(true), Pace::Rate(50.0), End::Rounds(5)));
    let outcome = run(step(Class::QUERY, streams, None), &server);
    assert_eq!(outcome.fatal, None);
    let done = u64::from(many()) * 20;
    let queries = outcome.class(&Class::QUERY).unwrap();
    assert_eq!((outcome.operations, queries.rows, queries.latency.len()), (done, done, done));
    assert_eq!(queries.per_second.iter().sum::<u64>(), done);
    assert_eq!(outcome.class(&Class::HOLD).unwrap().operations, 5);
    assert!(outcome.client_user_us + outcome.client_system_us > 0);
}

#[test]
fn transactions_of_clients_that_share_threads_are_retried_whole() {
    let mut server = TestServer::start();
    make_table(&mut server, 2);
    let transaction = |client| {
        let begin = Statement::plain("BEGIN ISOLATION LEVEL SERIALIZABLE", Expect::Success);
        let update = statement(
            vec![text("UPDATE t SET v = v + 1 WHERE id = "), uniform(1, 3)],
            true,
            Expect::affected(1),
        );
        let commit = Statement::plain("COMMIT", Expect::Success);
        let mut stream = stream(client, Class::INSERT, begin, Pace::Free, End::Rounds(2));
        stream.requests.extend([update, commit].map(Request::from));
        stream.actions = (0..3).map(Action::Run).collect();
        stream
    };
    let streams = (0..many()).map(transaction).collect();
    let outcome = run(step(Class::INSERT, streams, None), &server);
    assert_eq!(outcome.fatal, None);
    assert!(outcome.retries() > 0, "no conflict came about");
    assert_eq!(server.number("SELECT sum(v) FROM t"), 2 * i64::from(many()));
}

#[test]
fn time_ends_clients_that_share_threads_and_later_work_is_not_counted() {
    let mut server = TestServer::start();
    make_table(&mut server, 1000);
    let select = |client| stream(client, Class::QUERY, point_select(true), Pace::Free, End::Time);
    // A busy machine may not come to a single query in a second.
    for seconds in [1, 2, 4, 8, 16, 32] {
        let streams = (0..many()).map(select).collect();
        let load = Load {
            overtime: Duration::from_secs(seconds),
            ..load(step(Class::QUERY, streams, Some(seconds as f64)), vec![server.target()])
        };
        let start = Instant::now() + Duration::from_millis(5);
        let running = drive::prepare(&load).unwrap().go(start);
        assert!(running.wait(HANG));
        assert!(start.elapsed() >= Duration::from_secs(2 * seconds), "the load went on");
        let in_all = running.operations()[0];
        let outcome = running.join().remove(0);
        assert_eq!(outcome.fatal, None);
        let queries = outcome.class(&Class::QUERY).unwrap();
        assert_eq!(queries.per_second.iter().sum::<u64>(), queries.operations);
        assert_eq!(queries.per_second.len(), seconds as usize);
        assert!(queries.rows <= queries.operations + u64::from(many()));
        if queries.operations > 0 {
            assert!(in_all > queries.operations, "{in_all}");
            return;
        }
    }
    panic!("not a single query in 32 s");
}

#[test]
fn one_failure_ends_all_and_a_wait_can_be_broken_off() {
    let mut server = TestServer::start();
    make_table(&mut server, 10);
    let slow = |seconds: u32| {
        let text = format!("SELECT pg_sleep({seconds})");
        let sleep = Statement::plain(text, Expect::Rows { min: 1, max: 1 });
        move |client| stream(client, Class::QUERY, sleep.clone(), Pace::Free, End::Time)
    };
    let duplicate = Statement::plain("INSERT INTO t VALUES (1, 1)", Expect::affected(1));
    let mut streams: Vec<_> = (0..many()).map(slow(1)).collect();
    streams.push(stream(many(), Class::INSERT, duplicate, Pace::Free, End::Time));
    let outcome = run(step(Class::QUERY, streams, Some(1800.0)), &server);
    assert!(outcome.fatal.unwrap().contains("23505"));

    let streams = (0..many()).map(slow(3600)).collect();
    let load = load(step(Class::QUERY, streams, Some(7200.0)), vec![server.target()]);
    let running = drive::prepare(&load).unwrap().go(Instant::now());
    std::thread::sleep(Duration::from_millis(200));
    running.break_off();
    assert!(running.wait(HANG));
    assert_eq!(running.join().remove(0).operations, 0);
}

#[test]
fn clients_that_share_threads_leave_out_seconds() {
    let mut server = TestServer::start();
    make_table(&mut server, 1000);
    // At most 50 a second each, so no client is done within two seconds.
    let slow = statement(
        vec![text("SELECT v, pg_sleep(0.02) FROM t WHERE id = "), uniform(1, 1001)],
        true,
        Expect::Rows { min: 1, max: 1 },
    );
    let select = |client| stream(client, Class::QUERY, slow.clone(), Pace::Free, End::Rounds(120));
    let streams = (0..many()).map(select).collect();
    let load = load(step(Class::QUERY, streams, None), vec![server.target()]);
    let running = drive::prepare(&load).unwrap().go(Instant::now());
    running.leave_out(1..2);
    assert!(running.wait(HANG));
    let all = u64::from(many()) * 120;
    assert_eq!(running.operations(), [all], "progress tells of all");
    let outcome = running.join().remove(0);
    assert_eq!(outcome.fatal, None);
    assert!(outcome.operations < all && outcome.operations > 0, "{}", outcome.operations);
    let queries = outcome.class(&Class::QUERY).unwrap();
    assert_eq!(queries.per_second.len(), outcome.seconds.ceil() as usize);
    assert_eq!(queries.per_second.iter().sum::<u64>(), outcome.operations);
    assert_eq!((queries.rows, queries.latency.len()), (outcome.operations, outcome.operations));
}
