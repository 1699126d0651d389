//! Names of wait events. Since PostgreSQL 17 they come from `wait_event_names.txt`, with capitals
//! only where a word begins: `IO/WALSync` became `IO/WalSync`.

use std::collections::BTreeMap;

/// The spelling of each name, by the name in lower case. Names that differ only in case are one
/// name, in the newer spelling, which sorts last.
pub(crate) fn spellings<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<String, &'a str> {
    let mut newest: BTreeMap<String, &str> = BTreeMap::new();
    for name in names {
        let known = newest.entry(name.to_lowercase()).or_insert(name);
        *known = name.max(*known);
    }
    newest
}
