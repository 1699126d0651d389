//! A/A experiments: is the noise floor what identical variants exceed once in a hundred
//! comparisons?

use judge::{Comparison, Margin, NOISE_PERCENTILE, compare, noise_floor, quantile};

use crate::experiment::{Design, SECONDS};
use crate::noise::{MODELS, Noise};
use crate::{Findings, Random, Rate, Size, Table, in_parallel};

/// Numbers of pairs of twins in the table.
const PAIRS: [usize; 4] = [1, 2, 4, 12];

/// See the top of this file.
pub fn run(size: Size) -> Findings {
    let mut findings = Findings::default();
    let tries = size.pick(60, 5_000);
    let mut head = vec!["noise".to_owned()];
    head.extend(PAIRS.map(|pairs| format!("{pairs} pair{}", if pairs == 1 { "" } else { "s" })));
    head.extend(PAIRS.map(|pairs| format!("empirical, {pairs}")));
    head.push("floor, 4 pairs".to_owned());
    let mut table = Table::new(
        format!(
            "**Noise floor** from 1 to 12 pairs of twins with 8 blocks: how often the next comparison of identical variants lies \
             beyond it (1% is aimed at), {tries} experiments. Left by `noise_floor`, right by the empirical 99th percentile alone. Last: \
             the median floor."
        ),
        &head.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    for noise in MODELS {
        let mut own = Vec::new();
        let mut empirical = Vec::new();
        let mut floors = Vec::new();
        for pairs in PAIRS {
            let found = in_parallel(tries, |number| {
                experiment(pairs, &noise, &mut Random::new(70 + pairs as u64, number))
            });
            let beyond = Rate::of(found.iter().map(|one| one.beyond));
            findings.rate(
                format!("beyond the noise floor, {pairs} pairs, {}", noise.name),
                beyond,
                "≤ 2.5%",
                beyond.at_most(0.025),
            );
            own.push(beyond.to_string());
            empirical.push(Rate::of(found.iter().map(|one| one.beyond_empirical)).to_string());
            if pairs == 4 {
                floors = found.iter().map(|one| one.floor).collect();
            }
        }
        let median = judge::median(&floors).unwrap_or(f64::NAN);
        let last = [format!("{:.2}%", 100.0 * median)];
        table.row([noise.name.to_owned()].into_iter().chain(own).chain(empirical).chain(last));
    }
    findings.tables.push(table);
    findings
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
    let mut twins: Vec<Comparison> = rates
        .chunks_exact(2)
        .map(|pair| compare(&pair[0], &pair[1], Margin::default()).expect("positive rates"))
        .collect();
    let next = twins.pop().map_or(f64::NAN, |twin| twin.mean_log.abs().exp_m1());
    let effects: Vec<f64> = twins.iter().map(|twin| twin.mean_log.abs().exp_m1()).collect();
    let floor = noise_floor(&twins).unwrap_or(f64::NAN);
    let seen = quantile(&effects, NOISE_PERCENTILE).unwrap_or(f64::NAN);
    Outcome { floor, beyond: next > floor, beyond_empirical: next > seen }
}
