//! Formats for points in time.

use chrono::{DateTime, SecondsFormat};

/// RFC 3339 in UTC for milliseconds since 1970; empty outside the years that RFC 3339 covers.
pub fn rfc3339(milliseconds: i64) -> String {
    let time = DateTime::from_timestamp_millis(milliseconds);
    time.map(|time| time.to_rfc3339_opts(SecondsFormat::AutoSi, true)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn rfc3339_in_utc() {
        assert_eq!(super::rfc3339(1_656_432_000_500), "2022-06-28T16:00:00.500Z");
        assert_eq!(super::rfc3339(i64::MAX), "");
    }
}
