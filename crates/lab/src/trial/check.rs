//! Checks that data is right.

use std::time::Instant;

use drive::{Single, Target};
use store::{StepKind, StepRecord};
use workload::{Condition, Expect, Statement};

use crate::trial::attempt::{Attempt, Trouble};
use crate::trial::conditions::Conditions;
use crate::trial::settle::interruptible;

/// Checks that a server's data meets all conditions; the record says which were checked.
///
/// # Errors
/// If it doesn't, the trouble names each condition that does not hold.
pub fn check(
    conditions: &Conditions<'_>,
    attempt: &mut Attempt<'_>,
    list: &[Condition],
    mut record: StepRecord,
) -> Result<StepRecord, Trouble> {
    let begin = Instant::now();
    let target = conditions.systems.target(attempt.name(), attempt.server.endpoint());
    let server = attempt.server.as_mut();
    let broken = interruptible(server, conditions.interrupted, |_| Ok(broken(&target, list)))?;
    let broken = broken.map_err(|error| Trouble::met(error.to_string(), error.kind()))?;
    if !broken.is_empty() {
        let text = "its data or its answers are wrong, so the step before does not count; these \
                    conditions do not hold:";
        return Err(Trouble::failed(format!("{text} {}", broken.join("; "))));
    }
    let names: Vec<&str> = list.iter().map(|condition| condition.name.as_str()).collect();
    record.kind = StepKind::Settle;
    record.notes.push(format!("these conditions hold: {}", names.join("; ")));
    record.seconds = begin.elapsed().as_secs_f64();
    Ok(record)
}

/// The conditions that do not hold, each with the number of exceptions.
fn broken(target: &Target, list: &[Condition]) -> Result<Vec<String>, drive::Error> {
    let mut connection = Single::connect(target, 0, 0)?;
    let mut broken = Vec::new();
    for Condition { name, exceptions } in list {
        let one = Expect::Rows { min: 1, max: 1 };
        let row = connection.row(&Statement::plain(exceptions.clone(), one))?;
        match row[..] {
            [Some(0)] => {}
            [Some(1)] => broken.push(format!("{name} (1 exception)")),
            [Some(count)] => broken.push(format!("{name} ({count} exceptions)")),
            _ => broken.push(format!("{name} (the query for exceptions has no number)")),
        }
    }
    Ok(broken)
}
