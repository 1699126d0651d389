//! One step: connects clients, runs the load among its observers, and puts everything into one
//! record.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dbms::{Debt, Endpoint, Footprint, Snapshot};
use drive::{ErrorKind, Load, Outcome, Ready, Running, Slices};
use probe::Recording;
use store::{Counter, LogEvent, QueryPlan, Size, StepRecord, StepState};
use workload::Step;

use crate::event::Event;
use crate::observe::figures::{self, Locality};
use crate::observe::fitness::Fitness;
use crate::observe::observer::{Found, Scene, Server};
use crate::observe::observers::Observers;
use crate::trial::answers;
use crate::trial::attempt::{Attempt, Trouble, at_once};
use crate::trial::conditions::Conditions;
use crate::trial::loads::LOAD_BLOCK;
use crate::trial::plans::plans;
use crate::trial::program::keep_output;
use crate::trial::terms;

/// How long before its start a step is announced to the clients, so that all are awake.
pub const LEAD_TIME: Duration = Duration::from_millis(20);
/// How often a running step is checked.
const LOOK: Duration = Duration::from_millis(250);
/// After the server has died, clients get this long to notice by themselves.
const NOTICE: Duration = Duration::from_secs(2);

/// A dying server's connections break before its end can be seen, by at most this.
const DEATH: Duration = Duration::from_millis(500);

/// A failure of a step that runs on one server or on several.
#[derive(Debug)]
pub struct Fault {
    /// The trial concerned: its index among those that ran the step.
    pub at: usize,
    /// The failure itself.
    pub trouble: Trouble,
}

/// The measurements of a step on one server.
#[derive(Debug)]
pub struct Measured {
    /// The clients' counts.
    pub outcome: Outcome,
    /// The kernel's figures.
    pub recording: Recording,
    /// The server before the step.
    before: Before,
    /// Time from the step's start to its end, including the turns of other servers.
    elapsed: Duration,
}

/// A server's state before a step.
#[derive(Debug)]
struct Before {
    counters: Snapshot,
    /// Pending work that earlier steps had left behind.
    debt: Debt,
    /// The plans of the step's statements.
    plans: Vec<QueryPlan>,
}

/// The results of a step on all servers that it ran on.
pub struct Ran<'a> {
    /// When it began, in milliseconds since 1970 (UTC).
    pub started_ms: i64,
    /// One for each server, in their order.
    pub measured: Vec<Measured>,
    /// Further findings about how it ran.
    pub found: Found,
    /// Its observers, to complete the records.
    pub observers: Observers<'a>,
    /// The reason the step has no result, if it has none.
    pub fault: Option<Fault>,
}

/// Runs a step on one server that has the machine to itself. The record is complete even if the
/// step failed, which [`StepRecord::state`] and the returned trouble show. `connect` prepares its
/// load.
pub fn step(
    conditions: &Conditions<'_>,
    attempt: &mut Attempt<'_>,
    step: &Arc<Step>,
    mut record: StepRecord,
    connect: impl FnOnce(&Load) -> Result<Box<dyn Ready>, drive::Error>,
) -> Result<(StepRecord, Option<Trouble>), Trouble> {
    let mut ran = run(conditions, std::slice::from_mut(attempt), step, None, connect)
        .map_err(|fault| fault.trouble)?;
    let trouble = ran.fault.map(|fault| fault.trouble);
    let Some(measured) = ran.measured.into_iter().next() else {
        return Err(Trouble::failed("the load had no target"));
    };
    record.started_ms = ran.started_ms;
    let after = if trouble.is_none() { Some(after(attempt)) } else { None };
    complete(conditions, attempt, &mut record, step, &measured, Locality::Local, after)?;
    record.notes.extend(ran.found.notes);
    if let Some(reported) = &measured.outcome.reported {
        keep_output(conditions, attempt, &mut record, &reported.printed);
    }
    ran.observers.record(&mut record, step, &measured.outcome);
    Ok((record, trouble))
}

/// How servers share the load of a step.
pub struct Sharing {
    /// When each has it.
    pub slices: Slices,
    /// The CPUs that they and their clients run on.
    pub cpus: Vec<usize>,
    /// True if all are frozen but the one that has it.
    pub frozen: bool,
}

/// Runs a step on all servers of `attempts`, which share the load if there are several. `connect`
/// prepares its clients. Measurements are returned even if something went wrong on the way.
pub fn run<'a>(
    conditions: &'a Conditions<'_>,
    attempts: &mut [Attempt<'_>],
    step: &Arc<Step>,
    sharing: Option<Sharing>,
    connect: impl FnOnce(&Load) -> Result<Box<dyn Ready>, drive::Error>,
) -> Result<Ran<'a>, Fault> {
    let mut found = Found::default();
    let before = before(conditions, attempts, step, sharing.is_some(), &mut found)?;
    let load = load(conditions, attempts, step, sharing.as_ref(), &mut found)?;
    let cpus = sharing.map(|sharing| sharing.cpus);
    let ready = connect(&load).map_err(|error| {
        let at = attempts.iter_mut().position(|attempt| !attempt.server.alive()).unwrap_or(0);
        Fault { at, trouble: Trouble::met(error.to_string(), error.kind()) }
    })?;
    let scene = Scene {
        load: &load,
        ready: &*ready,
        servers: attempts.iter_mut().map(server).collect(),
        cpus: cpus.as_deref().unwrap_or_default(),
        plan: conditions.plan(),
        data_dir: &conditions.options.data_dir,
        ledger: conditions.ledger,
        profiler: conditions.profiler.as_ref(),
        scheduler: conditions.scheduler.as_ref(),
    };
    let mut observers = Observers::prepare(scene, &mut found);
    let start = Instant::now() + LEAD_TIME;
    let started_ms = store::now_ms();
    observers.begin(start);
    let running = ready.go(start);
    let fault = look_after(conditions, &*running, attempts, &load, start, &mut observers);
    let elapsed = start.elapsed();
    let recordings = observers.end(&mut found);
    let outcomes = running.join();
    let fault = fault.or_else(|| failure(attempts, &outcomes));
    if fault.is_none() {
        observers.finish();
    }
    let measured = outcomes
        .into_iter()
        .zip(recordings)
        .zip(before)
        .map(|((outcome, recording), before)| Measured { outcome, recording, before, elapsed })
        .collect();
    Ok(Ran { started_ms, measured, found, observers, fault })
}

/// Asks the servers, at the same time, what a step is to be compared with and explained by.
fn before(
    conditions: &Conditions<'_>,
    attempts: &mut [Attempt<'_>],
    step: &Step,
    sliced: bool,
    found: &mut Found,
) -> Result<Vec<Before>, Fault> {
    let drops = step.terms.cold || conditions.plan().drop_page_cache;
    let counted = at_once(attempts.iter_mut(), |attempt| {
        // To say how it would execute a statement, a server reads its tables' statistics.
        let plans = plans(attempt, step);
        if step.terms.cold {
            attempt.restart()?;
        }
        let tables = &attempt.benchmark.tables;
        let counters = match attempt.counted.take() {
            Some(counted) => counted,
            None => attempt.server.counters(tables)?,
        };
        let debt = attempt.server.debt(tables);
        // The kernel may have read on ahead of what the server did.
        if drops {
            dbms::drop_from_page_cache(&files(attempt)?)?;
        }
        Ok((counters, debt, plans))
    });
    let mut before = Vec::new();
    for (at, (attempt, counted)) in attempts.iter().zip(counted).enumerate() {
        let (counters, debt, plans) = counted.map_err(|trouble: Trouble| Fault { at, trouble })?;
        let of = if sliced { format!("{}: ", attempt.name()) } else { String::new() };
        let debt = found.known(&format!("{of}what earlier steps left behind"), debt);
        let plans = found.known(&format!("{of}how its statements are executed"), plans);
        before.push(Before { counters, debt, plans });
    }
    Ok(before)
}

/// The load of a step.
fn load(
    conditions: &Conditions<'_>,
    attempts: &[Attempt<'_>],
    step: &Arc<Step>,
    sharing: Option<&Sharing>,
    found: &mut Found,
) -> Result<Load, Fault> {
    let frozen = sharing.is_some_and(|sharing| sharing.frozen);
    let seats = terms::seats(conditions, attempts, step, frozen)
        .map_err(|trouble| Fault { at: 0, trouble })?;
    found.notes.extend(terms::note(&seats));
    let mut targets = Vec::new();
    for (at, attempt) in attempts.iter().enumerate() {
        let endpoint = terms::endpoint(attempt, step);
        let endpoint = endpoint.map_err(|error| Fault { at, trouble: error.into() })?;
        targets.push(conditions.systems.target(attempt.name(), endpoint));
    }
    let seed = conditions.draw_seed(attempts.first().map_or(0, |attempt| attempt.entered.block));
    Ok(Load {
        frozen,
        slices: sharing.map(|sharing| sharing.slices.clone()),
        overtime: if frozen { Duration::ZERO } else { overtime(conditions, attempts, step) },
        seats,
        ..Load::new(Arc::clone(step), targets, seed)
    })
}

/// How long a step's load goes on after its time, for observers that would disturb what is
/// measured.
fn overtime(conditions: &Conditions<'_>, attempts: &[Attempt<'_>], step: &Step) -> Duration {
    let alone = attempts.len() == 1;
    let known = attempts.iter().all(|attempt| attempt.group.is_some());
    if !known || !alone && step.streams.is_empty() {
        return Duration::ZERO;
    }
    let counted = conditions.scheduler.as_ref().filter(|_| alone);
    let counted = counted.map(|it| it.overtime(step));
    let profiled = attempts.iter().filter_map(|attempt| {
        let profiler = conditions.profiler.as_ref()?;
        Some(profiler.overtime(step, attempt.entered.block))
    });
    counted.into_iter().chain(profiled).sum()
}

/// A server, as observers see it.
fn server<'s>(attempt: &'s mut Attempt<'_>) -> Server<'s> {
    Server {
        name: &attempt.subject.variant.name,
        block: attempt.entered.block,
        trial: attempt.entered.trial,
        system: &mut *attempt.server,
        group: attempt.group.as_ref(),
        device: attempt.device.as_ref(),
    }
}

/// Where a server's files are that are to be dropped from the page cache. A step that needs this
/// fails without it.
fn files(attempt: &mut Attempt<'_>) -> Result<PathBuf, Trouble> {
    // A server elsewhere may have a directory of the same name.
    let here = attempt.group.is_some();
    attempt.server.data_directory().filter(|_| here).ok_or_else(|| {
        Trouble::unfit(
            "the server's data directory is unknown, so its files can't be dropped from the page \
             cache; remove drop_page_cache and cold from the plan",
        )
    })
}

/// Watches a running step until it ends or has to be ended.
fn look_after(
    conditions: &Conditions<'_>,
    running: &dyn Running,
    attempts: &mut [Attempt<'_>],
    load: &Load,
    start: Instant,
    observers: &mut Observers<'_>,
) -> Option<Fault> {
    let answer_limit = conditions.options.answer_limit;
    loop {
        let due = observers.look(running);
        let look = due.map_or(LOOK, |due| due.saturating_duration_since(Instant::now()));
        if running.wait(look.min(LOOK)) {
            break;
        }
        if conditions.go_on().is_err() {
            running.break_off();
            return Some(Fault { at: 0, trouble: Trouble::Interrupted });
        }
        if attempts.iter_mut().any(|attempt| !attempt.server.alive()) {
            // The clients see it too, and their connections tell more exactly when.
            running.wait(NOTICE);
            running.break_off();
            return death(attempts, Duration::ZERO);
        }
        if time(running, load).is_some_and(|time| start.elapsed() > time + answer_limit) {
            running.break_off();
            let text = format!(
                "the server did not answer within {} s after the step's time",
                answer_limit.as_secs()
            );
            return Some(Fault { at: 0, trouble: Trouble::failed(text) });
        }
        conditions.tell(Event::Progress {
            operations: running.operations().iter().sum(),
            elapsed: start.elapsed(),
        });
    }
    death(attempts, Duration::ZERO)
}

/// How long after its start a step's clients must have ended, except for operations under way;
/// `None` if that is not known yet.
fn time(running: &dyn Running, load: &Load) -> Option<Duration> {
    if load.frozen {
        // The planned time, and what it took to freeze and thaw.
        return running.measured_until();
    }
    load.limit().map(|limit| limit + load.overtime)
}

/// Which server died and how, if one did or does so within `limit`.
fn death(attempts: &mut [Attempt<'_>], limit: Duration) -> Option<Fault> {
    let begin = Instant::now();
    loop {
        for (at, attempt) in attempts.iter_mut().enumerate() {
            if !attempt.server.alive() {
                let how = attempt.server.died().unwrap_or_else(|| "no reason known".to_owned());
                let text = format!("the server died ({how})");
                return Some(Fault { at, trouble: Trouble::failed(text) });
            }
        }
        if begin.elapsed() >= limit {
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Fills the record of a step, except for the observers' findings: figures, and for a step that
/// went well the server's counters and sizes; then its state and what is unknown. `here` says what
/// the host's figures cover if the server is on this machine; `after` is the server's report about
/// itself now, `None` if the step failed.
pub fn complete(
    conditions: &Conditions<'_>,
    attempt: &mut Attempt<'_>,
    record: &mut StepRecord,
    step: &Step,
    measured: &Measured,
    here: Locality,
    after: Option<Result<After, dbms::Error>>,
) -> Result<(), Trouble> {
    let Measured { outcome, recording, before, elapsed } = measured;
    let locality = if attempt.group.is_some() { here } else { Locality::Remote };
    figures::fill(record, step, outcome, recording, locality);
    let plan = conditions.plan();
    // A run that designs itself chose these seconds, and its restarts make up for them. What only
    // prepares for others is not judged.
    let chosen = plan.designs_itself() && step.seconds.is_some();
    let prepares = attempt.entered.block == LOAD_BLOCK || plan.added.contains(&step.key.name);
    if !chosen && !prepares && !step.terms.cold {
        figures::warn_if_short(record, step, outcome, plan.lengthening(&step.key.name));
    }
    let apart = !matches!(attempt.server.endpoint(), Endpoint::Process(_));
    let share = figures::cpu_share(step, outcome, recording, apart);
    record.add(metrics::CPU_SHARE.name, share.unwrap_or(f64::NAN));
    terms::record_cores(record, step);
    began_with(record, &before.debt);
    answers::record(record, attempt, step);
    record.plans.clone_from(&before.plans);
    let well = after.is_some();
    if let Some(after) = after {
        // Counters also cover the turns of others.
        let alone = outcome.has_whole_seconds();
        let whole = if alone { outcome.seconds } else { elapsed.as_secs_f64() };
        afterwards(attempt, record, &before.counters, [outcome.seconds, whole], after?);
    }
    record.notes.extend(unknown(outcome, recording, locality));
    record.state = if well { StepState::Finished } else { StepState::Failed };
    // What is stolen from a step in slices meets all servers alike.
    if outcome.slices.is_empty() {
        attempt.fitness.and(Fitness::of_step(record, conditions.plan().steal_limit));
    }
    Ok(())
}

/// Records the state that a step found when it began, and warns of work under way.
fn began_with(record: &mut StepRecord, debt: &Debt) {
    let figures = [
        (&metrics::START_DEAD, debt.dead_rows),
        (&metrics::START_UNSEEN, debt.unseen_pages),
        (&metrics::START_BYTES, debt.bytes),
    ];
    for (metric, value) in figures {
        record.add(metric.name, value.unwrap_or(f64::NAN));
    }
    if !debt.running.is_empty() {
        let running = debt.running.join(", ");
        record.warn("began-busy", format!("the server was busy when the step began: {running}"));
    }
}

/// A server's counters and the sizes of its tables after a step.
pub type After = (Snapshot, Vec<Footprint>);

/// Asks a server for its counters and the current sizes of its tables; adds the rest of its disk
/// space if steelyard started it.
pub fn after(attempt: &mut Attempt<'_>) -> Result<After, dbms::Error> {
    let (tables, server) = (&attempt.benchmark.tables, &mut attempt.server);
    let (counters, mut sizes) = (server.counters(tables)?, server.footprint(tables)?);
    if server.owned()
        && !sizes.is_empty()
        && let Some(directory) = server.data_directory()
    {
        sizes.extend(dbms::rest_of_disk(&attempt.subject.installation, &directory, &sizes));
    }
    Ok((counters, sizes))
}

/// Records what the server counted over the step ([`dbms::figures`]), and how large the tables are
/// now.
fn afterwards(
    attempt: &mut Attempt<'_>,
    record: &mut StepRecord,
    before: &Snapshot,
    seconds: [f64; 2],
    (after, sizes): After,
) {
    let changed = after.difference(before);
    let installation = &attempt.subject.installation;
    for (name, value) in dbms::figures(installation, &changed, &after, seconds) {
        record.add(name, value);
    }
    record.counters = changed
        .into_iter()
        .map(|c| Counter { view: c.view, object: c.object, name: c.name, value: c.value })
        .collect();
    let events = attempt.server.events(record.started_ms).into_iter();
    let event = |it: dbms::LogEvent| LogEvent { at_ms: it.at_ms, kind: it.kind, text: it.text };
    record.events = events.map(event).collect();
    record.absent.clone_from(&after.absent);
    attempt.counted = Some(after);
    record.sizes = sizes
        .into_iter()
        .flat_map(|found| {
            let object = found.object;
            let size = move |(name, bytes)| Size { object: object.clone(), name, bytes };
            found.bytes.into_iter().map(size)
        })
        .collect();
}

/// Says what is unknown about a step, and why.
fn unknown(outcome: &Outcome, recording: &Recording, locality: Locality) -> Vec<String> {
    let of_host = match locality {
        Locality::Remote => Some(
            "the server's processes are not on this machine or can't be found, so there are no figures for CPU, context switches and storage",
        ),
        Locality::Shared => Some(
            "all variants' servers shared the load in slices: figures of the whole host (cpu/o, cs/o, r/o, rKB/o, w/o, wKB/o) can't be split among them and are missing",
        ),
        Locality::Local if recording.totals.device.is_none() => {
            Some("no block device is known for the data directory, so there are no storage figures")
        }
        Locality::Local => None,
    };
    let missed = outcome.classes.iter().filter(|class| class.missed > 0).map(|class| {
        let (missed, name) = (class.missed, &class.class.plural);
        format!("{missed} scheduled {name} did not start within the step's time")
    });
    of_host.map(str::to_owned).into_iter().chain(missed).collect()
}

/// The trouble that clients met: the end of their server, or an error that ended them.
fn failure(attempts: &mut [Attempt<'_>], outcomes: &[Outcome]) -> Option<Fault> {
    let cut_off = outcomes.iter().any(cut_off);
    let died = cut_off.then(|| death(attempts, DEATH)).flatten();
    died.or_else(|| {
        // Servers that share the load share the end, too, but one of them met the error.
        let met = |outcome: &Outcome| outcome.failures.last().is_some_and(|last| !last.retried);
        let mut ended = outcomes.iter().enumerate().filter(|(_, it)| it.fatal.is_some());
        let first = ended.clone().next();
        let (at, outcome) = ended.find(|(_, outcome)| met(outcome)).or(first)?;
        let reason = outcome.fatal.clone()?;
        let last = outcome.failures.last().map_or(ErrorKind::Other, |failure| failure.kind);
        let trouble = match outcome.unfit {
            true => Trouble::unfit(reason),
            false => Trouble::met(reason, last),
        };
        Some(Fault { at, trouble })
    })
}

/// True if a client lost its connection.
fn cut_off(outcome: &Outcome) -> bool {
    let last = outcome.failures.iter().rev().find(|failure| !failure.retried);
    outcome.fatal.is_some() && last.is_some_and(|last| last.kind == ErrorKind::Disconnected)
}
