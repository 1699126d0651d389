//! From counts and recordings to the figures of a step, under the names that tables use.

use drive::{ClassOutcome, Outcome};
use probe::{GroupTotals, Recording};
use store::{Better, Histogram, Measure, Series, StepRecord, Warning};
use workload::{Effect, Pace, Role, Step, Stream};

use crate::observe::noise;

/// An insert stream that reached less than this share of its target has not held its rate
/// (the insert benchmark's own rule).
const HELD: f64 = 0.95;
/// Steps shorter than this carry a warning: start-up and the last partial second weigh too much.
const SHORT_SECONDS: f64 = 3.0;

/// What of the host's figures is about the system under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locality {
    /// The server runs on this machine.
    Local,
    /// It runs on this machine and shared the load with others, in slices: the host's figures are
    /// about all of them together, its processes' are its own.
    Shared,
    /// It runs elsewhere or can't be found here: the host's figures say nothing about it.
    Remote,
}

/// What the figures of a step are about.
pub fn measure(step: &Step) -> Measure {
    Measure {
        class: step.counted.name.to_string(),
        unit: step.unit.to_string(),
        better: Better::More,
        timed: step.is_timed(),
        labels: step.labels.clone(),
    }
}

/// Fills a step's record from what the clients counted and the kernel said.
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
    let mut metrics = Metrics { record, operations: outcome.operations as f64 };
    metrics.add("o/s", rate);
    metrics.add("seconds", outcome.seconds);
    let client = (outcome.client_user_us + outcome.client_system_us) as f64;
    metrics.per_operation("client.cpu/o", client);
    metrics.per_operation("client.us/o", outcome.client_user_us as f64);
    metrics.per_operation("client.cs/o", outcome.client_switches as f64);
    metrics.add("retries", outcome.retries() as f64);
    if locality != Locality::Remote {
        hardware(&mut metrics, recording, rate, locality);
    }
    rates(record, step, outcome);
    latencies(record, outcome);
    series(record, step, outcome, recording, locality);
    let here = (locality != Locality::Remote).then_some(recording);
    noise::describe(record, step, outcome, here);
    for failure in &outcome.failures {
        record.failures.push(store::Failure {
            class: failure.class.to_string(),
            code: failure.code.clone(),
            message: failure.message.clone(),
            count: failure.count,
            retried: failure.retried,
        });
    }
    if outcome.seconds < SHORT_SECONDS && step.counted.is_steady() {
        record.warnings.push(Warning {
            code: "short".to_owned(),
            text: format!(
                "{} took only {:.1} s; for figures to rely on give it more rows or seconds",
                step.name, outcome.seconds
            ),
        });
    }
    record.notes.extend(recording.notes.iter().cloned());
}

struct Metrics<'a> {
    record: &'a mut StepRecord,
    operations: f64,
}

impl Metrics<'_> {
    fn add(&mut self, name: &str, value: f64) {
        if value.is_finite() {
            self.record.metrics.push((name.to_owned(), value));
        }
    }

    fn per_operation(&mut self, name: &str, total: f64) {
        self.add(name, total / self.operations);
    }
}

/// The costs per operation, of the host where one server had it to itself, and of the server.
fn hardware(metrics: &mut Metrics<'_>, recording: &Recording, rate: f64, locality: Locality) {
    let totals = &recording.totals;
    if let Some(host) = &totals.host {
        let busy = host.user_s + host.nice_s + host.system_s + host.irq_s + host.softirq_s;
        if locality == Locality::Local {
            metrics.add("cpu/o", host.cpu_percent / rate);
            metrics.per_operation("cpu_us/o", busy * 1e6);
            if let Some(switches) = host.context_switches {
                metrics.per_operation("cs/o", switches as f64);
            }
        }
    }
    if let Some(device) = &totals.device {
        metrics.per_operation("r/o", device.reads as f64);
        metrics.per_operation("rKB/o", device.read_kb);
        metrics.per_operation("w/o", device.writes as f64);
        metrics.per_operation("wKB/o", device.write_kb);
    }
    if let Some(dbms) = &totals.dbms {
        if let (Some(user), Some(system)) = (dbms.user_us, dbms.system_us) {
            metrics.per_operation("dbms.cpu/o", (user + system) as f64);
            metrics.per_operation("dbms.us/o", user as f64);
            metrics.per_operation("dbms.sy/o", system as f64);
        }
        if let Some(switches) = switches(dbms) {
            metrics.per_operation("dbms.cs/o", switches as f64);
        }
    }
}

fn switches(group: &GroupTotals) -> Option<u64> {
    Some(group.voluntary_switches? + group.involuntary_switches?)
}

/// Achieved rates of inserts and deletes, and whether the target was held.
fn rates(record: &mut StepRecord, step: &Step, outcome: &Outcome) {
    // A schedule goes on as long as the server has the load, measured or not.
    let loaded: f64 = outcome.slices.iter().map(|slice| slice.length.as_secs_f64()).sum();
    let seconds = if outcome.slices.is_empty() { outcome.seconds } else { loaded };
    for class in outcome.classes.iter().filter(|class| class.class.is_steady()) {
        let name = &class.class.name;
        let rate = class.operations as f64 / seconds;
        let target = step.target(&class.class);
        // Queries as fast as they go have their rate already.
        if !rate.is_finite() || (target.is_none() && class.class.effect == Effect::Reads) {
            continue;
        }
        record.metrics.push((format!("{name}.rate"), rate));
        let Some(target) = target else { continue };
        let held = rate >= HELD * target;
        record.metrics.push((format!("{name}.target"), target));
        record.metrics.push((format!("{name}.held"), f64::from(u8::from(held))));
        if !held {
            record.warnings.push(Warning {
                code: "rate-not-held".to_owned(),
                text: format!(
                    "{} reached {rate:.0} of {target:.0} {}/s; the {} figure is not comparable \
                     with one that held its rate",
                    class.class.plural, class.class.unit, step.counted
                ),
            });
        }
    }
}

/// Latency percentiles per class, in microseconds, and the histograms themselves.
fn latencies(record: &mut StepRecord, outcome: &Outcome) {
    let quantiles = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)];
    for class in &outcome.classes {
        let name = &class.class.name;
        if !class.class.is_steady() || class.latency.is_empty() {
            continue;
        }
        for (quantile, at) in quantiles {
            let value = class.latency.value_at_quantile(at) as f64 / 1000.0;
            record.metrics.push((format!("{name}.{quantile}"), value));
        }
        record.metrics.push((format!("{name}.max"), class.latency.max() as f64 / 1000.0));
        record.metrics.push((format!("{name}.mean"), class.latency.mean() / 1000.0));
        record.histograms.push(Histogram {
            class: name.to_string(),
            count: class.latency.len(),
            hdr: class.serialized_latency(),
        });
    }
}

/// Throughput and latency per second, then what the kernel said per second.
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
        // In a second of a sliced step a server has the load for a part of it, more or less.
        if outcome.slices.is_empty() {
            record.series.push(Series {
                name: format!("tp.{name}"),
                label: class.class.plural.to_string(),
                unit: format!("{}/s", class.class.unit),
                group: "throughput".to_owned(),
                values: per_second(class, outcome.seconds),
            });
        }
        if step.counted == class.class || step.target(&class.class).is_some() {
            record.series.push(Series {
                name: format!("lat.{name}"),
                label: format!("longest {name}"),
                unit: "us".to_owned(),
                group: "latency".to_owned(),
                values: class.worst_us.iter().map(|worst| f64::from(*worst)).collect(),
            });
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
        record.series.push(Series {
            name: series.name.clone(),
            label: series.label.clone(),
            unit: series.unit.clone(),
            group: series.group.clone(),
            values: series.values.clone(),
        });
    }
}

/// Operations per second; a last second that was cut short counts by its true length, and not at
/// all when it was shorter than a half.
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

/// The share of the time in which the clients of a step and the server were on CPU, of what
/// synchronous clients can use: a client that waits for its server and a server that waits for its
/// client are one CPU between them. `None` where it is not known.
pub fn cpu_share(step: &Step, outcome: &Outcome, recording: &Recording) -> Option<f64> {
    let dbms = recording.totals.dbms.as_ref()?;
    let client = outcome.client_user_us + outcome.client_system_us;
    let busy_us = dbms.user_us? + dbms.system_us? + client;
    // Per operation, since a server may work outside of the time in which it is measured, too.
    let busy = busy_us as f64 / 1e6 / outcome.operations as f64 * outcome.rate();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let share = busy / free_clients(step).clamp(1, cores) as f64;
    share.is_finite().then_some(share)
}

/// How many clients send as fast as they get answers.
pub fn free_clients(step: &Step) -> usize {
    let free = |stream: &&Stream| stream.role == Role::Lead && stream.pace == Pace::Free;
    step.streams.iter().filter(free).count()
}
