//! Real servers that are frozen while others have the load.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::{HANG, TestServer, load, make_table, statement, step, stream, text, uniform};
use drive::{Freezer, Load, Outcome, Running, Slices};
use workload::{Class, End, Expect, Pace, Step};

/// Freezes a server, and checks that it does nothing meanwhile.
struct Watched {
    freeze: Box<dyn dbms::Freeze>,
    root: u32,
    /// CPU time used up to the latest freeze or thaw.
    used: Option<u64>,
    seen: Arc<Seen>,
}

/// Nanoseconds of CPU time of all processes of a server.
#[derive(Default)]
struct Seen {
    frozen: AtomicU64,
    own: AtomicU64,
}

impl Watched {
    fn of(server: &TestServer) -> (Watched, Arc<Seen>) {
        let (freeze, root) = (server.server.freezer().unwrap(), server.server.root_pid().unwrap());
        let seen = Arc::<Seen>::default();
        (Watched { freeze, root, used: None, seen: Arc::clone(&seen) }, seen)
    }

    /// Adds what was used since the last time.
    fn add(&mut self, to: fn(&Seen) -> &AtomicU64) {
        let used = used(self.root);
        if let Some(before) = self.used.replace(used) {
            to(&self.seen).fetch_add(used.saturating_sub(before), Ordering::Relaxed);
        }
    }
}

impl Freezer for Watched {
    fn freeze(&mut self) -> Result<(), String> {
        self.freeze.freeze()?;
        self.add(|seen| &seen.own);
        Ok(())
    }

    fn thaw(&mut self) -> Result<(), String> {
        self.add(|seen| &seen.frozen);
        self.freeze.thaw()
    }
}

/// CPU time of a server's processes, in nanoseconds.
fn used(root: u32) -> u64 {
    let children = fs::read_to_string(format!("/proc/{root}/task/{root}/children")).unwrap();
    let all = children.split_whitespace().map(|pid| pid.parse().unwrap()).chain([root]);
    let of = |pid: u32| {
        let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
        text.split_whitespace().next().and_then(|ran| ran.parse::<u64>().ok()).unwrap_or(0)
    };
    all.map(of).sum()
}

fn two() -> [TestServer; 2] {
    let second = std::thread::spawn(TestServer::start);
    let mut servers = [TestServer::start(), second.join().unwrap()];
    servers.iter_mut().for_each(|server| make_table(server, 1000));
    servers
}

/// Clients that update rows.
fn updates(clients: u32, end: End, seconds: Option<f64>) -> Step {
    paced_updates(clients, Pace::Free, end, seconds)
}

fn paced_updates(clients: u32, pace: Pace, end: End, seconds: Option<f64>) -> Step {
    let update = || {
        let pieces = vec![text("UPDATE t SET v = v + 1 WHERE id = "), uniform(1, 1001)];
        statement(pieces, true, Expect::affected(1))
    };
    let streams =
        (0..clients).map(|n| stream(n, Class::INSERT, update(), pace.clone(), end.clone()));
    step(Class::INSERT, streams.collect(), seconds)
}

fn frozen(step: Step, servers: &[TestServer], ms: u64) -> Load {
    let lengths = vec![Duration::from_millis(ms)];
    let targets = servers.iter().map(TestServer::target).collect();
    Load {
        slices: Some(Slices { seed: 5, lengths, lead_in: 0.0 }),
        frozen: true,
        ..load(step, targets)
    }
}

fn watched(servers: &[TestServer]) -> (Vec<Box<dyn Freezer>>, Vec<Arc<Seen>>) {
    let boxed = |server| {
        let (watched, seen) = Watched::of(server);
        (Box::new(watched) as Box<dyn Freezer>, seen)
    };
    servers.iter().map(boxed).unzip()
}

fn outcomes(load: &Load, servers: &[TestServer]) -> (Vec<Outcome>, Vec<Arc<Seen>>) {
    let (freezers, seen) = watched(servers);
    let ready = drive::prepare_frozen(load, freezers).unwrap();
    let running = ready.go(Instant::now() + Duration::from_millis(5));
    assert!(running.wait(HANG), "the step hangs");
    (running.join(), seen)
}

/// A session of a server that computes without end.
fn busy(server: &TestServer) -> Box<dyn Running> {
    let sql = "SELECT count(*) FROM (SELECT generate_series(1, 1000000000000)) s";
    let endless = statement(vec![text(sql)], false, Expect::Success);
    let stream = stream(0, Class::QUERY, endless, Pace::Free, End::Time);
    let load = load(step(Class::QUERY, vec![stream], Some(3600.0)), vec![server.target()]);
    drive::prepare(&load).unwrap().go(Instant::now())
}

fn check(outcome: &Outcome, clients: u32) {
    assert_eq!(outcome.fatal, None);
    assert!(outcome.switch_ms.is_some_and(|ms| ms > 0.0));
    let seconds: f64 = outcome.slices.iter().map(|slice| slice.seconds).sum();
    assert!((seconds - outcome.seconds).abs() < 1e-6, "{seconds} {}", outcome.seconds);
    // One after another, a client's operations take no more than the target's own time.
    let class = &outcome.classes[0];
    let waited = class.latency.mean() * class.latency.len() as f64 / 1e9 / f64::from(clients);
    assert!(waited < 1.02 * seconds, "{waited} s in {seconds} s");
}

#[test]
fn a_frozen_server_does_nothing_and_has_a_time_of_its_own() {
    let mut servers = two();
    // A process of each works in the background all the time.
    let busy = servers.each_ref().map(busy);
    let load = frozen(updates(1, End::Time, Some(1.0)), &servers, 50);
    let (outcomes, seen) = outcomes(&load, &servers);
    for ((outcome, seen), server) in outcomes.iter().zip(&seen).zip(&mut servers) {
        check(outcome, 1);
        assert!(outcome.seconds >= 1.0 - 1e-9 && outcome.slices.len() == 20, "{outcome:?}");
        let measured: u64 = outcome.slices.iter().map(|slice| slice.operations).sum();
        assert!(measured.abs_diff(outcome.operations) <= 1, "{measured} {}", outcome.operations);
        // One more may have been under way.
        let done = server.number("SELECT sum(v) FROM t") as u64;
        assert!((outcome.operations..=outcome.operations + 1).contains(&done), "{done}");
        let class = &outcome.classes[0];
        assert_eq!(class.per_second.len(), outcome.seconds.ceil() as usize);
        let [own, still] = [&seen.own, &seen.frozen].map(|used| used.load(Ordering::Relaxed));
        assert!(own > 0 && still * 5 < own, "{still} ns while frozen, {own} ns in its own time");
    }
    busy.iter().for_each(|busy| busy.break_off());
}

/// Alone on their threads, and many that share some.
#[test]
fn each_does_its_own_work() {
    let mut servers = two();
    let mut done = 0;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let many = (16 * cores as u32 + 8).min(200);
    for (clients, rounds) in [(2, 1000), (many, 50)] {
        let load = frozen(updates(clients, End::Rounds(rounds), None), &servers, 20);
        let (outcomes, _) = outcomes(&load, &servers);
        let all = u64::from(clients) * rounds;
        done += all as i64;
        for (outcome, server) in outcomes.iter().zip(&mut servers) {
            check(outcome, clients);
            assert_eq!((outcome.operations, server.number("SELECT sum(v) FROM t")), (all, done));
            let measured: u64 = outcome.slices.iter().map(|slice| slice.operations).sum();
            assert_eq!(measured, all, "{clients} clients");
            assert_eq!(outcome.slices.len(), outcomes[0].slices.len());
        }
    }
}

/// By the clock of the machine, twice as many would be due.
#[test]
fn a_rate_is_one_of_own_time() {
    let servers = two();
    let paced = paced_updates(2, Pace::Rate(100.0), End::Time, Some(1.0));
    let (outcomes, _) = outcomes(&frozen(paced, &servers, 20), &servers);
    for outcome in &outcomes {
        assert_eq!(outcome.fatal, None);
        let class = &outcome.classes[0];
        let (due, wanted) = (class.statements + class.missed, 200.0 * outcome.seconds);
        // Each client may have one under way in the end.
        assert!((due as f64 - wanted).abs() <= 4.0, "{due} of {wanted}");
    }
}

#[test]
fn whoever_ends_a_step_early_gets_its_servers_back() {
    let mut servers = two();
    let load = frozen(updates(1, End::Time, Some(3600.0)), &servers, 30);
    for joined in [true, false] {
        let (freezers, _) = watched(&servers);
        let running = drive::prepare_frozen(&load, freezers).unwrap().go(Instant::now());
        while running.operations().contains(&0) {
            assert!(!running.wait(Duration::from_millis(10)));
        }
        assert_eq!(running.measured_until(), None);
        if joined {
            running.stop();
            assert!(running.wait(HANG), "it does not end");
            let outcomes = running.join();
            assert!(outcomes.iter().all(|outcome| outcome.fatal.is_none()), "{outcomes:?}");
        } else {
            drop(running);
        }
        for server in &mut servers {
            assert!(server.number("SELECT sum(v) FROM t") > 0);
        }
    }
}

/// A server that can't be frozen.
struct Stubborn;

impl Freezer for Stubborn {
    fn freeze(&mut self) -> Result<(), String> {
        Err("it goes on".to_owned())
    }

    fn thaw(&mut self) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn a_server_that_can_not_be_frozen_fails_the_step() {
    let servers = two();
    let load = frozen(updates(1, End::Time, Some(3600.0)), &servers, 30);
    let freezers: Vec<Box<dyn Freezer>> =
        vec![Box::new(Watched::of(&servers[0]).0), Box::new(Stubborn)];
    let running = drive::prepare_frozen(&load, freezers).unwrap().go(Instant::now());
    assert!(running.wait(HANG), "it does not end");
    let fatal = running.join().remove(0).fatal.unwrap();
    assert!(fatal.contains("it goes on"), "{fatal}");
}
