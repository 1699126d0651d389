//! Counters, footprint, settling and flushing.

use super::subjects::subjects;
use crate::common::{Place, names};

#[test]
fn counts_measures_settles_and_flushes() {
    for subject in subjects() {
        let facts = subject.facts;
        let place = Place::new();
        let mut system = subject.start(&place);
        (facts.fill)(system.as_mut(), 1);
        let objects = names(&[facts.object]);
        let bytes = |system: &mut dyn dbms::System| {
            let found = system.footprint(&objects).unwrap().remove(0);
            assert_eq!(found.object, facts.object);
            found.bytes[facts.bytes]
        };
        let (counted, small) = (system.counters(&objects).unwrap(), bytes(system.as_mut()));
        (facts.fill)(system.as_mut(), 20_000);
        system.flush().unwrap();
        let after = system.counters(&objects).unwrap();
        let (view, name) = facts.counter;
        let change = |snapshot: &dbms::Snapshot| snapshot.get(view, facts.object, name).unwrap();
        assert_eq!((change(&after) - change(&counted)) as u64, 20_000, "{view} {name}");
        assert!(bytes(system.as_mut()) > small);
        let settled = system.settle(&objects).unwrap();
        assert!(settled.seconds > 0.0 && !settled.lines.is_empty(), "{settled:?}");
        assert_eq!((facts.rows)(system.as_mut()), 20_001);

        // All files are accounted for. A server at work may change them in between.
        let directory = system.data_directory().unwrap();
        let adds_up = |system: &mut dyn dbms::System| {
            let tables = system.footprint(&objects).unwrap();
            let installation = &subject.variant.installation;
            let mut rest = dbms::rest_of_disk(installation, &directory, &tables).unwrap().bytes;
            let disk = rest.remove("disk").unwrap();
            assert!(rest.len() > 1, "{rest:?}");
            let parts: u64 = rest.values().sum();
            disk == files(&directory) && disk == tables[0].bytes["total"] + parts
        };
        let up = (0..20).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            adds_up(system.as_mut())
        });
        assert!(up, "{}", subject.variant.name);

        // A missing object is named, not treated as empty.
        let nothing = names(&["nothing"]);
        for error in [system.footprint(&nothing).unwrap_err(), system.settle(&nothing).unwrap_err()]
        {
            assert!(error.to_string().contains("nothing"), "{error}");
        }
        // Something of what was set differs from the defaults.
        assert!(!system.settings().unwrap().is_empty());
        system.stop().unwrap().discard().unwrap();
        place.assert_clean();
    }
}

/// Bytes of all files below a directory.
fn files(directory: &std::path::Path) -> u64 {
    let mut find = std::process::Command::new("find");
    let found = find.arg(directory).args(["-type", "f", "-printf", "%s\\n"]).output().unwrap();
    String::from_utf8(found.stdout).unwrap().lines().map(|size| size.parse::<u64>().unwrap()).sum()
}
