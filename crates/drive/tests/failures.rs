//! Failures of a real server: noticed, reported with their SQLSTATE, retried if that helps.

use std::time::{Duration, Instant};

use crate::common::{
    HANG, TestServer, load, make_table, postgres_target, run, statement, step, stream, text,
    uniform,
};
use drive::{Address, Error};
use workload::{Action, Class, End, Expect, Finds, Pace, Request, Statement};

#[test]
fn serialization_failures_are_retried_and_counted() {
    let mut server = TestServer::start();
    make_table(&mut server, 2);
    let streams = (0..4)
        .map(|client| {
            let mut stream = stream(
                client,
                Class::INSERT,
                Statement::plain("BEGIN ISOLATION LEVEL SERIALIZABLE", Expect::Success),
                Pace::Free,
                End::Rounds(200),
            );
            let update = statement(
                vec![text("UPDATE t SET v = v + 1 WHERE id = "), uniform(1, 3)],
                true,
                Expect::affected(1),
            );
            let read = Statement::plain("SELECT sum(v) FROM t", Expect::Rows { min: 1, max: 1 });
            let commit = Statement::plain("COMMIT", Expect::Success);
            stream.requests.extend([read, update, commit].map(Request::from));
            stream.actions = (0..4).map(Action::Run).collect();
            stream
        })
        .collect();
    let outcome = run(step(Class::INSERT, streams, None), &server);
    assert_eq!(outcome.fatal, None);
    assert!(outcome.retries() > 0, "no conflict came about");
    assert!(outcome.failures.iter().all(|failure| failure.retried && failure.code == "40001"));
    assert_eq!(server.number("SELECT sum(v) FROM t"), 800, "each round took effect once");
}

#[test]
fn a_failing_statement_ends_the_step_with_its_sqlstate() {
    let mut server = TestServer::start();
    make_table(&mut server, 10);
    let duplicate = Statement::plain("INSERT INTO t VALUES (1, 1)", Expect::affected(1));
    let slow = Statement::plain("SELECT pg_sleep(0.2)", Expect::Rows { min: 1, max: 1 });
    let streams = vec![
        stream(0, Class::INSERT, duplicate, Pace::Free, End::Time),
        stream(1, Class::QUERY, slow, Pace::Free, End::Time),
    ];
    // Don't wait longer than a minute.
    let outcome = run(step(Class::QUERY, streams, Some(1800.0)), &server);
    let fatal = outcome.fatal.unwrap();
    assert!(fatal.contains("23505") && fatal.contains("duplicate key"), "{fatal}");
    assert!(fatal.contains("INSERT INTO t"), "{fatal}");
    assert_eq!(outcome.failures[0].code, "23505");
    assert!(!outcome.failures[0].retried);
}

#[test]
fn a_wrong_answer_is_not_throughput() {
    let mut server = TestServer::start();
    make_table(&mut server, 10);
    let select = statement(
        vec![text("SELECT v FROM t WHERE id = "), uniform(11, 20)],
        true,
        Expect::Rows { min: 1, max: 1 },
    );
    let streams = vec![stream(0, Class::QUERY, select, Pace::Free, End::Time)];
    let fatal = run(step(Class::QUERY, streams, Some(5.0)), &server).fatal.unwrap();
    assert!(fatal.contains("expected 1 rows, got 0"), "{fatal}");

    let few = statement(
        vec![text("SELECT v FROM t WHERE id = "), uniform(5, 200)],
        true,
        Expect::Rows { min: 0, max: 1 },
    );
    let mut few = stream(0, Class::QUERY, few, Pace::Free, End::Rounds(1000));
    few.finds = Some(Finds::Mean(0.5));
    let fatal = run(step(Class::QUERY, vec![few], None), &server).fatal.unwrap();
    assert!(fatal.contains("expected at least"), "{fatal}");
}

#[test]
fn a_server_that_dies_ends_the_step() {
    let mut server = TestServer::start();
    make_table(&mut server, 1000);
    let select = statement(
        vec![text("SELECT v FROM t WHERE id = "), uniform(1, 1001)],
        true,
        Expect::Rows { min: 1, max: 1 },
    );
    let streams =
        (0..3).map(|c| stream(c, Class::QUERY, select.clone(), Pace::Free, End::Time)).collect();
    let load = load(step(Class::QUERY, streams, Some(1800.0)), vec![server.target()]);
    let running = drive::prepare(&load).unwrap().go(Instant::now());
    while running.operations()[0] == 0 {
        assert!(!running.wait(Duration::from_millis(10)), "it ended");
    }
    let pid = server.server.root_pid().unwrap();
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(pid as i32),
        nix::sys::signal::Signal::SIGQUIT,
    )
    .unwrap();
    assert!(running.wait(HANG), "it goes on");
    let outcome = running.join().remove(0);
    assert!(outcome.fatal.is_some());
}

#[test]
fn a_client_that_waits_can_be_broken_off() {
    let server = TestServer::start();
    let sleep = Statement::plain("SELECT pg_sleep(60)", Expect::Rows { min: 1, max: 1 });
    let streams = vec![stream(0, Class::QUERY, sleep, Pace::Free, End::Time)];
    let load = load(step(Class::QUERY, streams, Some(0.2)), vec![server.target()]);
    let running = drive::prepare(&load).unwrap().go(Instant::now());
    assert!(!running.wait(Duration::from_millis(700)), "an answer came");
    running.break_off();
    assert!(running.wait(HANG));
    assert_eq!(running.join().remove(0).operations, 0);
}

#[test]
fn connecting_fails_with_a_reason() {
    let server = TestServer::start();
    let one = || {
        let select = Statement::plain("SELECT 1", Expect::Rows { min: 1, max: 1 });
        step(Class::QUERY, vec![stream(0, Class::QUERY, select, Pace::Free, End::Rounds(1))], None)
    };
    let mut nowhere = server.postgres();
    nowhere.address = Address::Unix("/nonexistent/.s.PGSQL.1".into());
    let error = drive::prepare(&load(one(), vec![postgres_target(nowhere)])).err().unwrap();
    assert!(matches!(error, Error::Connect { .. }), "{error}");

    let mut nobody = server.postgres();
    nobody.database = "nothing".to_owned();
    let error = drive::prepare(&load(one(), vec![postgres_target(nobody)])).err().unwrap();
    assert_eq!(error.code(), Some("3D000"), "{error}");
}

#[test]
fn passwords_are_given_as_the_server_asks() {
    let mut server = TestServer::start();
    for (method, encryption) in
        [("scram-sha-256", "scram-sha-256"), ("md5", "md5"), ("password", "md5")]
    {
        server.sql(&format!("SET password_encryption = '{encryption}'; CREATE ROLE r_{encryption}_{} LOGIN PASSWORD 'pässword'", method.len()).replace("r_scram-sha-256", "r_scram"));
        let role =
            format!("r_{}_{}", if encryption == "md5" { "md5" } else { "scram" }, method.len());
        let file = server.server.sql().unwrap().query_rows("SHOW hba_file").unwrap()[0][0]
            .clone()
            .unwrap();
        let rules = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("local all {role} {method}\n{rules}")).unwrap();
        server.sql("SELECT pg_reload_conf()");
        let select = Statement::plain("SELECT 1", Expect::Rows { min: 1, max: 1 });
        let step = step(
            Class::QUERY,
            vec![stream(0, Class::QUERY, select, Pace::Free, End::Rounds(1))],
            None,
        );
        let mut target = server.postgres();
        target.user.clone_from(&role);
        // Until the server has reread its rules, it requires no password.
        let begin = Instant::now();
        let error = loop {
            match drive::prepare(&load(step.clone(), vec![postgres_target(target.clone())])) {
                Err(error) => break error,
                Ok(_) => assert!(begin.elapsed() < HANG, "{method}"),
            }
        };
        assert!(matches!(error, Error::Authentication { .. }), "{method}: {error}");
        target.password = Some(reference::Password::new("wrong"));
        let error = drive::prepare(&load(step.clone(), vec![postgres_target(target.clone())]))
            .err()
            .unwrap();
        assert_eq!(error.code(), Some("28P01"), "{method}: {error}");
        target.password = Some(reference::Password::new("pässword"));
        let running =
            drive::prepare(&load(step, vec![postgres_target(target)])).unwrap().go(Instant::now());
        assert!(running.wait(HANG));
        assert_eq!(running.join().remove(0).operations, 1, "{method}");
    }
}
