//! Histograms of latencies in nanoseconds: their limits, and their bytes in HDR histogram's V2
//! encoding.

use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use hdrhistogram::{Counter, Histogram};
use serde::de::Error as _;
use serde::{Deserialize, Serialize};

/// Highest latency that a histogram distinguishes, in nanoseconds: an hour.
pub const HIGHEST: u64 = 3_600_000_000_000;
/// Significant decimal digits of a latency: an error of at most 1%. Three would take 100 KB per
/// client, more than everything else together.
const DIGITS: u8 = 2;

/// An empty histogram. It grows to the highest value seen, which takes half the memory of one with
/// room for an hour from the start.
pub fn empty<C: Counter>() -> Histogram<C> {
    Histogram::new(DIGITS).unwrap_or_else(|_| unreachable!("{DIGITS} is a valid number of digits"))
}

/// A histogram's bytes.
pub fn encoded(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to memory can't fail, and the histogram's bounds are set here.
    let _ = V2Serializer::new().serialize(histogram, &mut bytes);
    bytes
}

pub fn serialize<S: serde::Serializer>(
    histogram: &Histogram<u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    encoded(histogram).serialize(serializer)
}

pub fn deserialize<'d, D: serde::Deserializer<'d>>(
    deserializer: D,
) -> Result<Histogram<u64>, D::Error> {
    let bytes = Vec::<u8>::deserialize(deserializer)?;
    Deserializer::new().deserialize(&mut &bytes[..]).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_small_and_within_a_percent() {
        let mut histogram = empty::<u32>();
        for value in [1_000u64, 13_700, 999_999, 123_456_789] {
            histogram.reset();
            histogram.record(value).unwrap();
            let read = histogram.value_at_quantile(1.0) as f64;
            assert!((read / value as f64 - 1.0).abs() < 0.01, "{value} {read}");
        }
        // Four bytes for each, up to a tenth of a second.
        assert!(histogram.distinct_values() * 4 < 12 * 1024);
    }
}
