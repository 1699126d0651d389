//! Intervals as small bars, one line each, so that a run can show how they narrow.

use lab::IntervalRow;

/// Characters of a bar; odd, so that 1 is in the middle.
const WIDTH: usize = 41;
/// Smallest half range of the bars, as a log ratio.
const LEAST_RANGE: f64 = 0.05;

/// One line for each row: step, variant, difference, bar, verdict.
pub fn lines(rows: &[IntervalRow]) -> Vec<String> {
    let far = rows.iter().map(|row| 1.3 * row.ratio.ln().abs() + row.margin);
    let range = far.fold(LEAST_RANGE, f64::max);
    let width = |of: fn(&IntervalRow) -> &str| rows.iter().map(|row| of(row).len()).max();
    let steps = width(|row| &row.step).unwrap_or(0);
    let variants = width(|row| &row.variant).unwrap_or(0);
    let line = |row: &IntervalRow| {
        let half = row.interval.map_or(String::new(), |(low, high)| {
            let half = 50.0 * (high - low);
            format!("±{half:.digits$}%", digits = usize::from(half < 10.0))
        });
        // A true minus, as in tables.
        let difference = format!("{:+.1}%", 100.0 * (row.ratio - 1.0)).replace('-', "−");
        let verdict = row.verdict.unwrap_or_default();
        let (step, variant, bar) = (&row.step, &row.variant, bar(row, range));
        let text = format!(
            "  {step:<steps$}  {variant:<variants$} {difference:>7} {half:<7} {bar} {verdict}"
        );
        text.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Draws the interval within the range, with marks at 1 and at the margins.
fn bar(row: &IntervalRow, range: f64) -> String {
    let place = |log: f64| {
        let share = (log + range) / (2.0 * range);
        (share * (WIDTH - 1) as f64).round().clamp(0.0, (WIDTH - 1) as f64) as usize
    };
    let mut bar = vec![' '; WIDTH];
    for edge in [(-row.margin).ln_1p(), row.margin.ln_1p()] {
        bar[place(edge)] = '┊';
    }
    bar[place(0.0)] = '│';
    if let Some((low, high)) = row.interval {
        let (from, to) = (place(low.max(f64::MIN_POSITIVE).ln()), place(high.ln()));
        bar[from..=to].fill('━');
    }
    bar[place(row.ratio.ln())] = '●';
    bar.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ratio: f64, half: f64, verdict: Option<&'static str>) -> IntervalRow {
        IntervalRow {
            step: "l.i0".to_owned(),
            variant: "pg18.1".to_owned(),
            ratio,
            interval: (half > 0.0).then_some((ratio - half, ratio + half)),
            margin: 0.02,
            verdict,
        }
    }

    #[test]
    fn a_bar_shows_where_the_interval_lies() {
        let found = lines(&[row(0.95, 0.01, Some("regression"))]);
        assert_eq!(
            found,
            ["  l.i0  pg18.1   −5.0% ±1.0%         ━━●━━━   ┊    │    ┊                regression"]
        );
    }

    #[test]
    fn what_lies_beyond_the_range_stays_inside_the_bar() {
        let wide = &lines(&[row(1.0, 0.9, None)])[0];
        assert_eq!(wide.matches('━').count(), WIDTH - 1, "{wide}");
        let single = &lines(&[row(1.1, 0.0, None)])[0];
        assert!(!single.contains('━') && single.contains('●'), "{single}");
    }
}
