//! Numbers of clients in a plan: `[1, 2, 4]`, `"1..176"`, `"1..176 step 4"`, or several of these.

use serde_json::json;
use toml::de::DeValue;

use crate::kind::{self, Kind, listed};
use crate::section::{describe, integer};

/// Most clients of a point.
const MOST: u32 = 10_000;

/// Reads numbers of clients, without repetition, in the order given.
pub(in crate::workloads) fn clients() -> Kind<Vec<u32>> {
    let one = json!({ "type": ["integer", "string"], "minimum": 1, "examples": ["1..176 step 4"] });
    Kind::new(listed(&one), numbers)
}

fn numbers(value: &DeValue) -> Result<Vec<u32>, String> {
    let mut all = Vec::new();
    match value {
        DeValue::Array(array) => {
            for item in array {
                all.extend(some(item.get_ref())?);
            }
        }
        single => all = some(single)?,
    }
    kind::clients(all)
}

/// A number or a range.
fn some(value: &DeValue) -> Result<Vec<u32>, String> {
    let DeValue::String(text) = value else {
        return integer(value, 1..u64::from(MOST) + 1).map(|clients| vec![clients]);
    };
    range(text).ok_or_else(|| {
        format!(
            "expected a number of clients, or a range such as \"1..176\" or \"1..176 step 4\", \
             found {}",
            describe(value)
        )
    })
}

fn range(text: &str) -> Option<Vec<u32>> {
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|n| (1..=MOST).contains(n));
    let (range, step) = match text.split_once("step") {
        Some((range, step)) => (range, number(step)?),
        None => (text, 1),
    };
    let Some((low, high)) = range.split_once("..") else {
        return if range == text { Some(vec![number(text)?]) } else { None };
    };
    let (low, high) = (number(low)?, number(high)?);
    (low <= high).then(|| (low..=high).step_by(step as usize).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges() {
        assert_eq!(range("1..4"), Some(vec![1, 2, 3, 4]));
        assert_eq!(range("1..10 step 4"), Some(vec![1, 5, 9]));
        assert_eq!(range("16"), Some(vec![16]));
        for bad in ["", "1..", "..4", "4..1", "0..3", "1..3 step", "1..3 step 0", "1 step 2", "x"] {
            assert_eq!(range(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn anything_can_stand_there(text in "\\PC{0,20}") {
            for clients in range(&text).into_iter().flatten() {
                prop_assert!((1..=MOST).contains(&clients));
            }
        }
    }
}
