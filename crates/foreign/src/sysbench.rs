//! sysbench 1.0 and 1.1: a summary, lines of `--report-interval` before it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::lines::{Line, cut_off, lines, number, other};
use crate::{ForeignError, Interval, Metric, Reading, Test};

const PROGRAM: &str = "sysbench";

/// Beginnings of the lines that describe how the test is run, each with its subject.
const SETTINGS: [(&str, &str); 12] = [
    ("Target transaction rate: ", "target transaction rate"),
    ("Warmup time: ", "warmup time"),
    ("Prime numbers limit: ", "prime numbers limit"),
    ("block size: ", "block size"),
    ("total size: ", "total size"),
    ("operation: ", "operation"),
    ("scope: ", "scope"),
    ("Block size ", "block size"),
    ("Number of IO requests: ", "number of IO requests"),
    ("Read/Write ratio for combined random IO test: ", "read/write ratio"),
    ("Using ", "IO mode"),
    ("Doing ", "test"),
];

/// `[ 1s ] thds: 2 tps: 97.79 qps: 97.79 (r/w/o: …) lat (ms,95%): 7.70 err/s: …`
static INTERVAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\[ *([0-9.]+)s *\] thds: \d+ (?:tps|eps): ([0-9.]+) .*?lat \([^)]*\): ([0-9.]+)")
        .expect("a pattern")
});

/// `sysbench 1.1.0-18a9f86 (using bundled LuaJIT 2.1.0-beta3)`, and not a command line, which
/// scripts write above it.
static VERSION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^sysbench (\d[^ :]*)").expect("a pattern"));

pub(crate) fn detect(text: &str) -> bool {
    lines(text).any(|line| VERSION.is_match(line.text))
}

/// The facts about a run before its end.
#[derive(Default)]
struct Run {
    dop: Option<u32>,
    settings: BTreeMap<String, String>,
    /// Its threads are started, so no more settings follow.
    started: bool,
    /// The rate that the test prints: what, how much, on which line.
    rate: Option<(&'static str, f64, usize)>,
    events: Option<(f64, usize)>,
    /// The requests/s of each kind, added up: the test of files prints them in 1.1 instead.
    requests: Option<(f64, usize)>,
    seconds: Option<f64>,
    metrics: Vec<Metric>,
    /// Second of the end, rate, latency.
    intervals: Vec<(f64, f64, f64)>,
}

pub(crate) fn read(text: &str) -> Result<Reading, ForeignError> {
    if !detect(text) {
        return Err(other(PROGRAM, "a line that begins with \"sysbench 1.\"", text));
    }
    let (mut version, mut tests, mut run) = (None, Vec::new(), None);
    for line in lines(text) {
        if let Some(found) = VERSION.captures(line.text) {
            let found = &found[1];
            if !found.starts_with("1.") {
                return Err(ForeignError::Unsupported {
                    program: PROGRAM,
                    line: line.number,
                    found: format!("it is of version {found}"),
                    remedy: "Run sysbench 1.0 or 1.1; older versions name their figures differently.",
                });
            }
            version = Some(found.to_owned());
            if run.replace(Run::default()).is_some() {
                return Err(cut_off_at(&line));
            }
        } else if line.text.starts_with("FATAL: ") {
            return Err(line.failed(PROGRAM));
        } else if line.text.ends_with("] Checkpoint report:") {
            return Err(ForeignError::Unsupported {
                program: PROGRAM,
                line: line.number,
                found: "it has reports of checkpoints, which reset the figures".to_owned(),
                remedy: "Run sysbench without --report-checkpoints; --report-interval is read.",
            });
        } else if let Some(known) = &mut run {
            known.line(&line)?;
            if known.ends_with(&line) {
                tests.extend(run.take().map(|run| run.end(&line)).transpose()?);
            }
        }
    }
    if run.is_some() || tests.is_empty() {
        return Err(cut_off(PROGRAM, END, text));
    }
    Ok(Reading { program: PROGRAM, version, tests, ..Reading::default() })
}

const END: &str = "the summary, whose last line begins with \"execution time\"";

fn cut_off_at(line: &Line<'_>) -> ForeignError {
    ForeignError::CutOff { program: PROGRAM, line: line.number, expected: END }
}

impl Run {
    fn line(&mut self, line: &Line<'_>) -> Result<(), ForeignError> {
        if let Some(found) = INTERVAL.captures(line.text) {
            let part = |place: usize| line.number(PROGRAM, "number", &found[place]);
            self.intervals.push((part(1)?, part(2)?, part(3)?));
            return Ok(());
        }
        if !self.started {
            self.setting(line.text.trim());
        }
        let Some((key, value)) = line.text.trim().split_once(':') else {
            return Ok(());
        };
        let value = value.trim();
        let (count, rate) = value.split_once('(').unwrap_or((value, ""));
        let rate = rate.trim_end_matches(" per sec.)").trim_end_matches(" per second)");
        let mut ms = |name: &str| {
            let latency = line.number(PROGRAM, "latency", value)?;
            self.metrics.push(Metric::from_ms(name, latency));
            Ok(())
        };
        match key {
            "Number of threads" => self.dop = value.parse().ok(),
            "transactions" => {
                let rate = line.positive(PROGRAM, "rate of transactions", rate)?;
                self.rate = Some(("transactions/s", rate, line.number));
            }
            "queries" => {
                let rate = line.number(PROGRAM, "rate of queries", rate)?;
                self.metrics.push(Metric::new("queries/s", rate, "queries/s"));
            }
            "ignored errors" => {
                let errors = line.number(PROGRAM, "number of errors", count)?;
                self.metrics.push(Metric::new("errors", errors, ""));
            }
            "reconnects" => {
                let reconnects = line.number(PROGRAM, "number", count)?;
                self.metrics.push(Metric::new("reconnects", reconnects, ""));
            }
            // sysbench cpu
            "events per second" => {
                let rate = line.positive(PROGRAM, "rate of events", value)?;
                self.rate = Some(("events/s", rate, line.number));
            }
            // sysbench memory
            "Total operations" => {
                let rate = line.positive(PROGRAM, "rate of operations", rate)?;
                self.rate = Some(("ops/s", rate, line.number));
            }
            // Since 1.1; of all tests but that of files.
            "events/s (eps)" => {
                let rate = line.positive(PROGRAM, "rate of events", value)?;
                self.rate.get_or_insert(("events/s", rate, line.number));
            }
            "read" | "write" | "fsync" if value.starts_with("IOPS=") => {
                let rate = value["IOPS=".len()..].split(' ').next().unwrap_or_default();
                let rate = line.number(PROGRAM, "rate of requests", rate)?;
                self.requests.get_or_insert((0.0, line.number)).0 += rate;
            }
            "total time" | "time elapsed" => {
                let seconds = value.trim_end_matches('s');
                self.seconds = Some(line.positive(PROGRAM, "time in seconds", seconds)?);
            }
            "total number of events" => {
                let events = line.positive(PROGRAM, "number of events", value)?;
                self.events = Some((events, line.number));
            }
            "min" => ms("min")?,
            "avg" => ms("mean")?,
            "max" => ms("max")?,
            _ => {
                let percent = key.strip_suffix("th percentile");
                if let Some(percent) = percent.filter(|percent| number(percent).is_some()) {
                    ms(&format!("p{percent}"))?;
                }
            }
        }
        Ok(())
    }

    /// Keeps a setting of the test from a line before the start.
    fn setting(&mut self, text: &str) {
        self.started = text.starts_with("Initializing worker threads");
        let begun =
            SETTINGS.iter().find_map(|(begin, name)| Some((*name, text.strip_prefix(*begin)?)));
        let size = || Some(("total file size", text.strip_suffix(" total file size")?));
        if let Some((name, value)) = begun.or_else(size) {
            self.settings.insert(name.to_owned(), value.to_owned());
        }
    }

    /// True if this is the last line of the summary.
    fn ends_with(&self, line: &Line<'_>) -> bool {
        let last = if self.requests.is_some() { "sum:" } else { "execution time (avg/stddev):" };
        line.ended && line.text.trim_start().starts_with(last)
    }

    /// The test, if nothing of the summary is missing.
    fn end(self, line: &Line<'_>) -> Result<Test, ForeignError> {
        let (unit, value, line) = match (self.rate, self.requests, self.events.zip(self.seconds)) {
            (Some(rate), _, Some(_)) => rate,
            // In 1.0, tests of files, threads and mutexes print no rate of all their events.
            (None, None, Some(((events, at), seconds))) => ("events/s", events / seconds, at),
            (None, Some((rate, at)), None) if rate > 0.0 => ("events/s", rate, at),
            _ => return Err(cut_off_at(line)),
        };
        let mut from = 0.0;
        let mut series = Vec::new();
        for (end, value, latency) in self.intervals {
            if end > from {
                let latency_us = Some(latency * 1000.0);
                series.push(Interval { from, seconds: end - from, value, latency_us });
                from = end;
            }
        }
        Ok(Test {
            dop: self.dop,
            settings: self.settings,
            operations: self.events.map(|(events, _)| events as u64),
            seconds: self.seconds,
            value,
            unit: unit.into(),
            metrics: self.metrics,
            series,
            line,
            ..Test::default()
        })
    }
}
