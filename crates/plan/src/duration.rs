//! Times such as `1h30m`.

use std::fmt::Write as _;
use std::time::Duration;

/// A time that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{found}` is not a time; write whole numbers of d, h, m and s, the largest first, such as 2h, 90m or 1h30m"
)]
pub struct DurationError {
    /// The text that was written.
    pub found: String,
}

/// Units with their seconds, the largest first.
const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];
/// 100 years: more must be a typo.
const LONGEST: u64 = 36_525 * 86_400;

/// Reads a time in whole seconds: `2h`, `90m`, `1h30m`, `1d`, `45s`. Zero is not allowed.
///
/// # Errors
/// When the text is not such a time, or is more than 100 years.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let mut rest = text.trim();
    let mut seconds: u64 = 0;
    for (unit, factor) in UNITS {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        if let (Ok(number), Some(tail)) =
            (rest[..digits].parse::<u64>(), rest[digits..].strip_prefix(unit))
        {
            seconds = seconds.saturating_add(number.saturating_mul(factor));
            rest = tail;
        }
    }
    if !rest.is_empty() || !(1..=LONGEST).contains(&seconds) {
        return Err(DurationError { found: text.to_owned() });
    }
    Ok(Duration::from_secs(seconds))
}

/// Writes whole seconds so that [`parse_duration`] reads the same time: `1h30m`; `0s` for less than
/// one second.
pub fn format_duration(time: Duration) -> String {
    let mut left = time.as_secs();
    let mut text = String::new();
    for (unit, seconds) in UNITS {
        if left >= seconds {
            let _ = write!(text, "{}{unit}", left / seconds);
            left %= seconds;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times() {
        let seconds = |text| parse_duration(text).map(|time| time.as_secs());
        assert_eq!(seconds("2h"), Ok(7_200));
        assert_eq!(seconds("90m"), Ok(5_400));
        assert_eq!(seconds("1h30m"), Ok(5_400));
        assert_eq!(seconds(" 1d1s "), Ok(86_401));
        for bad in ["", "h", "2", "2x", "30m1h", "1h1h", "-1h", "1.5h", "0h", "999999d", "1 h", "é"]
        {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
        assert_eq!(format_duration(Duration::from_secs(5_400)), "1h30m");
        assert_eq!(format_duration(Duration::from_millis(10)), "0s");
    }

    proptest! {
        #[test]
        fn written_times_are_read_again(seconds in 1u64..=LONGEST) {
            let time = Duration::from_secs(seconds);
            prop_assert_eq!(parse_duration(&format_duration(time)), Ok(time));
        }

        #[test]
        fn anything_is_a_time_or_named(text in "[0-9dhms .é]{0,10}|.*") {
            match parse_duration(&text) {
                Ok(time) => prop_assert_eq!(parse_duration(&format_duration(time)), Ok(time)),
                Err(error) => prop_assert_eq!(error.found, text),
            }
        }
    }
}
