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

/// Some columns of the header. They are looked up by name, since their number grew.
const HEADER: [&str; 3] = ["i_sec", "t_sec", "i_ips"];

pub(crate) fn detect(text: &str) -> bool {
    lines(text).any(|line| is_header(line.text))
}

fn is_header(text: &str) -> bool {
    HEADER.iter().all(|name| text.split('\t').any(|column| column.trim() == *name))
}

/// The figures in the lines of a run.
#[derive(Default)]
struct Run<'t> {
    columns: Vec<&'t str>,
    /// The lines of progress: values by the places of the header's columns.
    progress: Vec<Vec<f64>>,
    /// The number of the last of them.
    progress_at: usize,
    latencies: Latencies,
    /// The line of the totals: seconds, rows, retries.
    totals: Option<(Line<'t>, f64, f64, f64)>,
    indexes: Option<(Line<'t>, String)>,
    done: bool,
}

pub(crate) fn read(text: &str) -> Result<Reading, ForeignError> {
    let mut run = Run::default();
    for line in lines(text) {
        run.line(line)?;
    }
    Ok(Reading { program: PROGRAM, tests: run.tests(text)?, ..Reading::default() })
}

impl<'t> Run<'t> {
    fn line(&mut self, line: Line<'t>) -> Result<(), ForeignError> {
        if FAILED.is_match(line.text) {
            return Err(line.failed(PROGRAM));
        }
        if is_header(line.text) {
            if !self.columns.is_empty() {
                return Err(ForeignError::Unsupported {
                    program: PROGRAM,
                    line: line.number,
                    found: "a second run begins here".to_owned(),
                    remedy: "Keep the output of each run in a file of its own.",
                });
            }
            self.columns = line.text.split('\t').map(str::trim).collect();
        } else if let Some(found) = TOTALS.captures(line.text) {
            let part = |place: usize| line.number(PROGRAM, "total", &found[place]);
            let retries = found[4].split(' ').filter_map(number).sum();
            self.totals = Some((line, part(1)?, part(3)?, retries));
        } else if let Some(found) = INDEXES.captures(line.text) {
            self.indexes = Some((line, found[1].to_owned()));
        } else if line.text == "Done" {
            self.done = self.totals.is_some();
        } else if !self.columns.is_empty() && line.text.contains('\t') {
            self.progress.extend(row(&line, self.columns.len())?);
            self.progress_at = line.number;
        } else {
            self.latencies.line(&line);
        }
        Ok(())
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| *column == name)
    }

    fn series(&self, name: &str) -> Vec<Interval> {
        let places = ["i_sec", "t_sec", name].map(|name| self.place(name));
        let [Some(length), Some(end), Some(value)] = places else { return Vec::new() };
        let interval = |values: &Vec<f64>| {
            let (seconds, value) = (values[length], values[value]);
            Interval { from: (values[end] - seconds).max(0.0), seconds, value, latency_us: None }
        };
        self.progress.iter().map(interval).collect()
    }

    /// A count of the last line of progress, and its time.
    fn counted(&self, name: &str) -> Option<(f64, f64)> {
        let last = self.progress.last()?;
        let (count, time) = (last[self.place(name)?], last[self.place("t_sec")?]);
        (count > 0.0 && time > 0.0).then_some((count, time))
    }

    /// The tests of the run, which is all of `text`.
    fn tests(&self, text: &str) -> Result<Vec<Test>, ForeignError> {
        if self.columns.is_empty() {
            return Err(other(PROGRAM, "the header that begins with \"i_sec\"", text));
        }
        let (true, Some((line, seconds, rows, retries))) = (self.done, self.totals) else {
            return Err(cut_off(PROGRAM, "the line \"Totals: …\" and after it \"Done\"", text));
        };
        let test = |name: &str, value, unit: &'static str, line| Test {
            name: Some(name.to_owned()),
            value,
            unit: unit.into(),
            line,
            ..Test::default()
        };
        let mut tests = Vec::new();
        // The rate in the totals is that of the rows asked for, over a time that includes creating
        // indexes. Counts and time in the last line of progress are those of the statements.
        let all = (rows > 0.0).then_some((rows, seconds));
        if let Some((count, time)) = self.counted("t_ins").or(all) {
            let mut metrics = vec![Metric::new("retries", retries, "")];
            metrics.extend(self.latencies.insert.map(|max| Metric::new("max", max, "µs")));
            tests.push(Test {
                metrics,
                operations: Some(count as u64),
                seconds: Some(time),
                series: self.series("i_ips"),
                ..test("insert", count / time, "rows/s", line.number)
            });
        }
        if let Some((count, time)) = self.counted("t_query") {
            let metrics = self.latencies.query.map(|max| Metric::new("max", max, "µs"));
            tests.push(Test {
                operations: Some(count as u64),
                seconds: Some(time),
                metrics: metrics.into_iter().collect(),
                series: self.series("i_qps"),
                ..test("query", count / time, "queries/s", self.progress_at)
            });
        }
        tests.retain(|test| test.value.is_finite() && test.value > 0.0);
        if let Some((line, seconds)) = &self.indexes {
            let value = line.positive(PROGRAM, "time in seconds", seconds)?;
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
        Ok(tests)
    }
}

/// A line of progress, if this is one.
fn row(line: &Line<'_>, columns: usize) -> Result<Option<Vec<f64>>, ForeignError> {
    let fields: Vec<&str> = line.text.split('\t').collect();
    if fields.iter().all(|field| number(field).is_none()) {
        return Ok(None);
    }
    if fields.len() != columns {
        let expected = "as many values as the header has columns";
        return Err(ForeignError::CutOff { program: PROGRAM, line: line.number, expected });
    }
    let values = fields.iter().map(|field| line.number(PROGRAM, "figure", field));
    values.collect::<Result<_, _>>().map(Some)
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
