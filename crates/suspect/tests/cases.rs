//! Small cases, with answers by hand or by other means.

use suspect::{Candidate, Effort, Posterior, RangeError, Reason, Rest, Settings};

use crate::{Look, Range, changed, look, range};

const EFFORT: Effort = Effort { error: 0.001, most: 1 };

/// Cauchy's density of the prior.
fn prior(settings: &Settings, level: f64) -> f64 {
    let scaled = level / settings.typical;
    (std::f64::consts::PI * settings.typical * (1.0 + scaled * scaled)).recip()
}

/// Student's density to its power, up to a factor, with the variance of the build.
fn likelihood(settings: &Settings, look: Look, level: f64) -> f64 {
    let t = (look.log_ratio - level) / look.error.hypot(settings.repeatability);
    (1.0 + t * t / look.freedom).powf(-0.5 * (look.freedom - 1.0))
}

/// Levels with steps of 0.0002, far beyond all looks, and the edge of the margin below and above.
fn levels() -> (impl Iterator<Item = f64> + Clone, f64, f64) {
    ((-4000..=4000).map(|step| f64::from(step) * 0.0002 + 1e-5), 0.99_f64.ln(), 1.01_f64.ln())
}

#[test]
fn without_looks_the_prior_is_left() {
    let range = range(4);
    let posterior = Posterior::new(&range, &[]).unwrap();
    let typical = range.settings().typical;
    let small = (1.01_f64.ln() / typical).atan() - (0.99_f64.ln() / typical).atan();
    let nothing = 0.5 + 0.5 * small / std::f64::consts::PI;
    assert!((posterior.nothing() - nothing).abs() < 0.01, "{}", posterior.nothing());
    let all = posterior.probabilities();
    assert_eq!(all.len(), 5);
    assert!(all[1..].iter().all(|one| (one - 0.25 * (1.0 - all[0])).abs() < 1e-12), "{all:?}");
    assert_eq!(posterior.next(EFFORT).unwrap().candidate, 4, "the end comes first");
}

#[test]
fn one_change_by_integration() {
    let range = range(1);
    let settings = range.settings();
    let (levels, below, above) = levels();
    for at in [0.0, 0.008, 0.0105, 0.013, -0.02] {
        let look = look(1, at);
        let weight = |level| 0.0002 * prior(settings, level) * likelihood(settings, look, level);
        let all: f64 = levels.clone().map(weight).sum();
        let beyond = |level: &f64| !(below..=above).contains(level);
        let moved: f64 = levels.clone().filter(beyond).map(weight).sum();
        let expected = 0.5 * moved / (0.5 * likelihood(settings, look, 0.0) + 0.5 * all);
        let found = Posterior::new(&range, &[look]).unwrap().stretches()[0].moved;
        assert!((found - expected).abs() < 0.03, "at {at}: {found}, expected {expected}");
        assert!((found - expected).abs() < 0.001 + 0.1 * expected * (1.0 - expected));
    }
}

/// All four cases of two changes: none, the first, the second, both. The grid is good to two
/// hundredths where it is coarsest, in the middle between sure and impossible.
#[test]
fn two_changes_by_enumeration() {
    let range = range(2);
    let settings = range.settings();
    let (levels, below, above) = levels();
    let levels: Vec<f64> = levels.step_by(2).filter(|level| level.abs() < 0.3).collect();
    let step = 0.0004;
    let looks = [
        Look { candidate: 1, log_ratio: 0.014, error: 0.006, freedom: 5.0 },
        Look { candidate: 2, log_ratio: 0.03, error: 0.006, freedom: 5.0 },
    ];
    let change = 1.0 - 0.5_f64.sqrt();
    let beyond = |from: f64, to: f64| !(below..=above).contains(&(to - from));
    let (mut all, mut moved) = (0.0, [0.0; 2]);
    let mut add = |weight: f64, first: f64, second: f64| {
        all += weight;
        moved[0] += if beyond(0.0, first) { weight } else { 0.0 };
        moved[1] += if beyond(first, second) { weight } else { 0.0 };
    };
    let [first, second] = looks.map(|look| move |level| likelihood(settings, look, level));
    add((1.0 - change).powi(2) * first(0.0) * second(0.0), 0.0, 0.0);
    let priors: Vec<f64> =
        levels.iter().map(|level| change * step * prior(settings, *level)).collect();
    for (one, prior) in levels.iter().zip(&priors) {
        add((1.0 - change) * prior * first(*one) * second(*one), *one, *one);
        add((1.0 - change) * prior * first(0.0) * second(*one), 0.0, *one);
        for (other, later) in levels.iter().zip(&priors) {
            add(prior * later * first(*one) * second(*other), *one, *other);
        }
    }
    let posterior = Posterior::new(&range, &looks).unwrap();
    for (stretch, moved) in posterior.stretches().iter().zip(moved) {
        assert!(
            (stretch.moved - moved / all).abs() < 0.02,
            "{stretch:?}, expected {}",
            moved / all
        );
    }
}

#[test]
fn exact_counts_halve_the_range() {
    let mut range = range(1000);
    range.fails(500);
    let (mut looks, mut seen) = (Vec::new(), Vec::new());
    loop {
        let posterior = Posterior::new(&range, &looks).unwrap();
        let verdict = posterior.verdict();
        if let [culprit] = &verdict.culprits[..] {
            assert_eq!(culprit.at(), Some(321));
            assert!(culprit.low < 1.02 && culprit.high > 1.02 && culprit.high < 1.022);
            break;
        }
        let next = posterior.next(EFFORT).unwrap();
        seen.push(next.candidate);
        looks.push(Look::counted(next.candidate, if next.candidate < 321 { 1.0 } else { 1.02 }));
    }
    assert_eq!(seen[0], 1000);
    assert!(seen.len() <= 13, "the end, ten halves, and doubts: {seen:?}");
}

#[test]
fn a_culprit_behind_a_failing_candidate_has_several_suspects() {
    let range = changed(10, |number, candidate| candidate.fails = [4, 5].contains(&number));
    let looks = [look(3, 0.0), look(6, 0.05), look(10, 0.05), look(3, 0.0), look(6, 0.05)];
    let verdict = Posterior::new(&range, &looks).unwrap().verdict();
    assert_eq!(verdict.culprits.len(), 1, "{verdict:?}");
    assert_eq!(
        (&verdict.culprits[0].suspects[..], verdict.culprits[0].at()),
        (&[4, 5, 6][..], None)
    );
    // If two of them change nothing, one is left.
    let range = changed(10, |number, candidate| {
        candidate.fails = [4, 5].contains(&number);
        candidate.weight = if [4, 6].contains(&number) { 0.0 } else { 1.0 };
    });
    let verdict = Posterior::new(&range, &looks).unwrap().verdict();
    assert_eq!(verdict.culprits[0].at(), Some(5));
}

#[test]
fn a_heavy_change_is_looked_at_first() {
    let heavy = changed(10, |number, candidate| {
        candidate.weight = if number == 8 { 100.0 } else { 1.0 };
    });
    let looks = [look(10, 0.05), look(10, 0.05)];
    let next = Posterior::new(&heavy, &looks).unwrap().next(EFFORT).unwrap();
    assert!([7, 8].contains(&next.candidate), "{next:?}");
}

#[test]
fn cheap_candidates_come_first() {
    let costs = |number: usize, candidate: &mut Candidate| {
        candidate.build = if number == 40 { 0.0 } else { 20.0 };
    };
    let looks = [look(100, 0.05), look(100, 0.05)];
    let next = Posterior::new(&changed(100, costs), &looks).unwrap().next(EFFORT).unwrap();
    assert_eq!((next.candidate, next.cost.round()), (40, 1.0));
    let range = changed(100, |number, candidate| candidate.build = 20.0 * number.min(1) as f64);
    let many = Posterior::new(&range, &looks).unwrap().next_many(EFFORT, 3);
    let mut many: Vec<usize> = many.iter().map(|next| next.candidate).collect();
    many.sort_unstable();
    assert_eq!(many, [25, 50, 75]);
    let noisy = Effort { error: 0.05, most: 16 };
    let long = Posterior::new(&range, &looks).unwrap().next(noisy).unwrap();
    assert_eq!(long.units, 16, "a long look where it takes long to build");
}

#[test]
fn a_long_run_of_failures_is_left_in_growing_steps() {
    let mut range = changed(1000, |_, candidate| candidate.build = 1.0);
    let looks = [look(1000, 0.05), look(1000, 0.05)];
    let mut attempts = 0;
    loop {
        let next = Posterior::new(&range, &looks).unwrap().next(EFFORT).unwrap();
        if !(350..=650).contains(&next.candidate) {
            break;
        }
        range.fails(next.candidate);
        attempts += 1;
    }
    assert!(attempts <= 12, "{attempts} attempts in 301 failing candidates");
}

#[test]
fn nothing_takes_inner_looks() {
    let range = range(100);
    let ends: Vec<Look> = vec![look(100, 0.0); 8];
    let posterior = Posterior::new(&range, &ends).unwrap();
    let rest = Rest::Undecided(Reason::Unlooked(vec![25, 50, 75]));
    assert_eq!(posterior.verdict().rest, rest);
    assert_eq!(posterior.next(EFFORT).unwrap().candidate, 25);
    let inner = [24, 50, 77].map(|candidate| look(candidate, 0.0));
    let posterior = Posterior::new(&range, &[&ends[..], &inner].concat()).unwrap();
    assert!(
        matches!(posterior.verdict().rest, Rest::Nothing { probability } if probability > 0.99)
    );
    assert_eq!((posterior.verdict().culprits.len(), posterior.next(EFFORT)), (0, None));
    // One of them shows a regression and its fix.
    let looks = [&ends[..], &inner[..2], &[look(77, 0.04), look(77, 0.04)]].concat();
    let Rest::Undecided(Reason::Where { from, to }) =
        Posterior::new(&range, &looks).unwrap().verdict().rest
    else {
        panic!("a change between 50 and 77")
    };
    assert_eq!((from, to), (50, 77));
}

#[test]
fn many_small_changes_have_no_culprit() {
    let range = range(8);
    let looks: Vec<Look> =
        (1..=8).flat_map(|number| [look(number, 0.004 * number as f64); 12]).collect();
    let verdict = Posterior::new(&range, &looks).unwrap().verdict();
    assert_eq!((verdict.culprits.len(), verdict.rest), (0, Rest::Undecided(Reason::Gradual)));
}

#[test]
fn one_wild_look_is_outvoted() {
    let range = range(16);
    let mut looks: Vec<Look> = (1..16).map(|number| look(number, 0.0)).collect();
    looks.extend([look(16, 0.0), Look { freedom: 5.0, ..look(8, 0.03) }]);
    let verdict = Posterior::new(&range, &looks).unwrap().verdict();
    assert_eq!(verdict.culprits.len(), 0, "{verdict:?}");
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let settings = Settings::default();
    let new = |candidates: Vec<Candidate>| Range::new(candidates, settings).map(|_| ());
    let one = Candidate::default();
    assert_eq!(new(vec![one]), Err(RangeError::TooShort { found: 1 }));
    assert_eq!(new(vec![one, Candidate { fails: true, ..one }]), Err(RangeError::EndFails));
    assert_eq!(new(vec![one, Candidate { weight: 0.0, ..one }]), Err(RangeError::NoWeight));
    let bad = RangeError::Candidate { candidate: 1, value: -1.0 };
    assert_eq!(new(vec![one, Candidate { build: -1.0, ..one }]), Err(bad));
    let unsure = Range::new(vec![one; 2], Settings { nothing: 1.0, ..settings });
    assert!(matches!(unsure, Err(RangeError::Setting { .. })));
    let range = range(3);
    for bad in [look(0, 0.0), look(4, 0.0), look(1, f64::NAN), Look { error: -1.0, ..look(1, 0.0) }]
    {
        assert!(matches!(Posterior::new(&range, &[bad]), Err(RangeError::Look { .. })));
    }
}
