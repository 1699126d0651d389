//! One phase of a trial: a step that is measured, settling, or a check.

use std::sync::Arc;

use plan::Clients;
use store::StepRecord;
use workload::{Phase, Program};

use crate::error::Error;
use crate::event::{Event, phase_name};
use crate::observe::figures::expect_declared;
use crate::trial::answers::{ask, forgives, tell, whole_executions};
use crate::trial::attempt::{Attempt, Trouble};
use crate::trial::check::check;
use crate::trial::conditions::Conditions;
use crate::trial::program::{command, command_for_profile};
use crate::trial::records::{new_record, record_failed};
use crate::trial::settle::settle;
use crate::trial::step::step;

/// Has a trial go through one phase, and records it.
pub fn phase(
    conditions: &Conditions<'_>,
    attempt: &mut Attempt<'_>,
    phase: &Phase,
    ordinal: u32,
) -> Result<(), Error> {
    let entered = attempt.entered;
    let mut record = new_record(phase, ordinal);
    let name = phase_name(phase);
    record.notes.extend(attempt.among.clone());
    conditions.tell(Event::phase_began(phase, entered.clients, 1));
    // Unless it has answered already.
    if attempt.asked.is_none()
        && ask(conditions, std::slice::from_mut(attempt), phase, ordinal)? == [false]
    {
        return conditions.go_on();
    }
    let outcome = match phase {
        Phase::Settle { rows } => {
            attempt.counted = None;
            let attempts = std::slice::from_mut(attempt);
            let settled = settle(conditions, attempts, *rows, vec![record]).pop();
            let settled = settled.unwrap_or(Err(Error::Interrupted));
            settled.map(|record| (record, None)).map_err(Trouble::from)
        }
        Phase::Check(list) => {
            attempt.counted = None;
            check(conditions, attempt, list, record).map(|record| (record, None))
        }
        Phase::Step(measured) => {
            let time = attempt.asked.as_ref().map_or(0.0, |asked| asked.time);
            let measured = Arc::new(whole_executions(time, measured));
            step(conditions, attempt, &measured, record, drive::prepare)
        }
        Phase::Program(program) => run_program(conditions, attempt, program, record),
    };
    let trouble = match outcome {
        Ok((record, trouble)) => {
            expect_declared(&record);
            conditions.store.record_step(entered.trial, &record)?;
            match (trouble, phase.step()) {
                (None, _) => {
                    let name = attempt.among.as_ref().map(|_| attempt.name());
                    conditions.tell(Event::step_ended(&record, entered.clients, name));
                    None
                }
                (Some(trouble), Some(step)) if forgives(attempt, step, &record, &trouble) => {
                    tell(conditions, attempt, step, &record);
                    None
                }
                (trouble, _) => trouble,
            }
        }
        Err(trouble) => {
            record_failed(conditions, entered, phase, ordinal);
            Some(trouble)
        }
    };
    match trouble {
        None => conditions.go_on(),
        Some(trouble) => {
            let clients = phase.step().map_or(entered.clients, |step| Clients::of(step.key.dop));
            Err(attempt.error(name, clients, trouble))
        }
    }
}

/// Runs a program as the load, after what has to come before it.
fn run_program(
    conditions: &Conditions<'_>,
    attempt: &mut Attempt<'_>,
    program: &Program,
    record: StepRecord,
) -> Result<(StepRecord, Option<Trouble>), Trouble> {
    if !program.prepare.is_empty() {
        let before = command(conditions, attempt, program, &program.prepare)?;
        let stop = || conditions.go_on().is_err();
        drive::run_before(before, &stop).map_err(Trouble::failed)?;
        conditions.go_on().map_err(|_| Trouble::Interrupted)?;
    }
    let again = command_for_profile(conditions, attempt, program)?;
    let command = command(conditions, attempt, program, &program.command)?;
    let ready = drive::program(attempt.name(), command, program, again);
    step(conditions, attempt, &Arc::new(program.step.clone()), record, |_| Ok(ready))
}
