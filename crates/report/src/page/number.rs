//! A number of the page.

use serde::{Serialize, Serializer};

use crate::output::number::rounded;

/// A number written short: four significant digits, no `.0`, `null` when it is not known.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "number | null", rename = "Value"))]
pub(crate) struct Number(pub(crate) f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = rounded(self.0, 4);
        if !value.is_finite() {
            serializer.serialize_none()
        } else if value.fract() == 0.0 && value.abs() < 9e15 {
            serializer.serialize_i64(value as i64)
        } else {
            serializer.serialize_f64(value)
        }
    }
}
