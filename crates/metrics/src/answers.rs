//! Answers to queries, kept to be compared between systems.

/// Group of the series that holds answers.
pub const ANSWERS_GROUP: &str = "answers";
/// The series: answers one after another, as [`Answer::values`] gives them.
pub const ANSWERS_SERIES: &str = "answers";

/// What identifies an answer's rows, in any order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// How much of it is compared.
    pub compared: Identity,
    /// How many rows it has.
    pub rows: u64,
    /// A sum of hashes of the rows, without floating-point numbers.
    pub checksum: u64,
    /// Of each floating-point column the weighted sum, the sum of the magnitudes, and the share of
    /// the latter by which equal sums may differ.
    pub floats: Vec<[f64; 3]>,
}

/// How much of an answer is compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Identity {
    /// Its rows.
    #[default]
    Rows = 0,
    /// How many rows there are, because more is not asked for.
    Count = 1,
    /// How many rows there are, because the same server gave other rows the next time.
    VaryingRows = 2,
    /// Nothing, because the same server gave another number of rows the next time.
    Varying = 3,
}

/// How two answers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// One has more rows.
    Count,
    /// As many, but others.
    Rows,
}

impl Answer {
    /// It as numbers that a series can hold.
    pub fn values(&self) -> Vec<f64> {
        let mut values = vec![
            f64::from(self.compared as u8),
            self.rows as f64,
            (self.checksum >> 32) as f64,
            (self.checksum & 0xffff_ffff) as f64,
            self.floats.len() as f64,
        ];
        values.extend(self.floats.iter().flatten());
        values
    }

    /// The answers in a series; `None` if it holds anything else.
    pub fn read(mut values: &[f64]) -> Option<Vec<Answer>> {
        let mut answers = Vec::new();
        while let Some((&[compared, rows, high, low, columns], rest)) = values.split_first_chunk() {
            let all = [Identity::Rows, Identity::Count, Identity::VaryingRows, Identity::Varying];
            let compared =
                all.into_iter().find(|it| f64::from(*it as u8).to_bits() == compared.to_bits())?;
            // More columns than any system has would be another series.
            let columns = (0.0..=65_535.0).contains(&columns).then_some(columns as usize)?;
            let (floats, rest) = rest.split_at_checked(3 * columns)?;
            let floats = floats.as_chunks::<3>().0.to_vec();
            let checksum = (high as u64) << 32 | low as u64;
            answers.push(Answer { compared, rows: rows as u64, checksum, floats });
            values = rest;
        }
        values.is_empty().then_some(answers)
    }

    /// How another system's answer to the same query differs, as far as it is compared; `alike` if
    /// both systems have the same types, written in the same way.
    pub fn difference(&self, other: &Answer, alike: bool) -> Option<Difference> {
        let both = |it: Identity| self.compared == it && other.compared == it;
        if [self, other].iter().any(|it| it.compared == Identity::Varying) {
            return None;
        }
        if self.rows != other.rows {
            return Some(Difference::Count);
        }
        if !alike || !both(Identity::Rows) {
            return None;
        }
        let close = |(one, other): (&[f64; 3], &[f64; 3])| {
            let [sum, magnitude, tolerance] = *one;
            (sum - other[0]).abs() <= tolerance * magnitude.max(other[1])
        };
        let same = self.checksum == other.checksum
            && self.floats.len() == other.floats.len()
            && self.floats.iter().zip(&other.floats).all(close);
        (!same).then_some(Difference::Rows)
    }

    /// The same, of which only as much is compared as is the same in another answer of the same
    /// server.
    pub fn confirmed_by(self, again: &Answer) -> Answer {
        let compared = match self.difference(again, true) {
            None => self.compared,
            Some(Difference::Rows) => Identity::VaryingRows,
            Some(Difference::Count) => Identity::Varying,
        };
        Answer { compared, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(rows: u64, checksum: u64, sum: f64) -> Answer {
        let floats = vec![[sum, sum.abs(), 1e-12]];
        Answer { compared: Identity::Rows, rows, checksum, floats }
    }

    #[test]
    fn what_is_stored_is_read_again() {
        let none = Answer { compared: Identity::Varying, ..Answer::default() };
        let all = [answer(3, u64::MAX - 1, 0.1), none, answer(0, 1 << 63 | 5, -7e300)];
        let values: Vec<f64> = all.iter().flat_map(Answer::values).collect();
        assert_eq!(Answer::read(&values).unwrap(), all);
        assert_eq!(Answer::read(&[]).unwrap(), []);
        for end in (1..values.len()).filter(|end| ![8, 13].contains(end)) {
            assert_eq!(Answer::read(&values[..end]), None, "{end}");
        }
        assert_eq!(Answer::read(&[9.0, 0.0, 0.0, 0.0, 0.0]), None);
        assert_eq!(Answer::read(&[0.0, 0.0, 0.0, 0.0, f64::NAN]), None);
    }

    #[test]
    fn as_much_is_compared_as_both_allow() {
        let one = answer(3, 7, 1.0);
        assert_eq!(one.difference(&answer(3, 7, 1.0 + 1e-13), true), None);
        assert_eq!(one.difference(&answer(3, 7, 1.0 + 1e-11), true), Some(Difference::Rows));
        assert_eq!(one.difference(&answer(3, 8, 1.0), true), Some(Difference::Rows));
        assert_eq!(one.difference(&answer(3, 8, 1.0), false), None, "other types");
        assert_eq!(one.difference(&answer(4, 7, 1.0), false), Some(Difference::Count));
        let count = Answer { compared: Identity::Count, ..answer(3, 9, 2.0) };
        assert_eq!(one.difference(&count, true), None);
        assert_eq!(one.difference(&Answer { rows: 5, ..count }, true), Some(Difference::Count));
        let varies = one.clone().confirmed_by(&answer(3, 8, 1.0));
        assert_eq!(varies.compared, Identity::VaryingRows);
        assert_eq!(one.difference(&varies, true), None);
        let varies = one.clone().confirmed_by(&answer(4, 8, 1.0));
        assert_eq!(varies.compared, Identity::Varying);
        assert_eq!(varies.difference(&answer(9, 9, 9.0), true), None);
        assert_eq!(one.clone().confirmed_by(&one), one);
    }
}
