//! Turns counts and recordings into the figures of a step, under the names that tables use.

use std::collections::{BTreeMap, BTreeSet};

use drive::{ClassOutcome, Outcome};
use probe::Recording;
use store::{Better, Histogram, Measure, Series, StepRecord};
use workload::{Class, Effect, Pace, Role, SentLog, Step, Stream};

use crate::observe::disturbances;
use crate::printed::stored;

/// An insert stream that reached less than this share of its target has not held its rate
/// (the insert benchmark's own rule).
const HELD: f64 = 0.95;
/// Steps shorter than this carry a warning: start-up and the last partial second weigh too much.
const SHORT_SECONDS: f64 = 3.0;

/// Which of the host's figures are about the system under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locality {
    /// The server runs on this machine.
    Local,
    /// It runs on this machine and shared the load with others in slices: the host's figures cover
    /// all of them, while those of its processes are its own.
    Shared,
    /// It runs elsewhere or can't be found here, so the host's figures say nothing about it.
    Remote,
}

/// Describes the figures of a step: their class, unit and direction.
pub fn measure(step: &Step) -> Measure {
    Measure {
        class: step.counted.name.to_string(),
        unit: step.unit.to_string(),
        better: if step.less_is_better { Better::Less } else { Better::More },
        timed: step.is_timed(),
    }
}

/// Checks that every metric is declared in `metrics`, where readers look it up.
pub fn expect_declared(record: &StepRecord) {
    let undeclared = record.metrics.iter().find(|(name, _)| metrics::find(name).is_none());
    debug_assert!(undeclared.is_none(), "{undeclared:?} is not declared in the room `metrics`");
}

/// Fills a step's record from client counts and kernel statistics.
pub fn fill(
    record: &mut StepRecord,
    step: &Step,
    outcome: &Outcome,
    recording: &Recording,
    locality: Locality,
) {
    record.seconds = outcome.seconds;
    record.operations = outcome.operations;
    let rate = outcome.rate();
    let operations = outcome.operations as f64;
    record.add(metrics::OPS.name, outcome.value());
    record.add(metrics::SECONDS.name, outcome.seconds);
    if let Some(bytes) = step.bytes {
        record.add(metrics::MEGABYTES.name, rate * bytes as f64 / 1e6);
    }
    let client = (outcome.client_user_us + outcome.client_system_us) as f64;
    record.add(metrics::CLIENT_CPU.name, client / operations);
    record.add(metrics::CLIENT_USER.name, outcome.client_user_us as f64 / operations);
    record.add(metrics::CLIENT_SWITCHES.name, outcome.client_switches as f64 / operations);
    record.add(metrics::RETRIES.name, outcome.retries() as f64);
    if locality != Locality::Remote {
        hardware(record, recording, rate, operations, locality);
    }
    rates(record, step, outcome);
    latencies(record, step, outcome);
    geometric_means(record, step, outcome);
    failures(record, step, outcome);
    if let Some(reported) = &outcome.reported {
        for (name, value, unit) in &reported.metrics {
            let (name, value) = stored(&step.counted.name, name, *value, unit);
            record.add(&name, value);
        }
    }
    series(record, step, outcome, recording, locality);
    let here = (locality != Locality::Remote).then_some(recording);
    disturbances::describe(record, step, outcome, here);
    for failure in &outcome.failures {
        record.failures.push(store::Failure {
            class: failure.class.to_string(),
            code: failure.code.clone(),
            message: failure.message.clone(),
            count: failure.count,
            retried: failure.retried,
        });
    }
    record.notes.extend(recording.notes.iter().cloned());
}

/// Warns of a step that was too short; `remedy`: the option that makes it longer, if there is one.
pub fn warn_if_short(
    record: &mut StepRecord,
    step: &Step,
    outcome: &Outcome,
    remedy: Option<String>,
) {
    // Of a step in slices its rounds are counted, over all restarts.
    let sliced = !outcome.slices.is_empty();
    if outcome.seconds < SHORT_SECONDS && step.counted.is_steady() && !sliced {
        let (name, seconds) = (&step.key.name, outcome.seconds);
        let remedy = remedy.map(|option| format!("; {option} would make it longer"));
        let text = format!("{name} took only {seconds:.1} s{}", remedy.unwrap_or_default());
        record.warn("short", text);
    }
}

/// Records the script executions that don't count or took too long.
fn failures(record: &mut StepRecord, step: &Step, outcome: &Outcome) {
    if let Some(log) = step.log {
        for class in &outcome.classes {
            record.add(metrics::FAILED.of(&class.class.name), class.failed as f64);
            record.add(metrics::ROWS.of(&class.class.name), class.rows as f64);
        }
        warn_of_log(record, step, outcome, log);
    }
    if step.streams.iter().all(|stream| stream.scripts.is_none()) {
        return;
    }
    for class in &outcome.classes {
        let figures = [
            (&metrics::FAILED, class.failed),
            (&metrics::SKIPPED, class.skipped),
            (&metrics::LATE, class.late),
        ];
        for (metric, count) in figures {
            record.add(metric.of(&class.class.name), count as f64);
        }
    }
}

/// Warns if a log was not sent as it was written.
fn warn_of_log(record: &mut StepRecord, step: &Step, outcome: &Outcome, log: SentLog) {
    let (name, SentLog { bulk, without_values, damaged, .. }) = (&step.key.name, log);
    if let Some(said) = outcome.unlike_log(step) {
        record.warn("statements-failed", format!("{name}: {said}"));
    }
    if bulk + without_values + damaged > 0 {
        record.warn(
            "log-incomplete",
            format!(
                "{name}: the log has {damaged} records that can't be read, {bulk} statements without \
                 their data and {without_values} without their values; they are not sent"
            ),
        );
    }
}

/// The costs per operation: of the host if one server had it to itself, and of the server.
fn hardware(
    record: &mut StepRecord,
    recording: &Recording,
    rate: f64,
    operations: f64,
    locality: Locality,
) {
    let totals = &recording.totals;
    if let Some(host) = totals.host.as_ref().filter(|_| locality == Locality::Local) {
        record.add(metrics::CPU.name, host.cpu_percent / rate);
        record.add(metrics::CPU_US.name, host.busy_s * 1e6 / operations);
        if let Some(switches) = host.context_switches {
            record.add(metrics::SWITCHES.name, switches as f64 / operations);
        }
    }
    if let Some(device) = &totals.device {
        record.add(metrics::READS.name, device.reads as f64 / operations);
        record.add(metrics::READ_KB.name, device.read_kb / operations);
        if device.reads > 0 {
            record.add(metrics::READ_SIZE.name, device.read_kb / device.reads as f64);
        }
        record.add(metrics::WRITES.name, device.writes as f64 / operations);
        record.add(metrics::WRITTEN_KB.name, device.write_kb / operations);
    }
    if let Some(dbms) = &totals.dbms {
        if let (Some(user), Some(system)) = (dbms.user_us, dbms.system_us) {
            record.add(metrics::DBMS_CPU.name, (user + system) as f64 / operations);
            record.add(metrics::DBMS_USER.name, user as f64 / operations);
            record.add(metrics::DBMS_SYSTEM.name, system as f64 / operations);
        }
        if let Some(switches) = dbms.switches {
            record.add(metrics::DBMS_SWITCHES.name, switches as f64 / operations);
        }
    }
}

/// Progress on a schedule with even intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scheduled {
    /// Statements done.
    done: u64,
    /// Statements that were due; without those that were under way at the end.
    due: u64,
    /// Seconds that the schedule sets for these.
    seconds: f64,
    /// Streams that share it.
    streams: u64,
}

impl Scheduled {
    fn of(step: &Step, outcome: &ClassOutcome) -> Option<Scheduled> {
        Self::new(step, &outcome.class, outcome.statements, outcome.missed)
    }

    /// `None` without such a schedule, or if nothing was due.
    fn new(step: &Step, class: &Class, done: u64, missed: u64) -> Option<Scheduled> {
        let streams = || step.streams.iter().filter(|stream| stream.class == *class);
        let rates = streams().map(|stream| match stream.pace {
            Pace::Rate(rounds) => Some(rounds),
            Pace::Free | Pace::Poisson(_) | Pace::At(_) | Pace::Follow(_) => None,
        });
        let per_second = rates.sum::<Option<f64>>()?;
        // Missed statements are only known for a step that ends by time.
        let due = done + missed;
        let known = step.is_timed() && due > 0 && per_second > 0.0;
        known.then(|| Scheduled {
            done,
            due,
            seconds: due as f64 / per_second,
            streams: streams().count() as u64,
        })
    }

    /// Each stream may be one statement behind when the time is over.
    fn held(&self) -> bool {
        let behind = if self.done > 0 { self.streams } else { 0 };
        (self.done + behind) as f64 >= HELD * self.due as f64
    }
}

/// Achieved rates of inserts and deletes, and whether the target was held.
///
/// A rate of few statements is not that of the clock: of two per second, two or one are due in
/// 0.76 s, which would be 132% or 66% of the target. So it is counted over the time that the
/// schedule sets for the statements that were due. What follows such a schedule is, too.
fn rates(record: &mut StepRecord, step: &Step, outcome: &Outcome) {
    if step.runs_in_order() {
        return;
    }
    // A schedule goes on as long as the server has the load, measured or not.
    let loaded: f64 = outcome.slices.iter().map(|slice| slice.length.as_secs_f64()).sum();
    let seconds = if outcome.has_whole_seconds() { outcome.seconds } else { loaded };
    let leader = outcome.classes.iter().find_map(|class| Scheduled::of(step, class));
    for class in outcome.classes.iter().filter(|class| class.class.is_steady()) {
        let name = &class.class.name;
        let mut own = step.streams.iter().filter(|stream| stream.class == class.class);
        let follows = own.all(|stream| matches!(stream.pace, Pace::Follow(_)));
        let scheduled = Scheduled::of(step, class);
        let over = scheduled.or(leader.filter(|_| follows)).map_or(seconds, |it| it.seconds);
        let rate = class.operations as f64 / over;
        let target = step.target(&class.class);
        // Queries as fast as they go have their rate already.
        if !rate.is_finite() || (target.is_none() && class.class.effect == Effect::Reads) {
            continue;
        }
        record.add(metrics::RATE.of(name), rate);
        let Some(target) = target else { continue };
        let held = scheduled.map_or(rate >= HELD * target, |scheduled| scheduled.held());
        if let Some(Scheduled { done, due, .. }) = scheduled {
            record.add(metrics::DONE.of(name), done as f64);
            record.add(metrics::DUE.of(name), due as f64);
        }
        record.add(metrics::TARGET.of(name), target);
        record.add(metrics::HELD.of(name), f64::from(u8::from(held)));
        if !held {
            record.warn(
                "rate-not-held",
                format!(
                    "{} reached {rate:.0} of {target:.0} {}/s; the {} figure is not comparable \
                     with that of a step that held its rate",
                    class.class.plural, class.class.unit, step.counted
                ),
            );
        }
    }
}

/// If a client begins this late, in microseconds, response times say too little of the server.
const CLIENT_LATE_US: f64 = 1_000.0;

/// Latency percentiles per class, in microseconds, and the histograms themselves.
fn latencies(record: &mut StepRecord, step: &Step, outcome: &Outcome) {
    for class in &outcome.classes {
        let name = &class.class.name;
        if !class.class.is_steady() || class.latency.is_empty() {
            continue;
        }
        for (quantile, at) in metrics::QUANTILES {
            let value = class.latency.value_at_quantile(at) as f64 / 1000.0;
            record.add(quantile.of(name), value);
        }
        record.add(metrics::MAX.of(name), class.latency.max() as f64 / 1000.0);
        if let Some(mean) = class.mean_us() {
            record.add(metrics::MEAN.of(name), mean);
        }
        if let Some(lag) = class.lag {
            record.add(metrics::LAG_CLIENT.of(name), lag.client_us);
            record.add(metrics::LAG_SERVER.of(name), lag.server_us);
            if class.class == step.counted && lag.client_us > CLIENT_LATE_US {
                record.warn(
                    "client-late",
                    format!(
                        "1% of the {} began over {:.1} ms late because the client was late, not the \
                         server; response times include that",
                        class.class.plural,
                        lag.client_us / 1000.0
                    ),
                );
            }
        }
        record.histograms.push(Histogram {
            class: name.to_string(),
            count: class.latency.len(),
            hdr: class.serialized_latency(),
        });
    }
}

/// The geometric mean of the times of a class's kinds, in streams whose rounds come in order.
fn geometric_means(record: &mut StepRecord, step: &Step, outcome: &Outcome) {
    let mut classes: BTreeMap<&Class, BTreeSet<&Class>> = BTreeMap::new();
    for stream in step.streams.iter().filter(|stream| stream.in_order) {
        classes.entry(&stream.class).or_default().extend(stream.mix.iter().map(|it| &it.class));
    }
    for (class, kinds) in classes {
        let mean = |kind: &&Class| {
            let own = outcome.classes.iter().find(|it| it.class == **kind)?;
            own.mean_us().map(f64::ln)
        };
        // One that never ended has no time.
        let logs: Option<Vec<f64>> = kinds.iter().map(mean).collect();
        if let Some(mean) = logs.as_deref().and_then(judge::mean) {
            record.add(metrics::GEOMEAN.of(&class.name), mean.exp());
        }
    }
}

/// Throughput and latency per second, then kernel statistics per second.
fn series(
    record: &mut StepRecord,
    step: &Step,
    outcome: &Outcome,
    recording: &Recording,
    locality: Locality,
) {
    for class in &outcome.classes {
        if !class.class.is_steady() {
            continue;
        }
        let name = &class.class.name;
        if outcome.has_whole_seconds() {
            record.series.push(Series::new(
                &metrics::throughput_of(name),
                &class.class.plural,
                &format!("{}/s", class.class.unit),
                metrics::THROUGHPUT,
                per_second(class, outcome.seconds),
            ));
        }
        if step.counted == class.class || step.target(&class.class).is_some() {
            record.series.push(Series::new(
                &metrics::longest_of(name),
                &format!("longest {name}"),
                "us",
                "latency",
                class.worst_us.iter().map(|worst| f64::from(*worst)).collect(),
            ));
        }
    }
    for series in &recording.series {
        let about = match locality {
            Locality::Local => true,
            Locality::Shared => series.name.starts_with("dbms."),
            Locality::Remote => series.name.starts_with("client."),
        };
        if !about {
            continue;
        }
        record.series.push(Series::new(
            &series.name,
            &series.label,
            &series.unit,
            &series.group,
            series.values.clone(),
        ));
    }
}

/// Operations per second; a truncated last second counts by its true length, and not at all if it
/// is shorter than half a second.
fn per_second(class: &ClassOutcome, seconds: f64) -> Vec<f64> {
    let mut values: Vec<f64> = class.per_second.iter().map(|count| *count as f64).collect();
    let part = seconds.fract();
    if part > 0.0 && values.len() > 1 {
        if part < 0.5 {
            values.pop();
        } else if let Some(last) = values.last_mut() {
            *last /= part;
        }
    } else if part > 0.0
        && let Some(only) = values.last_mut()
    {
        *only /= part;
    }
    values
}

/// The share of the time that a step's clients and server were on CPU, relative to what synchronous
/// clients can use: a client and its server wait for each other and so use one CPU between them.
/// `None` if unknown. `apart`: true if the clients are not in the server's process.
pub fn cpu_share(
    step: &Step,
    outcome: &Outcome,
    recording: &Recording,
    apart: bool,
) -> Option<f64> {
    let dbms = recording.totals.dbms.as_ref()?;
    let client = if apart { outcome.client_user_us + outcome.client_system_us } else { 0 };
    let busy_us = dbms.user_us? + dbms.system_us? + client;
    // Per operation, since a server may work outside of the time in which it is measured, too.
    let busy = busy_us as f64 / 1e6 / outcome.operations as f64 * outcome.rate();
    let share = busy / client_cpus(step) as f64;
    share.is_finite().then_some(share)
}

/// How many CPUs a step's clients can keep busy, each together with its server.
pub fn client_cpus(step: &Step) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    free_clients(step).clamp(1, cores)
}

/// The number of clients that send as fast as they get answers; for another program, all clients.
pub fn free_clients(step: &Step) -> usize {
    if step.streams.is_empty() {
        return step.key.dop as usize;
    }
    let free = |stream: &&Stream| stream.role == Role::Lead && stream.pace == Pace::Free;
    step.streams.iter().filter(free).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A timed step in which clients send 100 rows per second each, 50 in a statement.
    fn paced(clients: u32, seconds: f64) -> Step {
        let stream = |client| Stream {
            pace: Pace::Rate(2.0),
            operations_per_round: 50,
            ..Stream::new(client, Class::INSERT)
        };
        let streams = (0..clients).map(stream).collect();
        Step { seconds: Some(seconds), ..Step::new("qr100", clients, Class::QUERY, streams) }
    }

    /// Rows per second as shown, and whether the rate counts as held.
    fn rate(step: &Step, done: u64, missed: u64) -> Option<(f64, bool)> {
        let found = Scheduled::new(step, &Class::INSERT, done, missed)?;
        Some((50.0 * done as f64 / found.seconds, found.held()))
    }

    /// Two statements in 0.76 s were shown as 132 rows per second, one as 66 and not held.
    #[test]
    fn a_few_statements_have_the_rate_of_their_schedule() {
        let step = paced(1, 0.76);
        assert_eq!(rate(&step, 2, 0), Some((100.0, true)));
        assert_eq!(rate(&step, 1, 0), Some((100.0, true)));
        assert_eq!(rate(&step, 0, 0), None, "nothing was due");
        assert_eq!(rate(&paced(4, 0.76), 6, 0), Some((400.0, true)));
    }

    #[test]
    fn what_was_due_and_not_done_is_missed() {
        assert_eq!(rate(&paced(1, 10.0), 10, 10), Some((50.0, false)));
        assert_eq!(rate(&paced(1, 10.0), 0, 1), Some((0.0, false)), "nothing at all");
        assert_eq!(rate(&paced(4, 10.0), 40, 40), Some((200.0, false)));
        // One that was due just before the end.
        assert!(rate(&paced(1, 1.6), 3, 1).is_some_and(|(_, held)| held));
        // Missed statements are not counted for a step that ends with its work.
        let untimed = Step { seconds: None, ..paced(1, 1.0) };
        assert_eq!(rate(&untimed, 2, 0), None);
        let mut random = paced(1, 1.0);
        random.streams[0].pace = Pace::Poisson(2.0);
        assert_eq!(rate(&random, 2, 0), None, "what is random is counted by the clock");
    }
}
