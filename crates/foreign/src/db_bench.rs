//! RocksDB's `db_bench`: a line per finished benchmark, a histogram after it if wanted.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::lines::{Line, cut_off, lines, number, other};
use crate::{ForeignError, Interval, Metric, Reading, Test};

const PROGRAM: &str = "db_bench";

/// The lines above the first benchmark that describe the database; only some versions print the
/// parts in parentheses.
const SETTINGS: [&str; 4] = ["Keys", "Values", "Entries", "Compression"];

/// The pattern of a benchmark's line. Seconds and operations are there since version 7.0.
///
/// ```text
/// fillseq      :      25.823 micros/op 55750 ops/sec 0.717 seconds 40000 operations;    6.2 MB/s
/// readrandom   :       2.529 micros/op 395383 ops/sec;   43.7 MB/s (10000 of 20000 found)
/// ```
static RESULT: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^(\S+) +: +([0-9.]+) micros/op +([0-9.]+) ops/sec(?: +([0-9.]+) seconds +(\d+) operations)?;(.*)$";
    Regex::new(pattern).expect("a pattern")
});
static MEGABYTES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^ *([0-9.]+) MB/s").expect("a pattern"));
static FOUND: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\((\d+) of (\d+) found\)").expect("a pattern"));
/// `2026/11/23-06:24:08  ... thread 0: (56000,56000) ops and (55866.1,55866.1) ops/second in
/// (1.002396,1.002396) seconds`: of the interval, of all.
static THREAD: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"\.\.\. thread (\d+): \(\d+,\d+\) ops and \(([0-9.]+),[0-9.]+\) ops/second in \(([0-9.]+),([0-9.]+)\) seconds";
    Regex::new(pattern).expect("a pattern")
});
static REPEATS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^Running benchmark for (\d+) times").expect("a pattern"));
static FAILED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:[a-zA-Z ]+ error: |unknown benchmark |Verification failed|Bad.*option)")
        .expect("a pattern")
});

pub(crate) fn detect(text: &str) -> bool {
    lines(text).any(|line| line.text.starts_with("RocksDB:  ") || RESULT.is_match(line.text))
}

pub(crate) fn read(text: &str) -> Result<Reading, ForeignError> {
    if !detect(text) {
        return Err(other(PROGRAM, "a line with \"micros/op\" for each benchmark", text));
    }
    let mut version = None;
    let mut tests: Vec<Test> = Vec::new();
    let mut histogram = Histogram::None;
    let (mut threads, mut settings) = (BTreeMap::new(), BTreeMap::new());
    // Runs that are still to come, and whether these only warm up.
    let (mut due, mut warming) = (0_usize, false);
    for line in lines(text) {
        if FAILED.is_match(line.text) {
            return Err(line.failed(PROGRAM));
        }
        let named = line.text.split_once(':').filter(|(name, _)| SETTINGS.contains(name));
        if let Some((name, value)) = named {
            let value = value.split(" (").next().unwrap_or_default().trim();
            settings.insert(name.to_lowercase(), value.to_owned());
        } else if let Some(rest) = line.text.strip_prefix("RocksDB:") {
            version = rest.trim().strip_prefix("version ").map(str::to_owned);
        } else if line.text.starts_with("Warming up benchmark by running") {
            warming = true;
        } else if let Some(found) = REPEATS.captures(line.text) {
            (due, warming) = (found[1].parse().unwrap_or(0), false);
        } else if let Some(found) = RESULT.captures(line.text) {
            if !line.ended || histogram.is_open() {
                return Err(cut_off(PROGRAM, "the rest of the line or of its histogram", text));
            }
            histogram = if warming { Histogram::Ignored } else { Histogram::None };
            if !warming {
                tests.push(Test { settings: settings.clone(), ..test(&line, &found)? });
                due = due.saturating_sub(1);
            }
        } else if let Some(found) = THREAD.captures(line.text) {
            let part = |place: usize| line.number(PROGRAM, "number", &found[place]);
            let lines: &mut Vec<(f64, f64, f64)> = threads.entry(found[1].to_owned()).or_default();
            lines.push((part(2)?, part(3)?, part(4)?));
        } else if let Some(test) = tests.last_mut() {
            histogram.line(&line, test)?;
        }
    }
    if tests.is_empty() || due > 0 || warming || histogram.is_open() {
        return Err(cut_off(PROGRAM, "the figures of the last benchmark", text));
    }
    // Progress goes to standard error and may stand anywhere before the result, so it is only
    // clear whose it is if there is one test.
    if let [test] = tests.as_mut_slice() {
        test.series = series(&threads.into_values().collect::<Vec<_>>());
    }
    Ok(Reading { program: PROGRAM, version, is_part: true, tests, ..Reading::default() })
}

fn test(line: &Line<'_>, found: &regex::Captures<'_>) -> Result<Test, ForeignError> {
    let rest = &found[6];
    let mut metrics = Vec::new();
    if let Some(found) = MEGABYTES.captures(rest) {
        metrics.push(Metric::new("MB/s", line.number(PROGRAM, "rate", &found[1])?, "MB/s"));
    }
    if let Some(found) = FOUND.captures(rest) {
        let share = number(&found[1]).zip(number(&found[2])).filter(|(_, all)| *all > 0.0);
        metrics.extend(share.map(|(hits, all)| Metric::new("found", 100.0 * hits / all, "%")));
    }
    Ok(Test {
        name: Some(found[1].to_owned()),
        operations: found.get(5).and_then(|count| count.as_str().parse().ok()),
        seconds: found.get(4).and_then(|seconds| number(seconds.as_str())),
        value: line.positive(PROGRAM, "rate of operations", &found[3])?,
        unit: "ops/s".into(),
        metrics,
        line: line.number,
        ..Test::default()
    })
}

/// The state of reading the last benchmark's histogram, which ends with a bucket at 100%.
#[derive(PartialEq)]
enum Histogram {
    None,
    Open,
    Done,
    /// The histogram of a benchmark that is not counted.
    Ignored,
}

impl Histogram {
    fn is_open(&self) -> bool {
        *self == Self::Open
    }

    fn line(&mut self, line: &Line<'_>, test: &mut Test) -> Result<(), ForeignError> {
        if *self == Self::None && line.text.starts_with("Microseconds per ") {
            *self = Self::Open;
        }
        if !self.is_open() {
            return Ok(());
        }
        let text = line.text.trim();
        let mut words = text.split_whitespace();
        let mut take = |name: String, value: &str| {
            let value = line.number(PROGRAM, "latency", value)?;
            test.metrics.push(Metric::new(name, value, "µs"));
            Ok(())
        };
        if text.starts_with("Percentiles:") {
            words.next();
            while let (Some(name), Some(value)) = (words.next(), words.next()) {
                take(name.trim_end_matches(':').to_lowercase(), value)?;
            }
        } else if text.starts_with("Count:") || text.starts_with("Min:") {
            while let (Some(name), Some(value)) = (words.next(), words.next()) {
                match name {
                    "Average:" => take("mean".to_owned(), value)?,
                    "StdDev:" => take("stddev".to_owned(), value)?,
                    "Min:" => take("min".to_owned(), value)?,
                    "Max:" => take("max".to_owned(), value)?,
                    _ => {}
                }
            }
        } else if text.starts_with(['(', '[']) && text.contains("100.000%") && line.ended {
            *self = Self::Done;
        }
        Ok(())
    }
}

/// The k-th lines of all threads, added up.
fn series(threads: &[Vec<(f64, f64, f64)>]) -> Vec<Interval> {
    let count = threads.iter().map(Vec::len).min().unwrap_or(0);
    let all = threads.len() as f64;
    (0..count)
        .map(|place| {
            let parts = || threads.iter().map(|lines| lines[place]);
            let seconds = parts().map(|(_, seconds, _)| seconds).sum::<f64>() / all;
            let end = parts().map(|(.., end)| end).sum::<f64>() / all;
            Interval {
                from: (end - seconds).max(0.0),
                seconds,
                value: parts().map(|(rate, ..)| rate).sum(),
                latency_us: None,
            }
        })
        .collect()
}
