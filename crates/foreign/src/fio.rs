//! fio's JSON output.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::shortened;
use crate::json::object;
use crate::{ForeignError, Interval, Metric, Reading, Test};

const PROGRAM: &str = "fio";
const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];
/// Options that say where a job does its work and how many processes do it. They don't affect how
/// it is done.
const ELSEWHERE: [&str; 6] =
    ["name", "description", "directory", "filename", "numjobs", "group_reporting"];

pub(crate) fn detect(text: &str) -> bool {
    text.contains("\"fio version\"") || text.lines().any(|line| line.starts_with("fio-"))
}

pub(crate) fn read(text: &str) -> Result<Reading, ForeignError> {
    let places = || text.lines().enumerate().map(|(place, line)| (place + 1, line));
    if let Some((line, found)) = places().find(|(_, line)| line.starts_with("fio-")) {
        return Err(ForeignError::Unsupported {
            program: PROGRAM,
            line,
            found: format!("it is meant for people ({})", shortened(found)),
            remedy: "Run fio with --output-format=json.",
        });
    }
    for (line, text) in places() {
        let words = ["err=", "error", "terminating on signal", "killed", "hung"];
        if text.starts_with("fio: ") && words.iter().any(|word| text.contains(word)) {
            return Err(ForeignError::Failed { program: PROGRAM, line, said: shortened(text) });
        }
    }
    let begins: Vec<usize> =
        places().filter(|(_, line)| *line == "{").map(|(place, _)| place).collect();
    let (Some(last), [_, _, ..]) = (begins.last(), &begins[..]) else {
        return report(text, false);
    };
    // With --status-interval there are several reports, each of all since the beginning.
    let ends = begins.iter().skip(1).copied().chain([usize::MAX]);
    let mut whole = report(&part(text, *last, usize::MAX), true)?;
    let mut so_far = vec![(0.0, 0); whole.tests.len()];
    for (begin, end) in begins.iter().zip(ends) {
        // The first of them may come before a job has done anything.
        let Ok(reading) = report(&part(text, *begin, end), false) else { continue };
        for ((test, now), (seconds, operations)) in
            whole.tests.iter_mut().zip(reading.tests).zip(&mut so_far)
        {
            let (Some(then), Some(done)) = (now.seconds, now.operations) else { continue };
            let length = then - *seconds;
            if length > 0.0 && done >= *operations {
                let value = (done - *operations) as f64 / length;
                let latency_us = None;
                test.series.push(Interval { from: *seconds, seconds: length, value, latency_us });
            }
            (*seconds, *operations) = (then, done);
        }
    }
    Ok(whole)
}

/// The lines from number `from` up to but without `to`, where they are in the text.
fn part(text: &str, from: usize, to: usize) -> String {
    let lines = text.split_inclusive('\n').skip(from - 1).take(to - from);
    std::iter::repeat_n("\n", from - 1).chain(lines).collect()
}

/// Reads the only report in a text. `last`: it must be the last of several.
fn report(text: &str, last: bool) -> Result<Reading, ForeignError> {
    let places = || text.lines().enumerate().map(|(place, line)| (place + 1, line));
    let expected = "fio's JSON, which begins with \"fio version\"";
    let found = object(PROGRAM, expected, text)?;
    let version = found.value.get("fio version").and_then(Value::as_str);
    let (Some(version), Some(jobs)) = (version, found.value.get("jobs").and_then(Value::as_array))
    else {
        let found = shortened(text.lines().nth(found.line - 1).unwrap_or_default());
        return Err(ForeignError::Other { program: PROGRAM, line: 1, expected, found });
    };
    // fio's JSON is written with one key per line.
    let line_of = |place: usize| {
        places().filter(|(_, line)| line.contains("\"jobname\"")).nth(place).map_or(1, |(n, _)| n)
    };
    let global = found.value.get("global options");
    let jobs = jobs.iter().enumerate();
    let jobs: Vec<Job<'_>> =
        jobs.map(|(place, job)| Job { job, global, line: line_of(place) }).collect();
    if let Some(bad) = jobs.iter().find(|job| job.number("error") != Some(0.0)) {
        let error = bad.job.get("error").unwrap_or(&Value::Null);
        let said = format!("job {} ended with \"error\": {error}", bad.name());
        return Err(ForeignError::Failed { program: PROGRAM, line: bad.line, said });
    }
    if let Some(early) = jobs.iter().find(|job| last && !job.has_run_its_time()) {
        return Err(ForeignError::Unsupported {
            program: PROGRAM,
            line: early.line,
            found: format!("job {} did not run its --runtime, so more may follow", early.name()),
            remedy: "Run fio with --time_based and --runtime, or without --status-interval.",
        });
    }
    let mut groups: Vec<Vec<Job<'_>>> = Vec::new();
    for job in jobs {
        let key = |job: &Job<'_>| (job.name().to_owned(), job.number("groupid"));
        match groups.iter_mut().find(|group| key(&group[0]) == key(&job)) {
            Some(group) => group.push(job),
            None => groups.push(vec![job]),
        }
    }
    let tests = groups.iter().map(|group| test(group)).collect::<Result<Vec<_>, _>>()?;
    if tests.is_empty() {
        return Err(ForeignError::Other {
            program: PROGRAM,
            line: found.line,
            expected: "at least one job",
            found: "\"jobs\" : []".to_owned(),
        });
    }
    let version = version.trim_start_matches("fio-").to_owned();
    Ok(Reading { program: PROGRAM, version: Some(version), tests, ..Reading::default() })
}

/// An element of `jobs`.
struct Job<'a> {
    job: &'a Value,
    /// The options of all jobs.
    global: Option<&'a Value>,
    /// The line of its name.
    line: usize,
}

impl<'a> Job<'a> {
    fn name(&self) -> &'a str {
        self.job.get("jobname").and_then(Value::as_str).unwrap_or_default()
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.job.get(key).and_then(Value::as_f64)
    }

    /// A figure of a direction (`read`, `write`, `trim`); 0 for none.
    fn of(&self, direction: &str, key: &str) -> f64 {
        let part = self.job.get(direction).and_then(|part| part.get(key));
        part.and_then(Value::as_f64).filter(|value| value.is_finite()).unwrap_or(0.0)
    }

    /// True if it ran as long as its option `runtime` says, give or take a hundredth.
    fn has_run_its_time(&self) -> bool {
        let options = [self.job.get("job options"), self.global];
        let runtime = options.into_iter().flatten().find_map(|options| options.get("runtime"));
        let seconds: Option<f64> = runtime.and_then(|it| it.as_str()?.parse().ok());
        let ran = DIRECTIONS.iter().map(|direction| self.of(direction, "runtime"));
        seconds.is_some_and(|seconds| ran.fold(0.0, f64::max) >= 990.0 * seconds)
    }

    /// Its options, including those set for all jobs that it does not change.
    fn settings(&self) -> BTreeMap<String, String> {
        let options = [self.global, self.job.get("job options")];
        let options = options.into_iter().flatten().filter_map(Value::as_object).flatten();
        options
            .filter(|(name, _)| !ELSEWHERE.contains(&name.as_str()))
            .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
            .collect()
    }

    /// Processes with this name and group that fio reports as one (`group_reporting`).
    fn processes(&self) -> Option<u32> {
        let count = self.job.get("job options").and_then(|options| options.get("numjobs"));
        count.and_then(Value::as_str).map_or(Some(1), |count| count.parse().ok())
    }
}

/// The figures of a job: of all its processes, which ran at the same time.
fn test(processes: &[Job<'_>]) -> Result<Test, ForeignError> {
    let first = &processes[0];
    let sum = |direction: &str, key: &str| {
        processes.iter().map(|job| job.of(direction, key)).sum::<f64>()
    };
    let used: Vec<&str> =
        DIRECTIONS.into_iter().filter(|direction| sum(direction, "total_ios") > 0.0).collect();
    let value: f64 = used.iter().map(|direction| sum(direction, "iops")).sum();
    if !(value.is_finite() && value > 0.0) {
        return Err(ForeignError::NotAFigure {
            program: PROGRAM,
            line: first.line,
            what: "number of I/O operations per second",
            found: format!("{value} of job {}", first.name()),
        });
    }
    let mut metrics = Vec::new();
    let bytes: f64 = used.iter().map(|direction| sum(direction, "bw_bytes")).sum();
    metrics.push(Metric::new("MB/s", bytes / 1e6, "MB/s"));
    for direction in &used {
        let prefix = if used.len() > 1 { format!("{direction}.") } else { String::new() };
        if used.len() > 1 {
            let iops = Metric::new(format!("{direction}.IOPS"), sum(direction, "iops"), "IOPS");
            let rate = sum(direction, "bw_bytes") / 1e6;
            metrics.extend([iops, Metric::new(format!("{direction}.MB/s"), rate, "MB/s")]);
        }
        latencies(processes, direction, &["clat_ns", "lat_ns"], &prefix, &mut metrics);
    }
    latencies(processes, "sync", &["lat_ns"], "fsync.", &mut metrics);
    let runtimes =
        processes.iter().flat_map(|job| used.iter().map(|direction| job.of(direction, "runtime")));
    let longest = runtimes.fold(0.0, f64::max);
    Ok(Test {
        name: Some(first.name().to_owned()).filter(|name| !name.is_empty()),
        dop: match processes.len() {
            1 => first.processes(),
            several => u32::try_from(several).ok(),
        },
        settings: first.settings(),
        operations: Some(
            used.iter().map(|direction| sum(direction, "total_ios")).sum::<f64>() as u64
        ),
        seconds: (longest > 0.0).then_some(longest / 1000.0),
        value,
        unit: "IOPS".into(),
        metrics,
        line: first.line,
        ..Test::default()
    })
}

/// Mean, extremes and percentiles of the first kind of latency that was measured. Percentiles of
/// several processes can't be joined and are left out.
fn latencies(
    processes: &[Job<'_>],
    direction: &str,
    kinds: &[&str],
    prefix: &str,
    metrics: &mut Vec<Metric>,
) {
    let of = |kind: &str| -> Vec<&Value> {
        let parts = processes.iter().filter_map(|job| job.job.get(direction)?.get(kind));
        parts.filter(|part| figure(part, "N") > 0.0).collect()
    };
    let Some(parts) = kinds.iter().map(|kind| of(kind)).find(|parts| !parts.is_empty()) else {
        return;
    };
    let mut push = |name: &str, ns: f64| {
        metrics.push(Metric::new(format!("{prefix}{name}"), ns / 1000.0, "µs"));
    };
    let count: f64 = parts.iter().map(|part| figure(part, "N")).sum();
    let total: f64 = parts.iter().map(|part| figure(part, "N") * figure(part, "mean")).sum();
    push("mean", total / count);
    push("min", parts.iter().map(|part| figure(part, "min")).fold(f64::MAX, f64::min));
    push("max", parts.iter().map(|part| figure(part, "max")).fold(0.0, f64::max));
    if let [part] = parts.as_slice() {
        let percentiles = part.get("percentile").and_then(Value::as_object);
        for (name, value) in percentiles.into_iter().flatten() {
            if let (Some(ns), true) = (value.as_f64(), name.contains('.')) {
                push(&format!("p{}", name.trim_end_matches('0').trim_end_matches('.')), ns);
            }
        }
    }
}

fn figure(part: &Value, key: &str) -> f64 {
    part.get(key).and_then(Value::as_f64).unwrap_or(0.0)
}
