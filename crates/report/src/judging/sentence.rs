//! A comparison in plain words.

use judge::{Comparison, ENOUGH_BLOCKS, Margin, Method, Verdict};
use metrics::Words;

use crate::output::number::{changes, percent};

/// Says what a comparison with an interval found: "14.3 is 6.6% slower than 13.7 (95% interval
/// −7.4% to −5.8%, 6 blocks): regression", "14.3 uses 5.2% more CPU per operation of the DBMS than
/// 13.7 (…): regression".
///
/// `not_held`: the classes whose rate one of the two did not hold, which makes the figure doubtful.
pub(crate) fn sentence(
    variant: &str,
    base: &str,
    comparison: &Comparison,
    words: Words,
    not_held: &[&str],
) -> String {
    let effect = effect(comparison.ratio, words);
    let mut said = format!("{variant} {effect} {base} ({}): ", evidence(comparison));
    said.push_str(comparison.verdict.as_str());
    match comparison.verdict {
        _ if comparison.blocks < ENOUGH_BLOCKS => {
            said.push_str(&format!("; {}", too_few(comparison)));
        }
        Verdict::Equivalent => said.push_str(&seen(comparison, words, "")),
        Verdict::Inconclusive => said.push_str(&open(comparison, words)),
        Verdict::Regression | Verdict::Improvement => {}
    }
    if !not_held.is_empty() {
        said.push_str(&format!("; {} rate not held", not_held.join(" and ")));
    }
    said
}

/// Explains why there are too few blocks for a verdict.
pub(crate) fn too_few(comparison: &Comparison) -> String {
    format!("a verdict needs at least {}", trials(comparison, ENOUGH_BLOCKS, ""))
}

/// Describes what is missing for a verdict.
fn open(comparison: &Comparison, words: Words) -> String {
    let warned = |code| comparison.warnings.iter().any(|warning| warning.code() == code);
    let mut said = seen(comparison, words, "perhaps ");
    said.push_str(&match comparison.further_blocks {
        Some(further) if further > 0 => {
            format!("; about {} would decide", trials(comparison, further as usize, "more "))
        }
        Some(_) => String::new(),
        None if warned("not-among-many") => {
            let margin = percent(comparison.margin.asked);
            format!("; a difference beyond {margin} is not certain among all comparisons")
        }
        None if warned("lengths-disagree") => {
            "; slices of two lengths disagree, which more blocks with these lengths won't change"
                .to_owned()
        }
        None if warned("servers-disagree") => {
            "; the ratio depends on the number of servers, which more blocks won't change"
                .to_owned()
        }
        _ if withdrawn(comparison) => {
            "; the machines differ, so no verdict describes all of them".to_owned()
        }
        None => {
            let Margin { asked, noise_floor } = comparison.margin;
            let (slower, faster) = comparison.margin.outer_edges();
            let (below, above) = comparison.margin.edges();
            let within = |low, high| (low..=high).contains(&comparison.ratio);
            let asked = percent(asked);
            if within(slower, faster) && !within(below, above) {
                format!(
                    "; outside the margin of {asked}, but not the noise floor of {}",
                    percent(noise_floor)
                )
            } else {
                format!("; too near to the margin of {asked} to say how many more would decide")
            }
        }
    });
    said
}

/// True if the interval alone would say `equivalent`, but machines differ.
fn withdrawn(comparison: &Comparison) -> bool {
    let codes = ["machines-differ", "machine-types-differ", "odd-machines"];
    let (below, above) = comparison.margin.edges();
    let within = comparison.low.is_some_and(|low| low >= below)
        && comparison.high.is_some_and(|high| high <= above);
    within && comparison.warnings.iter().any(|warning| codes.contains(&warning.code()))
}

/// A certain difference, which may be small, or the minimum detectable effect: the smallest
/// difference that would have been noticed.
fn seen(comparison: &Comparison, words: Words, perhaps: &str) -> String {
    match comparison.detectable {
        _ if comparison.confirmed() => {
            let direction = direction(comparison.ratio, words);
            let (below, above) = comparison.margin.edges();
            let beyond = comparison.high.is_some_and(|high| high < below)
                || comparison.low.is_some_and(|low| low > above);
            match beyond {
                true => format!("; certainly {direction}"),
                false => {
                    let asked = percent(comparison.margin.asked);
                    format!("; certainly {direction}, {perhaps}by less than {asked}")
                }
            }
        }
        Some(effect) if effect >= 0.0005 => {
            format!("; {} {} would have been noticed", percent(effect), words.worse)
        }
        _ => String::new(),
    }
}

/// Which way a ratio points: `faster`, `more`.
pub(crate) fn direction(ratio: f64, words: Words) -> &'static str {
    if ratio < 1.0 { words.less } else { words.more }
}

/// "is 6.6% slower than", "uses as much CPU per operation of the DBMS as".
fn effect(ratio: f64, words: Words) -> String {
    let size = (ratio - 1.0).abs();
    let Words { verb, same, what, .. } = words;
    let what = if what.is_empty() { String::new() } else { format!(" {what}") };
    if size < 0.0005 {
        format!("{same}{what} as")
    } else if ratio >= 10.0 && what.is_empty() {
        format!("is {ratio:.1} times as fast as")
    } else {
        format!("{verb} {} {}{what} than", percent(size), direction(ratio, words))
    }
}

fn evidence(comparison: &Comparison) -> String {
    let few = comparison.blocks < ENOUGH_BLOCKS;
    match (comparison.low, comparison.high) {
        (Some(low), Some(high)) if !few => format!(
            "{} interval {}, {}",
            confidence(comparison.confidence),
            changes(low, high),
            trials(comparison, comparison.blocks, "")
        ),
        _ => trials(comparison, comparison.blocks, ""),
    }
}

/// `95%`, `98.3%`.
pub(crate) fn confidence(fraction: f64) -> String {
    let text = percent(fraction);
    text.replace(".0%", "%")
}

/// `6 blocks`; with slices `6 blocks in slices`.
pub(crate) fn trials(comparison: &Comparison, count: usize, more: &str) -> String {
    let (one, many) = match comparison.method {
        Method::Blocks => ("block", "blocks"),
        Method::Slices => ("block in slices", "blocks in slices"),
    };
    format!("{count} {more}{}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::compare;
    use metrics::{OPS, find};

    fn words(metric: &str) -> Words {
        find(metric).unwrap().words
    }

    fn said(variant: &[f64]) -> String {
        let base = vec![100.0; variant.len()];
        let found = compare(&base, variant, Margin::default()).unwrap();
        sentence("14.3", "13.7", &found, OPS.words, &[])
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
            said(&[94.0, 98.5, 96.0, 98.0, 95.0, 99.0]),
            "14.3 is 3.3% slower than 13.7 (95% interval −5.4% to −1.1%, 6 blocks): inconclusive; certainly slower, \
             perhaps by less than 2.0%; about 7 more blocks would decide"
        );
        assert_eq!(
            said(&[94.0, 106.0, 97.0, 103.0, 99.0, 101.0]),
            "14.3 is 0.1% slower than 13.7 (95% interval −4.5% to +4.5%, 6 blocks): inconclusive; 7.1% slower would have \
             been noticed; about 16 more blocks would decide"
        );
        assert_eq!(
            said(&[99.0, 99.1, 98.9, 99.0, 99.1, 98.9]),
            "14.3 is 1.0% slower than 13.7 (95% interval −1.1% to −0.9%, 6 blocks): equivalent; certainly slower, by less \
             than 2.0%"
        );
        assert_eq!(
            said(&[99.9, 100.2, 99.7, 100.1, 100.0, 100.1]),
            "14.3 is as fast as 13.7 (95% interval −0.2% to +0.2%, 6 blocks): equivalent; 0.3% slower would have been \
             noticed"
        );
    }

    #[test]
    fn few_blocks_say_what_a_verdict_needs() {
        assert_eq!(
            said(&[93.4, 93.0, 93.8]),
            "14.3 is 6.6% slower than 13.7 (3 blocks): inconclusive; a verdict needs at least 6 blocks"
        );
    }

    #[test]
    fn what_the_noise_hides_is_said() {
        let margin = Margin { asked: 0.02, noise_floor: 0.25 };
        let found = compare(&[100.0; 6], &[86.0, 86.1, 85.9, 86.0, 86.1, 85.9], margin).unwrap();
        let said = sentence("b", "a", &found, OPS.words, &[]);
        let end = "outside the margin of 2.0%, but not the noise floor of 25.0%";
        assert!(said.ends_with(end) && said.contains(": inconclusive; "), "{said}");
    }

    #[test]
    fn a_confidence_is_the_same_text_everywhere() {
        assert_eq!([0.95, 0.9925, 1.0 - 0.05 / 3.0].map(confidence), ["95%", "99.2%", "98.3%"]);
    }

    #[test]
    fn looks_and_slices_are_named() {
        let base = [100.0; 6];
        let variant = [93.4, 93.0, 93.8, 93.2, 93.6, 93.4];
        let mut found =
            judge::compare_at(&base, &variant, Margin::default(), 1.0 - 0.05 / 3.0).unwrap();
        assert!(sentence("a", "b", &found, OPS.words, &[]).contains("(98.3% interval −7"));
        found.method = Method::Slices;
        assert!(
            sentence("a", "b", &found, OPS.words, &[])
                .contains(", 6 blocks in slices): regression")
        );
    }

    #[test]
    fn large_factors_and_lost_rates() {
        let fast = compare(&[1.0; 6], &[20.0; 6], Margin::default()).unwrap();
        assert!(
            sentence("a", "b", &fast, OPS.words, &["insert"])
                .starts_with("a is 20.0 times as fast as b")
        );
        assert!(
            sentence("a", "b", &fast, OPS.words, &["insert"])
                .ends_with("improvement; insert rate not held")
        );
    }

    #[test]
    fn costs_in_words() {
        let base = [100.0; 6];
        let said = |metric: &str, variant: &[f64]| {
            let found = compare(&base, variant, Margin::default()).unwrap();
            let told = sentence("b", "a", &found, words(metric), &[]);
            told.split(" (").next().unwrap().to_owned()
        };
        let [more, less, same] = [105.2, 94.8, 100.0].map(|value| [value; 6]);
        let cpu = "CPU per operation of the DBMS";
        assert_eq!(said("dbms.cpu/o", &more), format!("b uses 5.2% more {cpu} than a"));
        assert_eq!(said("dbms.cpu/o", &less), format!("b uses 5.2% less {cpu} than a"));
        assert_eq!(said("dbms.cpu/o", &same), format!("b uses as much {cpu} as a"));
        assert_eq!(said("cs/o", &less), "b does 5.2% fewer context switches per operation than a");
        assert_eq!(said("wKB/o", &more), "b writes 5.2% more to storage per operation than a");
        assert_eq!(said("query.p99", &more), "b has a 5.2% higher p99 of query times than a");
        assert_eq!(said("query.p99", &same), "b has the same p99 of query times as a");
    }
}
