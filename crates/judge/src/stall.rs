//! Stalls: seconds in which almost nothing got done.

use std::ops::Range;

use crate::median;

/// A second is a stall if its throughput is below this share of the median of all seconds of its
/// step.
///
/// Our own choice. Noise alone does not go this low: the count of a second with 100 independent
/// operations varies by 10%, so a quarter is more than seven deviations away. The causes that do
/// are those that people look for in graphs of throughput over time: a checkpoint's flood of
/// writes, an fsync that blocks commits, compaction that blocks writers. The median is that of the
/// whole step, because a running median would follow a long stall down and lose it.
pub const STALL_SHARE: f64 = 0.25;

/// The stalls of one series.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stalls {
    /// In order of time, never touching one another; in seconds from the start of the step.
    pub spans: Vec<Range<usize>>,
    /// Seconds in stalls altogether.
    pub seconds: usize,
    /// Share of the measured seconds, 0 to 1.
    pub share: f64,
}

/// The stalls in a series of per-second throughput (whole seconds only: leave a last, partial one
/// out).
///
/// NaNs are gaps in the record: they are not stalls, do not count as measured, and end a stall.
/// Fewer than three measured seconds have no meaningful median and so no stalls.
pub fn stalls(series: &[f64]) -> Stalls {
    let measured = series.iter().filter(|value| !value.is_nan()).count();
    let middle = match median(series) {
        Some(middle) if measured >= 3 && middle > 0.0 => middle,
        _ => return Stalls::default(),
    };
    let mut spans: Vec<Range<usize>> = Vec::new();
    for (second, value) in series.iter().enumerate() {
        // A NaN compares as false.
        if *value < STALL_SHARE * middle {
            match spans.last_mut() {
                Some(last) if last.end == second => last.end = second + 1,
                _ => spans.push(second..second + 1),
            }
        }
    }
    let seconds = spans.iter().map(Range::len).sum();
    Stalls { spans, seconds, share: seconds as f64 / measured as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stalls_are_found_with_their_bounds() {
        let mut series = vec![1000.0; 60];
        series[10] = 0.0;
        series[20..25].fill(200.0);
        series[59] = 249.0;
        series[40] = 250.0;
        let found = stalls(&series);
        assert_eq!(found.spans, [10..11, 20..25, 59..60]);
        assert_eq!(found.seconds, 7);
        assert!((found.share - 7.0 / 60.0).abs() < 1e-15);
    }

    #[test]
    fn gaps_are_no_stalls() {
        let found = stalls(&[100.0, 0.0, f64::NAN, 0.0, 100.0, 100.0, 100.0]);
        assert_eq!(found.spans, [1..2, 3..4]);
        assert!((found.share - 2.0 / 6.0).abs() < 1e-15);
    }

    #[test]
    fn nothing_to_say_about_nothing() {
        assert_eq!(stalls(&[]), Stalls::default());
        assert_eq!(stalls(&[0.0; 30]), Stalls::default());
        assert_eq!(stalls(&[f64::NAN; 30]), Stalls::default());
        assert_eq!(stalls(&[100.0, 0.0]), Stalls::default());
    }

    #[test]
    fn a_steady_decline_is_no_stall() {
        let falling: Vec<f64> = (0..100).map(|i| 1000.0 - 6.0 * f64::from(i)).collect();
        assert_eq!(stalls(&falling).spans, []);
    }
}
