//! Slices without any operation: stalls of one server, of both, of the machine.

use judge::{RestartRatio, Side, Verdict, Warning, restart_ratio};

use super::experiment::{ROUNDS, judged, tries};
use crate::rounds::MODELS;
use crate::{Findings, Random, Rate, Size, Table, in_parallel};

/// Restarts of an experiment.
const RESTARTS: usize = judge::ENOUGH_BLOCKS;

/// The variant that stalls, and the share of its slices.
struct Stalls {
    name: &'static str,
    base: f64,
    variant: f64,
    /// Both in the same rounds.
    machine: f64,
    /// A stall lasts for 1 to as many slices.
    longest: usize,
}

const NONE: Stalls = Stalls { name: "nobody", base: 0.0, variant: 0.0, machine: 0.0, longest: 5 };

/// The largest loss of a variant that is equivalent at the default margin.
const SMALL: f64 = 0.02;

const STALLS: [Stalls; 10] = [
    NONE,
    Stalls { name: "both, 5% each", base: 0.05, variant: 0.05, ..NONE },
    Stalls { name: "the machine, 10%", machine: 0.1, ..NONE },
    Stalls { name: "the variant, 1%", variant: 0.01, ..NONE },
    Stalls { name: "the variant, 3%", variant: 0.03, ..NONE },
    Stalls { name: "the variant, 5%", variant: 0.05, ..NONE },
    Stalls { name: "the variant, 5%, one slice each", variant: 0.05, longest: 1, ..NONE },
    Stalls { name: "the variant, 5%, up to 25 slices", variant: 0.05, longest: 25, ..NONE },
    Stalls { name: "the variant, 20%", variant: 0.2, ..NONE },
    Stalls { name: "the variant, 40%", variant: 0.4, ..NONE },
];

/// See the top of this file. Otherwise the servers are identical, with slices that differ by 3%.
pub(super) fn look(size: Size, findings: &mut Findings) {
    let mut table = Table::new(
        format!(
            "**Slices without any operation**: {RESTARTS} restarts of {ROUNDS} rounds of identical servers that stall for 1 to {} \
             slices at a time, unless it says otherwise, so that they do nothing in such a share of them. Median ratio; verdicts; the \
             warnings that rare slices lack more than the typical one and all operations decide (`rare-slices`), that it is not sure \
             that they don't (`totals-open`), that there is no typical slice (`stalled`), and that neither did anything (`idle-rounds`).",
            NONE.longest
        ),
        &[
            "who stalls",
            "ratio",
            "regression",
            "equivalent",
            "rare-slices",
            "totals-open",
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
        let codes = ["rare-slices", "totals-open", "stalled", "idle-rounds"];
        let [rare, open, stalled, idle] = codes.map(warned);
        let ratios: Vec<f64> = found.iter().map(|one| one.ratio).collect();
        let ratio = judge::median(&ratios).unwrap_or(f64::NAN);
        let what = |name: &str| format!("{name}, stalls of {}", stalls.name);
        if stalls.variant <= stalls.base {
            findings.rate(what("false alarms"), called, "≤ 5%", called.at_most(0.05));
            findings.rate(what("rare-slices"), rare, "≤ 5%", rare.at_most(0.05));
        } else if stalls.variant > SMALL {
            findings.rate(what("equivalent"), equivalent, "≤ 5%", equivalent.at_most(0.05));
        }
        if stalls.variant + stalls.base + stalls.machine == 0.0 {
            findings.rate(what("equivalent"), equivalent, "≥ 99%", equivalent.at_least(0.99));
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
        let rates = [regression, equivalent, rare, open, stalled, idle];
        let rates = rates.map(|rate| rate.to_string());
        table.row([stalls.name.to_owned(), format!("{ratio:.3}")].into_iter().chain(rates));
    }
    findings.tables.push(table);
}

fn restart(stalls: &Stalls, random: &mut Random) -> RestartRatio {
    let (mut base, mut variant) = MODELS[0].pair(ROUNDS, random);
    for (rates, share) in [(&mut base, stalls.base), (&mut variant, stalls.variant)] {
        for round in stalled(share, stalls.longest, random) {
            rates[round] = 0.0;
        }
    }
    for round in stalled(stalls.machine, stalls.longest, random) {
        (base[round], variant[round]) = (0.0, 0.0);
    }
    restart_ratio(&base, &variant).expect("operations in many rounds")
}

/// Rounds in stalls that make up a share of all.
fn stalled(share: f64, longest: usize, random: &mut Random) -> Vec<usize> {
    let mean = 0.5 * (1 + longest) as f64;
    let begins = share / (mean * (1.0 - share) + share);
    let (mut found, mut left) = (Vec::new(), 0);
    for round in 0..ROUNDS {
        if left == 0 && random.uniform() < begins {
            left = 1 + random.below(longest);
        }
        if left > 0 {
            left -= 1;
            found.push(round);
        }
    }
    found
}
