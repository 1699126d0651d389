//! The functions by which a profile of a backend is read.

use crate::ProfileFacts;

/// What a backend does. Where the dispatcher's callee was inlined, the next function stands for it;
/// plans of prepared statements are got by `GetCachedPlan`.
pub static PROFILE: ProfileFacts = ProfileFacts {
    worker: "PostgresMain",
    dispatchers: &[
        "exec_simple_query",
        "exec_parse_message",
        "exec_bind_message",
        "exec_execute_message",
        "exec_describe_portal_message",
    ],
    phases: &[
        ("plan", &["pg_plan_quer", "planner", "standard_planner", "GetCachedPlan"]),
        ("parse", &["pg_parse_query", "raw_parser"]),
        ("analyze", &["pg_analyze_and_rewrite", "parse_analyze", "pg_rewrite_query"]),
        ("execute", &["PortalRun"]),
    ],
    named: "pg_plan_queries, pg_parse_query, pg_analyze_and_rewrite, PortalRun",
};

/// The phases of a statement as Callgrind counts them, whole functions by their names: see
/// [`CountMethod::phases`](crate::CountMethod). Analyzing got three functions in 15.
pub(super) const COUNTED: &[(&str, &[&[&str]])] = &[
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

/// What a backend does between statements every half second or so: it reports its statistics.
pub(super) const BY_THE_CLOCK: &[&str] = &["pgstat_report_stat"];
