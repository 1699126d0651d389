//! Times in logs.

use chrono::{DateTime, NaiveDateTime};

/// Microseconds since 1970 of `2026-11-24 10:00:00.123 UTC`, with a `T` or a blank between date and
/// time, with a fraction or without. An offset (`+02:00`) counts; the name of a zone is ignored:
/// only differences matter, and a server logs in one zone.
pub(crate) fn micros(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(zoned) = DateTime::parse_from_rfc3339(text) {
        return Some(zoned.timestamp_micros());
    }
    let time = text.get(11..)?;
    let end = time.find(|c: char| !(c.is_ascii_digit() || ".:".contains(c)));
    let end = 11 + end.unwrap_or(time.len());
    let stamp = text.get(..end)?;
    let [dashed, joined] = ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f"];
    let parsed = NaiveDateTime::parse_from_str(stamp, dashed);
    let parsed = parsed.or_else(|_| NaiveDateTime::parse_from_str(stamp, joined)).ok()?;
    Some(parsed.and_utc().timestamp_micros())
}

/// The same of `261124 10:00:00` and of `261124  9:00:00`.
pub(crate) fn short_micros(text: &str) -> Option<i64> {
    let (date, time) = text.trim().split_once(' ')?;
    let (date, time) = (date.trim(), time.trim());
    // The beginning of time, to which a session may set its clock, is `700101`.
    let century = if date < "70" { 20 } else { 19 };
    let stamp = format!("{century}{date} {time:0>8}");
    let parsed = NaiveDateTime::parse_from_str(&stamp, "%Y%m%d %H:%M:%S").ok()?;
    Some(parsed.and_utc().timestamp_micros())
}

/// The same of seconds since 1970 with a fraction: `1764000000.123`.
pub(crate) fn epoch_micros(text: &str) -> Option<i64> {
    let (seconds, fraction) = text.trim().split_once('.')?;
    let digits = fraction.bytes().all(|byte| byte.is_ascii_digit()) && fraction.len() <= 6;
    let micros: i64 = format!("{fraction:0<6}").parse().ok().filter(|_| digits)?;
    let seconds: i64 = seconds.parse().ok()?;
    DateTime::from_timestamp(seconds, 0)?;
    Some(seconds * 1_000_000 + micros)
}

/// Microseconds of a duration in milliseconds: `0.123`.
pub(crate) fn millis(text: &str) -> Option<u64> {
    let value: f64 = text.parse().ok()?;
    (0.0..1e13).contains(&value).then(|| (value * 1e3).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_systems() {
        let second = 1_764_000_000_000_000;
        assert_eq!(micros("2025-11-24 16:00:00.5 UTC"), Some(second + 500_000));
        assert_eq!(micros("2025-11-24T16:00:00.000007Z"), Some(second + 7));
        assert_eq!(micros("2025-11-24 16:00:00 CET"), Some(second));
        assert_eq!(micros("2025-11-24T17:00:00.5+01:00"), Some(second + 500_000));
        assert_eq!(short_micros("251124 16:00:00"), Some(second));
        assert_eq!(short_micros("251124  6:00:00"), Some(second - 36_000_000_000));
        assert_eq!(short_micros("700101  0:16:40"), Some(1_000_000_000));
        assert_eq!(epoch_micros("1764000000.5"), Some(second + 500_000));
        for wrong in ["", "2025-11-24", "2025-13-24 10:00:00", "ä".repeat(20).as_str()] {
            assert_eq!(
                (micros(wrong), short_micros(wrong), epoch_micros(wrong)),
                (None, None, None)
            );
        }
        assert_eq!((millis("0.1234"), millis("-1"), millis("x")), (Some(123), None, None));
    }
}
