//! JSON within other output.

use serde_json::Value;

use crate::ForeignError;
use crate::error::shortened;
use crate::lines::{last_number, other};

/// The content of a text with one JSON object. Lines before and after it (warnings) are left out.
pub(crate) struct Object {
    /// The object.
    pub value: Value,
    /// The number of its first line.
    pub line: usize,
}

/// Finds the object, which begins on a line of its own.
pub(crate) fn object(
    program: &'static str,
    expected: &'static str,
    text: &str,
) -> Result<Object, ForeignError> {
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
            let found = shortened(text.split_inclusive('\n').nth(line - 1).unwrap_or_default());
            if error.to_string().starts_with("number out of range") {
                return Err(ForeignError::Unsupported {
                    program,
                    line,
                    found: format!("a number in {found:?} is too large"),
                    remedy: "Numbers up to 1.7e308 can be read.",
                });
            }
            return Err(ForeignError::Other { program, line, expected, found });
        }
        _ => {
            let expected = "the rest of the JSON text";
            return Err(ForeignError::CutOff { program, line: last_number(text), expected });
        }
    };
    Ok(Object { value, line: before + 1 })
}
