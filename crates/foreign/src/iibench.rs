//! `iibench.py`, the Python client of the insert benchmark.

use std::sync::LazyLock;

use regex::Regex;

use crate::lines::{Line, cut_off, lines, number, other};
use crate::{ForeignError, Interval, Metric, Reading, Test};

const PROGRAM: &str = "iibench";

/// The last figures. Older versions print `0 insert retry, 0 query retry` at the end.
///
/// ```text
/// Totals: 60.3 secs, 16583.7 rows/sec, 1000000 rows, 0 0 0 insert-delete-query retry
/// ```
static TOTALS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^Totals: ([0-9.]+) secs, ([0-9.]+) rows/sec, (\d+) rows, (.* retry)$")
        .expect("a pattern")
});
static INDEXES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^Created secondary indexes in ([0-9.]+) seconds").expect("a pattern")
});
static FAILED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:SQL|Query|Insert|Mongo) error|^Traceback |prepare error:").expect("a pattern")
});

/// Of the header: some of its columns. They are looked up by name, since their number grew.
const HEADER: [&str; 3] = ["i_sec", "t_sec", "i_ips"];

pub(crate) fn detect(text: &str) -> bool {
    lines(text).any(|line| is_header(line.text))
}

fn is_header(text: &str) -> bool {
    HEADER.iter().all(|name| text.split('\t').any(|column| column.trim() == *name))
}

/// One line of progress.
struct Progress {
    /// Values by the places of the header's columns.
    values: Vec<f64>,
}

pub(crate) fn read(text: &str) -> Result<Reading, ForeignError> {
    let mut columns: Vec<&str> = Vec::new();
    let mut progress: Vec<Progress> = Vec::new();
    let mut latencies = Latencies::default();
    let (mut totals, mut indexes, mut done, mut progress_at) = (None, None, false, 1);
    for line in lines(text) {
        if FAILED.is_match(line.text) {
            return Err(line.failed(PROGRAM));
        }
        if is_header(line.text) {
            if !columns.is_empty() {
                return Err(ForeignError::Unsupported {
                    program: PROGRAM,
                    line: line.number,
                    found: "a second run begins here".to_owned(),
                    remedy: "Keep the output of each run in a file of its own.",
                });
            }
            columns = line.text.split('\t').map(str::trim).collect();
        } else if let Some(found) = TOTALS.captures(line.text) {
            let part = |place: usize| line.number(PROGRAM, "total", &found[place]);
            let retries: f64 = found[4].split(' ').filter_map(number).sum();
            totals = Some((line, part(1)?, part(3)?, retries));
        } else if let Some(found) = INDEXES.captures(line.text) {
            indexes = Some((line, found[1].to_owned()));
        } else if line.text == "Done" {
            done = totals.is_some();
        } else if !columns.is_empty() && line.text.contains('\t') {
            progress.extend(row(&line, columns.len())?);
            progress_at = line.number;
        } else {
            latencies.line(&line);
        }
    }
    if columns.is_empty() {
        return Err(other(PROGRAM, "the header that begins with \"i_sec\"", text));
    }
    let (true, Some((line, seconds, rows, retries))) = (done, totals) else {
        return Err(cut_off(PROGRAM, "the line \"Totals: …\" and after it \"Done\"", text));
    };
    let place = |name: &str| columns.iter().position(|column| *column == name);
    let series = |name: &str| -> Vec<Interval> {
        let (Some(length), Some(end), Some(value)) = (place("i_sec"), place("t_sec"), place(name))
        else {
            return Vec::new();
        };
        let intervals = progress.iter().filter_map(|Progress { values }| {
            let (length, end, value) = (values.get(length)?, values.get(end)?, values.get(value)?);
            let from = (end - length).max(0.0);
            Some(Interval { from, seconds: *length, value: *value, latency_us: None })
        });
        intervals.collect()
    };
    let last = |name: &str| progress.last().and_then(|last| last.values.get(place(name)?)).copied();
    let test = |name: &str, value, unit: &'static str, line| Test {
        name: Some(name.to_owned()),
        seconds: Some(seconds),
        value,
        unit: unit.into(),
        line,
        ..Test::default()
    };
    // The rate in the totals is that of the rows asked for, over a time that includes creating
    // indexes. Counts and time in the last line of progress are those of the statements.
    let counted = |name: &str| {
        let (count, time) = last(name).zip(last("t_sec"))?;
        (count > 0.0 && time > 0.0).then_some((count, time))
    };
    let mut tests = Vec::new();
    if let Some((count, time)) = counted("t_ins").or((rows > 0.0).then_some((rows, seconds))) {
        let mut metrics = vec![Metric::new("retries", retries, "")];
        metrics.extend(latencies.insert.map(|max| Metric::new("max", max, "µs")));
        tests.push(Test {
            metrics,
            operations: Some(count as u64),
            seconds: Some(time),
            series: series("i_ips"),
            ..test("insert", count / time, "rows/s", line.number)
        });
    }
    if let Some((count, time)) = counted("t_query") {
        let metrics = latencies.query.map(|max| Metric::new("max", max, "µs"));
        tests.push(Test {
            operations: Some(count as u64),
            seconds: Some(time),
            metrics: metrics.into_iter().collect(),
            series: series("i_qps"),
            ..test("query", count / time, "queries/s", progress_at)
        });
    }
    tests.retain(|test| test.value.is_finite() && test.value > 0.0);
    if let Some((line, seconds)) = indexes {
        let value = line.positive(PROGRAM, "time in seconds", &seconds)?;
        tests.push(Test {
            less_is_better: true,
            seconds: Some(value),
            ..test("index", value, "s", line.number)
        });
    }
    if tests.is_empty() {
        return Err(ForeignError::NotAFigure {
            program: PROGRAM,
            line: line.number,
            what: "number of rows or queries",
            found: line.text.to_owned(),
        });
    }
    Ok(Reading { program: PROGRAM, tests, ..Reading::default() })
}

/// A line of progress, if this is one.
fn row(line: &Line<'_>, columns: usize) -> Result<Option<Progress>, ForeignError> {
    let fields: Vec<&str> = line.text.split('\t').collect();
    if fields.iter().all(|field| number(field).is_none()) {
        return Ok(None);
    }
    if fields.len() != columns {
        let expected = "as many values as the header has columns";
        return Err(ForeignError::CutOff { program: PROGRAM, line: line.number, expected });
    }
    let values = fields.iter().map(|field| line.number(PROGRAM, "figure", field));
    Ok(Some(Progress { values: values.collect::<Result<_, _>>()? }))
}

/// The slowest statements, in microseconds.
#[derive(Default)]
struct Latencies {
    insert: Option<f64>,
    query: Option<f64>,
}

impl Latencies {
    /// A histogram has two lines: limits, which end with `max`, then counts and the maximum in
    /// seconds.
    fn line(&mut self, line: &Line<'_>) {
        let text = line.text.trim_start();
        let max = text.rsplit(' ').next().and_then(number).map(|seconds| seconds * 1e6);
        let slot = match text {
            text if text.starts_with("Insert rt:") => &mut self.insert,
            text if text.starts_with("Query") && text.contains("rt:") => &mut self.query,
            _ => return,
        };
        if let Some(max) = max {
            *slot = Some(slot.map_or(max, |known| known.max(max)));
        }
    }
}
