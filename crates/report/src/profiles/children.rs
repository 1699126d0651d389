//! How the samples in a function are distributed over the functions that it calls.

use std::collections::BTreeMap;

use dbms::ProfileFacts;

use super::Folded;
use crate::load::model::Results;

/// How to read profiles of a variant; `None` if its system is not known.
pub(crate) fn facts(results: &Results, place: usize) -> Option<&'static ProfileFacts> {
    dbms::profile_facts(&results.variants.get(place)?.variant.dbms)
}

/// The samples in a function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Children {
    /// Samples with the function in their stack.
    pub(crate) samples: u64,
    /// Those in the function itself (and in skipped functions).
    pub(crate) own: u64,
    /// The other samples, by the function that it called.
    pub(crate) by_callee: BTreeMap<String, u64>,
}

/// The samples with `parent` in their stack by what it called, counted at its outermost occurrence.
///
/// A callee is the next function on the stack. With `worker`, the function in which the server
/// executes what clients send, dispatchers and functions without a name are skipped: the callee is
/// the first function below them.
pub(crate) fn children(folded: &Folded, parent: &str, worker: Option<&ProfileFacts>) -> Children {
    let through = |frame: &&&str| {
        worker.is_some_and(|of| of.dispatchers.contains(*frame) || frame.starts_with('['))
    };
    let mut found = Children::default();
    for (stack, samples) in folded.stacks() {
        let Some(place) = stack.iter().position(|frame| *frame == parent) else { continue };
        found.samples += samples;
        match stack.iter().skip(place + 1).find(|frame| !through(frame)) {
            Some(callee) => *found.by_callee.entry((*callee).to_owned()).or_default() += samples,
            None => found.own += samples,
        }
    }
    found
}

impl Children {
    /// The share of the samples, 0 to 1; NaN without samples.
    pub(crate) fn share(&self, samples: u64) -> f64 {
        samples as f64 / self.samples as f64
    }

    /// The share of a callee; 0 if it does not occur.
    pub(crate) fn share_of(&self, callee: &str) -> f64 {
        self.share(self.by_callee.get(callee).copied().unwrap_or(0))
    }

    /// The shares of the phases of a statement, with everything else as `other`.
    pub(crate) fn phases(&self, worker: &ProfileFacts) -> BTreeMap<String, f64> {
        let share = |beginnings: &[&str]| {
            let begins = |callee: &str| beginnings.iter().any(|begin| callee.starts_with(begin));
            let of_phase = self.by_callee.iter().filter(|(callee, _)| begins(callee));
            self.share(of_phase.map(|(_, samples)| samples).sum())
        };
        let shares: Vec<f64> = worker.phases.iter().map(|(_, of)| share(of)).collect();
        let other = (1.0 - shares.iter().sum::<f64>()).max(0.0);
        let names = worker.phases.iter().map(|(name, _)| *name).chain([OTHER]);
        names.map(str::to_owned).zip(shares.into_iter().chain([other])).collect()
    }
}

/// Samples outside all phases.
pub(crate) const OTHER: &str = "other";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STACKS: &str = "\
postgres;main;PostgresMain;pg_plan_queries;standard_planner 20
postgres;main;PostgresMain;exec_simple_query;pg_parse_query;raw_parser 10
postgres;main;PostgresMain;[postgres];pg_analyze_and_rewrite_fixedparams 25
postgres;main;PostgresMain;[postgres];PortalRun;ExecutorRun;PostgresMain;palloc 35
postgres;main;PostgresMain;[postgres] 4
postgres;main;PostgresMain;ReadyForQuery 6
postgres;main;CheckpointerMain;write_[k] 50
";

    #[test]
    fn dispatchers_are_looked_through() {
        let worker = dbms::profile_facts("postgres@14.3").unwrap();
        let found = children(&Folded::of(STACKS), worker.worker, Some(worker));
        assert_eq!((found.samples, found.own), (100, 4));
        let percent = |share: f64| (share * 100.0).round() as u64;
        let share = |callee: &str| percent(found.share_of(callee));
        assert_eq!(share("pg_plan_queries"), 20);
        assert_eq!(share("pg_parse_query"), 10);
        assert_eq!(share("PortalRun"), 35);
        assert_eq!(share("ReadyForQuery"), 6);
        assert_eq!(share("palloc"), 0, "the outermost occurrence counts");
        let phases = found.phases(worker);
        let percents = ["plan", "parse", "analyze", "execute", "other"].map(|p| percent(phases[p]));
        assert_eq!(percents, [20, 10, 25, 35, 10]);
    }

    #[test]
    fn other_functions_have_their_direct_callees() {
        let found =
            children(&Folded::of("a;f;[lib];g 3\na;f 1\na;f;exec_simple_query;h 1\n"), "f", None);
        assert_eq!((found.samples, found.own), (5, 1));
        let callees: Vec<_> = found.by_callee.keys().map(String::as_str).collect();
        assert_eq!(callees, ["[lib]", "exec_simple_query"]);
    }

    proptest! {
        #[test]
        fn every_sample_in_the_parent_counts_once(
            stacks in proptest::collection::vec(
                (proptest::collection::vec("PostgresMain|\\[x\\]|exec_simple_query|f|g", 1..6), 1_u64..100),
                0..20,
            )
        ) {
            let line = |(frames, count): &(Vec<String>, u64)| format!("{} {count}\n", frames.join(";"));
            let folded = Folded::of(&stacks.iter().map(line).collect::<String>());
            let worker = dbms::profile_facts("postgres@14.3");
            for (parent, worker) in [("PostgresMain", worker), ("f", None)] {
                let found = children(&folded, parent, worker);
                prop_assert_eq!(found.own + found.by_callee.values().sum::<u64>(), found.samples);
                prop_assert!(found.samples <= folded.samples());
            }
        }
    }
}
