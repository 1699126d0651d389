//! A/A experiments: do identical variants exceed the noise floor once in a hundred comparisons?

use judge::{Comparison, DEFAULT_MARGIN, NOISE_PERCENTILE, noise_floor, quantile};

use crate::experiment::{Design, SECONDS, compared};
use crate::noise::{MODELS, Noise};
use crate::{Findings, Outcomes as _, Random, Size, percent, simulate};

/// Numbers of pairs of twins in the table.
const PAIRS: [usize; 4] = [1, 2, 4, 12];

/// See the top of this file.
pub fn run(size: Size, findings: &mut Findings) {
    let tries = size.pick(60, 5_000);
    findings.table(
        format!(
            "**Noise floor** from 1 to 12 pairs of twins with 8 blocks: how often the next comparison of identical variants lies \
             beyond it (1% is aimed at), {tries} experiments. Left by `noise_floor`, right by the empirical 99th percentile alone. Last: \
             the median floor."
        ),
        "noise | 1 pair | 2 pairs | 4 pairs | 12 pairs | empirical, 1 | empirical, 2 | empirical, 4 | empirical, 12 | floor, 4 pairs",
    );
    for noise in MODELS {
        let found = PAIRS.map(|pairs| {
            simulate(70 + pairs as u64, tries, |random| experiment(pairs, &noise, random))
        });
        let beyond = found.each_ref().map(|of_pairs| of_pairs.rate(|one| one.beyond));
        let empirical = found.each_ref().map(|of_pairs| of_pairs.rate(|one| one.beyond_empirical));
        for (pairs, rate) in PAIRS.iter().zip(beyond) {
            let what = format!("beyond the noise floor, {pairs} pairs, {}", noise.name);
            findings.rate(what, rate, ..=0.025);
        }
        let rates = beyond.iter().chain(&empirical).map(ToString::to_string);
        let floor = percent(found[2].median(|one| one.floor), 2);
        findings.row(noise.name, rates.chain([floor]));
    }
}

struct Outcome {
    floor: f64,
    beyond: bool,
    beyond_empirical: bool,
}

fn experiment(pairs: usize, noise: &Noise, random: &mut Random) -> Outcome {
    // All pairs, and one more, in the same blocks.
    let design = Design::new(8, 2 * (pairs + 1), SECONDS);
    let rates = design.simulate(noise, random);
    let twins = rates.chunks_exact(2).map(|pair| compared(&pair[0], &pair[1], DEFAULT_MARGIN));
    let mut twins: Vec<Comparison> = twins.collect();
    let effect = |twin: &Comparison| twin.mean_log.abs().exp_m1();
    let next = twins.pop().map_or(f64::NAN, |twin| effect(&twin));
    let effects: Vec<f64> = twins.iter().map(effect).collect();
    let floor = noise_floor(&twins).unwrap_or(f64::NAN);
    let seen = quantile(&effects, NOISE_PERCENTILE).unwrap_or(f64::NAN);
    Outcome { floor, beyond: next > floor, beyond_empirical: next > seen }
}
