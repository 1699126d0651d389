//! Turns a program's output into the figures of a step.

use foreign::{Interval, Test};
use store::{Better, Measure, Series, StepRecord};
use workload::program::OPERATION;

use crate::printed::stored;

/// How far from a second an interval may be to count as one.
const SECOND: std::ops::RangeInclusive<f64> = 0.8..=1.25;

/// Fills a step's record with the figures of a test.
///
/// The value is stored as `o/s`, in the unit and with the direction of the test, and latencies and
/// sizes under the names that tables know. Everything else becomes `printed.NAME`.
pub fn describe(record: &mut StepRecord, test: &Test) {
    record.seconds = test.seconds.unwrap_or(0.0);
    record.operations = test.operations.unwrap_or(0);
    record.measure = Measure {
        class: OPERATION.name.to_string(),
        unit: test.unit.strip_suffix("/s").unwrap_or(&test.unit).to_owned(),
        better: if test.less_is_better { Better::Less } else { Better::More },
        ..Measure::default()
    };
    add(record, metrics::OPS.name.to_owned(), test.value);
    if let Some(seconds) = test.seconds {
        add(record, metrics::SECONDS.name.to_owned(), seconds);
    }
    for metric in &test.metrics {
        let (name, value) = stored(&OPERATION.name, &metric.name, metric.value, &metric.unit);
        add(record, name, value);
    }
    if test.series.is_empty() {
        return;
    }
    if test.series.iter().all(|interval| SECOND.contains(&interval.seconds)) {
        let values = test.series.iter().map(|interval: &Interval| interval.value).collect();
        let (name, unit) = (metrics::throughput_of(&OPERATION.name), &*test.unit);
        let label = &record.measure.unit;
        record.series.push(Series::new(&name, label, unit, metrics::THROUGHPUT, values));
    } else if !test.less_is_better {
        let text = "its intervals are not of one second, so they are not shown per second";
        record.notes.push(text.to_owned());
    }
}

/// A metric that is already there stays as it is.
pub(super) fn add(record: &mut StepRecord, name: String, value: f64) {
    if value.is_finite() && record.metrics.iter().all(|(known, _)| *known != name) {
        record.metrics.push((name, value));
    }
}
