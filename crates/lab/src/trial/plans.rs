//! The plans that a server chooses for the statements of a step.

use std::collections::BTreeSet;

use store::QueryPlan;
use workload::Step;

use crate::trial::attempt::Attempt;

/// First words of statements that have a plan worth knowing.
const PLANNED: [&str; 3] = ["SELECT", "UPDATE", "DELETE"];

/// Asks for the plans of a step's statements; among statements that differ only in the number of
/// their table, one is enough.
pub fn plans(attempt: &mut Attempt<'_>, step: &Step) -> Result<Vec<QueryPlan>, dbms::Error> {
    let mut shapes = BTreeSet::new();
    let mut plans = Vec::new();
    for stream in &step.streams {
        for request in &stream.requests {
            let Some(statement) = request.statement() else { continue };
            let text = statement.numbered();
            let planned = PLANNED.iter().any(|word| text.starts_with(word));
            if !planned || !shapes.insert(text.replace(|c: char| c.is_ascii_digit(), "")) {
                continue;
            }
            let example = statement.example(&stream.keeps, 1);
            if let Some(plan) = attempt.server.query_plan(&example)? {
                plans.push(QueryPlan { statement: text, plan });
            }
        }
    }
    Ok(plans)
}
