//! A comparison in plain words.

use judge::{Comparison, Verdict};

/// Says what a comparison found: "14.3 is 6.6% slower than 13.7 (95% interval −7.4% to −5.8%, 6 blocks): regression".
///
/// `held` is false when one of the two did not hold its insert rate, which puts the figure in doubt.
pub fn sentence(variant: &str, base: &str, comparison: &Comparison, held: bool) -> String {
    let mut said =
        format!("{variant} is {} {base} ({}): ", effect(comparison.ratio), evidence(comparison));
    said.push_str(comparison.verdict.as_str());
    if comparison.verdict == Verdict::Inconclusive && comparison.blocks > 1 {
        said.push_str(&match comparison.further_blocks {
            Some(further) if further > 0 => {
                format!(", about {} would decide", blocks(further as usize, "more "))
            }
            Some(_) => String::new(),
            None if comparison.warnings.iter().any(|w| w.code() == "not-among-many") => {
                ", not enough among so many comparisons".to_owned()
            }
            None => format!(", on the edge of the margin of {}", percent(comparison.margin)),
        });
    }
    if !held {
        said.push_str("; insert rate not held");
    }
    said
}

fn effect(ratio: f64) -> String {
    let size = (ratio - 1.0).abs();
    if size < 0.0005 {
        "as fast as".to_owned()
    } else if ratio < 1.0 {
        format!("{} slower than", percent(size))
    } else if ratio < 10.0 {
        format!("{} faster than", percent(size))
    } else {
        format!("{ratio:.1} times as fast as")
    }
}

fn evidence(comparison: &Comparison) -> String {
    match (comparison.low, comparison.high) {
        (Some(low), Some(high)) => format!(
            "95% interval {} to {}, {}",
            signed(low - 1.0),
            signed(high - 1.0),
            blocks(comparison.blocks, "")
        ),
        _ => format!("{}: no interval", blocks(comparison.blocks, "")),
    }
}

fn blocks(count: usize, more: &str) -> String {
    format!("{count} {more}{}", if count == 1 { "block" } else { "blocks" })
}

fn percent(fraction: f64) -> String {
    format!("{:.1}%", fraction * 100.0)
}

fn signed(fraction: f64) -> String {
    let text = format!("{:.1}%", (fraction * 100.0).abs());
    match text.as_str() {
        "0.0%" => text,
        _ if fraction < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::{Margin, compare};

    fn said(variant: &[f64]) -> String {
        let base = vec![100.0; variant.len()];
        sentence("14.3", "13.7", &compare(&base, variant, Margin::default()).unwrap(), true)
    }

    #[test]
    fn every_verdict_in_words() {
        assert_eq!(
            said(&[93.4, 93.0, 93.8, 93.2, 93.6, 93.4]),
            "14.3 is 6.6% slower than 13.7 (95% interval −6.9% to −6.3%, 6 blocks): regression"
        );
        assert_eq!(
            said(&[110.0, 111.0, 109.0, 110.0, 110.5, 109.5]),
            "14.3 is 10.0% faster than 13.7 (95% interval +9.3% to +10.7%, 6 blocks): improvement"
        );
        assert_eq!(
            said(&[100.0; 6]),
            "14.3 is as fast as 13.7 (95% interval 0.0% to 0.0%, 6 blocks): equivalent"
        );
        assert_eq!(
            said(&[95.0]),
            "14.3 is 5.0% slower than 13.7 (1 block: no interval): inconclusive"
        );
        let open = said(&[94.0, 98.5, 96.0, 98.0, 95.0, 99.0]);
        assert!(
            open.contains("inconclusive, about") && open.ends_with("more blocks would decide"),
            "{open}"
        );
    }

    #[test]
    fn large_factors_and_lost_rates() {
        let fast = compare(&[1.0; 2], &[20.0; 2], Margin::default()).unwrap();
        assert!(sentence("a", "b", &fast, false).starts_with("a is 20.0 times as fast as b"));
        assert!(sentence("a", "b", &fast, false).ends_with("improvement; insert rate not held"));
    }
}
