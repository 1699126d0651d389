//! Intervals as small bars, one line each, so that a run can show how they narrow.

use lab::IntervalRow;
use report::{half_width, shortened};

/// Characters of a bar, where there is room; odd, so 1 is in the middle.
const WIDTH: usize = 41;
/// Characters of a short bar; names get shorter before it does.
const SHORT: usize = 15;
/// Characters of the shortest bar, where names can't get shorter.
const SHORTEST: usize = 9;
/// Characters around the names and the bar: gaps, the difference, half its interval.
const AROUND: usize = 21;
/// Characters that are left of the longest name.
const LEAST_NAME: usize = 9;
/// Smallest half range of the bars, as a log ratio.
const LEAST_RANGE: f64 = 0.05;

/// One line for each row: step, variant, difference, bar, verdict; no wider than `columns`, as far
/// as names can be shortened.
pub fn lines(rows: &[IntervalRow], columns: usize) -> Vec<String> {
    let far = rows.iter().map(|row| 1.3 * row.ratio.ln().abs() + row.margin);
    let range = far.fold(LEAST_RANGE, f64::max);
    let widest = |names: &[String]| names.iter().map(|it| it.chars().count()).max().unwrap_or(0);
    let all =
        |of: fn(&IntervalRow) -> &String| -> Vec<String> { rows.iter().map(of).cloned().collect() };
    let [mut steps, mut variants] = [all(|row| &row.step), all(|row| &row.variant)];
    let verdict = rows.iter().filter_map(|row| row.verdict).map(str::len).max().unwrap_or(0);
    let room = columns.saturating_sub(AROUND + verdict);
    let (mut step, mut variant) = (widest(&steps), widest(&variants));
    while step + variant + SHORT > room && step.max(variant) > LEAST_NAME {
        *(if step > variant { &mut step } else { &mut variant }) -= 1;
    }
    (steps, variants) = (shortened(&steps, step), shortened(&variants, variant));
    let free = room.saturating_sub(step + variant).clamp(SHORTEST, WIDTH);
    let width = free - usize::from(free % 2 == 0);
    let line = |(row, (step_name, variant_name)): (&IntervalRow, (&String, &String))| {
        let half = row.interval.map(|(low, high)| half_width(0.5 * (high - low)));
        let half = half.unwrap_or_default();
        // A true minus, as in tables.
        let difference = format!("{:+.1}%", 100.0 * (row.ratio - 1.0)).replace('-', "−");
        let (verdict, bar) = (row.verdict.unwrap_or_default(), bar(row, range, width));
        let text = format!(
            "  {step_name:<step$}  {variant_name:<variant$} {difference:>7} {half:<6} {bar} {verdict}"
        );
        text.trim_end().to_owned()
    };
    rows.iter().zip(steps.iter().zip(&variants)).map(line).collect()
}

/// Draws the interval within the range, with marks at 1 and at the margins.
fn bar(row: &IntervalRow, range: f64, width: usize) -> String {
    let place = |log: f64| {
        let share = (log + range) / (2.0 * range);
        (share * (width - 1) as f64).round().clamp(0.0, (width - 1) as f64) as usize
    };
    let mut bar = vec![' '; width];
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
        let found = lines(&[row(0.95, 0.01, Some("regression"))], 100);
        assert_eq!(
            found,
            ["  l.i0  pg18.1   −5.0% ±1.0%        ━━●━━━   ┊    │    ┊                regression"]
        );
    }

    #[test]
    fn what_lies_beyond_the_range_stays_inside_the_bar() {
        let wide = &lines(&[row(1.0, 0.9, None)], 100)[0];
        assert_eq!(wide.matches('━').count(), WIDTH - 1, "{wide}");
        let single = &lines(&[row(1.1, 0.0, None)], 100)[0];
        assert!(!single.contains('━') && single.contains('●'), "{single}");
    }

    #[test]
    fn a_line_fits_its_terminal() {
        let mut long = row(0.5, 0.1, Some("inconclusive"));
        long.step = "a.step.with.a.name".to_owned();
        long.variant = "postgres.18.1.with.patches.and.more".to_owned();
        let other = row(1.1, 3622.14, Some("regression"));
        for columns in [60, 72, 80, 100] {
            let found = lines(&[long.clone(), other.clone()], columns);
            for line in &found {
                assert!(line.chars().count() <= columns, "{columns}: {line}");
            }
            assert!(found[0].contains('…') && found[0].ends_with("inconclusive"), "{found:?}");
            assert!(found[1].contains("pg18.1 ") && found[1].contains("±>100%"), "{found:?}");
        }
        let usual = &lines(&[row(0.95, 0.01, Some("improvement"))], 80)[0];
        assert!(usual.chars().count() <= 80 && !usual.contains('…'), "{usual}");
    }
}
