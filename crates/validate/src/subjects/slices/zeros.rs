//! Slices without any operation: stalls of one server, of both, of the machine.

use judge::{RestartRatio, Side, Verdict, Warning, restart_ratio};

use super::{ROUNDS, judged, tries};
use crate::rounds::MODELS;
use crate::{Findings, Random, Rate, Size, Table, in_parallel};

/// Restarts of an experiment.
const RESTARTS: usize = 3;

/// A stall lasts for 1 to as many slices.
const LONGEST: usize = 5;

/// Who stalls, and in what share of its slices.
struct Stalls {
    name: &'static str,
    base: f64,
    variant: f64,
    /// Both in the same rounds.
    machine: f64,
}

const NONE: Stalls = Stalls { name: "nobody", base: 0.0, variant: 0.0, machine: 0.0 };

const STALLS: [Stalls; 7] = [
    NONE,
    Stalls { name: "both, 5% each", base: 0.05, variant: 0.05, ..NONE },
    Stalls { name: "the machine, 10%", machine: 0.1, ..NONE },
    Stalls { name: "the variant, 1%", variant: 0.01, ..NONE },
    Stalls { name: "the variant, 5%", variant: 0.05, ..NONE },
    Stalls { name: "the variant, 20%", variant: 0.2, ..NONE },
    Stalls { name: "the variant, 40%", variant: 0.4, ..NONE },
];

/// See the top of this file. Otherwise the servers are identical, with slices that differ by 3%.
pub(super) fn look(size: Size, findings: &mut Findings) {
    let mut table = Table::new(
        format!(
            "**Slices without any operation**: {RESTARTS} restarts of {ROUNDS} rounds of identical servers that stall for 1 to {LONGEST} \
             slices at a time, so that they do nothing in such a share of them. Median ratio; verdicts; the warnings that rare slices \
             lack more than the typical one (`rare-slices`), that the ratio is that of all operations (`stalled`), and that neither did \
             anything (`idle-rounds`)."
        ),
        &[
            "who stalls",
            "ratio",
            "regression",
            "equivalent",
            "rare-slices",
            "stalled",
            "idle-rounds",
        ],
    );
    for (number, stalls) in STALLS.iter().enumerate() {
        let found = in_parallel(tries(size), |n| {
            let random = &mut Random::new(540 + number as u64, n);
            judged(&(0..RESTARTS).map(|_| restart(stalls, random)).collect::<Vec<_>>())
        });
        let rate = |of: &dyn Fn(&judge::Comparison) -> bool| Rate::of(found.iter().map(of));
        let regression = rate(&|one| one.verdict == Verdict::Regression);
        let equivalent = rate(&|one| one.verdict == Verdict::Equivalent);
        let called = rate(&|one| {
            matches!(one.verdict, Verdict::Regression | Verdict::Improvement) || one.excludes_one()
        });
        let warned = |code: &str| {
            rate(&|one| one.warnings.iter().any(|warning: &Warning| warning.code() == code))
        };
        let [rare, stalled, idle] = ["rare-slices", "stalled", "idle-rounds"].map(warned);
        let ratios: Vec<f64> = found.iter().map(|one| one.ratio).collect();
        let ratio = judge::median(&ratios).unwrap_or(f64::NAN);
        let what = |name: &str| format!("{name}, stalls of {}", stalls.name);
        if stalls.variant <= stalls.base {
            findings.rate(what("false alarms"), called, "≤ 5%", called.at_most(0.05));
            findings.rate(what("rare-slices"), rare, "≤ 5%", rare.at_most(0.05));
        } else if stalls.variant >= 0.05 {
            // What the typical slice does not show is said, or it is in the verdict.
            let seen = rate(&|one| {
                let said = |warning: &Warning| matches!(warning, Warning::RareSlices { .. });
                one.verdict == Verdict::Regression || one.warnings.iter().any(said)
            });
            findings.rate(what("regression or rare-slices"), seen, "≥ 85%", seen.at_least(0.85));
        }
        if stalls.variant > 0.25 {
            findings.rate(what("stalled"), stalled, "≥ 99%", stalled.at_least(0.99));
            findings.rate(what("regression"), regression, "≥ 95%", regression.at_least(0.95));
            let of_variant = Warning::Stalled { side: Side::Variant };
            let right = rate(&|one| one.warnings.contains(&of_variant));
            findings.rate(what("who stalled"), right, "≥ 99%", right.at_least(0.99));
        }
        if stalls.machine > 0.0 {
            findings.rate(what("idle-rounds"), idle, "≥ 99%", idle.at_least(0.99));
        }
        let rates = [regression, equivalent, rare, stalled, idle].map(|rate| rate.to_string());
        table.row([stalls.name.to_owned(), format!("{ratio:.3}")].into_iter().chain(rates));
    }
    findings.tables.push(table);
}

fn restart(stalls: &Stalls, random: &mut Random) -> RestartRatio {
    let (mut base, mut variant) = MODELS[0].pair(ROUNDS, random);
    for (rates, share) in [(&mut base, stalls.base), (&mut variant, stalls.variant)] {
        for round in stalled(share, random) {
            rates[round] = 0.0;
        }
    }
    for round in stalled(stalls.machine, random) {
        (base[round], variant[round]) = (0.0, 0.0);
    }
    restart_ratio(&base, &variant).expect("operations in many rounds")
}

/// Rounds in stalls that make up a share of all.
fn stalled(share: f64, random: &mut Random) -> Vec<usize> {
    let mean = 0.5 * (1 + LONGEST) as f64;
    let begins = share / (mean * (1.0 - share) + share);
    let (mut found, mut left) = (Vec::new(), 0);
    for round in 0..ROUNDS {
        if left == 0 && random.uniform() < begins {
            left = 1 + random.below(LONGEST);
        }
        if left > 0 {
            left -= 1;
            found.push(round);
        }
    }
    found
}
