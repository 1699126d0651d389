//! Shares of a whole: `2%`, or as a number.

use std::ops::RangeInclusive;

use serde_json::{Value as Json, json};
use toml::de::DeValue;

use crate::kind::Kind;
use crate::section::{describe, number};

/// Above nothing and below the whole.
const SOME: RangeInclusive<f64> = f64::MIN_POSITIVE..=1.0 - f64::EPSILON;
/// From nothing to the whole.
const ANY: RangeInclusive<f64> = 0.0..=1.0;
/// Smaller percentages need the `%` sign: `0.02` is as likely to mean 2%.
const LEAST_PLAIN: f64 = 0.1;

/// Parses an option's share above 0 and below 100%, in percent with or without the sign: `2%`, `2`.
///
/// ```
/// assert_eq!(plan::parse_share("2%"), Ok(0.02));
/// assert_eq!(plan::parse_share("2"), Ok(0.02));
/// assert!(plan::parse_share("0.02").unwrap_err().contains("write `2%` or `0.02%`"));
/// ```
///
/// # Errors
/// A sentence that says what was expected.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let expected = "expected a share such as 2% or 2, above 0 and below 100%";
    percent(text, &SOME, || format!("{expected}, found `{text}`"))
}

/// A share above 0 and below 100%.
pub(crate) fn share() -> Kind<f64> {
    let schema = json!({ "exclusiveMinimum": 0, "exclusiveMaximum": 1 });
    kind(schema, SOME, "a share above 0 and below 100%, such as 0.02 or \"2%\"")
}

/// A share from 0 to 100%.
pub(crate) fn any_share() -> Kind<f64> {
    let schema = json!({ "minimum": 0, "maximum": 1 });
    kind(schema, ANY, "a share from 0 to 100%, such as 0.05 or \"5%\"")
}

fn kind(mut schema: Json, within: RangeInclusive<f64>, expected: &'static str) -> Kind<f64> {
    schema["type"] = json!(["number", "string"]);
    schema["examples"] = json!(["2%"]);
    Kind::new(schema, move |value| read(value, &within, expected))
}

/// A text is in percent, a number is a fraction.
fn read(value: &DeValue, within: &RangeInclusive<f64>, expected: &str) -> Result<f64, String> {
    if let DeValue::String(text) = value {
        return percent(text, within, || format!("expected {expected}, found {}", describe(value)));
    }
    number(value, within.clone(), expected)
}

fn percent(
    text: &str,
    within: &RangeInclusive<f64>,
    wrong: impl Fn() -> String,
) -> Result<f64, String> {
    let text = text.trim();
    let signed = text.strip_suffix('%');
    let percent: f64 = signed.unwrap_or(text).trim().parse().map_err(|_| wrong())?;
    if signed.is_none() && percent > 0.0 && percent < LEAST_PLAIN {
        // Without the noise of binary fractions.
        let greater = (percent * 1e8).round() / 1e6;
        return Err(format!("`{text}` is ambiguous; write `{greater}%` or `{text}%`"));
    }
    Some(percent / 100.0).filter(|share| within.contains(share)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toml::de::DeTable;

    #[test]
    fn options_are_in_percent() {
        for (text, share) in
            [("2%", 0.02), ("2", 0.02), (" 0.5 %", 0.005), ("0.1", 0.001), ("0.02%", 0.0002)]
        {
            let parsed = parse_share(text).unwrap();
            assert!((parsed - share).abs() < 1e-12, "{text}: {parsed}");
        }
        for wrong in ["0", "-1%", "100%", "100", "", "%", "NaN", "inf", "two", "2%%"] {
            let expected = "expected a share such as 2% or 2, above 0 and below 100%, found `";
            let error = parse_share(wrong).unwrap_err();
            assert_eq!(error, format!("{expected}{wrong}`"));
        }
        let error = parse_share("0.07").unwrap_err();
        assert_eq!(error, "`0.07` is ambiguous; write `7%` or `0.07%`");
    }

    #[test]
    fn plans_have_fractions_and_percent() {
        let read = |value: &str, kind: fn() -> Kind<f64>| {
            let text = format!("x = {value}");
            let table = DeTable::parse(&text).unwrap();
            (kind().read)(table.get_ref().get("x").unwrap().get_ref())
        };
        for (value, expected) in
            [("0.02", 0.02), ("0.5", 0.5), ("\"2%\"", 0.02), ("\"2\"", 0.02), ("\"0.5%\"", 0.005)]
        {
            for found in [read(value, share), read(value, any_share)] {
                assert!(found.is_ok_and(|it| (it - expected).abs() < 1e-12), "{value}");
            }
        }
        for whole in ["1", "1.0", "\"100%\""] {
            assert_eq!(read(whole, any_share), Ok(1.0), "{whole}");
            assert!(read(whole, share).is_err(), "{whole}");
        }
        assert_eq!(read("0", any_share), Ok(0.0));
        for wrong in ["-1", "1.5", "2", "100", "\"a\"", "\"0.02\"", "true", "[2]"] {
            assert!(read(wrong, any_share).is_err() && read(wrong, share).is_err(), "{wrong}");
        }
        assert!(read("0", share).is_err());
    }
}
