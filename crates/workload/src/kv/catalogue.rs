//! The calls of db_bench's steps, for counting one kind at a time.

use plan::KvPlan;

use super::{GET, OVERWRITE, RANGE, any, check, config, put};
use crate::class::Class;
use crate::draw::{Cell, Draw};
use crate::kinds::{Catalogue, Kind, Load, State};
use crate::request::{Expect, KeyAction, KeyValue, Scan};
use crate::{Dialect, Error};

/// Keys of a batch.
const BATCH: u32 = 100;

/// The number of the next key while data is loaded.
const NEXT: Cell = Cell(0);

/// The calls on a database of `keys` keys, which is flushed and fits in the engine's cache. The
/// keys that a miss asks for lie between the others, so only a filter can tell that they don't
/// exist.
///
/// # Errors
/// [`Error::Unfit`] if the system speaks SQL.
pub fn catalogue(plan: &KvPlan, keys: u64, dialect: Dialect) -> Result<Catalogue, Error> {
    check(dialect)?;
    // A range has all of its pairs.
    let keys = keys.max(u64::from(plan.range_pairs));
    let plan = KvPlan { keys, ..plan.clone() };
    let count = keys as i64;
    let rows = |rows| Expect::Rows { min: rows, max: rows };
    let kind = |name: String, class: Class, action, key, expect: Expect| Kind {
        name,
        reads_only: class == GET || class == RANGE,
        class,
        rows: match expect {
            Expect::Affected { max, .. } => max,
            _ => 0,
        },
        request: KeyValue { action, key, expect }.into(),
        state: State::Loaded,
        adds: None,
    };
    let get = |name: &str, low, found| {
        let key = any(low, low + count);
        kind(name.to_owned(), GET, KeyAction::Get { keys: 1 }, key, rows(found))
    };
    let several = plan.multiget_keys;
    let pairs = plan.range_pairs;
    let scan = KeyAction::Scan(Scan { pairs, reverse: false });
    let begin = any(0, count - i64::from(pairs) + 1);
    let write = |name: String, batch: u32| {
        let expect = Expect::affected(u64::from(batch));
        kind(name, OVERWRITE, put(&plan, batch, true), any(0, count), expect)
    };
    let load = |key, times| Load {
        request: KeyValue { action: put(&plan, 1, false), key, expect: Expect::affected(1) }.into(),
        times,
        adds: Some((NEXT, 1)),
    };
    Ok(Catalogue {
        setup: Vec::new(),
        // The last key is far behind the others; those that are missed are before it.
        load: vec![load(Draw::Value(NEXT), keys), load(any(2 * count, 2 * count + 1), 1)],
        index: Vec::new(),
        cells: 1,
        refresh: None,
        kinds: vec![
            get("get-hit", 0, 1),
            get("get-miss", count, 0),
            kind(
                format!("multiget-{several}"),
                GET,
                KeyAction::Get { keys: several },
                any(0, count),
                rows(several),
            ),
            kind(format!("seek-next-{pairs}"), RANGE, scan, begin, rows(pairs)),
            write("put".to_owned(), 1),
            write(format!("batch-{BATCH}"), BATCH),
        ],
        config: config(&plan),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Request;

    #[test]
    fn what_is_missed_is_between_keys_that_exist() {
        let catalogue = catalogue(&KvPlan::default(), 1_000, Dialect::KeyValue).unwrap();
        let names: Vec<&str> = catalogue.kinds.iter().map(|kind| kind.name.as_str()).collect();
        let all = ["get-hit", "get-miss", "multiget-10", "seek-next-10", "put", "batch-100"];
        assert_eq!(names, all);
        let key = |request: &Request| match request {
            Request::KeyValue(operation) => operation.key.clone(),
            other => panic!("{other:?}"),
        };
        let [most, last] = &catalogue.load[..] else { panic!("{:?}", catalogue.load) };
        assert_eq!((most.times, key(&most.request)), (1_000, Draw::Value(NEXT)));
        assert_eq!((last.times, key(&last.request)), (1, any(2_000, 2_001)));
        let miss = &catalogue.kinds[1];
        assert_eq!(key(&miss.request), any(1_000, 2_000));
        assert_eq!(miss.request.expect(), Expect::Rows { min: 0, max: 0 });
        let rows: Vec<u64> = catalogue.kinds.iter().map(|kind| kind.rows).collect();
        assert_eq!(rows, [0, 0, 0, 0, 1, 100]);
    }
}
