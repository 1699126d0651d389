//! How it is usually done, on the same simulated machines: one run of each, or all runs of one and
//! then all of the other.

use judge::t_quantile;

use crate::experiment::{Design, SECONDS};
use crate::noise::{MODELS, Noise, Tails};
use crate::{Findings, Random, Rate, Size, Table, in_parallel};

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
pub fn run(size: Size) -> Findings {
    let mut findings = Findings::default();
    let tries = size.pick(500, 20_000);
    let mut head = vec!["noise"];
    head.extend(PRACTICES);
    for seconds in [60, SECONDS] {
        let mut table = Table::new(
            format!(
                "**Usual practice**: how often identical variants are said to differ, {seconds} s per run, {tries} experiments. \
                 Over 1%, over 2%: the ratio of the two figures differs from 1 by more. Welch: the t test for unequal variances \
                 (B. L. Welch, *Biometrika* 34, 1947) says p < 5%, over the seconds of two runs or over the runs. The \
                 two runs of \"one run each\" follow each other in the same block. In \"3 then 3\" and \"best of 3\" all runs of one \
                 variant come before those of the other, in another block."
            ),
            &head,
        );
        for noise in MODELS {
            let alarms = in_parallel(tries, |number| {
                experiment(&noise, seconds, &mut Random::new(80, number))
            });
            let rates: Vec<Rate> = (0..PRACTICES.len())
                .map(|practice| Rate::of(alarms.iter().map(|one| one[practice])))
                .collect();
            if noise.tails == Tails::Light {
                let rate = rates[5];
                let what = format!("{}, {seconds} s, {}", PRACTICES[5], noise.name);
                findings.rate(what, rate, "≤ 5%", rate.at_most(0.05));
            }
            table.row([noise.name.to_owned()].into_iter().chain(rates.iter().map(Rate::to_string)));
        }
        findings.tables.push(table);
    }
    findings
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
        welch(&runs[0], &runs[1]),
        differ(best(first), best(second), 0.02),
        welch(first, second),
        judged.is_ok_and(|found| found.excludes_one()),
    ]
}

/// True if Welch's t test says p < 5%.
fn welch(one: &[f64], other: &[f64]) -> bool {
    let part = |values: &[f64]| {
        let n = values.len() as f64;
        let sd = judge::sd_sample(values).unwrap_or(f64::NAN);
        (judge::mean(values).unwrap_or(f64::NAN), sd * sd / n, n - 1.0)
    };
    let ((mean, error, freedom), (other_mean, other_error, other_freedom)) =
        (part(one), part(other));
    let sum = error + other_error;
    let together =
        sum * sum / (error * error / freedom + other_error * other_error / other_freedom);
    ((mean - other_mean) / sum.sqrt()).abs() > t_quantile(0.975, together)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Darwin's maize (R. A. Fisher, *The Design of Experiments*, 1935): crossed and
    /// self-fertilised plants in eighths of an inch. As unpaired samples: t = 2.4371 with 22.164
    /// degrees of freedom, p = 0.0233.
    #[test]
    fn welch_on_known_data() {
        let crossed = [
            188.0, 96.0, 168.0, 176.0, 153.0, 172.0, 177.0, 163.0, 146.0, 173.0, 186.0, 168.0,
            177.0, 184.0, 96.0,
        ];
        let own = [
            139.0, 163.0, 160.0, 160.0, 147.0, 149.0, 149.0, 122.0, 132.0, 144.0, 130.0, 144.0,
            102.0, 124.0, 144.0,
        ];
        assert!(welch(&crossed, &own));
        assert!(!welch(&crossed, &crossed));
    }
}
