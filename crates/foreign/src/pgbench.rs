//! pgbench: a summary per run, progress lines before it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::lines::{Line, cut_off, lines, number, other};
use crate::{ForeignError, Interval, Metric, Reading, Test};

const PROGRAM: &str = "pgbench";

/// The lines of a summary that describe the run. Every version that can make such a run prints all
/// of them.
const SETTINGS: [&str; 7] = [
    "scaling factor",
    "partition method",
    "partitions",
    "query mode",
    "number of threads",
    "number of transactions per client",
    "duration",
];

/// `progress: 1.0 s, 181.0 tps, lat 20.742 ms stddev 13.874, 0 failed`. Before version 15, it does
/// not have failures.
static PROGRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^progress: ([0-9.]+) s, ([0-9.]+) tps, lat ([0-9.]+) ms stddev")
        .expect("a pattern")
});

/// A client gave up, or the whole run did.
static ABORTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)client \d+ (script \d+ )?aborted|^pgbench: (error|fatal): |^run was aborted")
        .expect("a pattern")
});

pub(crate) fn detect(text: &str) -> bool {
    lines(text).any(|line| {
        line.text.starts_with("transaction type: ")
            || PROGRESS.is_match(line.text)
            || line.text.starts_with("pgbench (")
    })
}

/// The facts about a run before its last line.
#[derive(Default)]
struct Run {
    /// A line of it was there.
    begun: bool,
    name: Option<String>,
    settings: BTreeMap<String, String>,
    clients: Option<u32>,
    processed: Option<u64>,
    /// Up to version 13, the rate including connecting, printed before the one without it.
    including: Option<f64>,
    metrics: Vec<Metric>,
    progress: Vec<(f64, f64, f64)>,
}

pub(crate) fn read(text: &str) -> Result<Reading, ForeignError> {
    if !detect(text) {
        return Err(other(PROGRAM, "the summary that pgbench prints at the end of a run", text));
    }
    let (mut version, mut tests, mut run) = (None, Vec::new(), Run::default());
    for line in lines(text) {
        if ABORTED.is_match(line.text) {
            return Err(line.failed(PROGRAM));
        }
        if let Some(rest) = line.text.strip_prefix("pgbench (") {
            version = rest.split([' ', ')', ',']).next().map(str::to_owned);
        } else if let Some(rest) = line.text.strip_prefix("tps = ") {
            tests.extend(run.rate(&line, rest)?);
        } else {
            run.line(&line)?;
        }
    }
    if run.begun || tests.is_empty() {
        return Err(cut_off(PROGRAM, "the line that begins with \"tps = \"", text));
    }
    Ok(Reading { program: PROGRAM, version, tests, ..Reading::default() })
}

impl Run {
    /// Takes what a line says; lines of other kinds are left alone.
    fn line(&mut self, line: &Line<'_>) -> Result<(), ForeignError> {
        if let Some(found) = PROGRESS.captures(line.text) {
            let part = |place: usize| line.number(PROGRAM, "number", &found[place]);
            self.progress.push((part(1)?, part(2)?, part(3)?));
            self.begun = true;
            return Ok(());
        }
        let Some((key, value)) = line.text.split_once([':', '=']) else {
            return Ok(());
        };
        let value = value.trim();
        let first = value.split(' ').next().unwrap_or_default();
        let figure = |what| line.number(PROGRAM, what, first);
        match key.trim_end() {
            key if SETTINGS.contains(&key) => {
                self.settings.insert(key.to_owned(), value.to_owned());
            }
            "transaction type" => {
                self.begun = true;
                let plain =
                    value.strip_prefix("<builtin: ").and_then(|name| name.strip_suffix('>'));
                let name = plain.unwrap_or(value).to_owned();
                self.settings.insert("transaction type".to_owned(), name.clone());
                self.name = Some(name);
            }
            "number of clients" => self.clients = first.parse().ok(),
            "number of transactions actually processed" => {
                let (done, wanted) = first.split_once('/').unwrap_or((first, first));
                if number(done) < number(wanted) {
                    return Err(line.failed(PROGRAM));
                }
                self.processed = Some(line.number(PROGRAM, "number", done)? as u64);
            }
            "number of failed transactions" if figure("number of failures")? > 0.0 => {
                return Err(line.failed(PROGRAM));
            }
            "number of transactions skipped" => {
                self.metrics.push(Metric::new("skipped", figure("number")?, ""));
            }
            "number of transactions retried" => {
                self.metrics.push(Metric::new("retried", figure("number")?, ""));
            }
            "latency average" => self.metrics.push(Metric::from_ms("mean", figure("latency")?)),
            "latency stddev" => self.metrics.push(Metric::from_ms("stddev", figure("latency")?)),
            _ => {}
        }
        Ok(())
    }

    /// Takes a rate. The last one ends the run.
    fn rate(&mut self, line: &Line<'_>, rest: &str) -> Result<Option<Test>, ForeignError> {
        let Some((rate, kind)) = rest.split_once(" (") else {
            let expected = "\"(without initial connection time)\" after the rate";
            return Err(ForeignError::CutOff { program: PROGRAM, line: line.number, expected });
        };
        let value = line.positive(PROGRAM, "rate of transactions", rate)?;
        match kind {
            "including connections establishing)" => {
                self.including = Some(value);
                self.begun = true;
                return Ok(None);
            }
            "excluding connections establishing)" => {}
            "without initial connection time)" | "including reconnection times)" => {}
            _ if !line.ended => {
                let expected = "the rest of the line";
                return Err(ForeignError::CutOff { program: PROGRAM, line: line.number, expected });
            }
            _ => {
                return Err(ForeignError::Unsupported {
                    program: PROGRAM,
                    line: line.number,
                    found: format!("a rate \"({kind}\""),
                    remedy: "Versions 9 to 18 in English are known; set LC_ALL=C.",
                });
            }
        }
        let run = std::mem::take(self);
        Ok(Some(Test {
            name: run.name,
            dop: run.clients,
            settings: run.settings,
            operations: run.processed,
            seconds: run.processed.map(|processed| processed as f64 / value),
            value,
            unit: "transactions/s".into(),
            metrics: run.metrics,
            series: series(&run.progress),
            line: line.number,
            ..Test::default()
        }))
    }
}

/// Progress lines say when an interval ended, in seconds from the start or, with
/// `--progress-timestamp`, as a Unix time.
fn series(progress: &[(f64, f64, f64)]) -> Vec<Interval> {
    let length = match progress {
        [(first, ..), (second, ..), ..] => second - first,
        _ => 1.0,
    };
    let Some(&(first, ..)) = progress.first() else {
        return Vec::new();
    };
    // No run lasts thirty years.
    let start = if first > 1e9 { first - length } else { 0.0 };
    let mut from = 0.0;
    let mut series = Vec::new();
    for &(end, value, latency) in progress {
        let end = end - start;
        if end > from {
            let latency_us = Some(latency * 1000.0);
            series.push(Interval { from, seconds: end - from, value, latency_us });
            from = end;
        }
    }
    series
}
