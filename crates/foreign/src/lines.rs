//! Text as numbered lines, and the numbers in them.

use crate::ForeignError;
use crate::error::shortened;

/// A line of a program's output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// From 1.
    pub number: usize,
    /// Without its end. If a line was drawn several times (carriage returns), its last state.
    pub text: &'a str,
    /// True if its end is there. A last line without one may be cut within a number.
    pub ended: bool,
}

/// The lines of a text.
pub(crate) fn lines(text: &str) -> impl DoubleEndedIterator<Item = Line<'_>> {
    text.split_inclusive('\n').enumerate().collect::<Vec<_>>().into_iter().map(|(place, line)| {
        let whole = line.strip_suffix('\n').unwrap_or(line).trim_end_matches('\r');
        let shown = whole.rsplit('\r').next().unwrap_or(whole);
        Line { number: place + 1, text: shown, ended: line.ends_with('\n') }
    })
}

/// The number of the last line; 1 for an empty text.
pub(crate) fn last_number(text: &str) -> usize {
    text.split_inclusive('\n').count().max(1)
}

/// A finite number; anything else that Rust reads as one (`inf`, `NaN`) is none.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|value: &f64| value.is_finite())
}

impl Line<'_> {
    /// The number in a part of this line.
    pub(crate) fn number(
        &self,
        program: &'static str,
        what: &'static str,
        part: &str,
    ) -> Result<f64, ForeignError> {
        number(part).ok_or_else(|| self.not_a_figure(program, what, part))
    }

    /// The number in a part of this line, if it is greater than 0.
    pub(crate) fn positive(
        &self,
        program: &'static str,
        what: &'static str,
        part: &str,
    ) -> Result<f64, ForeignError> {
        let value = number(part).filter(|value| *value > 0.0);
        value.ok_or_else(|| self.not_a_figure(program, what, part))
    }

    fn not_a_figure(&self, program: &'static str, what: &'static str, part: &str) -> ForeignError {
        ForeignError::NotAFigure { program, line: self.number, what, found: shortened(part) }
    }

    pub(crate) fn failed(&self, program: &'static str) -> ForeignError {
        ForeignError::Failed { program, line: self.number, said: shortened(self.text) }
    }
}

/// For an output without what every output of the program begins with.
pub(crate) fn other(program: &'static str, expected: &'static str, text: &str) -> ForeignError {
    let first = lines(text).find(|line| !line.text.trim().is_empty());
    let (line, found) = first.map_or((1, ""), |line| (line.number, line.text));
    ForeignError::Other { program, line, expected, found: shortened(found) }
}

/// For an output whose end is missing.
pub(crate) fn cut_off(program: &'static str, expected: &'static str, text: &str) -> ForeignError {
    ForeignError::CutOff { program, line: last_number(text), expected }
}
