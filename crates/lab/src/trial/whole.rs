//! A trial from its start to its end, and a load.

use std::sync::Arc;

use dbms::Stopped;

use crate::error::Error;
use crate::event::Event;
use crate::observe::fitness::Fitness;
use crate::own_data::OwnData;
use crate::trial::attempt::{Attempt, Entered};
use crate::trial::conditions::Conditions;
use crate::trial::loads::{keep_record, load_phases};
use crate::trial::phase::phase;
use crate::trial::phase_order::order;
use crate::trial::server::{Data, begin, set_up, stop};

/// Runs one trial; every finished step is in the store when this returns, whatever it returns. One
/// that is polluted and can be run again ends with the step that showed it.
pub fn run(conditions: &Conditions<'_>, entered: Entered) -> Result<Fitness, Error> {
    let mut attempt = begin_one(conditions, entered)?;
    let phases = attempt.first..attempt.benchmark.phases.len();
    let result = go_through(conditions, &mut attempt, phases);
    let fitness = attempt.fitness.clone();
    stop_one(conditions, attempt, result, Data::Removed)?.discard()?;
    Ok(fitness)
}

/// Loads for a variant and sequence, and keeps the state for its trials in place of one that was
/// kept before. Every finished step is in the store when this returns, whatever it returns.
pub fn load(conditions: &Conditions<'_>, entered: Entered) -> Result<(), Error> {
    let (plan, subject) = (conditions.plan(), &conditions.lineup.subjects[entered.variant]);
    let name = &*subject.variant.name;
    let own = subject.own_data.as_ref();
    let unchanged = || own.map_or(Ok(()), |own| own.check_unchanged(plan, name));
    unchanged()?;
    let mut attempt = begin_one(conditions, entered)?;
    let phases = load_phases(plan, &attempt.benchmark);
    let result = unchanged().and_then(|()| go_through(conditions, &mut attempt, 0..phases));
    let stopped = stop_one(conditions, attempt, result, Data::Kept)?;
    let began_ms = store::now_ms();
    let loaded = stopped.keep(conditions.interrupted)?;
    let mut record = keep_record(&loaded, phases, began_ms);
    record.notes.extend(own.map(OwnData::note));
    conditions.store.record_step(entered.trial, &record)?;
    let manifest = loaded.manifest();
    conditions.tell(Event::Kept {
        digest: manifest.digest(),
        files: manifest.files(),
        bytes: manifest.bytes(),
        seconds: record.seconds,
    });
    conditions.loads.keep(entered, loaded);
    Ok(())
}

fn begin_one<'a>(conditions: &Conditions<'a>, entered: Entered) -> Result<Attempt<'a>, Error> {
    let (mut attempts, result) = begin(conditions, &[entered], &|_, _| false);
    result?;
    attempts.pop().ok_or(Error::Interrupted)
}

fn stop_one(
    conditions: &Conditions<'_>,
    attempt: Attempt<'_>,
    result: Result<(), Error>,
    data: Data,
) -> Result<Stopped, Error> {
    stop(conditions, vec![attempt], vec![result], data).pop().unwrap_or(Err(Error::Interrupted))
}

/// Sets the server up and has it go through these phases.
fn go_through(
    conditions: &Conditions<'_>,
    attempt: &mut Attempt<'_>,
    phases: std::ops::Range<usize>,
) -> Result<(), Error> {
    set_up(conditions, attempt)?;
    let benchmark = Arc::clone(&attempt.benchmark);
    let seed = conditions.order_seed(attempt.entered);
    for ordinal in order(&benchmark.phases, phases, seed) {
        phase(conditions, attempt, &benchmark.phases[ordinal], ordinal as u32)?;
        if attempt.in_vain() {
            break;
        }
    }
    Ok(())
}
