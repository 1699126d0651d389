//! Load that does not count: after a step's time, and in left-out seconds.

use std::time::{Duration, Instant};

use crate::common::{HANG, TestServer, load, make_table, point_select, step, stream};
use drive::Load;
use workload::{Class, End, Pace};

#[test]
fn work_after_the_time_is_not_counted() {
    let mut server = TestServer::start();
    make_table(&mut server, 1000);
    let streams = vec![
        stream(0, Class::QUERY, point_select(true), Pace::Free, End::Time),
        stream(1, Class::QUERY, point_select(true), Pace::Rate(100.0), End::Time),
    ];
    let load = Load {
        overtime: Duration::from_secs(2),
        ..load(step(Class::QUERY, streams, Some(1.0)), vec![server.target()])
    };
    let start = Instant::now() + Duration::from_millis(5);
    let running = drive::prepare(&load).unwrap().go(start);
    assert!(running.wait(HANG));
    assert!(start.elapsed() >= Duration::from_secs(3), "the load went on");
    let in_all = running.operations()[0];
    let outcome = running.join().remove(0);
    assert_eq!(outcome.fatal, None);
    assert!((outcome.seconds - 1.0).abs() < 1e-9);
    let queries = outcome.class(&Class::QUERY).unwrap();
    assert!(in_all > queries.operations, "{in_all} {}", queries.operations);
    assert_eq!(queries.statements, queries.operations);
    assert_eq!(queries.per_second, [queries.operations]);
    // In each stream, one may have begun in the time and ended just after it.
    assert!(queries.rows <= queries.operations + 2, "{} rows", queries.rows);
    // Operations that never began on a busy machine waited in vain, which counts as a latency, too.
    let most = queries.operations + 2 + queries.missed;
    assert!(queries.latency.len() <= most, "{} of {most}", queries.latency.len());
    // Of the hundred scheduled in the step's time; the two hundred after it don't count.
    assert!(queries.missed <= 100, "{}", queries.missed);
}

#[test]
fn seconds_that_are_left_out_leave_no_trace() {
    let mut server = TestServer::start();
    make_table(&mut server, 1000);
    // 200 a second, the first at once: the last ends after 4.5 seconds.
    let paced = stream(0, Class::QUERY, point_select(true), Pace::Rate(200.0), End::Rounds(901));
    let load = load(step(Class::QUERY, vec![paced], None), vec![server.target()]);
    let running = drive::prepare(&load).unwrap().go(Instant::now());
    running.leave_out(2..3);
    assert!(running.wait(HANG));
    assert_eq!(running.operations(), [901], "progress tells of all");
    let outcome = running.join().remove(0);
    assert_eq!(outcome.fatal, None);
    assert!(outcome.seconds > 3.49, "{}", outcome.seconds);
    // At most 601 were due before that second was over, and none of these ended after it unless it
    // was late. Those that ended in it don't count.
    assert!((300..901).contains(&outcome.operations), "{}", outcome.operations);
    let queries = outcome.class(&Class::QUERY).unwrap();
    assert_eq!(queries.per_second.len(), outcome.seconds.ceil() as usize);
    assert_eq!(queries.per_second.iter().sum::<u64>(), outcome.operations);
    assert_eq!(queries.latency.len(), outcome.operations);
    assert_eq!((queries.rows, queries.statements), (outcome.operations, outcome.operations));
}
