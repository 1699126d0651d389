//! The tests of sysbench, and the orders in which they run.

use crate::key::{StepNames, WARM_UP};

/// How long a test lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// `read_seconds`.
    Reads,
    /// `write_seconds`.
    Writes,
    /// `insert_seconds`.
    Inserts,
}

/// All steps, in the order in which they run.
pub const SYSBENCH_STEPS: [&str; 35] = [
    "load",
    "index",
    "update-inlist",
    "update-index",
    "update-nonindex",
    "update-one",
    "update-zipf",
    "write-only_range=10000",
    "read-write_range=10",
    "read-write_range=100",
    "settle",
    "scan",
    "read-only_range=10",
    "read-only_range=100",
    "read-only_range=10000",
    "read-only-simple",
    "read-only-sum",
    "read-only-order",
    "read-only-distinct",
    "read-only-count",
    "point-query",
    "random-points_range=10",
    "random-points_range=100",
    "random-points_range=1000",
    "hot-points",
    "points-covered-pk",
    "points-notcovered-pk",
    "range-covered-pk",
    "range-notcovered-pk",
    "points-covered-si",
    "points-notcovered-si",
    "range-covered-si",
    "range-notcovered-si",
    "delete",
    "insert",
];

/// The same tests as they are written elsewhere, or with the only range that they have.
pub(super) const ALIASES: [(&str, &str); 33] = [
    ("random-points range=10", "random-points_range=10"),
    ("random-points range=100", "random-points_range=100"),
    ("random-points range=1000", "random-points_range=1000"),
    ("hot-points range=100", "hot-points"),
    ("hot-points_range=100", "hot-points"),
    ("points-covered-pk range=100", "points-covered-pk"),
    ("points-covered-pk_range=100", "points-covered-pk"),
    ("points-notcovered-pk range=100", "points-notcovered-pk"),
    ("points-notcovered-pk_range=100", "points-notcovered-pk"),
    ("points-covered-si range=100", "points-covered-si"),
    ("points-covered-si_range=100", "points-covered-si"),
    ("points-notcovered-si range=100", "points-notcovered-si"),
    ("points-notcovered-si_range=100", "points-notcovered-si"),
    ("range-covered-pk_range=100", "range-covered-pk"),
    ("range-notcovered-pk_range=100", "range-notcovered-pk"),
    ("range-covered-si_range=100", "range-covered-si"),
    ("range-notcovered-si_range=100", "range-notcovered-si"),
    ("read-only range=10", "read-only_range=10"),
    ("read-only range=100", "read-only_range=100"),
    ("read-only range=10000", "read-only_range=10000"),
    ("read-only-simple range=1000", "read-only-simple"),
    ("read-only-sum range=1000", "read-only-sum"),
    ("read-only-order range=1000", "read-only-order"),
    ("read-only-distinct range=1000", "read-only-distinct"),
    ("read-only-count range=1000", "read-only-count"),
    ("read-only-count_range=1000", "read-only-count"),
    ("update-inlist range=100", "update-inlist"),
    ("update-inlist_range=100", "update-inlist"),
    ("write-only", "write-only_range=10000"),
    ("write-only range=10000", "write-only_range=10000"),
    ("read-write range=10", "read-write_range=10"),
    ("read-write range=100", "read-write_range=100"),
    ("read-write", "read-write_range=100"),
];

/// A test may run again, under its name and a suffix.
pub(super) const NAMES: StepNames =
    StepNames { known: &SYSBENCH_STEPS, aliases: &ALIASES, suffixes: true };

/// The test that a step runs: its name without the suffix.
pub fn sysbench_test(step: &str) -> &str {
    NAMES.test(step)
}

/// How long a step lasts; `None` if it ends when its work is done.
pub(super) fn length(step: &str) -> Option<Length> {
    match sysbench_test(step) {
        "load" | "index" | "settle" => None,
        "insert" => Some(Length::Inserts),
        test => {
            let writes = ["update-", "write-only", "read-write", "delete"];
            let writes = writes.iter().any(|prefix| test.starts_with(prefix));
            Some(if writes { Length::Writes } else { Length::Reads })
        }
    }
}

/// The group in which published tables have a step.
pub(super) fn group(step: &str) -> &'static str {
    let test = sysbench_test(step);
    let has = |prefixes: &[&str]| prefixes.iter().any(|prefix| test.starts_with(prefix));
    if length(step).is_none() {
        "load"
    } else if has(&["point", "random-points", "hot-points"]) {
        "point queries"
    } else if has(&["range-", "scan"]) {
        "range queries without aggregation"
    } else if has(&["read-only"]) {
        "range queries with aggregation"
    } else {
        "writes"
    }
}

/// A sequence of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SysbenchOrder {
    /// Two reads, then what writes, settling, all that reads, deletes and inserts.
    #[default]
    Small,
    /// The same, with all that reads before what writes, too.
    Full,
}

impl SysbenchOrder {
    /// Its steps.
    pub(super) fn steps(self) -> Vec<String> {
        let first = |step: &&&str| match self {
            Self::Small => ["point-query", "range-notcovered-si"].contains(step),
            Self::Full => length(step) == Some(Length::Reads),
        };
        let mut steps = Vec::new();
        for step in SYSBENCH_STEPS {
            if step == "points-covered-si" {
                steps.push(format!("{step}.{WARM_UP}"));
            }
            steps.push(step.to_owned());
            if step == "index" {
                steps.extend(["point-query", "scan"].map(|test| format!("{test}.{WARM_UP}")));
                steps.extend(SYSBENCH_STEPS.iter().filter(first).map(|test| format!("{test}.pre")));
            }
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_have_known_steps_once() {
        for (order, count) in [(SysbenchOrder::Small, 40), (SysbenchOrder::Full, 60)] {
            let steps = order.steps();
            for (place, step) in steps.iter().enumerate() {
                assert_eq!(NAMES.of(step).as_ref(), Some(step));
                assert!(!steps[..place].contains(step), "{step}");
            }
            assert_eq!(steps.len(), count);
        }
        let all = SysbenchOrder::Small.steps();
        let lacks = |test: &&&str| !all.iter().any(|step| sysbench_test(step) == **test);
        assert_eq!(SYSBENCH_STEPS.iter().filter(lacks).count(), 0);
    }

    #[test]
    fn groups_are_those_of_published_tables() {
        assert_eq!(group("points-covered-si.warm"), "point queries");
        assert_eq!(group("scan"), "range queries without aggregation");
        assert_eq!(group("read-only-count"), "range queries with aggregation");
        for writes in ["update-one", "read-write_range=10", "delete", "insert"] {
            assert_eq!(group(writes), "writes");
        }
        assert_eq!(group("index"), "load");
    }

    #[test]
    fn a_test_has_a_length_and_may_have_a_suffix() {
        assert_eq!(sysbench_test("range-notcovered-si.pre"), "range-notcovered-si");
        assert_eq!(length("point-query.pre"), Some(Length::Reads));
        assert_eq!(length("update-zipf.2"), Some(Length::Writes));
        assert_eq!(length("delete"), Some(Length::Writes));
        assert_eq!(length("insert"), Some(Length::Inserts));
        assert_eq!(length("settle.2"), None);
        assert!(crate::key::warms_up("scan.warm") && !crate::key::warms_up("scan"));
        let name = |text: &str| NAMES.of(text);
        assert_eq!(name("random-points range=10").as_deref(), Some("random-points_range=10"));
        assert_eq!(name("hot-points range=100").as_deref(), Some("hot-points"));
        assert_eq!(name("write-only.again").as_deref(), Some("write-only_range=10000.again"));
        for wrong in ["random-points", "scan.", "scan.a b", "", ".", "scan.a.b"] {
            assert_eq!(name(wrong), None, "{wrong}");
        }
    }
}
