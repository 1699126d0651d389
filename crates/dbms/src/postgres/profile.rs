//! The functions for reading a profile of a backend.

use crate::{EXECUTE, LeftOut, ProfileFacts};

/// The work of a backend. If the dispatcher's callee was inlined, the next function represents it.
/// Plans of prepared statements come from `GetCachedPlan`.
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
    renamed: &[
        ("ExecInitExprInternal", "ExecInitExpr"),
        // Since 15.
        ("parse_analyze", "parse_analyze_fixedparams"),
        ("pg_analyze_and_rewrite", "pg_analyze_and_rewrite_fixedparams"),
        // Since 16.
        ("expression_tree_walker", "expression_tree_walker_impl"),
        ("expression_tree_mutator", "expression_tree_mutator_impl"),
        // Since 17, for several blocks at once.
        ("smgrread", "smgrreadv"),
        ("smgrwrite", "smgrwritev"),
        ("mdread", "mdreadv"),
        ("mdwrite", "mdwritev"),
        ("FileRead", "FileReadV"),
        ("FileWrite", "FileWriteV"),
    ],
};

/// The phases of a statement for Callgrind, with full function names: see
/// [`CountMethod::phases`](crate::CountMethod). Since 15, analyzing has three functions.
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
    (EXECUTE, &[&["PortalRun"]]),
];

/// Work that a backend does between statements every half second or so: it reports its statistics.
pub(super) const LEFT_OUT: &[LeftOut] =
    &[LeftOut { function: "pgstat_report_stat", phase: None, with: &[] }];
