//! What a step asks its servers before the load: answers that are compared between variants, and
//! how long a query takes.
//!
//! A query that a server refuses is a result of its own, if the step only reads: it has failed on
//! that server, and the trial goes on.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbms::Diagnosis;
use drive::{Answer, Asking, Target};
use metrics::Identity;
use plan::{Clients, Compared};
use store::{Failure, Series, StepRecord, StepState};
use workload::{Asks, End, Phase, Step};

use crate::error::Error;
use crate::event::Event;
use crate::sharing::only_reads;
use crate::trial::attempt::{Asked, Attempt, Trouble, at_once};
use crate::trial::conditions::Conditions;
use crate::trial::plans::plans;
use crate::trial::records::new_record;
use crate::trial::settle::watched;

/// With fewer executions than this, a step ends after a number of them: one that the end of its
/// time would cut off matters too much.
const FEW: f64 = 200.0;

/// Asks the servers what the step asks, all at the same time. Returns for each whether it answered;
/// where it didn't, the step is recorded as failed.
///
/// # Errors
/// The end of a server or of the run, or a refusal that the trial doesn't survive.
pub fn ask(
    conditions: &Conditions<'_>,
    attempts: &mut [Attempt<'_>],
    phase: &Phase,
    ordinal: u32,
) -> Result<Vec<bool>, Error> {
    let Some((step, asks)) = phase.step().and_then(|step| Some((step, step.asks.as_ref()?))) else {
        return Ok(vec![true; attempts.len()]);
    };
    let target = |attempt: &Attempt<'_>| {
        conditions.systems.target(attempt.name(), attempt.server.endpoint())
    };
    let targets: Vec<Target> = attempts.iter().map(target).collect();
    let interrupted = conditions.interrupted;
    let answers = at_once(targets, |target| answers(&target, asks, step, interrupted));
    conditions.go_on()?;
    let mut answered = Vec::new();
    for (attempt, answers) in attempts.iter_mut().zip(answers) {
        answered.push(answers.is_ok());
        match answers {
            Ok(asked) => attempt.asked = Some(asked),
            Err(error) => refused(conditions, attempt, (phase, step, ordinal), &error)?,
        }
    }
    Ok(answered)
}

/// One server's answers.
fn answers(
    target: &Target,
    asks: &Asks,
    step: &Step,
    interrupted: &AtomicBool,
) -> Result<Asked, drive::Error> {
    let mut asking = Asking::connect(target, asks)?;
    let breaker = asking.breaker()?;
    watched(interrupted, &*breaker, || {
        let first = asking.ask()?;
        let limit = step.seconds.unwrap_or_default();
        let took = |answers: &[Answer]| answers.iter().map(|it| it.time).sum::<Duration>();
        // What comes the second time shows what does not depend on the server, and how long a query
        // takes that finds its data in memory.
        let again = match took(&first).as_secs_f64() < limit {
            true => Some(asking.ask()?),
            false => None,
        };
        let time = took(again.as_ref().unwrap_or(&first)).as_secs_f64();
        let count = first.len().max(1) as f64;
        let kept = |answer: Answer| kept(answer, asks.compared);
        let mut again = again.into_iter().flatten().map(kept);
        let confirmed = |answer: Answer| {
            let answer = kept(answer);
            again.next().map_or(answer.clone(), |again| answer.confirmed_by(&again))
        };
        Ok(Asked { answers: first.into_iter().map(confirmed).collect(), time: time / count })
    })
}

/// An answer as it is kept.
fn kept(answer: Answer, compared: Compared) -> metrics::Answer {
    let digest = answer.digest;
    let floats = digest.floats.iter().map(|it| [it.sum, it.magnitude, it.tolerance]).collect();
    let compared = match compared {
        Compared::Rows => Identity::Rows,
        Compared::Count | Compared::Nothing => Identity::Count,
    };
    metrics::Answer { compared, rows: digest.rows, checksum: digest.checksum, floats }
}

/// Records a step as failed that a server refused.
fn refused(
    conditions: &Conditions<'_>,
    attempt: &mut Attempt<'_>,
    (phase, step, ordinal): (&Phase, &Step, u32),
    error: &drive::Error,
) -> Result<(), Error> {
    let trouble = Trouble::met(error.to_string(), error.kind());
    attempt.asked = None;
    let mut record = new_record(phase, ordinal);
    record.state = StepState::Failed;
    record.failures.push(Failure {
        class: step.counted.to_string(),
        code: error.code().unwrap_or_default().to_owned(),
        message: error.to_string(),
        count: 1,
        retried: false,
    });
    if error.code().is_some() {
        // Why it takes too long, for example.
        record.plans = plans(attempt, step).unwrap_or_default();
        conditions.store.record_step(attempt.entered.trial, &record)?;
    }
    if !forgives(attempt, step, &record, &trouble) {
        return Err(attempt.error(&step.key.name, Clients::of(step.key.dop), trouble));
    }
    tell(conditions, attempt, step, &record);
    Ok(())
}

/// True if a step that failed is a result, and its trial goes on: a server has refused one of its
/// statements, and works on.
pub fn forgives(
    attempt: &mut Attempt<'_>,
    step: &Step,
    record: &StepRecord,
    trouble: &Trouble,
) -> bool {
    let Trouble::Failed { diagnosis, .. } = trouble else { return false };
    let said = record.failures.iter().any(|it| !it.retried && !it.code.is_empty());
    // One that also writes may have left anything.
    step.asks.is_some()
        && only_reads(step)
        && said
        && !matches!(diagnosis, Some(Diagnosis::DiskFull | Diagnosis::Interrupted))
        && attempt.server.alive()
}

/// Says that a step failed, and that the trial goes on.
pub fn tell(conditions: &Conditions<'_>, attempt: &Attempt<'_>, step: &Step, record: &StepRecord) {
    let (name, step) = (attempt.name(), &step.key.name);
    let reason = record.failures.iter().find(|it| !it.retried).map_or("", |it| &it.message);
    let text = format!("  {step} failed on {name}: {reason}. Going on with the other steps");
    conditions.tell(Event::Note(text));
}

/// Adds what a server answered to the record of its step.
pub fn record(record: &mut StepRecord, attempt: &mut Attempt<'_>, step: &Step) {
    let (Some(asked), Some(asks)) = (attempt.asked.take(), &step.asks) else { return };
    if asks.compared == Compared::Nothing {
        return;
    }
    let values = asked.answers.iter().flat_map(metrics::Answer::values).collect();
    let family = attempt.subject.dialect.family();
    let (name, group) = (metrics::ANSWERS_SERIES, metrics::ANSWERS_GROUP);
    record.series.push(Series::new(name, family, "", group, values));
    record.add(metrics::ANSWERS.name, asked.answers.len() as f64);
}

/// The step as it runs on a server alone on which a query takes this many seconds: if few
/// executions fit into its time, it ends after as many, at least one. With several values it runs
/// equally often with each, so that a faster server does not get others.
pub fn whole_executions(time: f64, step: &Step) -> Step {
    let mut whole = Step::clone(step);
    let fit = step.seconds.map(|seconds| seconds / time);
    if let Some(fit) = fit.filter(|fit| *fit < FEW) {
        whole.seconds = None;
        for stream in &mut whole.streams {
            let values = stream.requests.len().max(1) as f64;
            stream.end = End::Rounds(((fit / values).floor().max(1.0) * values) as u64);
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use workload::{Class, Expect, Request, Statement, Stream};

    use super::*;

    #[test]
    fn slow_queries_run_a_whole_number_of_times() {
        let streams = vec![Stream::new(0, Class::QUERY)];
        let mut step = Step::new("q", 1, Class::QUERY, streams);
        step.seconds = Some(5.0);
        let of = |time: f64| {
            let whole = whole_executions(time, &step);
            (whole.seconds, whole.streams[0].end.clone())
        };
        assert_eq!(of(0.001), (Some(5.0), End::Time));
        assert_eq!(of(0.0), (Some(5.0), End::Time), "nothing is known");
        assert_eq!(of(0.1), (None, End::Rounds(50)));
        assert_eq!(of(1.9), (None, End::Rounds(2)));
        assert_eq!(of(300.0), (None, End::Rounds(1)));
        let one: Request = Statement::plain("SELECT 1", Expect::Success).into();
        step.streams[0].requests = vec![one; 4];
        let rounds = |time: f64| whole_executions(time, &step).streams[0].end.clone();
        assert_eq!(rounds(0.11), End::Rounds(44), "45 fit");
        assert_eq!(rounds(1.9), End::Rounds(4), "2 fit");
        // One that has no time ends by itself.
        let untimed = Step { seconds: None, ..step.clone() };
        assert_eq!(whole_executions(1.9, &untimed), untimed);
    }
}
