//! The length of slices, chosen from rounds of several lengths.

use std::collections::BTreeMap;
use std::time::Duration;

use drive::Outcome;
use judge::{LengthTrial, choose_length};

use crate::joint::slicing::UNTESTED;

/// Lengths are not compared if one has fewer rounds than this (as in `judge`).
const ROUNDS_OF_A_LENGTH: usize = 12;
/// With fewer rounds of the longest length than this, the step is too short for longer ones: three
/// lengths, whose mean is six times that of those before, have a quarter of the rounds each.
const ROUNDS_TO_GO_ON: usize = 4 * ROUNDS_OF_A_LENGTH;

/// Returns the length to use from now on in ms, whether it is settled, and why. `remedy` is the
/// option that makes the step longer.
pub fn choose(trials: &[LengthTrial], remedy: Option<&str>) -> (f64, bool, String) {
    let all = || trials.iter().map(|trial| trial.seconds * 1000.0);
    let (shortest, longest) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let choice = choose_length(trials).filter(|choice| {
        choice.lengths.iter().filter(|length| length.rounds >= ROUNDS_OF_A_LENGTH).count() > 1
    });
    let Some(choice) = choice else {
        // Without a single whole round, no lengths were tried.
        let ms = if trials.is_empty() { UNTESTED } else { UNTESTED.min(longest).max(shortest) };
        let text = format!(
            "slices of {ms} ms; the step is too short to compare lengths (each needs at least \
             {ROUNDS_OF_A_LENGTH} rounds); {}",
            remedy.map_or_else(
                || "slice_ms in the plan sets one".to_owned(),
                |option| format!("{option} would make it longer")
            )
        );
        return (ms, true, text);
    };
    // Longer ones would have too few rounds: they are not tried then, and the choice says what it
    // lacks.
    let enough = choice.lengths.last().is_some_and(|length| length.rounds >= ROUNDS_TO_GO_ON);
    (choice.seconds * 1000.0, choice.settled || !enough, choice.to_string())
}

/// The rates of all targets by length.
pub fn trials(outcomes: &[&Outcome], rates: &[&[f64]]) -> Vec<LengthTrial> {
    let Some(first) = outcomes.first() else { return Vec::new() };
    let mut lengths: BTreeMap<Duration, LengthTrial> = BTreeMap::new();
    for length in first.slices.iter().map(|slice| slice.length) {
        lengths.entry(length).or_insert_with(|| LengthTrial {
            seconds: length.as_secs_f64(),
            operations: f64::INFINITY,
            rates: Vec::new(),
        });
    }
    for (length, trial) in &mut lengths {
        for (outcome, rates) in outcomes.iter().zip(rates) {
            let of_length = || outcome.slices.iter().filter(|slice| slice.length == *length);
            let operations: Vec<f64> = of_length().map(|slice| slice.operations as f64).collect();
            trial.operations = trial.operations.min(judge::median(&operations).unwrap_or(0.0));
            let rates = outcome
                .slices
                .iter()
                .zip(*rates)
                .map(|(slice, rate)| if slice.length == *length { *rate } else { f64::NAN });
            trial.rates.push(rates.collect());
        }
    }
    lengths.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `rounds` rounds of each length, each with the rate of its length and a little noise.
    fn trials(rounds: usize, lengths: &[(f64, f64)]) -> Vec<LengthTrial> {
        let all = rounds * lengths.len();
        let rates =
            |place: usize, rate: f64| -> Vec<f64> {
                let chance = |round: usize| 1.0 + 0.002 * (round as f64 * 2.4).sin();
                (0..all)
                    .map(|round| {
                        if round % lengths.len() == place { rate * chance(round) } else { f64::NAN }
                    })
                    .collect()
            };
        let of = |(place, (seconds, rate)): (usize, &(f64, f64))| LengthTrial {
            seconds: *seconds,
            operations: 100.0,
            rates: vec![rates(place, *rate), rates(place, 0.9 * rate)],
        };
        lengths.iter().enumerate().map(of).collect()
    }

    #[test]
    fn a_step_that_is_too_short_gets_a_usual_length_among_those_tried() {
        let few = |lengths: &[f64]| {
            let lengths: Vec<_> = lengths.iter().map(|seconds| (*seconds, 1000.0)).collect();
            choose(&trials(5, &lengths), Some("--rows 600"))
        };
        let (ms, settled, text) = few(&[0.01, 0.04, 0.16]);
        assert_eq!((ms, settled), (40.0, true));
        assert!(text.contains("too short to compare lengths"), "{text}");
        assert!(text.ends_with("rounds); --rows 600 would make it longer"), "{text}");
        assert!((few(&[0.01, 0.02]).0 - 20.0).abs() < 1e-9);
        assert!((choose(&[], None).0 - UNTESTED).abs() < 1e-9, "not one round");
        assert!((few(&[0.16, 0.32]).0 - 160.0).abs() < 1e-9);
    }

    #[test]
    fn longer_ones_are_tried_only_where_the_step_has_room_for_them() {
        let rising = [(0.01, 1000.0), (0.02, 1100.0), (0.04, 1200.0), (0.08, 1300.0)];
        let (ms, settled, _) = choose(&trials(200, &rising), None);
        assert_eq!((ms, settled), (80.0, false));
        let (ms, settled, text) = choose(&trials(30, &rising), None);
        assert_eq!((ms, settled), (80.0, true));
        assert!(text.contains("may be too short itself"), "{text}");
    }

    #[test]
    fn a_length_that_agrees_with_the_longest_is_settled() {
        let (_, settled, text) =
            choose(&trials(60, &[(0.02, 1000.0), (0.04, 1000.0), (0.08, 1000.0)]), None);
        assert!(settled, "{text}");
    }
}
