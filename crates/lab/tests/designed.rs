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

/// It says why it has ended, once. l.x has few operations, so it may stay open.
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
    // On a slow machine there may be no room for more.
    let foreseen = ["blocks of", "but a verdict needs 6"];
    assert!(foreseen.iter().any(|text| site.told().contains(text)), "{}", site.told());
}

/// From the third on, servers start more slowly. On a slow machine even the shortest restarts may
/// not fit, which is said.
#[test]
fn restarts_that_get_slower_are_still_as_many_as_a_verdict_takes() {
    let mut site = site();
    site.world.set_start_delay(|_, times| Duration::from_millis(if times > 3 { 700 } else { 0 }));
    // Slices in which operations fit on a busy machine, too.
    let plan = Site::plan(
        &["a", "c"],
        "budget = \"60s\"\nslice_ms = 40",
        "rows = 10000\nsteps = [\"qr100\"]",
    );
    site.run(&plan).unwrap();
    let restarts = course(&site).len();
    let told = site.told();
    assert!(restarts >= 6 || told.contains("but a verdict needs 6"), "{restarts}: {told}");
}

/// Where nothing can be decided in time, it ends in time, and says which budget would do.
#[test]
fn no_restart_begins_that_would_end_after_the_budget() {
    let mut site = site();
    // A margin for which a day would do also on a busy machine.
    site.run(&Site::plan(&["a", "b"], &format!("{}\nmargin = 0.005", budget(6)), STEPS)).unwrap();
    assert_ended(&site);
    let course = course(&site);
    let begun = course.iter().rev().nth(1).map_or(Duration::ZERO, |(_, used)| *used);
    assert!(begun < Duration::from_secs(6), "{course:?}");
    // Of each restart, qr100 alone takes a second.
    let told = site.told();
    assert_eq!(told.matches("the budget of 6s has room for ").count(), 1, "{told}");
    assert!(told.contains(", but a verdict needs 6: l.i0, l.x, qr100 will probably"), "{told}");
    assert!(told.contains(" will probably decide nothing"), "before the start: {told}");
    let more = |event: &Event| matches!(event, Event::Enough { budget, decides: false } if *budget > Duration::from_secs(6));
    assert_eq!(site.events.iter().filter(|event| more(event)).count(), 1, "{:?}", site.events);
}

/// Nothing is started or written for a budget that no machine could keep.
#[test]
fn a_budget_for_which_there_is_far_too_much_to_do_is_refused() {
    let mut site = site();
    let variants: Vec<String> =
        (0..1000).map(|n| if n == 0 { "a".to_owned() } else { format!("v{n}") }).collect();
    let variants: Vec<&str> = variants.iter().map(String::as_str).collect();
    let error = site.run(&Site::plan(&variants, &budget(60), STEPS)).unwrap_err();
    assert!(error.is_request(), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("the budget of 1m is too small: a verdict needs 6 blocks"), "{text}");
    assert_eq!(site.world.calls(), Vec::<String>::new());
    assert!(site.events.is_empty() && !site.path().join("results").exists());
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
