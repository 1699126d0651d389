//! Change points: are real changes found, and none in mere noise, plain or wandering?

use judge::{ChangePoint, ChangeSearch, Changes, Exchangeable, change_points, t_cdf};

use crate::welch::welch;
use crate::{Findings, Outcomes as _, Random, Rate, Size, figures, percent, simulate};

/// Deviation of a run, as a fraction.
const CV: f64 = 0.01;

/// Noise of one run after the other, in units of [`CV`].
struct Weather {
    name: &'static str,
    /// Lag-1 autocorrelation.
    rho: f64,
    /// Student's t with 3 degrees of freedom instead of the normal.
    heavy: bool,
}

const WEATHERS: [Weather; 5] = [
    Weather { name: "independent", rho: 0.0, heavy: false },
    Weather { name: "independent, heavy tails", rho: 0.0, heavy: true },
    Weather { name: "autocorrelation 0.3", rho: 0.3, heavy: false },
    Weather { name: "autocorrelation 0.5", rho: 0.5, heavy: false },
    Weather { name: "autocorrelation 0.8", rho: 0.8, heavy: false },
];

impl Weather {
    /// Logarithms around 0.
    fn history(&self, runs: usize, random: &mut Random) -> Vec<f64> {
        let mut state = random.normal();
        (0..runs)
            .map(|_| {
                let now = if self.heavy { random.heavy() } else { state };
                state = random.after(state, self.rho);
                CV * now
            })
            .collect()
    }
}

/// The planted changes: the runs at which the level changes by plus or minus a size.
struct Shape {
    name: &'static str,
    /// Places as shares of the length, and the direction.
    changes: &'static [(f64, f64)],
}

const SHAPES: [Shape; 4] = [
    Shape { name: "a step in the middle", changes: &[(0.5, -1.0)] },
    Shape { name: "a step with a fifth left", changes: &[(0.8, -1.0)] },
    Shape { name: "down and back", changes: &[(0.4, -1.0), (0.7, 1.0)] },
    Shape { name: "three steps down", changes: &[(0.25, -1.0), (0.5, -1.0), (0.75, -1.0)] },
];

impl Shape {
    fn places(&self, runs: usize) -> Vec<(usize, f64)> {
        self.changes.iter().map(|(share, sign)| ((share * runs as f64) as usize, *sign)).collect()
    }
}

/// See the top of this file.
pub fn run(size: Size, findings: &mut Findings) {
    nothing(size, findings);
    planted(size, findings);
    versions(size, findings);
}

fn search(dependent: bool) -> ChangeSearch {
    // Fewer random orders than in use: the level is the same with any number.
    ChangeSearch { dependent, permutations: 199, ..ChangeSearch::by(Exchangeable::Run) }
}

fn changes(logs: &[f64], search: &ChangeSearch) -> Changes {
    let runs: Vec<Vec<f64>> = logs.iter().map(|log| vec![1000.0 * log.exp()]).collect();
    change_points(&runs, search).expect("positive values in every run")
}

/// False alarms where nothing ever changed.
fn nothing(size: Size, findings: &mut Findings) {
    let tries = size.pick(30, 1_000);
    let lengths: &[usize] = if size == Size::Short { &[20] } else { &[12, 20, 50, 100] };
    findings.table(
        format!(
            "**Histories without any change**: share of {tries} histories in which one is found. By the best of all cuts and \
             Welch's t test on it; by E-divisive with its permutation test; by `judge`, where a change must also hold against \
             noise that wanders as strongly; and where that calls one doubtful."
        ),
        "noise of runs | runs | best cut, t test at 5% | at 0.1% | permutation test | judge | judge: doubtful",
    );
    for (seed, weather) in (700..).zip(&WEATHERS) {
        for runs in lengths {
            let found = simulate(seed, tries, |random| {
                let logs = weather.history(*runs, random);
                let changes = changes(&logs, &search(true));
                (best_t(&logs), !changes.points.is_empty(), !changes.doubtful.is_empty())
            });
            let [five, tenth] = [0.05, 0.001].map(|level| found.rate(|(p, ..)| *p <= level));
            let permutation = found.rate(|(_, change, doubt)| *change || *doubt);
            let alarms = found.rate(|(_, change, _)| *change);
            let doubtful = found.rate(|(_, _, doubt)| *doubt);
            findings.row(weather.name, figures![runs, five, tenth, permutation, alarms, doubtful]);
            let what = format!("false changes, {runs} runs, {}", weather.name);
            if weather.rho == 0.0 {
                findings.rate(format!("{what}, permutation test"), permutation, ..=0.05);
                findings.rate(what, alarms, ..=0.05);
            } else {
                // Short histories cannot tell these apart; the table says so.
                findings.rate(what, alarms, ..=if *runs >= 100 { 0.07 } else { 0.25 });
            }
        }
    }
}

/// The p value of Welch's t test on the best cut, as if it had been the only one.
fn best_t(logs: &[f64]) -> f64 {
    let p = |cut: usize| {
        let (t, freedom) = welch(&logs[..cut], &logs[cut..]);
        2.0 * t_cdf(-t.abs(), freedom)
    };
    (2..=logs.len() - 2).map(p).fold(1.0, f64::min)
}

/// Planted changes: found, placed, sized.
fn planted(size: Size, findings: &mut Findings) {
    let few = size.pick(6, 200);
    let lengths: &[usize] = if size == Size::Short { &[20, 50] } else { &[20, 50, 100] };
    let sizes: &[u32] = if size == Size::Short { &[3] } else { &[2, 3, 5] };
    findings.table(
        format!(
            "**Planted changes** of so many deviations of a run ({few} histories each, four times as many of 20 runs): share of them found within two runs of \
             their place by `judge`; by the permutation test alone; share of histories with more changes than planted; share \
             of 95% intervals that cover the true size, where just the planted changes were found (– where that is in under a tenth).",
        ),
        "planted | noise of runs | runs | size | found | permutation test | too many | coverage",
    );
    for (seed, shape) in (720..).zip(&SHAPES) {
        for weather in [&WEATHERS[0], &WEATHERS[3]] {
            for (runs, size) in
                lengths.iter().flat_map(|runs| sizes.iter().map(move |size| (*runs, *size)))
            {
                let shift = f64::from(size) * CV;
                let truth = shape.places(runs);
                // Short histories are cheap, and in few of them everything is found.
                let tries = if runs <= 20 { 4 * few } else { few };
                let outcomes = simulate(seed, tries, |random| {
                    let mut logs = weather.history(runs, random);
                    for (at, sign) in &truth {
                        logs[*at..].iter_mut().for_each(|log| *log += sign * shift);
                    }
                    let [both, plain] =
                        [true, false].map(|dependent| changes(&logs, &search(dependent)));
                    Outcome::of(&truth, shift, &both, &plain)
                });
                let hits = |pick: fn(&Outcome) -> &Vec<bool>| {
                    Rate::of(outcomes.iter().flat_map(|one| pick(one).iter().copied()))
                };
                let (found, permutation) = (hits(|one| &one.found), hits(|one| &one.plain));
                let covered = hits(|one| &one.covered);
                let often = covered.tries * 10 >= tries;
                let coverage = if often { covered.to_string() } else { "–".to_owned() };
                let surplus = outcomes.rate(|one| one.surplus);
                findings.row(
                    shape.name,
                    figures![weather.name, runs, size, found, permutation, surplus, coverage],
                );
                let what =
                    format!("{}, {size} deviations, {runs} runs, {}", shape.name, weather.name);
                if often {
                    findings.rate(format!("coverage: {what}"), covered, 0.93..);
                }
                if runs == 50 && size == 3 && weather.rho == 0.0 {
                    findings.rate(format!("found: {what}"), found, 0.9..);
                }
            }
        }
    }
}

struct Outcome {
    /// For each planted change.
    found: Vec<bool>,
    /// The same by the permutation test alone.
    plain: Vec<bool>,
    /// For each change found exactly where it was planted, with its neighbors also in place: true
    /// if its interval covers the truth.
    covered: Vec<bool>,
    surplus: bool,
}

impl Outcome {
    fn of(truth: &[(usize, f64)], size: f64, both: &Changes, plain: &Changes) -> Self {
        let near = |changes: &Changes, at: usize| {
            changes.points.iter().any(|point| point.run.abs_diff(at) <= 2)
        };
        let found = truth.iter().map(|(at, _)| near(both, *at)).collect();
        let plain = truth.iter().map(|(at, _)| near(plain, *at)).collect();
        let covers = |(point, (_, sign)): (&ChangePoint, &(usize, f64))| {
            let ratio = (sign * size).exp();
            point.low <= ratio && ratio <= point.high
        };
        let placed = both.points.len() == truth.len()
            && both.points.iter().zip(truth).all(|(point, (at, _))| point.run.abs_diff(*at) <= 2);
        let covered =
            if placed { both.points.iter().zip(truth).map(covers).collect() } else { vec![] };
        Self { found, plain, covered, surplus: both.points.len() > truth.len() }
    }
}

/// Versions interleaved in the blocks of one experiment: each trial is exchangeable.
fn versions(size: Size, findings: &mut Findings) {
    let tries = size.pick(20, 2_000);
    findings.table(
        format!(
            "**Versions of one experiment**, 6 blocks, trials 1% apart; the second last version and the last are slower by so much \
             ({tries} histories each): a change found just there; any other.",
        ),
        "versions | slower by | found there | elsewhere",
    );
    let search = ChangeSearch { permutations: 199, ..ChangeSearch::by(Exchangeable::Trial) };
    for count in [3, 6, 10] {
        for slower in [0.0, 0.01, 0.02, 0.03] {
            let outcomes = simulate(740, tries, |random| {
                let history: Vec<Vec<f64>> = (0..count)
                    .map(|version| {
                        let level: f64 = if version + 2 >= count { 1.0 - slower } else { 1.0 };
                        (0..6).map(|_| level * (CV * random.normal()).exp()).collect()
                    })
                    .collect();
                let points = change_points(&history, &search).expect("positive values").points;
                let (there, elsewhere): (Vec<_>, Vec<_>) =
                    points.iter().partition(|point| point.run == count - 2);
                (!there.is_empty(), !elsewhere.is_empty())
            });
            let there = outcomes.rate(|(there, _)| *there);
            let elsewhere = outcomes.rate(|(_, elsewhere)| *elsewhere);
            findings.row(&count.to_string(), figures![percent(slower, 0), there, elsewhere]);
            if slower == 0.0 {
                let any = outcomes.rate(|(there, elsewhere)| *there || *elsewhere);
                findings.rate(format!("false changes between {count} versions"), any, ..=0.05);
            }
        }
    }
}
