//! What differs between two profiles.

use std::collections::BTreeSet;

use super::{Cost, Profile, fold};

/// A function whose cost is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The function, as in [`Profile::functions`].
    pub name: String,
    /// Its cost in the base; `None` where it did not run.
    pub base: Option<Cost>,
    /// Its cost in the variant; `None` where it did not run.
    pub variant: Option<Cost>,
}

impl Moved {
    /// Instructions of the function itself, variant minus base.
    #[must_use]
    pub fn own_difference(&self) -> i64 {
        difference(&self.base, &self.variant, |cost| cost.own)
    }

    /// Instructions with all that it calls, variant minus base.
    #[must_use]
    pub fn inclusive_difference(&self) -> i64 {
        difference(&self.base, &self.variant, |cost| cost.inclusive)
    }

    /// Calls, variant minus base.
    #[must_use]
    pub fn calls_difference(&self) -> i64 {
        difference(&self.base, &self.variant, |cost| cost.calls)
    }
}

/// Beyond 63 bits the nearest value: 2⁶³ instructions take a century.
fn difference(base: &Option<Cost>, variant: &Option<Cost>, figure: fn(&Cost) -> u64) -> i64 {
    let of = |side: &Option<Cost>| i128::from(side.as_ref().map_or(0, figure));
    let difference = of(variant) - of(base);
    i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
}

/// Functions whose own cost, inclusive cost or calls differ, the largest difference of own cost first.
///
/// Functions are matched by name. Those without a symbol go by their address, which says nothing in another binary: they are matched where
/// both sides have them in the same file, and otherwise stand there twice, each on its side alone.
#[must_use]
pub fn moved(base: &Profile, variant: &Profile) -> Vec<Moved> {
    let names: BTreeSet<&String> = base.functions.keys().chain(variant.functions.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        let one = base.functions.get(name).cloned();
        let other = variant.functions.get(name).cloned();
        let apart = fold::is_address(name)
            && matches!((&one, &other), (Some(one), Some(other)) if one.object != other.object);
        if apart {
            found.push(Moved { name: name.clone(), base: one, variant: None });
            found.push(Moved { name: name.clone(), base: None, variant: other });
        } else {
            let pair = Moved { name: name.clone(), base: one, variant: other };
            if pair.own_difference() != 0
                || pair.inclusive_difference() != 0
                || pair.calls_difference() != 0
            {
                found.push(pair);
            }
        }
    }
    // Stable: what ties in both stays in the order of names.
    found.sort_by_key(|moved| {
        let size = |difference: i64| std::cmp::Reverse(difference.unsigned_abs());
        (size(moved.own_difference()), size(moved.inclusive_difference()))
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(functions: &[(&str, &str, u64)]) -> Profile {
        Profile {
            instructions: functions.iter().map(|(_, _, own)| own).sum(),
            functions: functions
                .iter()
                .map(|(name, object, own)| {
                    let cost =
                        Cost { object: (*object).to_owned(), own: *own, inclusive: *own, calls: 1 };
                    ((*name).to_owned(), cost)
                })
                .collect(),
            ..Profile::default()
        }
    }

    #[test]
    fn the_largest_difference_comes_first_and_equals_are_left_out() {
        let base = profile(&[("same", "/13/pg", 5), ("less", "/13/pg", 90), ("gone", "/13/pg", 7)]);
        let variant =
            profile(&[("same", "/14/pg", 5), ("less", "/14/pg", 60), ("new", "/14/pg", 40)]);
        let found = moved(&base, &variant);
        let order: Vec<_> = found.iter().map(|m| (m.name.as_str(), m.own_difference())).collect();
        assert_eq!(order, [("new", 40), ("less", -30), ("gone", -7)]);
        assert!(found[0].base.is_none() && found[2].variant.is_none());
        assert_eq!((found[2].calls_difference(), found[2].inclusive_difference()), (-1, -7));
    }

    #[test]
    fn addresses_match_in_one_file_only() {
        let one =
            profile(&[("0x12 in pg", "/13/pg", 5), ("0x34 in libc.so.6", "/lib/libc.so.6", 9)]);
        let other =
            profile(&[("0x12 in pg", "/14/pg", 5), ("0x34 in libc.so.6", "/lib/libc.so.6", 8)]);
        let found = moved(&one, &other);
        let differences: Vec<_> = found.iter().map(Moved::own_difference).collect();
        assert_eq!(differences, [-5, 5, -1]);
        assert!(moved(&one, &one).is_empty());
    }

    #[test]
    fn differences_of_any_size_do_not_wrap() {
        let all = profile(&[("f", "x", u64::MAX)]);
        let found = moved(&all, &Profile::default());
        assert_eq!(found[0].own_difference(), i64::MIN);
    }
}
