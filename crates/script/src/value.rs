//! Values of expressions and variables, and how both are written.

use std::fmt::{self, Display, Write as _};

use serde::{Deserialize, Serialize};

use crate::error::EvalError;

/// The value of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Scalar {
    /// Nothing; most functions of it are `NULL` again.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number of 64 bits.
    Int(i64),
    /// A double.
    Double(f64),
}

impl Scalar {
    /// The type's name, as pgbench's messages have it.
    pub fn kind(self) -> &'static str {
        match self {
            Scalar::Null => "null",
            Scalar::Bool(_) => "boolean",
            Scalar::Int(_) => "int",
            Scalar::Double(_) => "double",
        }
    }

    /// True if a condition with this value holds: numbers other than 0 do, `NULL` doesn't.
    #[allow(clippy::float_cmp, reason = "exactly zero is false")]
    pub fn truth(self) -> bool {
        match self {
            Scalar::Null => false,
            Scalar::Bool(value) => value,
            Scalar::Int(value) => value != 0,
            Scalar::Double(value) => value != 0.0,
        }
    }

    /// The text of this index.
    ///
    /// # Errors
    /// [`EvalError::Index`] if there is none, [`EvalError::Coercion`] if this is no number.
    pub fn chosen(self, among: &[String]) -> Result<&str, EvalError> {
        let found = self.int()?;
        let text = usize::try_from(found).ok().and_then(|index| among.get(index));
        text.map(String::as_str).ok_or(EvalError::Index { count: among.len(), found })
    }

    #[inline]
    pub(crate) fn boolean(self) -> Result<bool, EvalError> {
        match self {
            Scalar::Bool(value) => Ok(value),
            other => Err(EvalError::Coercion { from: other.kind(), to: "boolean" }),
        }
    }

    /// Doubles are rounded to the nearest whole number, halves to the even one.
    #[inline]
    pub(crate) fn int(self) -> Result<i64, EvalError> {
        match self {
            Scalar::Int(value) => Ok(value),
            Scalar::Double(value) => {
                let rounded = value.round_ties_even();
                // -2^63 is a double, 2^63 - 1 isn't.
                let limit = -(i64::MIN as f64);
                if rounded >= -limit && rounded < limit {
                    Ok(rounded as i64)
                } else {
                    Err(EvalError::DoubleToInt(value))
                }
            }
            other => Err(EvalError::Coercion { from: other.kind(), to: "int" }),
        }
    }

    #[inline]
    pub(crate) fn double(self) -> Result<f64, EvalError> {
        match self {
            Scalar::Double(value) => Ok(value),
            Scalar::Int(value) => Ok(value as f64),
            other => Err(EvalError::Coercion { from: other.kind(), to: "double" }),
        }
    }

    fn write(self, bytes: &mut Vec<u8>) {
        match self {
            Scalar::Null => bytes.extend_from_slice(b"NULL"),
            Scalar::Bool(true) => bytes.extend_from_slice(b"true"),
            Scalar::Bool(false) => bytes.extend_from_slice(b"false"),
            Scalar::Int(value) => {
                bytes.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            }
            Scalar::Double(value) => bytes.extend_from_slice(shortened(value).as_bytes()),
        }
    }
}

/// As pgbench puts it into a statement: `NULL`, `true`, `-5`, `0.25`, `1e+20`.
impl Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Null => f.write_str("NULL"),
            Scalar::Bool(value) => write!(f, "{value}"),
            Scalar::Int(value) => write!(f, "{value}"),
            Scalar::Double(value) => f.write_str(&shortened(*value)),
        }
    }
}

/// Significant digits of a written double: C's `DBL_DIG`.
const DIGITS: usize = 15;

/// `%.15g` as PostgreSQL's programs print it.
fn shortened(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let scientific = format!("{value:.*e}", DIGITS - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..DIGITS as i32).contains(&exponent) {
        let mut text = trimmed(mantissa).to_owned();
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(text, "e{sign}{:02}", exponent.abs());
        return text;
    }
    let decimals = (DIGITS as i32 - 1 - exponent).max(0) as usize;
    trimmed(&format!("{value:.decimals$}")).to_owned()
}

/// Without zeros at the end of the fraction.
fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub enum Value {
    /// Nothing was assigned yet.
    #[default]
    Unset,
    /// The result of an expression.
    Scalar(Scalar),
    /// Text that was given, or that a query returned. Statements get it unchanged; an expression
    /// reads it as the type that it looks like.
    Text(String),
}

impl Value {
    /// The value of a given text, such as that of `-D name=text` or of a column under `\gset`.
    ///
    /// Text is kept as a number, `true`, `false` or `NULL` if that value would be written in the
    /// same way.
    pub fn given(text: &str) -> Value {
        match read(text) {
            Ok(scalar) if scalar.to_string() == text => Value::Scalar(scalar),
            _ => Value::Text(text.to_owned()),
        }
    }

    /// The value that an expression sees. `None` if nothing was assigned.
    ///
    /// # Errors
    /// [`EvalError::Malformed`] for text that is not a number, truth value or `NULL`.
    #[inline]
    pub fn scalar(&self) -> Option<Result<Scalar, EvalError>> {
        match self {
            Value::Unset => None,
            Value::Scalar(scalar) => Some(Ok(*scalar)),
            Value::Text(text) => Some(read(text)),
        }
    }

    /// Appends the text that stands for the variable in statements and parameters. Returns whether
    /// there is one: nothing is appended for [`Value::Unset`].
    #[inline]
    pub fn write(&self, bytes: &mut Vec<u8>) -> bool {
        match self {
            Value::Unset => return false,
            Value::Scalar(scalar) => scalar.write(bytes),
            Value::Text(text) => bytes.extend_from_slice(text.as_bytes()),
        }
        true
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Value {
        Value::Scalar(scalar)
    }
}

/// Reads a text as the value that it looks like: `NULL`, a truth value (also `t`, `y`, `on`, `of`),
/// a whole number, a double.
fn read(text: &str) -> Result<Scalar, EvalError> {
    let malformed = || EvalError::Malformed(text.to_owned());
    let starts =
        |word: &str| word.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text));
    let is = |word: &str| word.eq_ignore_ascii_case(text);
    if text.is_empty() {
        return Err(malformed());
    }
    if is("null") {
        return Ok(Scalar::Null);
    }
    if starts("true") || starts("yes") || is("on") {
        return Ok(Scalar::Bool(true));
    }
    if starts("false") || starts("no") || is("off") || is("of") {
        return Ok(Scalar::Bool(false));
    }
    // C's isspace.
    let number = text.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']);
    let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return number.parse().map(Scalar::Int).map_err(|_| malformed());
    }
    read_double(number).map(Scalar::Double).ok_or_else(malformed)
}

/// The double that a text is, as C's `strtod` reads it, except hexadecimal ones. `None` if it isn't
/// one, or is out of range: also below 2.2e-308.
pub(crate) fn read_double(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let digit = |byte: &u8| byte.is_ascii_digit();
    let written = text.bytes().any(|byte| digit(&byte));
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let zero = !mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    (!written || value.is_normal() || zero).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_written_with_15_digits() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.333333333333333"),
            (100.0, "100"),
            (1e15, "1e+15"),
            (999_999_999_999_999.0, "999999999999999"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (1.5e300, "1.5e+300"),
            (f64::INFINITY, "Infinity"),
            (-f64::INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
            (123_456_789.123_456_79, "123456789.123457"),
        ];
        for (value, text) in cases {
            assert_eq!(Scalar::Double(value).to_string(), text);
        }
    }

    #[test]
    fn a_text_is_taken_for_what_it_looks_like() {
        let typed = |text: &str| Value::Text(text.to_owned()).scalar().unwrap();
        assert_eq!(typed("Null"), Ok(Scalar::Null));
        for text in ["t", "TRUE", "y", "yes", "on", "tr"] {
            assert_eq!(typed(text), Ok(Scalar::Bool(true)), "{text}");
        }
        for text in ["f", "False", "n", "no", "of", "OFF"] {
            assert_eq!(typed(text), Ok(Scalar::Bool(false)), "{text}");
        }
        assert_eq!(typed(" +7"), Ok(Scalar::Int(7)));
        assert_eq!(typed("-9223372036854775808"), Ok(Scalar::Int(i64::MIN)));
        assert_eq!(typed(".5e1"), Ok(Scalar::Double(5.0)));
        assert_eq!(typed("inf"), Ok(Scalar::Double(f64::INFINITY)));
        for text in ["", "o", "abc", "1x", "+", "9223372036854775808", "1e999", "1e-400", "truex"] {
            assert_eq!(typed(text), Err(EvalError::Malformed(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn given_text_stays_as_it_is_in_statements() {
        for text in ["007", "1.50", "abc", "yes", "", "12", "true", "NULL", "0.5", "null"] {
            let mut bytes = Vec::new();
            assert!(Value::given(text).write(&mut bytes));
            assert_eq!(bytes, text.as_bytes());
        }
        assert_eq!(Value::given("12"), Value::Scalar(Scalar::Int(12)));
        assert_eq!(Value::given("007"), Value::Text("007".to_owned()));
    }
}
