//! `go test -bench`: the Go benchmark format.

use std::sync::LazyLock;

use regex::Regex;

use crate::lines::{Line, cut_off, lines, other};
use crate::{ForeignError, Metric, Reading, Test};

const PROGRAM: &str = "go";

/// `BenchmarkSum/n=10-2   1000000   23.17 ns/op …`: name, GOMAXPROCS, iterations, figures.
static RESULT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(Benchmark\S*?)(?:-(\d+))?[ \t]+(\d+)[ \t]+([0-9].*)$").expect("a pattern")
});

pub(crate) fn detect(text: &str) -> bool {
    lines(text).any(|line| RESULT.is_match(line.text) && line.text.contains("/op"))
}

pub(crate) fn read(text: &str) -> Result<Reading, ForeignError> {
    let mut tests: Vec<(String, Test)> = Vec::new();
    let (mut package, mut open, mut seen) = (String::new(), false, false);
    for line in lines(text) {
        let failed = ["FAIL", "--- FAIL", "panic: ", "fatal error: ", "exit status "];
        if failed.iter().any(|word| line.text.starts_with(word)) {
            return Err(line.failed(PROGRAM));
        }
        if let Some(name) = line.text.strip_prefix("pkg: ") {
            if open {
                return Err(unfinished(&line));
            }
            (package, open, seen) = (name.trim().to_owned(), true, true);
        } else if let Some(found) = RESULT.captures(line.text) {
            tests.push((package.clone(), test(&line, &found)?));
            (open, seen) = (true, true);
        } else if line.text == "PASS" || line.text.starts_with("ok  \t") {
            open = false;
        }
    }
    if tests.is_empty() && !(seen && open) {
        return Err(other(PROGRAM, "a line that begins with \"Benchmark\"", text));
    }
    if open {
        return Err(cut_off(PROGRAM, "the line \"PASS\"", text));
    }
    // Names are only unique within their package.
    let several = tests.iter().any(|(package, _)| *package != tests[0].0);
    let tests = tests.into_iter().map(|(package, mut test)| {
        if several {
            test.name = test.name.map(|name| format!("{package}.{name}"));
        }
        test
    });
    Ok(Reading { program: PROGRAM, tests: tests.collect(), ..Reading::default() })
}

fn unfinished(line: &Line<'_>) -> ForeignError {
    ForeignError::CutOff { program: PROGRAM, line: line.number, expected: "the line \"PASS\"" }
}

fn test(line: &Line<'_>, found: &regex::Captures<'_>) -> Result<Test, ForeignError> {
    let words: Vec<&str> = found[4].split_whitespace().collect();
    let mut figures = Vec::new();
    for pair in words.chunks(2) {
        let [value, unit] = pair else {
            return Err(unfinished(line));
        };
        figures.push((line.number(PROGRAM, "figure", value)?, (*unit).to_owned()));
    }
    let main = figures.iter().position(|(_, unit)| unit == "ns/op").unwrap_or(0);
    let (value, unit) = figures.remove(main);
    let value = line.positive(PROGRAM, "figure", &value.to_string())?;
    let operations: Option<u64> = found[3].parse().ok();
    let seconds = operations.filter(|_| unit == "ns/op").map(|count| count as f64 * value / 1e9);
    let metrics =
        figures.into_iter().map(|(value, unit)| Metric::new(unit.clone(), value, unit)).collect();
    Ok(Test {
        name: Some(found[1].to_owned()),
        // Without a number, GOMAXPROCS is 1.
        dop: found.get(2).map_or(Some(1), |count| count.as_str().parse().ok()),
        operations,
        seconds,
        value,
        less_is_better: !unit.ends_with("/s"),
        unit: unit.into(),
        metrics,
        line: line.number,
        ..Test::default()
    })
}
