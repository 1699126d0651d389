use super::*;
use crate::random::Random;

const TRUTH: StepVariance = StepVariance { between: 0.01, second: 0.03, autocorrelation: 0.8 };

/// Trials of two lines in blocks whose levels differ by 10%.
fn experiment(random: &mut Random, blocks: usize, seconds: usize) -> Vec<(usize, usize, Vec<f64>)> {
    let mut trials = Vec::new();
    for block in 0..blocks {
        let mood = 0.1 * random.normal();
        for line in 0..2 {
            let level = 1000.0 * (mood + TRUTH.between * random.normal()).exp();
            let noise = random.autoregression(seconds, TRUTH.autocorrelation);
            let series = noise.iter().map(|e| level * (1.0 + TRUTH.second * e)).collect();
            trials.push((line, block, series));
        }
    }
    trials
}

fn estimate(trials: &[(usize, usize, Vec<f64>)]) -> StepVariance {
    let trials: Vec<TrialSeconds<'_>> = trials
        .iter()
        .map(|(line, block, seconds)| TrialSeconds { line: *line, block: *block, seconds })
        .collect();
    StepVariance::estimate(&trials).unwrap()
}

#[test]
fn known_variances_come_back() {
    let found = estimate(&experiment(&mut Random::new(1), 400, 60));
    assert!((found.between - TRUTH.between).abs() < 0.001, "{found:?}");
    assert!((found.second - TRUTH.second).abs() < 0.001, "{found:?}");
    assert!((found.autocorrelation - TRUTH.autocorrelation).abs() < 0.03, "{found:?}");
}

#[test]
fn a_single_line_has_its_blocks_in_it() {
    let one: Vec<_> = experiment(&mut Random::new(2), 300, 60)
        .into_iter()
        .filter(|(line, ..)| *line == 0)
        .collect();
    let found = estimate(&one);
    assert!((found.between - 0.1).abs() < 0.02, "{found:?}");
}

#[test]
fn what_cannot_be_told_apart() {
    let seconds = [10.0, 11.0, 10.0, 9.0, 10.0, 12.0, 10.0, 9.0];
    let trial = |line, block, seconds| TrialSeconds { line, block, seconds };
    assert_eq!(
        StepVariance::estimate(&[trial(0, 0, &seconds)]),
        Err(LevelsError::TooFewTrials { found: 1 })
    );
    assert_eq!(
        StepVariance::estimate(&[trial(0, 0, &seconds), trial(1, 0, &seconds)]),
        Err(LevelsError::TooFewTrials { found: 2 })
    );
    assert_eq!(
        StepVariance::estimate(&[trial(0, 0, &seconds[..7]), trial(0, 1, &seconds[..7])]),
        Err(LevelsError::TooFewSeconds { found: 7 })
    );
    let same = StepVariance::estimate(&[trial(0, 0, &seconds), trial(0, 1, &seconds)]).unwrap();
    assert!(same.between.abs() < 1e-12 && same.second > 0.0);
}

#[test]
fn the_error_is_the_one_that_experiments_have() {
    let mut random = Random::new(3);
    let (blocks, seconds) = (6, 30);
    let squares: f64 = (0..1500)
        .map(|_| {
            let trials = experiment(&mut random, blocks, seconds);
            let level = |place: usize| mean(&trials[place].2).unwrap().ln();
            let d: f64 = (0..blocks).map(|b| level(2 * b) - level(2 * b + 1)).sum();
            (d / blocks as f64).powi(2)
        })
        .sum();
    let found = (squares / 1500.0).sqrt();
    let expected = TRUTH.error(6, 30.0);
    assert!((found / expected - 1.0).abs() < 0.06, "{found} {expected}");
}

#[test]
fn no_other_number_of_seconds_is_better() {
    let cost = TrialCost { trial: 45.0, second: 1.2 };
    let other = StepVariance { between: 0.004, second: 0.1, autocorrelation: 0.2 };
    let variance_times_cost = |steps: &[StepVariance], seconds: &[f64]| -> f64 {
        let variance: f64 =
            steps.iter().zip(seconds).map(|(s, n)| s.between.powi(2) + s.long_run() / n).sum();
        variance * (cost.trial + cost.second * seconds.iter().sum::<f64>())
    };
    for steps in [&[TRUTH][..], &[TRUTH, other]] {
        let best = optimal_seconds(steps, cost);
        let reached = variance_times_cost(steps, &best);
        for place in 0..steps.len() {
            for factor in [0.5, 0.9, 1.1, 2.0] {
                let mut seconds = best.clone();
                seconds[place] *= factor;
                assert!(variance_times_cost(steps, &seconds) > reached, "{best:?} {factor}");
            }
        }
    }
    // Kalibera and Jones by hand: √(45 / 1.2 · 0.0009 · 9 / 0.0001) = √3037.5.
    assert!((optimal_seconds(&[TRUTH], cost)[0] - 3037.5_f64.sqrt()).abs() < 1e-6);
    let level = StepVariance { between: 0.0, ..TRUTH };
    assert_eq!(optimal_seconds(&[level], cost), [f64::INFINITY]);
}

#[test]
fn only_trials_are_degrees_of_freedom() {
    // However long the trials, two blocks have one degree of freedom: t = 12.7.
    let width = TRUTH.half_width(2, 1e9).unwrap();
    assert!((width - (12.706_205 * 0.01_f64).exp_m1()).abs() < 1e-6, "{width}");
    assert_eq!((TRUTH.half_width(1, 60.0), TRUTH.detectable(0, 60.0, 0.05)), (None, None));
    let effect = |blocks, seconds, level| TRUTH.detectable(blocks, seconds, level).unwrap();
    assert!(effect(8, 60.0, 0.05) > effect(9, 60.0, 0.05));
    assert!(effect(8, 60.0, 0.05) > effect(8, 61.0, 0.05));
    assert!(effect(8, 60.0, 0.05) < effect(8, 60.0, 0.05 / 6.0), "harder among six");
    assert_eq!(TRUTH.detectable(4, 60.0, 0.05), None);
}

const SPENDING: Spending = Spending {
    budget: 8.0 * 3600.0,
    variants: 2,
    cost: TrialCost { trial: 60.0, second: 1.0 },
    least_blocks: 6,
    most_blocks: 50,
    shortest: 10,
    longest: 3600,
    level: 0.05,
};

#[test]
fn the_budget_is_kept_and_the_cheapest_plan_taken() {
    let steps = [TRUTH, StepVariance { between: 0.005, second: 0.02, autocorrelation: 0.1 }];
    let found = allocate(&steps, 0.02, &SPENDING).unwrap();
    assert_eq!(found.decided, [true, true]);
    assert!(found.time < SPENDING.budget);
    for (step, seconds) in steps.iter().zip(&found.seconds) {
        assert!(step.detectable(found.blocks, f64::from(*seconds), 0.05).unwrap() <= 0.02);
    }
    // No other number of blocks with the fewest seconds that suffice is cheaper.
    for blocks in 6..=50 {
        let seconds: Option<u32> =
            steps.iter().map(|step| step.seconds_for(0.02, blocks, &SPENDING)).sum();
        if let Some(seconds) = seconds {
            assert!(f64::from(blocks * 2) * (60.0 + f64::from(seconds)) >= found.time - 1e-9);
        }
    }
}

#[test]
fn a_hopeless_step_does_not_keep_others_from_being_decided() {
    let hopeless = StepVariance { between: 0.3, second: 0.1, autocorrelation: 0.5 };
    let found = allocate(&[hopeless, TRUTH, TRUTH], 0.02, &SPENDING).unwrap();
    assert_eq!(found.decided, [false, true, true]);
    assert!(found.time <= SPENDING.budget);
    let poor = Spending { budget: 900.0, ..SPENDING };
    assert_eq!(allocate(&[TRUTH], 0.02, &Spending { budget: 100.0, ..SPENDING }), None);
    let found = allocate(&[TRUTH], 0.02, &poor).unwrap();
    assert_eq!((found.decided[0], found.blocks), (false, 6));
    assert!(found.time <= 900.0 && found.time > 800.0, "{found:?}");
}
