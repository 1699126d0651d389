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

/// Instructions of the statements, without what the backend did by the clock between them.
pub fn instructions(profile: &Profile) -> u64 {
    let by_the_clock = profile.functions.get(BY_THE_CLOCK).map_or(0, |cost| cost.inclusive);
    profile.instructions.saturating_sub(by_the_clock)
}

/// Instructions by phase, in the order parse, analyze, plan, execute, other; they add up to the whole.
pub fn phases(profile: &Profile) -> Vec<CountPhase> {
    let inclusive = |name: &&str| profile.functions.get(*name).map_or(0, |cost| cost.inclusive);
    let of = |alternatives: &[&[&str]]| {
        let sums = alternatives.iter().map(|names| names.iter().map(inclusive).sum::<u64>());
        sums.into_iter().find(|sum| *sum > 0).unwrap_or(0)
    };
    let mut left = instructions(profile);
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
        .filter(|(name, cost)| *name != BY_THE_CLOCK && (cost.own > 0 || cost.inclusive > 0))
        .map(|(name, cost)| CountFunction {
            name: name.clone(),
            object: cost.object.clone(),
            own: cost.own,
            inclusive: cost.inclusive,
            calls: cost.calls,
        })
        .collect()
}
