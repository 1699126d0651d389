//! What identifies the rows of an answer, in whatever order they come.

use sha2::{Digest as _, Sha256};

/// How the values of a column are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// By the bytes of their text form.
    Exact,
    /// As floating-point numbers of 64 bits.
    Double,
    /// As floating-point numbers of 32 bits, some of which systems print with 6 digits.
    Single,
}

impl Precision {
    /// The share of a sum's magnitude by which equal sums may differ: 12 significant digits, or 5.
    fn tolerance(self) -> f64 {
        if self == Precision::Single { 1e-5 } else { 1e-12 }
    }
}

/// A digest of the rows of an answer, independent of their order.
///
/// Values are compared by the bytes of their text forms; a NULL differs from an empty text. Sums of
/// floating-point numbers differ in their last digits from one execution to another, so these are
/// not part of the checksum: of each column there is a sum, in which each row has a weight that
/// follows from its other values. So a number in the wrong row changes the sum.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Digest {
    /// How many rows there are.
    pub rows: u64,
    /// The sum of the rows' hashes, without floating-point numbers.
    pub checksum: u64,
    /// The floating-point columns.
    pub floats: Vec<FloatSum>,
    columns: Vec<Precision>,
    /// This row's numbers, with the indexes of their columns.
    numbers: Vec<(usize, f64)>,
}

/// The weighted sum of a floating-point column.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FloatSum {
    /// The sum.
    pub sum: f64,
    /// The sum of the magnitudes.
    pub magnitude: f64,
    /// The share of the magnitude by which equal sums may differ.
    pub tolerance: f64,
    /// What rounding has left out of the sum.
    rest: f64,
}

impl FloatSum {
    /// A sum that was stored.
    pub fn new(sum: f64, magnitude: f64, tolerance: f64) -> FloatSum {
        FloatSum { sum, magnitude, tolerance, rest: 0.0 }
    }

    /// Adds a number, compensated for rounding (Neumaier, 1974).
    fn add(&mut self, number: f64) {
        let sum = self.sum + number;
        self.rest += match self.sum.abs() >= number.abs() {
            true => (self.sum - sum) + number,
            false => (number - sum) + self.sum,
        };
        self.sum = sum;
        self.magnitude += number.abs();
    }
}

impl Digest {
    /// A result with these columns begins.
    pub(crate) fn columns(&mut self, columns: Vec<Precision>) {
        let float = |precision: &Precision| {
            let tolerance = precision.tolerance();
            (*precision != Precision::Exact).then(|| FloatSum::new(0.0, 0.0, tolerance))
        };
        self.floats = columns.iter().filter_map(float).collect();
        self.columns = columns;
    }

    /// Adds a row, whose values `each` tells one after another; `None` is a NULL.
    pub(crate) fn row<E>(
        &mut self,
        each: impl FnOnce(&mut dyn FnMut(Option<&[u8]>)) -> Result<(), E>,
    ) -> Result<(), E> {
        let Digest { columns, numbers, .. } = self;
        let (mut hash, mut column, mut float) = (Sha256::new(), 0, 0);
        numbers.clear();
        each(&mut |value| {
            let precision = columns.get(column).copied().unwrap_or(Precision::Exact);
            column += 1;
            let place = float;
            float += usize::from(precision != Precision::Exact);
            match (value, precision) {
                (None, _) => hash.update([0]),
                (Some(text), Precision::Exact) => with_length(&mut hash, text),
                (Some(text), _) => match number(text) {
                    Some(number) => {
                        hash.update([2]);
                        numbers.push((place, number));
                    }
                    // Such as NaN.
                    None => with_length(&mut hash, text),
                },
            }
        })?;
        let hash = first_bytes(&hash.finalize());
        self.rows += 1;
        self.checksum = self.checksum.wrapping_add(hash);
        for (place, number) in &self.numbers {
            if let Some(sum) = self.floats.get_mut(*place) {
                sum.add(number * weight(hash, *place));
            }
        }
        Ok(())
    }

    /// The answer is complete.
    pub(crate) fn end(&mut self) {
        for sum in &mut self.floats {
            sum.sum += std::mem::take(&mut sum.rest);
        }
        self.columns.clear();
        self.numbers = Vec::new();
    }
}

fn with_length(hash: &mut Sha256, text: &[u8]) {
    hash.update([1]);
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text);
}

fn first_bytes(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// A finite number.
fn number(text: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// A weight from 1 to 2 of a row with this hash, in a column.
fn weight(hash: u64, column: usize) -> f64 {
    // Steps of the golden ratio, as for Fibonacci hashing, tell the columns apart.
    let mixed = hash ^ (column as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    1.0 + (mixed >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Row = Vec<Option<String>>;

    fn digest(columns: &[Precision], rows: &[Row]) -> Digest {
        let mut digest = Digest::default();
        digest.columns(columns.to_vec());
        for row in rows {
            let each = |take: &mut dyn FnMut(Option<&[u8]>)| {
                row.iter().for_each(|value| take(value.as_deref().map(str::as_bytes)));
                Ok::<(), ()>(())
            };
            digest.row(each).unwrap();
        }
        digest.end();
        digest
    }

    fn row(values: &[Option<&str>]) -> Row {
        values.iter().map(|value| value.map(str::to_owned)).collect()
    }

    /// True if both are taken for the same rows.
    fn same(one: &Digest, other: &Digest) -> bool {
        let alike = |(a, b): (&FloatSum, &FloatSum)| {
            (a.sum - b.sum).abs() <= a.tolerance * a.magnitude.max(b.magnitude)
        };
        (one.rows, one.checksum) == (other.rows, other.checksum)
            && one.floats.iter().zip(&other.floats).all(alike)
    }

    const EXACT: [Precision; 2] = [Precision::Exact; 2];
    const FLOAT: [Precision; 2] = [Precision::Exact, Precision::Double];

    #[test]
    fn values_and_their_places_count() {
        let of = |values: &[Option<&str>]| digest(&EXACT, &[row(values)]);
        let one = of(&[Some("a"), Some("bc")]);
        assert!(same(&one, &of(&[Some("a"), Some("bc")])));
        for other in [
            [Some("ab"), Some("c")],
            [Some("bc"), Some("a")],
            [Some("a"), None],
            [Some("a"), Some("")],
        ] {
            assert!(!same(&one, &of(&other)), "{other:?}");
        }
        assert!(!same(&of(&[None, Some("")]), &of(&[Some(""), None])));
        assert!(!same(&digest(&EXACT, &[]), &of(&[None, None])));
        // How often a row comes counts too.
        let (a, b) = (row(&[Some("a"), None]), row(&[Some("b"), None]));
        let twice =
            |one: &Row, other: &Row| digest(&EXACT, &[one.clone(), one.clone(), other.clone()]);
        assert!(!same(&twice(&a, &b), &twice(&b, &a)));
        let numbers =
            |all: [&str; 2]| digest(&[Precision::Exact], &all.map(|number| row(&[Some(number)])));
        assert!(!same(&numbers(["1", "4"]), &numbers(["2", "3"])));
    }

    #[test]
    fn floats_differ_from_their_twelfth_digit_on() {
        let of = |numbers: &[(&str, &str)]| {
            let rows: Vec<Row> =
                numbers.iter().map(|(name, it)| row(&[Some(name), Some(it)])).collect();
            digest(&FLOAT, &rows)
        };
        let one = of(&[("a", "0.1"), ("b", "1e300"), ("c", "-3")]);
        assert!(same(&one, &of(&[("c", "-3.0"), ("a", "0.1"), ("b", "1.0000000000000001e300")])));
        let one = of(&[("a", "1.5"), ("b", "2.5")]);
        assert!(same(&one, &of(&[("a", "1.5000000000000002"), ("b", "2.5")])));
        assert!(!same(&one, &of(&[("a", "1.50000000001"), ("b", "2.5")])));
        assert!(!same(&one, &of(&[("a", "2.5"), ("b", "1.5")])), "in the wrong rows");
        assert!(!same(&one, &of(&[("a", "1.5"), ("b", "NaN")])));
        let null = digest(&FLOAT, &[row(&[Some("a"), None])]);
        assert!(!same(&null, &of(&[("a", "0")])));
        let single = |text: &str| digest(&[Precision::Single], &[row(&[Some(text)])]);
        assert!(same(&single("0.333333"), &single("0.33333334")));
        assert!(!same(&single("0.3333"), &single("0.33333334")));
    }

    proptest! {
        #[test]
        fn the_order_of_rows_does_not_matter(
            rows in prop::collection::vec(
                (prop::option::of("[a-c]{0,3}"), prop::option::of(-1e9f64..1e9)), 0..30,
            ),
            by in 0usize..30,
            change in prop::option::of(0usize..30),
        ) {
            let written = |(text, number): &(Option<String>, Option<f64>)| {
                vec![text.clone(), number.map(|number| number.to_string())]
            };
            let mut rows: Vec<Row> = rows.iter().map(written).collect();
            let one = digest(&FLOAT, &rows);
            let by = by.min(rows.len());
            rows.rotate_left(by);
            prop_assert!(same(&one, &digest(&FLOAT, &rows)));
            if let Some(row) = change.and_then(|at| rows.get_mut(at)) {
                row[0] = Some("another".to_owned());
                prop_assert!(!same(&one, &digest(&FLOAT, &rows)));
            }
        }
    }
}
