//! Runs that design themselves.

use std::time::Duration;

use lab::Event;

use crate::common::Site;
use crate::common::world::Fault;

const STEPS: &str = "rows = 10000\nsteps = [\"l.i0\", \"l.x\", \"qr100\"]";

/// `c` is slower by half, in slices of 5 ms.
fn site() -> Site {
    let site = Site::new();
    site.world.set_delay(|name, _| Duration::from_micros(if name == "c" { 900 } else { 600 }));
    site
}

fn budget(seconds: u32) -> String {
    format!("budget = \"{seconds}s\"\nslice_ms = 5")
}

/// It says why it has ended, once. Of l.x there are few operations, so that it may stay open.
fn assert_ended(site: &Site) {
    let ended = site.warnings();
    let ends = ["all-decided", "out-of-reach", "budget-spent"];
    assert!(ended.len() == 1 && ends.contains(&ended[0].as_str()), "{}", site.told());
}

/// Restarts and time used after each.
fn course(site: &Site) -> Vec<(u32, Duration)> {
    let of = |event: &Event| match event {
        Event::Narrowing { restarts, used, .. } => Some((*restarts, *used)),
        _ => None,
    };
    site.events.iter().filter_map(of).collect()
}

#[test]
fn a_run_restarts_its_servers_and_ends_within_its_budget() {
    let mut site = site();
    site.run(&Site::plan(&["a", "c"], &budget(30), STEPS)).unwrap();
    assert_ended(&site);
    let course = course(&site);
    let [.., (_, begun), (restarts, _)] = course[..] else {
        panic!("it did not restart: {course:?}, {}", site.told());
    };
    // The last one began within the budget, and was to end in it.
    assert!(restarts >= 2 && begun < Duration::from_secs(30), "{course:?}");
    let finished = site.finished();
    assert_eq!(finished.len(), 2 * restarts as usize);
    assert!(site.notes(&finished[0], "l.i0").contains("in slices with all variants"));
    assert!(site.told().contains("restarts of"), "{}", site.told());
}

/// Where nothing can be decided in time, it ends in time.
#[test]
fn no_restart_begins_that_would_end_after_the_budget() {
    let mut site = site();
    site.run(&Site::plan(&["a", "b"], &format!("{}\nmargin = 0.0001", budget(6)), STEPS)).unwrap();
    assert_ended(&site);
    let course = course(&site);
    let begun = course.iter().rev().nth(1).map_or(Duration::ZERO, |(_, used)| *used);
    assert!(begun < Duration::from_secs(6), "{course:?}");
}

#[test]
fn a_resumed_run_goes_on_within_the_same_budget() {
    let mut site = site();
    site.world.at("start", 3, Fault::Interrupt);
    assert!(site.run(&Site::plan(&["a", "c"], &budget(30), STEPS)).is_err());
    let kept = site.finished();
    assert_eq!(kept.len(), 2);
    site.resume().unwrap();
    assert_eq!(site.finished()[..2], kept[..]);
    assert_ended(&site);
}
