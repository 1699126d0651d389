//! Figures as they were printed, and whether others follow from them.

use std::fmt;

/// A printed figure: its value, and half a unit of its last digit, which is the most by which it
/// was rounded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Printed {
    /// As printed.
    pub value: f64,
    /// Half a unit of the last digit.
    pub half: f64,
}

/// A figure computed from printed ones, and the lowest and highest value that it may have had
/// before they were rounded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Computed {
    low: f64,
    /// From the figures as printed.
    pub value: f64,
    high: f64,
}

/// The agreement of a printed figure with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// If it is computed from the other printed figures and rounded, it is the same to the last
    /// digit.
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

    /// The quotient of this and another, both positive.
    pub fn over(self, divisor: Self) -> Computed {
        Computed {
            low: (self.value - self.half) / (divisor.value + divisor.half),
            value: self.value / divisor.value,
            high: (self.value + self.half) / (divisor.value - divisor.half),
        }
    }

    /// The change from this to another in percent.
    pub fn change_to(self, after: Self) -> Computed {
        let Computed { low, value, high } = after.over(self).times(100.0);
        Computed { low: low - 100.0, value: value - 100.0, high: high - 100.0 }
    }

    /// Checks that this figure follows from others.
    pub fn agrees_with(self, computed: Computed) -> Agreement {
        // The last bits of a binary fraction decide no tie.
        let slack = self.half * (1.0 + 1e-9);
        if (self.value - computed.value).abs() <= slack {
            Agreement::ToTheDigit
        } else if computed.high >= self.value - slack && computed.low <= self.value + slack {
            Agreement::WithinRounding
        } else {
            Agreement::Deviates
        }
    }
}

impl Computed {
    /// A multiple.
    pub fn times(self, factor: f64) -> Self {
        Self { low: factor * self.low, value: factor * self.value, high: factor * self.high }
    }

    /// The sum of printed figures.
    pub fn sum(parts: &[Printed]) -> Self {
        let value: f64 = parts.iter().map(|part| part.value).sum();
        let off: f64 = parts.iter().map(|part| part.half).sum();
        Self { low: value - off, value, high: value + off }
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
        let agrees = |published: &str, computed| printed(published).agrees_with(computed);
        let quotient = |published, dividend, divisor| {
            agrees(published, printed(dividend).over(printed(divisor)))
        };
        assert_eq!(quotient("0.80", "27304", "34164"), Agreement::ToTheDigit);
        assert_eq!(quotient("0.81", "27304", "34164"), Agreement::Deviates);
        // 0.002 / 0.001 is 2, of anything between 1 and 5.
        assert_eq!(quotient("4.00", "0.002", "0.001"), Agreement::WithinRounding);
        assert_eq!(quotient("5.20", "0.002", "0.001"), Agreement::Deviates);
        let sum =
            |published, parts: [&str; 2]| agrees(published, Computed::sum(&parts.map(printed)));
        assert_eq!(sum("1959", ["428", "1531"]), Agreement::ToTheDigit);
        assert_eq!(sum("48", ["10", "37"]), Agreement::WithinRounding);
        assert_eq!(sum("50", ["10", "37"]), Agreement::Deviates);
        let change =
            |published, before, after| agrees(published, printed(before).change_to(printed(after)));
        assert_eq!(change("-20", "34195", "27304"), Agreement::ToTheDigit);
        assert_eq!(change("2.6", "5.114", "5.251"), Agreement::Deviates);
    }
}
