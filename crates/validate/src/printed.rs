//! Figures as they were printed, and whether others follow from them.

use std::fmt;

/// A printed figure: its value, and half a unit of its last digit, within which the unrounded one
/// lay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Printed {
    /// As printed.
    pub value: f64,
    /// Half a unit of the last digit.
    pub half: f64,
}

/// The agreement of a printed figure with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// Computed from the others as printed and rounded, it is the same to the last digit.
    ToTheDigit,
    /// It is not, but it follows from figures that round to the others.
    WithinRounding,
    /// No figures that round to the others give it.
    Deviates,
}

impl Printed {
    /// Reads `0.149`, `-20` or `34164`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let half = 0.5 * 10_f64.powi(-i32::try_from(decimals).ok()?);
        text.parse().ok().filter(|value: &f64| value.is_finite()).map(|value| Self { value, half })
    }

    /// Checks that this figure follows from others that give `value` as printed, and between `low`
    /// and `high` before they were rounded.
    pub fn follows_from(self, low: f64, value: f64, high: f64) -> Agreement {
        // The last bits of a binary fraction decide no tie.
        let slack = self.half * (1.0 + 1e-9);
        if (self.value - value).abs() <= slack {
            Agreement::ToTheDigit
        } else if high >= self.value - slack && low <= self.value + slack {
            Agreement::WithinRounding
        } else {
            Agreement::Deviates
        }
    }

    /// Checks that this figure is `scale · dividend / divisor`, all positive.
    pub fn is_quotient(self, dividend: Self, divisor: Self, scale: f64) -> Agreement {
        self.follows_from(
            scale * (dividend.value - dividend.half) / (divisor.value + divisor.half),
            scale * dividend.value / divisor.value,
            scale * (dividend.value + dividend.half) / (divisor.value - divisor.half),
        )
    }

    /// Checks that this figure is the change from `before` to `after` in percent.
    pub fn is_change(self, before: Self, after: Self) -> Agreement {
        let ratio = Self { value: self.value + 100.0, half: self.half };
        ratio.is_quotient(after, before, 100.0)
    }

    /// Checks that this figure is a sum.
    pub fn is_sum(self, parts: &[Self]) -> Agreement {
        let sum: f64 = parts.iter().map(|part| part.value).sum();
        let off: f64 = parts.iter().map(|part| part.half).sum();
        self.follows_from(sum - off, sum, sum + off)
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::ToTheDigit => "to the digit",
            Self::WithinRounding => "within rounding",
            Self::Deviates => "deviates",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> Printed {
        Printed::parse(text).expect("a figure")
    }

    #[test]
    fn digits_tell_how_exact_a_figure_is() {
        assert_eq!(printed("0.149"), Printed { value: 0.149, half: 0.0005 });
        assert_eq!(printed("34164"), Printed { value: 34164.0, half: 0.5 });
        for text in ["", "12G", "nan", "1,000"] {
            assert_eq!(Printed::parse(text), None, "{text}");
        }
    }

    #[test]
    fn quotients_and_sums() {
        let quotient = |published, dividend, divisor| {
            printed(published).is_quotient(printed(dividend), printed(divisor), 1.0)
        };
        assert_eq!(quotient("0.80", "27304", "34164"), Agreement::ToTheDigit);
        assert_eq!(quotient("0.81", "27304", "34164"), Agreement::Deviates);
        // 0.002 / 0.001 is 2, of anything between 1 and 5.
        assert_eq!(quotient("4.00", "0.002", "0.001"), Agreement::WithinRounding);
        assert_eq!(quotient("5.20", "0.002", "0.001"), Agreement::Deviates);
        let sum = |published, parts: [&str; 2]| printed(published).is_sum(&parts.map(printed));
        assert_eq!(sum("1959", ["428", "1531"]), Agreement::ToTheDigit);
        assert_eq!(sum("48", ["10", "37"]), Agreement::WithinRounding);
        assert_eq!(sum("50", ["10", "37"]), Agreement::Deviates);
        assert_eq!(
            printed("-20").is_change(printed("34195"), printed("27304")),
            Agreement::ToTheDigit
        );
        assert_eq!(
            printed("2.6").is_change(printed("5.114"), printed("5.251")),
            Agreement::Deviates
        );
    }
}
