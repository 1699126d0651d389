//! Submissions that end before all elements are done.

use std::cell::RefCell;

use fleet::{Error, State, Stop};
use plan::Plan;
use store::ExperimentState;

use super::{Queue, Site, start, submission};

/// A submission that stops early, with the blocks that each look has seen.
struct Early {
    site: Site,
    seen: RefCell<Vec<u32>>,
}

impl Early {
    fn new(elements: u32) -> Self {
        let site = Site::of(submission(elements).stopping_early().unwrap());
        Self { site, seen: RefCell::default() }
    }

    fn deliver(&self, element: u32) {
        assert!(self.site.deliver(&start(element, "9", 0)));
    }

    /// Looks as an element does that is done.
    fn look(&self, decides: bool) -> Option<Stop> {
        let work = tempfile::tempdir().unwrap();
        let decides = |store: &store::Store, id| {
            self.seen.borrow_mut().push(store.experiment(id).unwrap().blocks);
            Ok::<_, Error>(decides)
        };
        fleet::stop_if_decided(&self.site.depot, work.path(), decides, 7).unwrap()
    }
}

#[test]
fn elements_that_decide_everything_are_all_that_count() {
    let early = Early::new(8);
    assert_eq!(early.site.depot.submission().looks().unwrap(), [3, 4, 5, 7, 8]);
    for element in [8, 2] {
        early.deliver(element);
        assert_eq!(early.look(true), None, "too few for a look");
    }
    early.deliver(5);
    assert_eq!(early.look(false), None);
    assert_eq!(early.look(true), None, "no look is taken twice");
    assert_eq!(*early.seen.borrow(), [6]);
    early.deliver(1);
    let stop = early.look(true).unwrap();
    assert_eq!(stop.elements.iter().copied().collect::<Vec<_>>(), [1, 2, 5, 8]);
    assert_eq!(early.look(false), Some(stop), "it stays decided");
    assert_eq!(*early.seen.borrow(), [6, 8]);

    // One that was measuring meanwhile does not count.
    early.deliver(3);
    let depot = &early.site.depot;
    let counted = depot.claims().unwrap();
    assert_eq!(counted.len(), 4);
    let status = fleet::status(depot, &Queue(Vec::new()), store::now_ms()).unwrap();
    assert!(status.is_complete());
    assert_eq!(status.those(State::Done).count(), 4);
    assert_eq!(status.those(State::Unneeded).count(), 4);
    let work = tempfile::tempdir().unwrap();
    assert!(fleet::conclude(depot, &early.site.archive(), work.path()).unwrap());
    let (_work, store, id) = early.site.merged(&counted);
    let whole = store.experiment(id).unwrap();
    assert_eq!((whole.state, whole.blocks), (ExperimentState::Finished, 8));
    // It is the second of five looks, and says so to whoever judges it.
    let looks = Plan::parse(&whole.plan, None, "it").unwrap().looks();
    assert_eq!(looks, [6, 8, 11, 15, 16]);
}

#[test]
fn exactly_as_many_are_looked_at_as_were_planned() {
    let early = Early::new(8);
    (1..=6).for_each(|element| early.deliver(element));
    assert_eq!(early.look(true).unwrap().elements.len(), 5);
    assert_eq!(*early.seen.borrow(), [10]);
}

#[test]
fn all_elements_are_no_reason_to_stop() {
    let early = Early::new(4);
    (1..=4).for_each(|element| early.deliver(element));
    assert_eq!(early.look(true), None);
    assert!(early.seen.borrow().is_empty());
    let depot = &early.site.depot;
    let status = fleet::status(depot, &Queue(Vec::new()), store::now_ms()).unwrap();
    assert!(status.is_complete() && !status.stopped);
}
