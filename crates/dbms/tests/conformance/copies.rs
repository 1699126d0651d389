//! Starts on a copy of what another one left.

use std::sync::atomic::AtomicBool;

use super::subjects::first;
use crate::common::Place;
use dbms::{Ending, Origin, Pages};

#[test]
fn what_was_kept_is_started_on_copies() {
    let go_on = AtomicBool::new(false);
    for subject in first() {
        let place = Place::new();
        let load = place.path().join("load");
        let mut system = dbms::start(subject.spec(&place, &load)).unwrap();
        (subject.facts.fill)(system.as_mut(), 1000);
        let loaded = system.stop().unwrap().keep(&go_on).unwrap();
        let origin = Origin { loaded: &loaded, pages: Pages::Any, interrupted: &go_on };
        // Two at once, one of which is written to.
        let mut copies = ["one", "two"].map(|name| {
            let directory = place.path().join(name);
            let spec = subject.spec(&place, &directory);
            let (copy, restored) = dbms::start_on_copy(&spec, &origin).unwrap();
            assert_eq!(restored.digest, loaded.manifest().digest());
            copy
        });
        (subject.facts.fill)(copies[0].as_mut(), 10);
        let [one, two] = &mut copies;
        assert_eq!((subject.facts.rows)(one.as_mut()), 1010, "{}", subject.variant.name);
        assert_eq!((subject.facts.rows)(two.as_mut()), 1000, "{}", subject.variant.name);
        for copy in copies {
            let stopped = copy.stop().unwrap();
            assert_eq!(stopped.ending, Ending::Graceful);
            stopped.discard().unwrap();
        }
        drop(loaded);
        place.assert_clean();
    }
}
