//! JSON within other output.

use serde_json::Value;

use crate::ForeignError;
use crate::error::shortened;
use crate::lines::{last_number, lines, other};

/// What a text with one JSON object holds. Lines before and after it (warnings) are left out.
pub(crate) struct Object<'a> {
    /// The object.
    pub value: Value,
    /// The number of its first line.
    pub line: usize,
    /// The lines around it, with their numbers.
    pub around: Vec<(usize, &'a str)>,
}

/// Finds the object, which begins on a line of its own.
pub(crate) fn object<'a>(
    program: &'static str,
    expected: &'static str,
    text: &'a str,
) -> Result<Object<'a>, ForeignError> {
    let mut offset = 0;
    let mut begin = None;
    for (place, line) in text.split_inclusive('\n').enumerate() {
        if line.trim_start().starts_with('{') {
            begin = Some((place, offset));
            break;
        }
        offset += line.len();
    }
    let Some((before, offset)) = begin else {
        return Err(other(program, expected, text));
    };
    let mut stream = serde_json::Deserializer::from_str(&text[offset..]).into_iter::<Value>();
    let value = match stream.next() {
        Some(Ok(value)) => value,
        Some(Err(error)) if !error.is_eof() => {
            let line = before + error.line().max(1);
            let found = text.split_inclusive('\n').nth(line - 1).unwrap_or_default();
            return Err(ForeignError::Other { program, line, expected, found: shortened(found) });
        }
        _ => {
            let expected = "the rest of the JSON text";
            return Err(ForeignError::CutOff { program, line: last_number(text), expected });
        }
    };
    let end = offset + stream.byte_offset();
    let after = text[..end].split_inclusive('\n').count();
    let around = lines(text)
        .filter(|line| line.number <= before || line.number > after)
        .map(|line| (line.number, line.text))
        .collect();
    Ok(Object { value, line: before + 1, around })
}
