//! Adaptive runs: looks, and what ends them.

use std::time::Duration;

use lab::{Error, Event, Look};
use report::{CompareOptions, Format, Which};
use store::{NewTrial, StepRecord, Store};

use crate::common::Site;

const STEPS: &str = "rows = 300\nsteps = [\"l.i0\"]";

/// `c` is always eight times as slow as `a`; `b` is sometimes far slower, sometimes far faster. The
/// delays are long compared with what a busy machine adds to one of them.
fn site() -> Site {
    let site = Site::new();
    site.world.set_delay(|name, times| {
        Duration::from_millis(match (name, times % 2) {
            ("a", _) => 25,
            ("b", 1) => 2,
            _ => 200,
        })
    });
    site
}

/// The first look, and the place of its event.
fn look(site: &Site) -> (usize, &Look) {
    let mut events = site.events.iter().enumerate();
    let look = events.find_map(|(at, event)| match event {
        Event::Look(look) => Some((at, look)),
        _ => None,
    });
    look.unwrap()
}

#[test]
fn blocks_are_added_for_what_is_undecided_also_after_an_interruption() {
    let plan = Site::plan(&["a", "b", "c"], "blocks = 6\nmax_blocks = 7", STEPS);
    let mut site = site();
    site.run(&plan).unwrap();
    let (at, Look { blocks, decided, open, next, trials, steps, .. }) = look(&site);
    assert_eq!((*blocks, *decided, *trials, *steps), (6, 1, 2, 2), "{open:?}");
    assert!(open.len() == 1 && open[0].starts_with("b l.i0 ±"), "{open:?}");
    assert_eq!(next, "1 more block of a, b");
    let of = |site: &Site, name: &str| {
        site.finished().iter().filter(|trial| trial.variant == name).count()
    };
    assert_eq!(["a", "b", "c"].map(|name| of(&site, name)), [7, 7, 6]);
    assert_eq!(site.warnings(), ["block-limit"]);

    let mut broken = self::site();
    broken.interrupt_at = Some(at + 1);
    assert!(matches!(broken.run(&plan), Err(Error::Interrupted)));
    assert_eq!(broken.finished().len(), 18);
    broken.resume().unwrap();
    assert_eq!(["a", "b", "c"].map(|name| of(&broken, name)), [7, 7, 6]);
    // It looks at the same results again, and comes to the same.
    let (_, again) = look(&broken);
    assert_eq!((again.blocks, &again.next), (6, next));
    assert_eq!((broken.world.count("start"), broken.warnings()), (2, site.warnings()));
}

#[test]
fn a_run_ends_when_all_is_decided() {
    let mut site = site();
    site.run(&Site::plan(&["a", "c"], "blocks = 6\nmax_blocks = 9", STEPS)).unwrap();
    assert_eq!((site.finished().len(), site.warnings()), (12, vec!["all-decided".to_owned()]));
    assert!(site.told().contains("every comparison was decided after 6 blocks"));
}

/// However clear a difference is, fewer than six blocks have no verdict: the run goes on, and ends
/// undecided if its plan has no more.
#[test]
fn a_look_before_six_blocks_decides_nothing() {
    let mut site = site();
    site.run(&Site::plan(&["a", "c"], "blocks = 4\nmax_blocks = 6", STEPS)).unwrap();
    assert_eq!((site.finished().len(), site.warnings()), (12, vec!["all-decided".to_owned()]));
    assert!(site.told().contains("every comparison was decided after 6 blocks"));
    let mut short = self::site();
    short.run(&Site::plan(&["a", "c"], "blocks = 2\nmax_blocks = 3", STEPS)).unwrap();
    assert_eq!((short.finished().len(), short.warnings()), (6, vec!["block-limit".to_owned()]));
    let told = "the run ended at its limit of 3 blocks with undecided comparisons: c l.i0 ±";
    assert!(short.told().contains(told), "{}", short.told());
}

/// A block in which `c` did nothing can't be compared, however many more there are. That is no
/// decision, and is not called one.
#[test]
fn what_cannot_be_judged_is_not_called_decided() {
    let plan = Site::plan(&["a", "c"], "blocks = 6\nmax_blocks = 9", STEPS);
    let mut whole = site();
    whole.run(&plan).unwrap();
    let began = |(at, event): (usize, &Event)| {
        matches!(event, Event::TrialBegan { block: 2, .. }).then_some(at)
    };
    let second = whole.events.iter().enumerate().find_map(began).unwrap();

    let mut site = site();
    site.interrupt_at = Some(second);
    assert!(matches!(site.run(&plan), Err(Error::Interrupted)));
    assert_eq!(site.finished().len(), 2, "one block");
    let store = Store::open(&site.path().join("results")).unwrap();
    let experiment = store.latest().unwrap().unwrap().id;
    let variants = store.variants(experiment).unwrap();
    let variant = variants.iter().find(|variant| variant.name == "c").unwrap().id;
    let (block, position, sequence, started_ms) = (2, 2, 1, 5);
    let idle = NewTrial { experiment, variant, block, position, sequence, started_ms };
    let idle = store.begin_trial(&idle).unwrap();
    let mut record = StepRecord::new(0, "l.i0", 1);
    record.add("o/s", 0.0);
    store.record_step(idle, &record).unwrap();
    store.finish_trial(idle).unwrap();
    drop(store);

    site.resume().unwrap();
    assert_eq!((site.finished().len(), site.warnings()), (12, vec!["not-all-judged".to_owned()]));
    let told = "the run ended after 6 blocks, with 0 of 1 comparisons decided; 1 can't be judged: \
                c l.i0 (c did nothing in 1 of 6 blocks (2), but a did)";
    assert!(site.told().contains(told), "{}", site.told());
    let results = report::load(&site.store(), Which::Id(experiment)).unwrap();
    let compared = report::compare(&results, &CompareOptions::default()).unwrap();
    let text = compared.render(Format::Text).unwrap();
    assert!(text.contains(told) && !text.contains("every comparison"), "{text}");
}

#[test]
fn no_block_begins_that_would_end_after_the_budget() {
    let mut site = Site::new();
    site.world.set_delay(|_, _| Duration::from_millis(250));
    site.run(&Site::plan(&["a"], "blocks = 6\nbudget = \"1s\"", STEPS)).unwrap();
    assert_eq!((site.finished().len(), site.warnings()), (1, vec!["budget-spent".to_owned()]));
    assert!(site.told().contains("the run ended after 1 block: of its budget of 1s"));
}

/// Blocks take as long as the servers' delays, so none can be faster than this.
#[test]
fn what_the_budget_has_room_for_is_said_after_the_first_block() {
    let mut site = Site::new();
    site.world.set_delay(|_, _| Duration::from_millis(250));
    site.run(&Site::plan(&["a", "b"], "blocks = 6\nbudget = \"3s\"", STEPS)).unwrap();
    let told = site.told();
    assert_eq!(told.matches("the budget of 3s has room for ").count(), 1, "{told}");
    assert!(told.contains("but a verdict needs 6: l.i0 will probably stay undecided;"), "{told}");
    let enough = site.events.iter().find_map(|event| match event {
        Event::Enough { budget, decides: false } => Some(*budget),
        _ => None,
    });
    assert!(enough.is_some_and(|budget| budget > Duration::from_secs(3)), "{enough:?}");
    // The next run knows it before it starts.
    let known = "as experiment 1 went, the budget of 3s has room for ";
    assert!(
        !told.contains(known) && told.contains("after the first block, the run says"),
        "{told}"
    );
    site.run(&Site::plan(&["a", "b"], "blocks = 6\nbudget = \"3s\"", STEPS)).unwrap();
    assert!(site.told().contains(known), "{}", site.told());
    // With time for six, that is all there is to say.
    let mut site = Site::new();
    site.run(&Site::plan(&["a", "b"], "blocks = 6\nmax_blocks = 6\nbudget = \"1h\"", STEPS))
        .unwrap();
    let told = site.told();
    assert!(told.contains("the budget of 1h has room for about 6 blocks"), "{told}");
}
