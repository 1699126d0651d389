//! The stored answers to the queries of one step in one trial.

use metrics::{Answer, Difference};
use store::{StepId, Store};

use crate::ReportError;

/// The answers of a variant in a step of a trial.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    /// The systems whose answers have the same types and text forms.
    pub family: String,
    /// One for each query, or for each row of its values.
    pub all: Vec<Answer>,
}

impl Answers {
    /// Reads the answers of a step that has some. There are none of a series that is damaged.
    pub(crate) fn read(store: &Store, step: StepId) -> Result<Self, ReportError> {
        let series = store.series_of_group(step, metrics::ANSWERS_GROUP)?;
        let found = series.into_iter().find(|series| series.name == metrics::ANSWERS_SERIES);
        let answers = found.and_then(|series| {
            Some(Self { all: Answer::read(&series.values)?, family: series.label })
        });
        Ok(answers.unwrap_or_default())
    }
}

/// The number of the first answer that differs, from 1, how, and the rows of both.
pub(crate) fn differing(
    base: &Answers,
    other: &Answers,
) -> Option<(usize, Difference, (u64, u64))> {
    let alike = base.family == other.family;
    let mut pairs = base.all.iter().zip(&other.all).enumerate();
    pairs.find_map(|(place, (base, other))| {
        let difference = base.difference(other, alike)?;
        Some((place + 1, difference, (base.rows, other.rows)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(family: &str, all: &[(u64, u64)]) -> Answers {
        let answer = |(rows, checksum): &(u64, u64)| Answer {
            rows: *rows,
            checksum: *checksum,
            ..Answer::default()
        };
        Answers { family: family.to_owned(), all: all.iter().map(answer).collect() }
    }

    #[test]
    fn the_first_difference_is_told() {
        let one = answers("x", &[(3, 7), (5, 9), (6, 1)]);
        assert_eq!(differing(&one, &one), None);
        let other = answers("x", &[(3, 7), (5, 8), (7, 1)]);
        assert_eq!(differing(&one, &other), Some((2, Difference::Rows, (5, 5))));
        let foreign = Answers { family: "y".to_owned(), ..other };
        assert_eq!(differing(&one, &foreign), Some((3, Difference::Count, (6, 7))));
    }
}
