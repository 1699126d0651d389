//! What a service has done since it began, for Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Classes of responses: 1xx to 5xx.
const CLASSES: usize = 5;

/// Counters. They only grow.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    responses: [AtomicU64; CLASSES],
    /// Microseconds that making responses took, until their first byte.
    busy_us: AtomicU64,
    /// Experiments that were added.
    pub(crate) received: AtomicU64,
    /// Bytes of pieces that were taken.
    pub(crate) received_bytes: AtomicU64,
}

/// What is true at the moment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Now {
    /// Experiments that are shown.
    pub(crate) experiments: usize,
    /// Unfinished uploads, and their bytes that are here.
    pub(crate) uploads: (usize, u64),
    /// Wrong tokens since the service began.
    pub(crate) wrong_tokens: u64,
}

/// Adds to a counter.
pub(crate) fn add(counter: &AtomicU64, number: u64) {
    counter.fetch_add(number, Ordering::Relaxed);
}

impl Metrics {
    /// Counts a response with this status, which took so long.
    pub(crate) fn count(&self, status: u16, took: Duration) {
        let class = usize::from(status / 100).saturating_sub(1);
        if let Some(counter) = self.responses.get(class) {
            add(counter, 1);
        }
        add(&self.busy_us, u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    /// The text that Prometheus reads
    /// (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
    pub(crate) fn text(&self, now: Now) -> String {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut out = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, samples: &[(String, f64)]| {
            let _ = writeln!(out, "# HELP steelyard_{name} {help}\n# TYPE steelyard_{name} {kind}");
            for (labels, value) in samples {
                let _ = writeln!(out, "steelyard_{name}{labels} {value}");
            }
        };
        let classes = (1..).zip(&self.responses);
        let responses: Vec<(String, f64)> = classes
            .map(|(class, counter)| (format!("{{class=\"{class}xx\"}}"), of(counter) as f64))
            .collect();
        metric("responses_total", "counter", "Responses, by class of status.", &responses);
        let plain = |value: f64| [(String::new(), value)];
        let seconds = of(&self.busy_us) as f64 / 1e6;
        metric("response_seconds_total", "counter", "Seconds to make them.", &plain(seconds));
        let received = of(&self.received) as f64;
        metric("received_total", "counter", "Experiments that were added.", &plain(received));
        let bytes = of(&self.received_bytes) as f64;
        metric("received_bytes_total", "counter", "Bytes that were received.", &plain(bytes));
        let wrong = now.wrong_tokens as f64;
        metric("wrong_tokens_total", "counter", "Requests with a wrong token.", &plain(wrong));
        let experiments = now.experiments as f64;
        metric(
            "experiments",
            "gauge",
            "Experiments in the results directory.",
            &plain(experiments),
        );
        let (uploads, bytes) = now.uploads;
        metric("uploads", "gauge", "Unfinished uploads.", &plain(uploads as f64));
        metric("upload_bytes", "gauge", "Bytes of unfinished uploads.", &plain(bytes as f64));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_is_counted() {
        let metrics = Metrics::default();
        for status in [200, 204, 404, 503, 999, 0] {
            metrics.count(status, Duration::from_millis(250));
        }
        add(&metrics.received_bytes, 1 << 40);
        let text = metrics.text(Now { experiments: 7, uploads: (1, 10), wrong_tokens: 0 });
        for line in [
            "# TYPE steelyard_responses_total counter",
            "steelyard_responses_total{class=\"2xx\"} 2",
            "steelyard_responses_total{class=\"4xx\"} 1",
            "steelyard_responses_total{class=\"5xx\"} 1",
            "steelyard_response_seconds_total 1.5",
            "steelyard_received_bytes_total 1099511627776",
            "steelyard_experiments 7",
            "steelyard_upload_bytes 10",
        ] {
            assert!(text.lines().any(|it| it == line), "`{line}` is missing in:\n{text}");
        }
    }
}
