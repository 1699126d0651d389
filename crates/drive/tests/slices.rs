//! The load moving between two real servers by a timetable.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::common::{
    HANG, TestServer, load, make_table, point_select, postgres_target, step, stream,
};
use drive::{Error, Load, Outcome, Running, Slices, Timetable};
use workload::{Benchmark, Class, Dialect, End, Expect, Pace, Phase, Statement, Step};

/// Two servers that are up together.
fn two() -> [TestServer; 2] {
    let second = std::thread::spawn(TestServer::start);
    [TestServer::start(), second.join().unwrap()]
}

/// The benchmark of a plan, and two servers with its tables.
fn set_up(plan: &plan::InsertPlan, clients: u32) -> (Benchmark, [TestServer; 2]) {
    let benchmark = workload::insert::benchmark(plan, clients, Dialect::postgres(14)).unwrap();
    let mut servers = two();
    for server in &mut servers {
        for sql in &benchmark.setup {
            server.sql(sql);
        }
    }
    (benchmark, servers)
}

fn slices(lengths: &[u64]) -> Slices {
    let lengths = lengths.iter().map(|ms| Duration::from_millis(*ms)).collect();
    Slices { seed: 11, lengths, lead_in: 0.2 }
}

fn sliced(step: Step, servers: &[TestServer], lengths: &[u64]) -> Load {
    let mut targets: Vec<_> = servers.iter().map(TestServer::target).collect();
    for (index, target) in targets.iter_mut().enumerate() {
        target.name = format!("server {index}");
    }
    Load { slices: Some(slices(lengths)), ..load(step, targets) }
}

fn go(load: &Load) -> Box<dyn Running> {
    drive::prepare(load).unwrap().go(Instant::now() + Duration::from_millis(5))
}

fn outcomes(load: &Load) -> Vec<Outcome> {
    let running = go(load);
    assert!(running.wait(HANG), "the step hangs");
    assert!(running.measured_until().is_some());
    running.join()
}

/// Checks the slices of a successful step: both targets have the same rounds, and these match the
/// timetable.
fn check_slices(load: &Load, outcomes: &[Outcome]) {
    let slots: Vec<_> = Timetable::new(load.slices.as_ref().unwrap(), outcomes.len())
        .take(outcomes.len() * outcomes[0].slices.len())
        .collect();
    for (target, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.fatal, None);
        assert_eq!(outcome.slices.len(), outcomes[0].slices.len());
        let own = slots.iter().filter(|slot| slot.target == target);
        for (slot, slice) in own.zip(&outcome.slices) {
            assert_eq!(
                (slot.round, slot.begin, slot.length),
                (slice.round, slice.begin, slice.length)
            );
            // While the server holds a client throughout, one with a rate may have none to begin.
            assert!(slice.operations == 0 || slice.seconds > 0.0);
            if slice.held == 0.0 {
                assert_eq!(slice.operations == 0, slice.seconds == 0.0);
            }
            assert_eq!(slice.rate().is_none(), slice.seconds + slice.held == 0.0);
        }
        let seconds: f64 = outcome.slices.iter().map(|slice| slice.seconds).sum();
        assert!((outcome.seconds - seconds).abs() < 1e-9);
    }
}

#[test]
fn work_after_the_time_is_not_counted() {
    let mut servers = two();
    servers.iter_mut().for_each(|server| make_table(server, 1000));
    let streams = vec![
        stream(0, Class::QUERY, point_select(true), Pace::Free, End::Time),
        stream(1, Class::QUERY, point_select(true), Pace::Rate(100.0), End::Time),
    ];
    let load = Load {
        overtime: Duration::from_secs(2),
        ..sliced(step(Class::QUERY, streams, Some(1.0)), &servers, &[25])
    };
    let start = Instant::now();
    let running = go(&load);
    assert!(running.wait(HANG), "the step hangs");
    assert!(start.elapsed() >= Duration::from_secs(4), "the load went on");
    assert_eq!(running.measured_until(), Some(Duration::from_secs(2)));
    let in_all = running.operations();
    let outcomes = running.join();
    check_slices(&load, &outcomes);
    for (outcome, in_all) in outcomes.iter().zip(in_all) {
        assert_eq!(outcome.slices.len(), 40);
        let queries = outcome.class(&Class::QUERY).unwrap();
        assert!(in_all > queries.operations, "{in_all} {}", queries.operations);
        // In each stream, one may have ended just after the time.
        let in_time: u64 = queries.per_second.iter().sum();
        assert!((in_time..=in_time + 2).contains(&queries.operations), "{queries:?}");
        assert_eq!(queries.rows, queries.operations);
        assert_eq!(queries.latency.len(), queries.operations + queries.missed);
        // The hundreds that are due later don't count.
        assert!(queries.missed <= 100, "{}", queries.missed);
    }
}

#[test]
fn every_target_is_left_in_the_same_state_and_counts_are_the_servers() {
    let plan = plan::InsertPlan {
        rows: 20_000,
        indexed_rows: 5000,
        delete_per_insert: true,
        steps: ["l.i0", "l.x", "l.i1"].map(str::to_owned).to_vec(),
        ..plan::InsertPlan::default()
    };
    let (benchmark, mut servers) = set_up(&plan, 2);
    for phase in &benchmark.phases {
        let Phase::Step(step) = phase else { continue };
        let load = sliced(step.clone(), &servers, &[10, 20]);
        let outcomes = outcomes(&load);
        // The indexes are made before the first round is over.
        if step.key.name != "l.x" {
            check_slices(&load, &outcomes);
        }
        for outcome in &outcomes {
            let wanted = if step.key.name == "l.i1" { 4000 } else { 20_000 };
            assert_eq!(outcome.operations, wanted, "{}", step.key.name);
            let measured: u64 = outcome.slices.iter().map(|slice| slice.operations).sum();
            assert!(measured < wanted, "the lead-in is not measured");
            if step.key.name == "l.i1" {
                assert_eq!(outcome.class(&Class::DELETE).unwrap().operations, 4000);
            }
        }
    }
    let left = servers.each_mut().map(|server| {
        assert_eq!(server.number("SELECT count(*) FROM pi1"), 10_000);
        ["pi1", "pi2"].map(|table| {
            server.number(&format!(
                "SELECT sum(hashtext(row(transactionid, cashregisterid, customerid, productid, \
                 price, data)::text)::bigint)::bigint FROM {table}"
            ))
        })
    });
    assert_eq!(left[0], left[1], "the rows differ");
}

#[test]
fn clients_are_where_the_timetable_says() {
    let mut servers = two();
    for server in &mut servers {
        server.sql("CREATE UNLOGGED TABLE seen (client int, at timestamptz)");
    }
    let insert = |client| {
        let sql = format!("INSERT INTO seen VALUES ({client}, clock_timestamp())");
        Statement::plain(sql, Expect::affected(1))
    };
    let streams = (0..2)
        .map(|client| stream(client, Class::INSERT, insert(client), Pace::Free, End::Time))
        .collect();
    let load = sliced(step(Class::INSERT, streams, Some(0.8)), &servers, &[20, 40]);
    let ready = drive::prepare(&load).unwrap();
    // The step begins after `epoch` on the server's clock, by less than `slack`.
    let now = SystemTime::now();
    let start = Instant::now() + Duration::from_millis(20);
    let slack = now.elapsed().unwrap();
    let epoch = now.duration_since(UNIX_EPOCH).unwrap() + Duration::from_millis(20);
    let running = ready.go(start);
    assert!(running.wait(HANG));
    let limit = load.limit().unwrap();
    assert_eq!(running.measured_until(), Some(limit));
    assert!(limit <= Duration::from_millis(1600) && limit > Duration::from_millis(1500));
    let outcomes = running.join();
    check_slices(&load, &outcomes);
    let slots: Vec<_> = Timetable::new(load.slices.as_ref().unwrap(), 2)
        .take_while(|slot| slot.begin < limit)
        .collect();
    assert_eq!(slots.len(), outcomes[0].slices.len() * 2);
    let micros = |time: Duration| time.as_micros() as i64;
    // The times at which each client was at each target.
    let mut seen: [Vec<(i64, usize)>; 2] = Default::default();
    for (target, (server, outcome)) in servers.iter_mut().zip(&outcomes).enumerate() {
        let rows = server.server.sql().unwrap().query_rows(&format!(
            "SELECT client, ((extract(epoch FROM at) - {}) * 1000000)::bigint FROM seen",
            epoch.as_secs_f64()
        ));
        let rows = rows.unwrap();
        assert_eq!(rows.len() as u64, outcome.operations, "each row was counted, and no other");
        for row in rows {
            let number = |column: usize| row[column].as_ref().unwrap().parse::<i64>().unwrap();
            seen[number(0) as usize].push((number(1), target));
        }
        assert!(outcome.client_user_us + outcome.client_system_us > 0);
    }
    for visits in &mut seen {
        visits.sort_unstable();
        let mut before = 0;
        for (at, target) in visits {
            // It began after the client's last one and before it was seen, in one of the target's
            // slots.
            let fits = |slot: &&drive::Slot| {
                slot.target == *target
                    && micros(slot.begin) <= *at + 1
                    && micros(slot.end() + slack) >= before
            };
            assert!(slots.iter().any(|slot| fits(&slot)), "{before} to {at} µs at {target}");
            before = *at;
        }
    }
}

#[test]
fn a_rate_is_held_in_each_targets_own_time() {
    let mut servers = two();
    for server in &mut servers {
        make_table(server, 1000);
        server.sql("CREATE UNLOGGED TABLE sent (n int)");
    }
    let insert = Statement::plain("INSERT INTO sent VALUES (1)", Expect::affected(1));
    let streams = vec![
        stream(0, Class::QUERY, point_select(true), Pace::Free, End::Time),
        stream(0, Class::INSERT, insert, Pace::Rate(200.0), End::Time),
    ];
    let load = sliced(step(Class::QUERY, streams, Some(1.5)), &servers, &[30]);
    let outcomes = outcomes(&load);
    check_slices(&load, &outcomes);
    // The client is at one of the two for about 3 s in total, less if it has to wait for a CPU.
    // Schedules that continued while it was away would have twice as many.
    let inserts = |outcome: &Outcome| {
        let inserts = outcome.class(&Class::INSERT).unwrap();
        inserts.operations + inserts.missed
    };
    let scheduled: u64 = outcomes.iter().map(inserts).sum();
    assert!((300..=900).contains(&scheduled), "{scheduled}");
    for (server, outcome) in servers.iter_mut().zip(&outcomes) {
        let inserts = outcome.class(&Class::INSERT).unwrap();
        assert_eq!(server.number("SELECT count(*) FROM sent") as u64, inserts.operations);
        assert!(outcome.operations > outcome.slices.iter().map(|s| s.operations).sum());
    }
}

#[test]
fn a_transaction_is_held_on_both_targets_at_once() {
    let plan = plan::InsertPlan {
        rows: 2000,
        indexed_rows: 500,
        hold_transaction_seconds: 1,
        read_write_seconds: 2,
        steps: ["l.i0", "l.x", "qr100"].map(str::to_owned).to_vec(),
        ..plan::InsertPlan::default()
    };
    let (benchmark, mut servers) = set_up(&plan, 1);
    for phase in &benchmark.phases {
        let Phase::Step(step) = phase else { continue };
        let load = sliced(step.clone(), &servers, &[20]);
        let running = go(&load);
        if step.key.name == "qr100" {
            let held = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'";
            while !servers.iter_mut().all(|server| server.number(held) == 1) {
                assert!(!running.wait(Duration::from_millis(10)), "never held on both at once");
            }
        }
        assert!(running.wait(HANG));
        let outcomes = running.join();
        // The others end before a round is over.
        if step.key.name == "qr100" {
            check_slices(&load, &outcomes);
            for outcome in &outcomes {
                let held = outcome.class(&Class::HOLD).unwrap();
                assert!((1..=2).contains(&held.statements), "{}", held.statements);
                let seconds = held.latency.min() as f64 / 1e9;
                assert!(seconds > 0.9, "{seconds} s of the target's own time");
            }
        }
    }
}

#[test]
fn a_step_that_ends_before_its_first_round_has_no_rate() {
    let mut server = TestServer::start();
    make_table(&mut server, 1000);
    let one = stream(0, Class::QUERY, point_select(true), Pace::Free, End::Rounds(3));
    let targets = vec![server.target(), server.target()];
    let step = step(Class::QUERY, vec![one], None);
    let load = Load { slices: Some(slices(&[10_000])), ..load(step, targets) };
    for outcome in outcomes(&load) {
        let fatal = outcome.fatal.unwrap_or_default();
        assert!(fatal.starts_with("no slice was measured") && outcome.unfit, "{fatal}");
    }
}

#[test]
fn a_target_that_dies_ends_the_step_and_is_named() {
    let mut servers = two();
    for server in &mut servers {
        make_table(server, 1000);
    }
    let streams = (0..2)
        .map(|client| stream(client, Class::QUERY, point_select(true), Pace::Free, End::Time))
        .collect();
    let load = sliced(step(Class::QUERY, streams, Some(1800.0)), &servers, &[20]);
    let running = go(&load);
    std::thread::sleep(Duration::from_millis(300));
    let pid = servers[1].server.root_pid().unwrap();
    let pid = nix::unistd::Pid::from_raw(pid as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGQUIT).unwrap();
    assert!(running.wait(HANG), "it goes on");
    let outcomes = running.join();
    for (target, outcome) in outcomes.iter().enumerate() {
        assert!(outcome.fatal.as_ref().unwrap().starts_with("server 1: "), "{:?}", outcome.fatal);
        assert_eq!(outcome.failures.len(), target, "the failure is the dead server's");
    }
    // Earlier measurements count if their rounds were over.
    assert_eq!(outcomes[0].slices.len(), outcomes[1].slices.len());
    assert!(outcomes[0].slices.len() >= 3, "{}", outcomes[0].slices.len());
}

#[test]
fn clients_that_wait_are_broken_off_everywhere() {
    let servers = two();
    let sleep = Statement::plain("SELECT pg_sleep(3600)", Expect::Rows { min: 1, max: 1 });
    let nap = Statement::plain("SELECT pg_sleep(0.001)", Expect::Rows { min: 1, max: 1 });
    // Ending by work: one client naps to the end of its work, then waits for the other's.
    let streams = vec![
        stream(0, Class::QUERY, sleep, Pace::Free, End::Rounds(1)),
        stream(1, Class::QUERY, nap, Pace::Free, End::Rounds(50)),
    ];
    let load = sliced(step(Class::QUERY, streams, None), &servers, &[10]);
    let running = go(&load);
    assert!(!running.wait(Duration::from_millis(700)), "an answer came");
    running.break_off();
    assert!(running.wait(HANG));
    for outcome in running.join() {
        assert_eq!(outcome.fatal, None);
        assert!(outcome.slices.iter().all(|slice| slice.operations == 0 && slice.seconds == 0.0));
    }
}

#[test]
fn loads_that_make_no_sense_are_refused() {
    let one = || {
        let select = Statement::plain("SELECT 1", Expect::Rows { min: 1, max: 1 });
        step(Class::QUERY, vec![stream(0, Class::QUERY, select, Pace::Free, End::Rounds(1))], None)
    };
    let target = postgres_target(drive::Postgres {
        address: drive::Address::Unix("/nonexistent".into()),
        user: String::new(),
        password: None,
        database: String::new(),
    });
    let refused = |targets: usize, slices: Option<Slices>| {
        let load = Load { slices, ..load(one(), vec![target.clone(); targets]) };
        matches!(drive::prepare(&load), Err(Error::Load(_)))
    };
    assert!(refused(0, None));
    assert!(refused(1, Some(slices(&[10]))));
    assert!(refused(2, None));
    assert!(refused(2, Some(slices(&[]))));
    assert!(refused(2, Some(Slices { lead_in: 1.0, ..slices(&[10]) })));
    assert!(refused(2, Some(Slices { lead_in: f64::NAN, ..slices(&[10]) })));
    assert!(!refused(2, Some(slices(&[10]))), "cannot connect, which is another error");
}
