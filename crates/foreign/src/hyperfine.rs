//! hyperfine's `--export-json`.

use serde_json::Value;

use crate::error::shortened;
use crate::json::object;
use crate::{ForeignError, Interval, Metric, Reading, Test};

const PROGRAM: &str = "hyperfine";
const EXPECTED: &str = "the file that hyperfine writes with --export-json, with \"results\"";

pub(crate) fn detect(text: &str) -> bool {
    let json = text.contains("\"results\"") && text.contains("\"times\"");
    json || text.contains("Time (mean ± σ)") || text.contains("Time (abs ≡)")
}

pub(crate) fn read(text: &str) -> Result<Reading, ForeignError> {
    let places = || text.lines().enumerate().map(|(place, line)| (place + 1, line));
    if let Some((line, found)) = places().find(|(_, line)| line.trim().starts_with("Time (")) {
        return Err(ForeignError::Unsupported {
            program: PROGRAM,
            line,
            found: format!("it is meant for people ({})", shortened(found)),
            remedy: "Run hyperfine with --export-json FILE (/dev/stdout for the output itself).",
        });
    }
    let found = object(PROGRAM, EXPECTED, text)?;
    let other = |found: String| ForeignError::Other {
        program: PROGRAM,
        line: 1,
        expected: EXPECTED,
        found,
    };
    let results = found.value.get("results").and_then(Value::as_array);
    let results = results.ok_or_else(|| other(shortened(text)))?;
    let line_of = |place: usize| {
        places().filter(|(_, line)| line.contains("\"command\"")).nth(place).map_or(1, |(n, _)| n)
    };
    let tests: Result<Vec<Test>, _> =
        results.iter().enumerate().map(|(place, result)| test(result, line_of(place))).collect();
    let tests = tests?;
    if tests.is_empty() {
        return Err(other("no results".to_owned()));
    }
    Ok(Reading { program: PROGRAM, tests, ..Reading::default() })
}

fn test(result: &Value, line: usize) -> Result<Test, ForeignError> {
    let command = result.get("command").and_then(Value::as_str).unwrap_or_default();
    let codes = result.get("exit_codes").and_then(Value::as_array);
    if codes.is_some_and(|codes| codes.iter().any(|code| code.as_i64() != Some(0))) {
        let said = format!("{command:?} ended with a code other than 0");
        return Err(ForeignError::Failed { program: PROGRAM, line, said: shortened(&said) });
    }
    let figure = |key: &str| result.get(key).and_then(Value::as_f64);
    let value = figure("mean").filter(|mean| mean.is_finite() && *mean > 0.0);
    let value = value.ok_or_else(|| ForeignError::NotAFigure {
        program: PROGRAM,
        line,
        what: "mean time",
        found: result.get("mean").unwrap_or(&Value::Null).to_string(),
    })?;
    let names = ["stddev", "median", "min", "max", "user", "system"];
    let metrics =
        names.into_iter().filter_map(|name| Some(Metric::new(name, figure(name)?, "s"))).collect();
    let parameters = result.get("parameters").and_then(Value::as_object).into_iter().flatten();
    let settings =
        parameters.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    let times = result.get("times").and_then(Value::as_array);
    let times: Vec<f64> = times.into_iter().flatten().filter_map(Value::as_f64).collect();
    let mut from = 0.0;
    let series = times
        .iter()
        .map(|seconds| {
            let run = Interval { from, seconds: *seconds, value: *seconds, latency_us: None };
            from += seconds;
            run
        })
        .collect();
    Ok(Test {
        name: Some(command.to_owned()).filter(|name| !name.is_empty()),
        settings: settings.collect(),
        operations: (!times.is_empty()).then_some(times.len() as u64),
        seconds: (!times.is_empty()).then(|| times.iter().sum()),
        value,
        unit: "s".into(),
        less_is_better: true,
        metrics,
        series,
        line,
        ..Test::default()
    })
}
