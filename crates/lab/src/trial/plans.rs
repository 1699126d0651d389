//! The plans that a server chooses for the statements of a step.

use std::collections::BTreeSet;

use store::QueryPlan;
use workload::{Request, Step};

use crate::sharing::only_reads;
use crate::trial::attempt::Attempt;

/// First words of statements that have a plan worth knowing.
const PLANNED: [&str; 7] = ["SELECT", "UPDATE", "DELETE", "WITH", "VALUES", "TABLE", "("];

/// Asks for the plans of a step's statements; among statements that differ only in the number of
/// their table, one is enough.
pub fn plans(attempt: &mut Attempt<'_>, step: &Step) -> Result<Vec<QueryPlan>, dbms::Error> {
    let mut shapes = BTreeSet::new();
    let mut plans = Vec::new();
    let mut plan = |text: String, example: String| -> Result<(), dbms::Error> {
        let begin = text.get(..6).unwrap_or(&text).to_ascii_uppercase();
        let planned = PLANNED.iter().any(|word| begin.starts_with(word));
        if planned
            && shapes.insert(text.replace(|c: char| c.is_ascii_digit(), ""))
            && let Some(plan) = attempt.server.query_plan(&example)?
        {
            plans.push(QueryPlan { statement: text, plan });
        }
        Ok(())
    };
    if let Some(asks) = &step.asks {
        // With more values, no other plans are worth the time.
        asks.queries.iter().try_for_each(|query| plan(query.clone(), query.clone()))?;
        if only_reads(step) {
            return Ok(plans);
        }
    }
    for stream in &step.streams {
        for statement in stream.requests.iter().filter_map(Request::statement) {
            plan(statement.numbered(), statement.example(&stream.keeps, 1))?;
        }
    }
    Ok(plans)
}
