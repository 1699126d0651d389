//! Usual practice on the same simulated machines: one run of each variant, or all runs of one and
//! then all of the other.

use judge::t_quantile;

use crate::experiment::{Design, SECONDS};
use crate::noise::{MODELS, Noise, Tails};
use crate::welch::welch;
use crate::{Findings, Outcomes as _, Random, Size, simulate};

/// Which practices raised an alarm about identical variants.
type Alarms = [bool; 6];

/// Names of the practices, in order.
const PRACTICES: [&str; 6] = [
    "one run each, over 1%",
    "one run each, over 2%",
    "one run each, Welch over seconds",
    "best of 3 each, over 2%",
    "3 then 3 runs, Welch",
    "6 paired blocks (judge)",
];

/// See the top of this file.
pub fn run(size: Size, findings: &mut Findings) {
    let tries = size.pick(500, 20_000);
    for seconds in [60, SECONDS] {
        findings.table(
            format!(
                "**Usual practice**: how often identical variants are said to differ, {seconds} s per run, {tries} experiments. \
                 Over 1%, over 2%: the ratio of the two figures differs from 1 by more. Welch: the t test for unequal variances \
                 (B. L. Welch, *Biometrika* 34, 1947) says p < 5%, over the seconds of two runs or over the runs. The \
                 two runs of \"one run each\" follow each other in the same block. In \"3 then 3\" and \"best of 3\" all runs of one \
                 variant come before those of the other, in another block."
            ),
            format!("noise | {}", PRACTICES.join(" | ")),
        );
        for noise in MODELS {
            let alarms = simulate(80, tries, |random| experiment(&noise, seconds, random));
            let rates = [0, 1, 2, 3, 4, 5].map(|practice| alarms.rate(|one| one[practice]));
            if noise.tails == Tails::Light {
                let what = format!("{}, {seconds} s, {}", PRACTICES[5], noise.name);
                findings.rate(what, rates[5], ..=0.05);
            }
            findings.row(noise.name, rates);
        }
    }
}

fn experiment(noise: &Noise, seconds: usize, random: &mut Random) -> Alarms {
    // Runs in the order in which they come, of one variant first: the drift goes through all of
    // them, and the two halves of the experiment have the machine in different moods.
    let moods = [noise.block * random.normal(), noise.block * random.normal()];
    let runs: Vec<Vec<f64>> = (0..6)
        .map(|place| {
            let slow = moods[place / 3] + noise.drift * place as f64 / 5.0;
            let level = (slow + noise.deviation(random)).exp();
            noise.seconds(seconds, random).map(|rate| level * rate).collect()
        })
        .collect();
    let means: Vec<f64> = runs.iter().filter_map(|run| judge::mean(run)).collect();
    let (first, second) = means.split_at(3);
    let differ = |a: f64, b: f64, limit: f64| (b / a - 1.0).abs() > limit;
    let best = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let (base, variant) = Design::new(6, 2, seconds).pair(noise, random);
    let judged = judge::compare(&base, &variant, judge::Margin::default());
    [
        // Neighbours, so that what is slow hardly matters.
        differ(means[0], means[1], 0.01),
        differ(means[0], means[1], 0.02),
        differs(&runs[0], &runs[1]),
        differ(best(first), best(second), 0.02),
        differs(first, second),
        judged.is_ok_and(|found| found.excludes_one()),
    ]
}

/// True if Welch's t test says p < 5%.
fn differs(one: &[f64], other: &[f64]) -> bool {
    let (t, freedom) = welch(one, other);
    t.abs() > t_quantile(0.975, freedom)
}
