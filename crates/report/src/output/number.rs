//! Number formats of tables.

/// Printed for unknown values.
pub(crate) const UNKNOWN: &str = "–";

/// A figure or [`UNKNOWN`].
pub(crate) fn or_unknown(value: Option<f64>, format: impl Fn(f64) -> String) -> String {
    value.filter(|v| v.is_finite()).map_or_else(|| UNKNOWN.to_owned(), format)
}

/// Operations per second, or microseconds: whole numbers from 100, three digits below.
pub(crate) fn rate(value: f64) -> String {
    if value.abs() >= 99.95 { format!("{value:.0}") } else { digits(value, 3) }
}

/// Without decimals.
pub(crate) fn whole(value: f64) -> String {
    format!("{value:.0}")
}

/// With one decimal.
pub(crate) fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

/// With two decimals.
pub(crate) fn hundredths(value: f64) -> String {
    format!("{value:.2}")
}

/// A relative figure: three decimals, as in the published tables.
pub(crate) fn relative(value: f64) -> String {
    format!("{value:.3}")
}

/// A cost per operation: the published tables have six decimals for the smallest figures and three
/// for others.
pub(crate) fn cost(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if value.abs() < 0.01 {
        format!("{value:.6}")
    } else if value.abs() < 1000.0 {
        format!("{value:.3}")
    } else {
        format!("{value:.0}")
    }
}

/// `digits` significant digits, without an exponent.
pub(crate) fn digits(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value:.0}");
    }
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = (digits - 1 - magnitude).clamp(0, 12) as usize;
    format!("{value:.decimals$}")
}

/// A count with the units of the published tables: 109.2B, 3.0M, 103K, 42.
pub(crate) fn count(value: f64) -> String {
    let size = value.abs();
    if size >= 999_950_000.0 {
        format!("{:.1}B", value / 1e9)
    } else if size >= 999_500.0 {
        format!("{:.1}M", value / 1e6)
    } else if size >= 9_999.5 {
        format!("{:.0}K", value / 1e3)
    } else if size < 99.95 && value.fract() != 0.0 {
        digits(value, 3)
    } else {
        format!("{value:.0}")
    }
}

/// Instructions or calls: whole numbers, or rounded to whole from 1000; otherwise one decimal, two
/// below 10.
pub(crate) fn work(value: f64) -> String {
    let size = value.abs();
    if size >= 999.95 || value.fract() == 0.0 {
        format!("{value:.0}")
    } else if size >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// The same with its sign.
pub(crate) fn signed_work(value: f64) -> String {
    let text = with_sign(value, work(value.abs()));
    if text == "0.00" { "0".to_owned() } else { text }
}

/// The text of an absolute value with the value's sign, or no sign if the text is zero.
fn with_sign(value: f64, text: String) -> String {
    match value {
        _ if text.bytes().all(|c| matches!(c, b'0' | b'.' | b'%')) => text,
        _ if value < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// A ratio of exact counts.
pub(crate) fn exact_relative(value: f64) -> String {
    format!("{value:.4}")
}

/// A ratio of exact counts as a change: +7.28%, 0.00%.
pub(crate) fn exact_change(ratio: f64) -> String {
    with_sign(ratio - 1.0, format!("{:.2}%", (ratio - 1.0).abs() * 100.0))
}

/// How much counts of the same statements differ, given as a fraction: 0.0003%, 0%.
pub(crate) fn repeated(value: f64) -> String {
    let percent = value * 100.0;
    if percent == 0.0 {
        "0%".to_owned()
    } else if percent < 0.1 {
        format!("{}%", digits(percent, 1))
    } else {
        format!("{percent:.2}%")
    }
}

/// `5.2%`.
pub(crate) fn percent(fraction: f64) -> String {
    format!("{:.1}%", fraction * 100.0)
}

/// `−5.2%`, `+0.4%`, `0.0%`.
pub(crate) fn signed(fraction: f64) -> String {
    with_sign(fraction, percent(fraction.abs()))
}

/// The ends of an interval of a ratio, as changes: `−7.4% to −5.8%`.
pub(crate) fn changes(low: f64, high: f64) -> String {
    format!("{} to {}", signed(low - 1.0), signed(high - 1.0))
}

/// Half the width of an interval as a share of the value: `±3.1%`, `±12%`. More than the value
/// itself says only that nothing is known: `±>100%`.
pub fn half_width(fraction: f64) -> String {
    let percent = fraction * 100.0;
    match percent {
        _ if percent > 100.0 => "±>100%".to_owned(),
        _ if percent < 9.95 => format!("±{percent:.1}%"),
        _ => format!("±{percent:.0}%"),
    }
}

const MB: f64 = 1_048_576.0;

/// Bytes in MB, or in G from 10 GB, as in the published tables: 8378, 12G.
pub(crate) fn megabytes(bytes: f64) -> String {
    let mb = bytes / MB;
    if mb >= 10.0 * 1024.0 {
        format!("{:.0}G", mb / 1024.0)
    } else if mb >= 9.95 || mb == 0.0 {
        format!("{mb:.0}")
    } else {
        format!("{mb:.1}")
    }
}

/// Rounds to this many significant digits, to keep exports small.
pub(crate) fn rounded(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let magnitude = value.abs().log10().floor() as i32;
    // Dividing by a power of ten gives the nearest float to the decimal; multiplying by its inverse
    // would not.
    let places = digits - 1 - magnitude;
    if places >= 0 {
        let scale = 10_f64.powi(places.min(300));
        (value * scale).round() / scale
    } else {
        let scale = 10_f64.powi(-places);
        (value / scale).round() * scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_as_published() {
        for (value, text) in [
            (1_044_000_000.0, "1.0B"),
            (109_240_000_000.0, "109.2B"),
            (2_999_000.0, "3.0M"),
            (26_300_000.0, "26.3M"),
            (103_400.0, "103K"),
            (207_000.0, "207K"),
            (999_600.0, "1.0M"),
            (9_999.0, "9999"),
            (0.0, "0"),
            (-2_094_095.0, "-2.1M"),
            (1.25, "1.25"),
        ] {
            assert_eq!(count(value), text);
        }
    }

    #[test]
    fn sizes_as_published() {
        assert_eq!(megabytes(1531.0 * MB), "1531");
        assert_eq!(megabytes(8378.4 * MB), "8378");
        assert_eq!(megabytes(12_283.0 * MB), "12G");
        assert_eq!(megabytes(3.25 * MB), "3.2");
        assert_eq!(megabytes(0.0), "0");
    }

    #[test]
    fn costs_as_published() {
        assert_eq!(cost(0.000_780_4), "0.000780");
        assert_eq!(cost(5.017), "5.017");
        assert_eq!(cost(34_164.4), "34164");
        assert_eq!(cost(0.0), "0");
    }

    #[test]
    fn exact_figures() {
        let texts = [123_456.4, 999.96, 999.94, 12.04, 9.996, 0.5, 7.0, 0.0].map(work);
        assert_eq!(texts, ["123456", "1000", "999.9", "12.0", "10.0", "0.50", "7", "0"]);
        assert_eq!(
            [12.04, 7.0, -0.25, 0.001, -0.001].map(signed_work),
            ["+12.0", "+7", "−0.25", "0", "0"]
        );
        assert_eq!([1.072_84, 0.934, 1.000_01].map(exact_relative), ["1.0728", "0.9340", "1.0000"]);
        assert_eq!(
            [1.072_84, 0.934, 1.000_01, 1.005].map(exact_change),
            ["+7.28%", "−6.60%", "0.00%", "+0.50%"]
        );
        let repeated = [0.0, 0.000_003, 0.000_01, 0.000_000_012, 0.012].map(repeated);
        assert_eq!(repeated, ["0%", "0.0003%", "0.001%", "0.000001%", "1.20%"]);
    }

    #[test]
    fn a_half_width_is_no_larger_than_the_value() {
        let said = [0.031, 0.0996, 0.12, 1.0, 1.0001, 3622.14, f64::INFINITY].map(half_width);
        assert_eq!(said, ["±3.1%", "±10%", "±12%", "±100%", "±>100%", "±>100%", "±>100%"]);
    }

    #[test]
    fn rates_and_digits() {
        assert_eq!(rate(27_304.4), "27304");
        assert_eq!(rate(99.96), "100");
        assert_eq!(rate(12.345), "12.3");
        assert_eq!(digits(0.001_234_5, 3), "0.00123");
        assert_eq!(or_unknown(None, rate), "–");
        assert_eq!(or_unknown(Some(f64::NAN), rate), "–");
    }

    #[test]
    fn rounding_keeps_the_leading_digits() {
        assert_eq!(rounded(123_456.0, 4).to_string(), "123500");
        assert_eq!(rounded(0.000_123_456, 4).to_string(), "0.0001235");
        assert_eq!(rounded(-2.516_28, 4).to_string(), "-2.516");
        assert!(rounded(f64::NAN, 4).is_nan());
    }
}
