//! From a profile of Callgrind to what is stored: phases and functions.

use probe::callgrind::Profile;
use store::{CountFunction, CountPhase};

/// The phases of a statement and the functions that do them, all in `src/backend/tcop/postgres.c` but those after the first: what
/// these call where the compiler has put them into their caller. The first that was called counts; where several stand
/// together, they are names of one thing in different versions (analysing got three in 15).
const PHASES: [(&str, &[&[&str]]); 4] = [
    ("parse", &[&["pg_parse_query"], &["raw_parser"]]),
    (
        "analyze",
        &[
            &[
                "pg_analyze_and_rewrite",
                "pg_analyze_and_rewrite_fixedparams",
                "pg_analyze_and_rewrite_varparams",
                "pg_analyze_and_rewrite_params",
                "pg_analyze_and_rewrite_withcb",
            ],
            &["parse_analyze", "parse_analyze_fixedparams", "parse_analyze_varparams"],
        ],
    ),
    ("plan", &[&["pg_plan_queries"], &["pg_plan_query"], &["planner"]]),
    ("execute", &[&["PortalRun"]]),
];

/// What a backend does between statements every half second or so, by the clock, and so in some counts once more than in others.
const BY_THE_CLOCK: &str = "pgstat_report_stat";

/// The statements of a stretch that ends with a mark: without the mark and without what the backend did by the clock, in either.
pub fn statements(stretch: Profile, mark: Profile) -> Profile {
    steady(stretch).minus(&steady(mark))
}

/// Without what was done by the clock. What that called is still among the functions.
fn steady(mut profile: Profile) -> Profile {
    if let Some(by_the_clock) = profile.functions.remove(BY_THE_CLOCK) {
        profile.instructions = profile.instructions.saturating_sub(by_the_clock.inclusive);
    }
    profile
}

/// Instructions by phase, in the order parse, analyze, plan, execute, other; they add up to the whole.
pub fn phases(profile: &Profile) -> Vec<CountPhase> {
    let inclusive = |name: &&str| profile.functions.get(*name).map_or(0, |cost| cost.inclusive);
    let of = |alternatives: &[&[&str]]| {
        let sums = alternatives.iter().map(|names| names.iter().map(inclusive).sum::<u64>());
        sums.into_iter().find(|sum| *sum > 0).unwrap_or(0)
    };
    let mut left = profile.instructions;
    let mut phases: Vec<CountPhase> = PHASES
        .iter()
        .map(|(name, alternatives)| {
            // A statement that plans others while it executes is inside both; what is counted once stays so.
            let instructions = of(alternatives).min(left);
            left -= instructions;
            CountPhase { name: (*name).to_owned(), instructions }
        })
        .collect();
    phases.push(CountPhase { name: "other".to_owned(), instructions: left });
    phases
}

/// Every function that cost something.
pub fn functions(profile: &Profile) -> Vec<CountFunction> {
    profile
        .functions
        .iter()
        .filter(|(_, cost)| cost.own > 0 || cost.inclusive > 0)
        .map(|(name, cost)| CountFunction {
            name: name.clone(),
            object: cost.object.clone(),
            own: cost.own,
            inclusive: cost.inclusive,
            calls: cost.calls,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use probe::callgrind::Cost;

    /// A stretch with a statement of 1000 instructions, or without, and a report of 70 by the clock, or without.
    fn stretch(statement: bool, report: bool) -> Profile {
        let cost =
            |own, inclusive| Cost { object: "postgres".to_owned(), own, inclusive, calls: 1 };
        let mut profile = Profile { instructions: 5, ..Profile::default() };
        profile.functions.insert("pg_sleep".to_owned(), cost(5, 5));
        if statement {
            profile.instructions += 1_000;
            profile.functions.insert("PortalRun".to_owned(), cost(1_000, 1_000));
        }
        if report {
            profile.instructions += 70;
            profile.functions.insert(BY_THE_CLOCK.to_owned(), cost(50, 70));
            profile.functions.insert("pgstat_flush_io".to_owned(), cost(20, 20));
        }
        profile
    }

    #[test]
    fn a_report_by_the_clock_is_counted_neither_beside_statements_nor_beside_the_mark() {
        for (first, second) in [(false, false), (true, false), (false, true), (true, true)] {
            let counted = statements(stretch(true, first), stretch(false, second));
            assert_eq!(counted.instructions, 1_000, "reports: {first}, {second}");
            let phases = phases(&counted);
            assert_eq!(phases.iter().map(|phase| phase.instructions).sum::<u64>(), 1_000);
            assert!(functions(&counted).iter().all(|function| function.name != BY_THE_CLOCK));
        }
    }
}
