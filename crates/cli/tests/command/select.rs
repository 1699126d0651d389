//! The read-only sweep on a real server: where clients and servers run, and what runs alongside.

use std::collections::BTreeSet;
use std::fs;

use nix::sys::signal::Signal;

use crate::database::Database;
use crate::place::{Place, processes_of};

fn plan(top: &str, section: &str) -> String {
    format!(
        "name = \"sweep\"\nsteal_limit = 1\nsettle_seconds_scale = 0\n{top}\n\
         [variants.pg16]\ndbms = \"postgres@16\"\n\
         [workload.select]\nscale = 1\nwarm_seconds = 0\n{section}\n"
    )
}

/// Points in the order in which a block visited them.
fn visited(database: &Database, block: u32) -> Vec<String> {
    database.texts(&format!(
        "SELECT s.dop || m.labels FROM step s JOIN trial t ON t.id = s.trial_id \
         JOIN measure m ON m.id = s.measure_id JOIN name n ON n.id = s.name_id \
         WHERE n.text = 'select' AND t.block = {block} ORDER BY s.started_ms"
    ))
}

/// The values of a metric of the points with this number of clients and these labels.
fn values(database: &Database, metric: &str, dop: u32, labels: &str) -> Vec<f64> {
    let found = database.texts(&format!(
        "SELECT CAST(v.value AS TEXT) FROM metric v JOIN name n ON n.id = v.name_id \
         JOIN step s ON s.id = v.step_id JOIN measure m ON m.id = s.measure_id \
         WHERE n.text = '{metric}' AND s.dop = {dop} AND m.labels = '{labels}'"
    ));
    found.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn points_are_visited_in_an_order_drawn_anew_and_say_what_the_scheduler_did() {
    let place = Place::new();
    let file = place.plan(&plan(
        "blocks = 2\nseed = 3",
        "seconds = 1\nclients = 1\npinning = [\"none\", \"colocated\"]\npipeline = [1, 5]",
    ));
    place.run(&[&file]).expect(
        0,
        &["select{dop=1, pinning=none, pipeline=1}", "select{dop=1, pinning=colocated, "],
    );
    let database = Database::of(&place.results());
    database.assert_sound();
    let (first, second) = (visited(&database, 1), visited(&database, 2));
    assert_eq!(first.len(), 2 * 2);
    assert_ne!(first, second, "each block has its order");
    assert_eq!(first.iter().collect::<BTreeSet<_>>(), second.iter().collect());
    let labels = "{\"pinning\":\"colocated\",\"pipeline\":\"5\"}";
    // A limit on CPU time takes no core away.
    let cores = probe::Topology::here().unwrap().cpus().len();
    // Fewer where two of them are threads of one core.
    let free = values(&database, "cores.free", 1, labels);
    assert!(free.len() == 2 && free.iter().all(|free| *free < cores as f64), "{free:?}");
    // All clients of a point count all queries of a pipeline.
    let cost = |pipeline: &str| {
        let labels = format!("{{\"pinning\":\"colocated\",\"pipeline\":\"{pipeline}\"}}");
        values(&database, "client.cpu/o", 1, &labels).iter().sum::<f64>()
    };
    assert!(cost("5") < 0.8 * cost("1"), "a pipeline costs less than its queries");
    if nix::unistd::geteuid().is_root() {
        for metric in ["sched.context-switches/o", "host.context-switches/o"] {
            let switches = values(&database, metric, 1, labels);
            assert!(switches.iter().all(|n| *n > 0.0), "{metric}: {switches:?}");
            // If all CPUs are busy, perf may miss the half second it has for them, and a note says
            // so.
            let said = database
                .number("SELECT count(*) FROM step WHERE notes LIKE '%events of the scheduler%'");
            assert!(switches.len() == 2 || said > 0, "{metric}: {switches:?}");
        }
    }
}

#[test]
fn what_runs_beside_a_point_is_in_its_window_and_gone_afterwards() {
    let place = Place::new();
    let file = place.plan(&plan(
        "blocks = 1",
        "clients = 2\nidle = \"cpus\"\nidle_from = 1\nidle_to = 2\nseconds = 3",
    ));
    place.run(&[&file]).expect(0, &["select{dop=2, idle=cpus}"]);
    let database = Database::of(&place.results());
    for metric in ["rate.before", "rate.during", "rate.after", "during/before", "after/before"] {
        let found = values(&database, metric, 2, "{\"idle\":\"cpus\"}");
        assert!(matches!(found[..], [value] if value > 0.0), "{metric}: {found:?}");
    }
    place.assert_nothing_left();
}

/// The processes of a place that have the policy SCHED_IDLE (field 41 of proc(5)'s stat).
fn idle(place: &Place) -> usize {
    let policy = |pid: u32| {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        text.rsplit_once(')')?.1.split_whitespace().nth(41 - 3)?.parse::<i32>().ok()
    };
    let all = processes_of(place.path()).into_iter();
    all.filter(|pid| policy(*pid) == Some(nix::libc::SCHED_IDLE)).count()
}

#[test]
fn nothing_is_left_of_an_interrupted_or_killed_sweep() {
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        let place = Place::new();
        let file = place.plan(&plan(
            "blocks = 1",
            "clients = 2\npinning = \"colocated\"\nidle = 3\nseconds = 6",
        ));
        let mut run = place.start_run(&[&file]);
        run.wait_for("  index", "trial 1/1");
        let begin = std::time::Instant::now();
        while idle(&place) < 3 {
            assert!(begin.elapsed().as_secs() < 60, "{} idle processes", idle(&place));
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        run.signal(signal);
        let ended = run.end();
        if signal == Signal::SIGKILL {
            place.wait_until_gone();
            // The next start cleans up the rest.
            let quick = place.file("quick.toml", &plan("blocks = 1", "seconds = 1"));
            place.run(&[&quick]).expect(0, &["cleaned up what a killed run left"]);
        } else {
            ended.expect(3, &["interrupted"]);
        }
        place.assert_nothing_left();
    }
}

#[test]
fn a_server_is_reached_over_tcp() {
    let place = Place::new();
    let root = nix::unistd::geteuid().is_root();
    for transports in if root { &["tcp", "veth"][..] } else { &["tcp"] } {
        let section = format!("seconds = 1\ntransport = [\"unix\", \"{transports}\"]");
        let file = place.plan(&plan("blocks = 1", &section));
        place.run(&[&file]).expect(0, &["select{dop=1, transport=unix}"]);
        let database = Database::of(&place.results());
        let labels = format!("{{\"transport\":\"{transports}\"}}");
        let rates = values(&database, "o/s", 1, &labels);
        assert!(matches!(rates[..], [rate] if rate > 0.0), "{rates:?}");
        place.assert_nothing_left();
    }
    let both = place.plan(&plan("", "transport = [\"tcp\", \"veth\"]"));
    place.run(&[&both]).expect(2, &["`pg16`", "tcp"]);
}

#[test]
fn what_a_point_cannot_have_is_refused_before_anything_starts() {
    let place = Place::new();
    for (top, section, parts) in [
        (
            "config = { max_connections = 20 }",
            "clients = \"1..30\"",
            &["`pg16`: step select has 16 clients, but its settings allow 15", "max_connections"][..],
        ),
        ("", "pipeline = 5\nprotocol = \"simple\"", &["cannot be sent by the simple protocol"]),
        ("", "clients = \"1-8\"", &["a range such as \"1..176\""]),
    ] {
        let file = place.plan(&plan(top, section));
        place.run(&[&file]).expect(2, parts);
    }
    let smt = place.plan(&plan("", "pinning = \"smt\""));
    let siblings = "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list";
    if fs::read_to_string(siblings).is_ok_and(|list| !list.contains(['-', ','])) {
        place.run(&[&smt]).expect(2, &["pinning smt needs a core with two hardware threads"]);
    }
    let elsewhere = plan("", "pinning = \"random\"").replace("postgres@16", "postgres://nobody@/x");
    let file = place.plan(&elsewhere);
    let ended = place.run(&[&file]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(!place.results().exists(), "nothing is begun");
}
