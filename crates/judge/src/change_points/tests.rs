use super::*;
use crate::random::Random;

/// Histories of one trial per run around 1000, `cv` apart, with levels that change at the given
/// runs.
fn history(random: &mut Random, count: usize, rho: f64, changes: &[(usize, f64)]) -> Vec<Vec<f64>> {
    let noise = random.autoregression(count, rho);
    let level = |run: usize| -> f64 {
        changes.iter().filter(|(at, _)| *at <= run).map(|(_, ratio)| ratio.ln()).sum()
    };
    noise.iter().enumerate().map(|(run, e)| vec![1000.0 * (0.01 * e + level(run)).exp()]).collect()
}

fn runs(changes: &Changes) -> Vec<usize> {
    changes.points.iter().map(|point| point.run).collect()
}

#[test]
fn planted_changes_are_found_with_their_sizes() {
    let mut random = Random::new(1);
    let planted = [(20, 0.9), (45, 1.06)];
    let found = change_points(
        &history(&mut random, 70, 0.0, &planted),
        &ChangeSearch::by(Exchangeable::Run),
    )
    .unwrap();
    assert_eq!(runs(&found), [20, 45]);
    for (point, (_, ratio)) in found.points.iter().zip(planted) {
        assert!(point.low < ratio && ratio < point.high, "{point:?}");
        assert!(point.low < point.ratio && point.ratio < point.high);
        assert!(point.high / point.low < 1.03, "{point:?}");
        assert!(point.p <= 0.05);
    }
    assert_eq!((found.points[0].before.clone(), found.points[0].after.clone()), (0..20, 20..45));
    assert_eq!((found.points[1].before.clone(), found.points[1].after.clone()), (20..45, 45..70));
    assert_eq!(found.units, 70);
}

#[test]
fn plain_noise_rarely_changes() {
    let mut random = Random::new(2);
    let search = ChangeSearch { permutations: 199, ..ChangeSearch::by(Exchangeable::Run) };
    for count in [12, 40] {
        let alarms = (0..100)
            .filter(|_| {
                let history = history(&mut random, count, 0.0, &[]);
                !change_points(&history, &search).unwrap().points.is_empty()
            })
            .count();
        assert!(alarms <= 10, "{count} runs: {alarms} of 100");
    }
}

#[test]
fn what_wanders_is_doubtful_and_not_a_change() {
    let mut random = Random::new(3);
    let search = ChangeSearch { permutations: 99, ..ChangeSearch::by(Exchangeable::Run) };
    let (mut changes, mut doubts) = (0, 0);
    for _ in 0..20 {
        let found = change_points(&history(&mut random, 80, 0.8, &[]), &search).unwrap();
        changes += usize::from(!found.points.is_empty());
        doubts += usize::from(!found.doubtful.is_empty());
    }
    assert!(doubts >= 15, "the permutation test alone is fooled: {doubts} of 20");
    assert!(changes <= 5, "{changes} of 20");
}

#[test]
fn a_change_is_never_inside_a_run() {
    // Versions interleaved in one experiment, six trials each; the fourth is 3% slower.
    let mut random = Random::new(4);
    let levels = [1.0, 1.0, 1.0, 0.97, 0.97_f64];
    let history: Vec<Vec<f64>> = levels
        .iter()
        .map(|level| (0..6).map(|_| level * (0.01 * random.normal()).exp()).collect())
        .collect();
    let found = change_points(&history, &ChangeSearch::by(Exchangeable::Trial)).unwrap();
    assert_eq!(runs(&found), [3]);
    assert_eq!((found.units, found.persistence), (30, None));
    assert_eq!((found.points[0].before.clone(), found.points[0].after.clone()), (0..3, 3..5));
    // By the mean of each run there are only five, and nothing can be said.
    let few = change_points(&history, &ChangeSearch::by(Exchangeable::Run)).unwrap();
    assert_eq!((few.points.len(), few.units), (0, 5));
}

#[test]
fn a_level_that_came_back_is_two_changes() {
    let mut random = Random::new(5);
    let planted = [(12, 0.94), (24, 1.0 / 0.94)];
    let found = change_points(
        &history(&mut random, 36, 0.0, &planted),
        &ChangeSearch::by(Exchangeable::Run),
    )
    .unwrap();
    assert_eq!(runs(&found), [12, 24]);
}

#[test]
fn seven_can_show_nothing_and_eight_can() {
    let step = |count: usize| -> Vec<Vec<f64>> {
        (0..count)
            .map(|run| vec![if run < count / 2 { 100.0 } else { 50.0 } + run as f64])
            .collect()
    };
    let search = ChangeSearch { dependent: false, ..ChangeSearch::by(Exchangeable::Run) };
    assert!(change_points(&step(7), &search).unwrap().points.is_empty());
    assert_eq!(runs(&change_points(&step(8), &search).unwrap()), [4]);
    assert_eq!(ENOUGH_UNITS, 8);
}

#[test]
fn no_spread_no_change() {
    let same =
        change_points(&vec![vec![100.0; 3]; 10], &ChangeSearch::by(Exchangeable::Trial)).unwrap();
    assert!(same.points.is_empty());
    // A step without any noise has an interval of no width.
    let step: Vec<Vec<f64>> = (0..20).map(|run| vec![if run < 8 { 100.0 } else { 90.0 }]).collect();
    let found = change_points(&step, &ChangeSearch::by(Exchangeable::Run)).unwrap();
    assert_eq!(runs(&found), [8]);
    let point = &found.points[0];
    assert!((point.ratio - 0.9).abs() < 1e-12 && (point.low - point.high).abs() < 1e-9);
}

#[test]
fn what_cannot_be_searched() {
    let search = ChangeSearch::by(Exchangeable::Trial);
    assert_eq!(change_points(&[], &search).unwrap().units, 0);
    assert_eq!(change_points(&[vec![1.0]], &search).unwrap().points, []);
    assert_eq!(change_points(&[vec![1.0], vec![]], &search), Err(HistoryError::NoTrial { run: 1 }));
    assert_eq!(
        change_points(&[vec![1.0], vec![2.0, -1.0]], &search),
        Err(HistoryError::NotPositive { run: 1, value: -1.0 })
    );
}

#[test]
fn the_same_every_time() {
    let history = history(&mut Random::new(6), 60, 0.3, &[(30, 0.97)]);
    let search = ChangeSearch::by(Exchangeable::Run);
    assert_eq!(change_points(&history, &search), change_points(&history, &search));
}

#[test]
fn welch_as_published() {
    // Welch's t of these (Ruxton, Behavioral Ecology 17, 2006, has the formulas): computed by hand.
    let (before, after) = ([1.0, 2.0, 3.0], [2.0, 4.0, 6.0, 8.0]);
    // Means 2 and 5, variances 1 and 20/3; errors 1/3 and 5/3, freedom 4 / (1/18 + 25/27) = 4.0755.
    let (difference, half) = difference(&before, &after, 0.0);
    assert!((difference - 3.0).abs() < 1e-12);
    let freedom = 4.0 / (1.0 / 18.0 + 25.0 / 27.0);
    assert!((half - t_quantile(0.975, freedom) * 2.0_f64.sqrt()).abs() < 1e-9);
}
