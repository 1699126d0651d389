//! Response times: pooled histograms of all blocks, percentiles, and the buckets of published
//! reports.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use metrics::{MAX, MEAN, Metric, QUANTILES};
use serde::{Deserialize, Serialize};

use crate::ReportError;

/// The buckets of the published insert benchmark reports: name and upper bound (inclusive) in
/// nanoseconds. A response counts once, in the first bucket it fits; the rest are `gt`.
pub const BUCKETS: [(&str, u64); 9] = [
    ("256us", 256_000),
    ("1ms", 1_000_000),
    ("4ms", 4_000_000),
    ("16ms", 16_000_000),
    ("64ms", 64_000_000),
    ("256ms", 256_000_000),
    ("1s", 1_000_000_000),
    ("4s", 4_000_000_000),
    ("16s", 16_000_000_000),
];

/// Percentiles of a curve, dense in the tail.
const CURVE: [f64; 26] = [
    0.0, 5.0, 10.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 70.0, 75.0, 80.0, 85.0, 90.0, 92.5, 95.0,
    96.0, 97.0, 98.0, 99.0, 99.5, 99.9, 99.95, 99.99, 99.999, 100.0,
];

/// The response times of one class of statements, over all blocks.
#[derive(Debug, Clone)]
pub struct Pooled {
    /// Its name, such as `query`.
    pub class: String,
    /// What it stands for, such as `queries`, or the form of a log's statements; empty if unknown.
    pub text: String,
    histogram: Histogram<u64>,
}

/// Response times in microseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency<T = f64> {
    /// Number of statements.
    pub count: u64,
    /// By the short names of [`metrics::LATENCIES`].
    #[serde(flatten)]
    pub figures: BTreeMap<String, T>,
}

impl Latency {
    /// One of [`metrics::LATENCIES`].
    pub fn of(&self, metric: &Metric) -> f64 {
        self.figures.get(metric.short()).copied().unwrap_or(f64::NAN)
    }
}

impl Pooled {
    /// The response times of `class` from one serialized histogram (HdrHistogram V2, nanoseconds).
    pub(crate) fn read(
        class: &str,
        hdr: &[u8],
        step: &str,
        reader: &mut Deserializer,
    ) -> Result<Self, ReportError> {
        let read = reader.deserialize(&mut &hdr[..]);
        let histogram = read.map_err(|error| damaged(step, class, &error))?;
        Ok(Self { class: class.to_owned(), text: String::new(), histogram })
    }

    /// Adds the response times of another block.
    pub(crate) fn add(&mut self, other: &Self, step: &str) -> Result<(), ReportError> {
        self.histogram.auto(true);
        let added = self.histogram.add(&other.histogram);
        added.map_err(|error| damaged(step, &self.class, &error))
    }

    /// Mean, percentiles and maximum.
    pub fn latency(&self) -> Latency {
        let at = |(metric, share): (&Metric, f64)| (metric.short().to_owned(), self.at(share));
        let ends = [
            (MEAN.short().to_owned(), self.histogram.mean() / 1e3),
            (MAX.short().to_owned(), self.histogram.max() as f64 / 1e3),
        ];
        let figures = QUANTILES.into_iter().map(at).chain(ends).collect();
        Latency { count: self.histogram.len(), figures }
    }

    /// Number of statements.
    pub(crate) fn count(&self) -> f64 {
        self.histogram.len() as f64
    }

    /// Microseconds of all responses together.
    pub(crate) fn total(&self) -> f64 {
        self.count() * self.histogram.mean() / 1e3
    }

    /// Points of a percentile curve: percentile (0 to 100) and microseconds, as far as the number
    /// of values allows.
    pub fn curve(&self) -> Vec<(f64, f64)> {
        let count = self.histogram.len() as f64;
        CURVE
            .into_iter()
            .filter(|p| *p <= 99.0 || *p >= 100.0 || count * (100.0 - p) >= 100.0)
            .map(|p| (p, self.at(p / 100.0)))
            .collect()
    }

    /// The microseconds within which this share of the responses completes.
    pub(crate) fn at(&self, share: f64) -> f64 {
        self.histogram.value_at_quantile(share).min(self.histogram.max()) as f64 / 1e3
    }

    /// Share of the responses in each of [`BUCKETS`] and, last, above all of them; 0 to 1.
    pub fn shares(&self) -> Vec<f64> {
        let count = self.histogram.len().max(1) as f64;
        let mut counts = vec![0_u64; BUCKETS.len() + 1];
        for recorded in self.histogram.iter_recorded() {
            let value = recorded.value_iterated_to();
            let place = BUCKETS.iter().position(|(_, bound)| {
                // A bin of the histogram that contains the bound counts as below it.
                self.histogram.lowest_equivalent(value) <= *bound
            });
            counts[place.unwrap_or(BUCKETS.len())] += recorded.count_at_value();
        }
        counts.into_iter().map(|n| n as f64 / count).collect()
    }
}

fn damaged(step: &str, class: &str, detail: &dyn std::fmt::Display) -> ReportError {
    let (step, class) = (step.to_owned(), class.to_owned());
    ReportError::Histogram { step, class, detail: detail.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::{Serializer, V2Serializer};

    fn stored(values: &[u64]) -> Vec<u8> {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 60_000_000_000, 3).unwrap();
        for value in values {
            histogram.record(*value).unwrap();
        }
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&histogram, &mut bytes).unwrap();
        bytes
    }

    fn pooled(values: &[u64]) -> Pooled {
        Pooled::read("query", &stored(values), "qr100", &mut Deserializer::new()).unwrap()
    }

    #[test]
    fn bounds_belong_to_the_bucket_they_name() {
        let shares =
            pooled(&[256_000, 260_000, 1_000_000, 16_000_000_000, 17_000_000_000]).shares();
        assert_eq!(shares, [0.2, 0.4, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.2, 0.2]);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn blocks_are_pooled() {
        let mut both = pooled(&[100_000; 99]);
        both.add(&pooled(&[5_000_000; 1]), "qr100").unwrap();
        let latency = both.latency();
        assert_eq!(latency.count, 100);
        assert!((latency.of(&metrics::P50) - 100.0).abs() < 0.1);
        assert!((latency.of(&metrics::P99) - 100.0).abs() < 0.1);
        assert!((latency.of(&MAX) / 5000.0 - 1.0).abs() < 1e-3);
        assert!((latency.of(&MEAN) / 149.0 - 1.0).abs() < 1e-3);
        let curve = both.curve();
        assert!(curve.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        assert!(curve.iter().all(|(p, _)| *p <= 99.0 || *p > 99.9999), "100 values carry no 99.9%");
    }

    #[test]
    fn bytes_that_are_no_histogram() {
        let error =
            Pooled::read("query", b"nonsense", "qr100", &mut Deserializer::new()).unwrap_err();
        assert!(error.to_string().contains("class query in step qr100"), "{error}");
    }
}
