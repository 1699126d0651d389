//! The engine against a real server: its counts match what happened.

use std::time::{Duration, Instant};

use crate::common::{
    HANG, TestServer, load, make_table, point_select, run, run_until, step, stream,
};
use workload::{Class, Dialect, End, Pace, Phase};

#[test]
fn counts_are_what_the_server_saw() {
    let mut server = TestServer::start();
    make_table(&mut server, 1000);
    for prepared in [true, false] {
        let streams = (0..3)
            .map(|client| {
                stream(client, Class::QUERY, point_select(prepared), Pace::Free, End::Rounds(500))
            })
            .collect();
        let outcome = run(step(Class::QUERY, streams, None), &server);
        assert_eq!(outcome.fatal, None);
        assert_eq!(outcome.operations, 1500);
        let queries = outcome.class(&Class::QUERY).unwrap();
        assert_eq!((queries.rows, queries.statements), (1500, 1500));
        assert_eq!(queries.per_second.iter().sum::<u64>(), 1500);
        assert_eq!(queries.latency.len(), 1500);
        assert!(outcome.client_user_us + outcome.client_system_us > 0);
    }
}

#[test]
fn a_rate_is_held_and_a_stall_cannot_hide() {
    let mut server = TestServer::start();
    make_table(&mut server, 1000);
    let rated = stream(0, Class::QUERY, point_select(true), Pace::Rate(200.0), End::Time);
    let ready =
        drive::prepare(&load(step(Class::QUERY, vec![rated], Some(3.0)), vec![server.target()]))
            .unwrap();
    let backend = server.number(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'steelyard' \
         AND pid <> pg_backend_pid() AND query LIKE 'SELECT v FROM t%' LIMIT 1",
    );
    let start = Instant::now();
    let running = ready.go(start);
    std::thread::sleep(Duration::from_millis(1000));
    let signal = |what| nix::sys::signal::kill(nix::unistd::Pid::from_raw(backend as i32), what);
    signal(nix::sys::signal::Signal::SIGSTOP).unwrap();
    let stopped = start.elapsed().as_secs_f64();
    std::thread::sleep(Duration::from_millis(1000));
    let stalled = start.elapsed().as_secs_f64().min(3.0) - stopped;
    signal(nix::sys::signal::Signal::SIGCONT).unwrap();
    assert!(running.wait(HANG));
    let outcome = running.join().remove(0);
    assert_eq!(outcome.fatal, None);
    let queries = outcome.class(&Class::QUERY).unwrap();
    // The stall's delay was caught up with, so the schedule holds, except for one that may be in
    // progress at the end.
    assert!((599..=600).contains(&(queries.operations + queries.missed)), "{queries:?}");
    // While the server stood still, 200 were due per second: late by half a second on average, or
    // never begun. A client that waits for its server would have counted only one late operation.
    let late = queries.latency.count_between(50_000_000, u64::MAX / 2) as f64;
    assert!(late >= 190.0 * (stalled - 0.05), "{late} late, {stalled} s stalled");
    let longest = queries.latency.max() as f64 / 1e9;
    assert!(longest >= 0.97 * stalled - 0.01, "{longest} s, {stalled} s stalled");
}

#[test]
fn the_same_seed_inserts_the_same_rows() {
    let plan = plan::InsertPlan {
        rows: 2000,
        indexed_rows: 500,
        steps: ["l.i0", "l.x", "l.i1"].map(str::to_owned).to_vec(),
        ..plan::InsertPlan::default()
    };
    let mut sums = Vec::new();
    for prepared_inserts in [false, true] {
        let plan = plan::InsertPlan { prepared_inserts, ..plan.clone() };
        let benchmark = workload::insert::benchmark(&plan, 2, Dialect::postgres(14)).unwrap();
        let mut server = TestServer::start();
        for sql in &benchmark.setup {
            server.sql(sql);
        }
        for phase in &benchmark.phases {
            let Phase::Step(step) = phase else { continue };
            let outcome = run(step.clone(), &server);
            assert_eq!(outcome.fatal, None, "{}", step.key.name);
            let wanted = match step.key.name.as_str() {
                "l.i0" | "l.x" => 2000,
                _ => 400,
            };
            assert_eq!(outcome.operations, wanted, "{}", step.key.name);
        }
        assert_eq!(server.number("SELECT count(*) FROM pi1"), 1200);
        assert_eq!(server.number("SELECT count(*) FROM pg_indexes WHERE tablename = 'pi1'"), 4);
        let fresh = "SELECT count(*) FROM pi1 WHERE abs(extract(epoch FROM \
                     (now() AT TIME ZONE 'UTC') - dateandtime)) < 800";
        assert_eq!(server.number(fresh), 1200);
        let lengths = "SELECT count(*) FROM pi1 WHERE length(data) NOT BETWEEN 10 AND 20";
        assert_eq!(server.number(lengths), 0);
        sums.push(server.number(
            "SELECT sum(hashtext(row(cashregisterid, customerid, productid, price, data)::text)::bigint)::bigint FROM pi1",
        ));
    }
    assert_eq!(sums[0], sums[1], "prepared or not, the rows are the same");
}

#[test]
fn deletes_keep_the_table_at_its_size() {
    let plan = plan::InsertPlan {
        rows: 5000,
        indexed_rows: 2000,
        delete_per_insert: true,
        read_write_seconds: 2,
        steps: ["l.i0", "l.x", "l.i1", "l.i2", "qp100"].map(str::to_owned).to_vec(),
        ..plan::InsertPlan::default()
    };
    let benchmark = workload::insert::benchmark(&plan, 1, Dialect::postgres(14)).unwrap();
    let mut server = TestServer::start();
    for sql in &benchmark.setup {
        server.sql(sql);
    }
    for phase in &benchmark.phases {
        let Phase::Step(step) = phase else { continue };
        let outcome = run(step.clone(), &server);
        assert_eq!(outcome.fatal, None, "{}", step.key.name);
        assert_eq!(server.number("SELECT count(*) FROM pi1"), 5000, "{}", step.key.name);
        if step.key.name == "qp100" {
            // 100 rows a second are due; one statement may be under way at the end.
            let inserts = outcome.class(&Class::INSERT).unwrap();
            let each = step.streams.iter().find(|stream| stream.class == Class::INSERT).unwrap();
            let missed = inserts.missed * each.operations_per_round;
            let behind = 200 - inserts.operations - missed;
            assert!(behind <= each.operations_per_round, "{inserts:?}");
        }
    }
}

#[test]
fn a_held_transaction_ends_with_its_step() {
    let plan = plan::InsertPlan {
        rows: 2000,
        indexed_rows: 500,
        hold_transaction_seconds: 1,
        read_write_seconds: 3,
        steps: ["l.i0", "l.x", "qr100"].map(str::to_owned).to_vec(),
        ..plan::InsertPlan::default()
    };
    let benchmark = workload::insert::benchmark(&plan, 1, Dialect::postgres(14)).unwrap();
    let mut server = TestServer::start();
    for sql in &benchmark.setup {
        server.sql(sql);
    }
    for phase in &benchmark.phases {
        let Phase::Step(step) = phase else { continue };
        let outcome = run(step.clone(), &server);
        assert_eq!(outcome.fatal, None);
        if step.key.name == "qr100" {
            let held = outcome.class(&Class::HOLD).unwrap().statements;
            assert!((1..=3).contains(&held), "{held}");
        }
    }
}

/// Runs the phases of a plan, and calls `done` on the server before the last step. Returns the
/// outcome of a few hundred operations of that step.
fn last_step(
    plan: &plan::InsertPlan,
    clients: u32,
    done: impl Fn(&mut TestServer),
) -> drive::Outcome {
    let benchmark = workload::insert::benchmark(plan, clients, Dialect::postgres(14)).unwrap();
    let mut server = TestServer::start();
    for sql in &benchmark.setup {
        server.sql(sql);
    }
    let steps = benchmark.phases.iter().filter_map(Phase::step);
    let mut steps: Vec<_> = steps.collect();
    let last = steps.pop().unwrap();
    for step in steps {
        assert_eq!(run(step.clone(), &server).fatal, None, "{}", step.key.name);
    }
    done(&mut server);
    run_until(last.clone(), server.target(), 400)
}

#[test]
fn gaps_left_by_many_clients_in_a_shared_table_are_not_wrong_answers() {
    let plan = plan::InsertPlan {
        rows: 50_000,
        indexed_rows: 5000,
        tables: plan::Tables::Shared,
        read_write_seconds: 2,
        steps: ["l.i0", "l.x", "l.i1", "l.i2", "qp100"].map(str::to_owned).to_vec(),
        ..plan::InsertPlan::default()
    };
    let outcome = last_step(&plan, 64, |server| {
        // The condition under test: most ids have no row.
        let ids = server.number("SELECT max(transactionid) - min(transactionid) + 1 FROM pi1");
        assert!(ids > 110_000, "{ids}");
    });
    assert_eq!(outcome.fatal, None);
    let queries = outcome.class(&Class::QUERY).unwrap();
    assert!(queries.statements >= 100, "{}", queries.statements);
    assert!((queries.rows as f64) < 5.0 * queries.statements as f64, "{}", queries.rows);
    assert!(queries.least_rows > queries.statements as f64, "{}", queries.least_rows);
}

#[test]
fn rows_that_are_missing_are_wrong_answers() {
    let plan = plan::InsertPlan {
        rows: 20_000,
        indexed_rows: 500,
        read_write_seconds: 2,
        steps: ["l.i0", "qp100"].map(str::to_owned).to_vec(),
        ..plan::InsertPlan::default()
    };
    for missing in ["transactionid % 10 < 2", "true"] {
        let delete = format!("DELETE FROM pi1 WHERE {missing}");
        let fatal = last_step(&plan, 1, |server| server.sql(&delete)).fatal.unwrap_or_default();
        assert!(fatal.contains("wrong answers"), "{missing}: {fatal}");
    }
}
