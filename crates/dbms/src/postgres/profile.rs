//! Where a backend's time goes: the functions of `src/backend/tcop/postgres.c`, and what they call.

use crate::landmarks::{Landmarks, Phase};

pub(crate) const LANDMARKS: Landmarks = Landmarks {
    serves: "PostgresMain",
    passes: &[
        "exec_simple_query",
        "exec_parse_message",
        "exec_bind_message",
        "exec_execute_message",
        "exec_describe_portal_message",
    ],
    phases: &[
        Phase { name: "parse", functions: &[&["pg_parse_query"], &["raw_parser"]], parts: &[] },
        Phase {
            name: "analyze",
            functions: &[
                // Three functions from 15 on.
                &[
                    "pg_analyze_and_rewrite",
                    "pg_analyze_and_rewrite_fixedparams",
                    "pg_analyze_and_rewrite_varparams",
                    "pg_analyze_and_rewrite_params",
                    "pg_analyze_and_rewrite_withcb",
                ],
                &["parse_analyze", "parse_analyze_fixedparams", "parse_analyze_varparams"],
            ],
            parts: &["pg_rewrite_query"],
        },
        Phase {
            name: "plan",
            functions: &[&["pg_plan_queries"], &["pg_plan_query"], &["planner"]],
            // Plans of prepared statements come from GetCachedPlan.
            parts: &["standard_planner", "GetCachedPlan"],
        },
        Phase { name: "execute", functions: &[&["PortalRun"]], parts: &[] },
    ],
    // A backend reports its statistics between statements, every half second or so.
    periodic: &["pgstat_report_stat"],
};
