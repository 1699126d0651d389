//! A single figure in any output: at a JSON pointer, or captured by a regular expression.

use regex::Regex;
use serde_json::Value;

use crate::error::shortened;
use crate::json::object;
use crate::lines::{Line, lines, number, other};
use crate::{ForeignError, Reading, Test};

/// Reads the number at a pointer, or the one in the string there.
pub(crate) fn read_json(text: &str, pointer: &str) -> Result<Reading, ForeignError> {
    const PROGRAM: &str = "json";
    let found = object(PROGRAM, "a JSON object, which begins with {", text)?;
    let Some(value) = found.value.pointer(pointer) else {
        let keys = match &found.value {
            Value::Object(map) => map.keys().cloned().collect::<Vec<_>>().join(", "),
            _ => String::new(),
        };
        return Err(ForeignError::Unsupported {
            program: PROGRAM,
            line: found.line,
            found: format!("nothing is at {pointer}; at the top it has {}", shortened(&keys)),
            remedy: "Name the figure with a JSON pointer, such as json:/results/0/ops_per_second.",
        });
    };
    let figure = match value {
        Value::Number(found) => found.as_f64(),
        Value::String(found) => number(found),
        _ => None,
    };
    let figure = figure.filter(|figure| figure.is_finite() && *figure > 0.0);
    let figure = figure.ok_or_else(|| ForeignError::NotAFigure {
        program: PROGRAM,
        line: found.line,
        what: "number",
        found: shortened(&value.to_string()),
    })?;
    Ok(single(PROGRAM, figure, found.line))
}

/// Reads the number in the group `value`, or in the first group, of the only match.
pub(crate) fn read_regex(text: &str, pattern: &Regex) -> Result<Reading, ForeignError> {
    const PROGRAM: &str = "regex";
    let mut matches = pattern.captures_iter(text).filter_map(|found| {
        let group = found.name("value").or_else(|| found.get(1))?;
        Some((text[..group.start()].matches('\n').count() + 1, group.as_str()))
    });
    let Some((line, figure)) = matches.next() else {
        return Err(other(PROGRAM, "text that matches the pattern", text));
    };
    if let Some((line, second)) = matches.next() {
        return Err(ForeignError::Unsupported {
            program: PROGRAM,
            line,
            found: format!("the pattern matches more than once (here {:?})", shortened(second)),
            remedy: "Let it match one place, for example with (?m)^ and the words around the \
                     number.",
        });
    }
    let whole = lines(text).nth(line - 1).unwrap_or(Line { number: line, text: "", ended: true });
    let value = whole.positive(PROGRAM, "number", figure)?;
    Ok(single(PROGRAM, value, line))
}

fn single(program: &'static str, value: f64, line: usize) -> Reading {
    let test = Test { value, line, ..Test::default() };
    Reading { program, tests: vec![test], ..Reading::default() }
}
